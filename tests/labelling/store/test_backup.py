"""One file that holds a project, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Callable
from datetime import UTC
from pathlib import Path

import pytest

from ranksift.errors import InputError
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Item, NewTask, Query
from ranksift.labelling.store import Store
from tests.labelling.store.filled import LEFT, PROJECT, filled, query

Snapshot = list[object]


def contents(store: Store) -> Snapshot:
    """Everything that can be seen of a project."""
    queries = [store.query(one.query_id) for one in store.queries(active_only=False)]
    return [store.site, store.project, queries, store.people(), store.tasks(active_only=False), list(store.entries())]


def furnished(place: str) -> tuple[Store, str, str]:
    """A project with something in every table and every column; a token and a cookie."""
    store, person, task = filled(place)
    items = (Item("é", "x" * 3_000_000, "", "html", "fa", -0.1, True), Item("b", "\u2028\r\n\\n\"'\x01", prior=1e-300))
    store.add([Query("ü q", "tea", "a drink", "en", items), query("q3")])
    other, token = store.add_person("Zoë", "lead")
    store.assign([NewTask("ü q", other.id, "grades", "overlap", k=2, seed=2**63 - 1, with_proposals=True)])
    store.assign([NewTask("q1", other.id, "pairs", "verify", pairs=(("d1", "d2"),))])
    store.append(task.key, "c1", LEFT, after=0, active_seconds=0.1, note="näh\n", proposed=("d1",))
    store.append(task.key, "c2", Judgment("undo"), after=1, done=True)
    store.retire_query("q3")
    store.retire(store.people()[0].id)
    return store, token, store.start_session(person.id)


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_project_moves(new_place: Callable[..., str], tmp_path: Path, target: str, suffix: str) -> None:
    store, token, cookie = furnished(new_place())
    path = tmp_path / f"backup{suffix}"
    store.backup(path)
    with store, Store.restore(path, new_place(target)) as restored:
        assert contents(restored) == contents(store)
        assert restored.tasks()[0].created.tzinfo == UTC
        assert restored.person_of_link(token) == store.person_of_link(token) is not None
        assert restored.person_of_session(cookie) == store.person_of_session(cookie) is not None
        # Life goes on, with numbers that nothing has yet.
        restored.add([query("q4", items=(Item("new", ""), Item("newer", "")))])
        person, _ = restored.add_person("Bob", "assessor")
        [task] = restored.assign([NewTask("q4", person.id, "pairs")])
        assert restored.append(task.key, "c", Judgment("prefer", "new", "newer", "tie"), after=0).number == 1
        # And what comes back is the same again.
        restored.backup(tmp_path / "again")
        with Store.restore(tmp_path / "again", new_place()) as third:
            assert contents(third) == contents(restored)


def test_a_backup_does_not_hold_up_work(place: str, tmp_path: Path) -> None:
    store, _, task = filled(place)
    path = tmp_path / "backup"
    stop = threading.Event()
    written = [0]

    def work() -> None:
        while not stop.is_set():
            store.append(task.key, f"c{written[0]}", LEFT, after=written[0])
            written[0] += 1

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for number in range(5):
            least = written[0]
            store.backup(path)
            with Store.restore(path, tmp_path / f"restored {number}") as restored:
                [copied] = restored.tasks()
                assert copied.judgments == len(restored.log(task.key)) >= least
    finally:
        stop.set()
        worker.join()
    assert len(store.log(task.key)) == written[0] > 0
    store.close()


def test_a_place_with_a_project_is_kept(new_place: Callable[[], str], tmp_path: Path) -> None:
    first, second = new_place(), new_place()
    with filled(first)[0] as store:
        store.backup(tmp_path / "backup")
    with Store.create(second, PROJECT) as other:
        with pytest.raises(InputError, match="there is already a labelling project"):
            Store.restore(tmp_path / "backup", second)
        assert other.queries() == []


def with_line(lines: list[bytes], number: int, line: bytes) -> bytes:
    return b"\n".join([*lines[:number], line, *lines[number + 1 :]])


def summed(lines: list[bytes]) -> bytes:
    """Lines with a sum that is right."""
    body = b"".join(line + b"\n" for line in lines)
    return body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"


DAMAGES: dict[str, Callable[[list[bytes]], bytes]] = {
    "cut off in a line": lambda lines: b"\n".join(lines)[:-40],
    "cut off after a line": lambda lines: b"\n".join(lines[:-3]) + b"\n",
    "without the last line break": lambda lines: b"\n".join(lines)[:-1],
    "with something behind": lambda lines: b"\n".join(lines) + b"{}\n",
    "a judgment less": lambda lines: b"\n".join([*lines[:-3], *lines[-2:]]),
    "a letter changed": lambda lines: b"\n".join(lines).replace(b"pizza", b"pizzb"),
    "another sum": lambda lines: with_line(lines, len(lines) - 2, b'{"sha256":"00"}'),
    "a sum that is none": lambda lines: with_line(lines, len(lines) - 2, b"[]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_is_refused(tmp_path: Path, damage: str) -> None:
    store, _, task = filled(str(tmp_path / "place"))
    with store:
        store.append(task.key, "c1", LEFT, after=0)
        store.backup(tmp_path / "backup")
    whole = (tmp_path / "backup").read_bytes()
    damaged = DAMAGES[damage](whole.split(b"\n"))
    assert damaged != whole
    (tmp_path / "backup").write_bytes(damaged)
    with pytest.raises(InputError, match="backup: the backup is incomplete, or was changed; use another backup"):
        Store.restore(tmp_path / "backup", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


UNFIT: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a task of nobody": lambda lines: [line for line in lines if b'"Ann"' not in line],
    "a value too many": lambda lines: [line.replace(b'"Ann",', b'"Ann","Ann",') for line in lines],
    "a table that is none": lambda lines: [line.replace(b'"people"', b'"persons"') for line in lines],
    "a column that is none": lambda lines: [line.replace(b'"role"', b'"rule"') for line in lines],
    "not JSON": lambda lines: [*lines, b"{"],
    "a row of no table": lambda lines: [lines[0], b"[1]", *lines[1:]],
    "a date that is none": lambda lines: [line.replace(b'"20', b'"x') for line in lines],
    "a date without its zone": lambda lines: [line.replace(b"+00:00", b"") for line in lines],
    "a judgment twice": lambda lines: [*lines, lines[-1]],
}


@pytest.mark.parametrize("change", UNFIT)
def test_a_backup_that_was_forged_leaves_nothing(new_place: Callable[[], str], tmp_path: Path, change: str) -> None:
    store, _, task = filled(str(tmp_path / "place"))
    with store:
        store.append(task.key, "c1", LEFT, after=0)
        store.backup(tmp_path / "backup")
    lines = (tmp_path / "backup").read_bytes().split(b"\n")[:-2]
    (tmp_path / "backup").write_bytes(summed(lines))
    Store.restore(tmp_path / "backup", tmp_path / "sound").close()  # so the sum is not what is wrong below
    (tmp_path / "backup").write_bytes(summed(UNFIT[change](lines)))
    place = new_place()
    with pytest.raises(InputError, match="the backup does not fit together"):
        Store.restore(tmp_path / "backup", place)
    with pytest.raises(InputError, match="there is no labelling project"):
        Store.open(place)
    with Store.create(place, PROJECT) as free:
        assert free.people() == []


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}\n", b"[]\n", b'{"format":"other"}\n', b"\x80\x04K\x01.", b"q 0 d 1\n"]
)
def test_other_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(InputError, match="file: this is not a backup of a labelling project"):
        Store.restore(tmp_path / "file", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        Store.restore(tmp_path / "nothing", tmp_path / "restored")
    with filled(str(tmp_path / "place"))[0] as store:
        with pytest.raises(InputError, match="cannot be written"):
            store.backup(tmp_path / "no folder" / "backup")
        store.backup(tmp_path / "backup.gz")
    packed = (tmp_path / "backup.gz").read_bytes()
    assert json.loads(gzip.decompress(packed).split(b"\n")[0])["format"] == "ranksift labelling backup"
    (tmp_path / "backup.gz").write_bytes(packed[:-9])
    with pytest.raises(InputError, match="damaged gzip"):
        Store.restore(tmp_path / "backup.gz", tmp_path / "restored")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.gz", "place"]
