"""A few of the faults that ``python -m tests.faults`` tries, and whether it would notice what must not be."""

import json
import shlex
from pathlib import Path

import pytest

from tests.faults.commands import COMMANDS, FILE
from tests.faults.shim import FAULTS, FULL, KILL, READ_ONLY
from tests.faults.table import BEGIN, page
from tests.faults.trials import BETWEEN, NEW, OLD, Case, Wrong, machine, mounted, try_faults, try_sizes
from tests.hunt.table import END, write_between_marks

NAMED = {command.name: command for command in COMMANDS}
DRAWN = ("evaluate, gzip", "check", "cutoff fit", "cutoff apply", "study", "train", "train, texts", "rank, csv", "tune")


@pytest.fixture(scope="module")
def on():
    with machine() as made:
        yield made


def test_what_is_drawn_by_a_seed_leaves_the_old_version_or_the_new_one(on):
    found = None
    for name in DRAWN:
        found = try_faults(on, NAMED[name], most=2, found=found)
    assert found.wrong == []
    assert found.total() == 2 * len(DRAWN)
    assert found.total(outcome=OLD)
    text = page(found, "a command")
    assert all(f"| {name} |" in text for name in DRAWN)


def test_a_process_is_killed_in_the_midst_of_a_write(on):
    case = Case.of(on, NAMED["evaluate"])
    at = next(n for n, (what, _) in enumerate(case.steps) if what == "write")
    on.begin(case.old)
    assert on.run(case.command, case.command.new, KILL, at).code == -9
    tree = on.tree()
    (part,) = (content for path, content in tree.items() if path.startswith(".out.txt."))
    assert 0 < len(part) < len(case.new["out.txt"])
    assert case.new["out.txt"].startswith(part)
    assert tree["out.txt"] == case.old["out.txt"] != case.new["out.txt"]
    assert case.after(KILL, at) == OLD
    assert [case.after(fault, len(case.steps) - 1) for fault in FAULTS] == [NEW] * 3


def test_trials_of_a_search_stay_where_the_disk_is_full(on):
    case = Case.of(on, NAMED["tune"])
    writes = [n for n, step in enumerate(case.steps) if step == ["write", "model.tuning"]]
    assert len(writes) > 3
    assert [case.after(FULL, writes[n]) for n in (0, 2, -1)] == [OLD] * 3
    assert case.after(READ_ONLY, writes[-1]) == OLD
    # The model is there when the storage is removed; where that fails, nothing is lost, and it is told.
    assert case.after(READ_ONLY, case.steps.index(["unlink", "model.tuning"])) == NEW


def test_a_place_for_a_model_is_tried_without_a_trace(on):
    case = Case.of(on, NAMED["train, new folder"])
    assert [case.after(KILL, at) for at in range(3)] == [OLD] * 3


def test_disks_that_are_really_too_small(on):
    with mounted(on.folder) as disk:
        if disk is None:
            pytest.skip("NOT TRIED: small disks, as this user may not mount any")
        found = try_sizes(on, NAMED["rank, parquet"], disk)
        try_sizes(on, NAMED["train"], disk, found=found)
    assert found.wrong == []
    assert found.total(outcome=OLD) > 1
    assert found.total(outcome=NEW) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_standard_output_onto_a_full_disk(on):
    on.begin({})
    for command in COMMANDS:
        if set(command.outputs.values()) != {FILE} or ".parquet" in command.new or "cutoff fit" in command.new:
            continue
        words = shlex.split(command.new)
        del words[words.index("--out") : words.index("--out") + 2]
        done = on.run(command, shlex.join(words), stdout="/dev/full")
        said = [line for line in done.err.splitlines() if not line.startswith("note: ")]
        assert (done.code, len(said)) == (2, 1), done.err
        assert said[0].startswith("<stdout>: cannot be written (No space left on device); make room")


# -- whether what must not be is noticed -------------------------------------------------------------------------------


def case(name, old, new):
    return Case(None, NAMED[name], old, new, [])


def state(made, tree):
    ((path, kind),) = list(made.command.outputs.items())[:1]
    return made.state(path, kind, tree)


def test_half_a_file_is_noticed():
    made = case("evaluate", {"out.txt": b"old"}, {"out.txt": b"new"})
    assert [state(made, {"out.txt": b"old"}), state(made, {"out.txt": b"new"})] == [OLD, NEW]
    assert state(made, {"out.txt": b"new", ".out.txt.1.part": b"ne"}) == NEW
    for wrong in ({"out.txt": b"ne"}, {}, {"out.txt": b"new", "other": b""}):
        with pytest.raises(Wrong):
            state(made, wrong)


def test_files_of_two_studies_are_noticed():
    old = {"study": None, "study/a.csv": b"1", "study/study.json": b"{}", "study/index.html": b"old"}
    new = {"study": None, "study/a.csv": b"2", "study/study.json": b"{ }", "study/index.html": b"new"}
    made = case("study", old, new)
    listed = json.dumps({"files": {"a.csv": "", "index.html": ""}, "former": {"a.csv": ""}}).encode()
    between = {"study": None, "study/study.json": listed, "study/a.csv": b"2"}
    assert [state(made, tree) for tree in (old, new, between)] == [OLD, NEW, BETWEEN]
    for changed in (
        {"study/index.html": b"new"},
        {"study/index.html": b"old"},
        {"study/a.csv": b"3"},
        {"study/b.csv": b"1"},
    ):
        with pytest.raises(Wrong):
            state(made, {**between, **changed})
    with pytest.raises(Wrong):
        state(made, {**old, "study/a.csv": b"2"})


def test_a_model_that_lost_a_file_is_noticed():
    def model(version, content):
        card = json.dumps({"version": version, "files": {"weights": "sum"}, "of": content.decode()}).encode()
        return {"model": None, "model/model.json": card, f"model/{version}": None, f"model/{version}/weights": content}

    made = case("train", model("version-1", b"old"), model("version-2", b"new"))
    assert [state(made, model("version-3", content)) for content in (b"old", b"new")] == [OLD, NEW]
    mixed = {**model("version-3", b"new"), "model/version-3/weights": b"old"}
    without = {path: content for path, content in model("version-3", b"new").items() if "weights" not in path}
    for tree in (mixed, without, {"model": None}):
        with pytest.raises(Wrong):
            state(made, tree)


def test_lost_trials_are_noticed():
    line = b'{"op_code":4,"value":1}\n'
    made = case("tune, kept trials", {"trials.log": line}, {"trials.log": 2 * line})
    assert state(made, {"trials.log": line + b'{"op_c'}) == OLD
    with pytest.raises(Wrong, match="lost"):
        state(made, {"trials.log": b""})


def test_the_tables_go_between_marks_of_their_own(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_between_marks(path, "new", BEGIN)
    assert path.read_text() == f"before\n{BEGIN}\n\nnew\n{END}\nafter\n"
