"""The commands on both kinds of databases: a project from its beginning to a copy elsewhere."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import ranksift as rs
from ranksift.cli.main import run
from ranksift.labelling.simulation import SimulatedAssessor, Truth
from ranksift.labelling.store import Store
from ranksift.labelling.task_state import task_state

DOCS = [f"d{i}" for i in range(6)]


@pytest.fixture
def label(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command of the group: its exit code, and what it printed."""

    def command(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = run(["label", *map(str, arguments)])
        return code, *capfd.readouterr()

    return command


def worked(place: str) -> None:
    """Let everybody answer all that they are asked."""
    with Store.open(place) as store:
        for task in store.tasks():
            assessor = SimulatedAssessor(Truth.made_up(DOCS, forbidden=0.2, seed=len(task.query_id)))
            docs, log = [item.doc_id for item in store.items(task.query_id)], store.log(task.key)
            while (asked := task_state(task, docs, log).question) is not None:
                said = assessor.answer(asked)
                done = task_state(task, docs, [*log, said]).done
                store.append(task.key, str(len(log)), said, after=len(log), active_seconds=4.0, done=done)
                log.append(said)


def test_from_nothing_to_a_copy_elsewhere(
    place: str,
    new_place: Callable[[str], str],
    kind: str,
    label,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    given = place.replace("labeller@", "labeller:hunter2@")  # the server believes anybody who comes by the socket
    monkeypatch.setenv("RANKSIFT_LABEL_PROJECT", given)
    printed = []

    def done(*arguments: object) -> str:
        code, out, err = label(*arguments)
        assert code == 0, err
        printed.append(out + err)
        return out

    (tmp_path / "data.csv").write_text(
        "query_id,query,doc_id,doc\n" + "".join(f"{q},پرسش {q},{d},متن {d}\n" for q in ("q1", "q22") for d in DOCS)
    )
    done("new", "-", "--k", 2, "--title", "Things")
    done("import", "-", tmp_path / "data.csv", "--language", "fa")
    done("people", "-", "add", "Bob", "Eve")
    done("assign", "-", "--per-query", 2)
    worked(given)
    assert re.search(r"finished queries +2\b", done("status", "-"))
    done("agreement", "-", "--samples", 20)
    done("export", "-", "--out", tmp_path / "topk.qrels")
    expected = {q: Truth.made_up(DOCS, forbidden=0.2, seed=len(q)).labels(2) for q in ("q1", "q22")}
    assert rs.read_qrels(tmp_path / "topk.qrels").to_dict() == expected
    done("backup", "-", tmp_path / "backup.jsonl.zst")
    other = new_place("postgresql" if kind == "sqlite" else "sqlite")
    done("restore", tmp_path / "backup.jsonl.zst", other)
    logs = []
    for where in ("-", other):
        done("export", where, "--what", "log", "--out", tmp_path / "log.jsonl")
        logs.append([json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()])
    assert logs[0] == logs[1]
    assert len(logs[0]) > 10
    assert "hunter2" not in "".join(printed)


def test_a_database_that_is_not_there_is_refused_without_its_password(label):
    code, _, err = label("status", "postgresql://ann:hunter2@127.0.0.1:1/nothing?connect_timeout=2")
    assert (code, err.count("\n")) == (2, 1)
    assert "hunter2" not in err
