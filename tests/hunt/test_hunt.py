"""A slice of the hunt with every run of the tests; and whether the hunt would notice what it looks for."""

import copy
import json
import random
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from ranksift.cutoffs.rules import known_rules
from tests.hunt.damage import VALUES, damaged_json
from tests.hunt.formats import FORMATS, MODELS, NEW, ORDER, case_of
from tests.hunt.parent import FAILURES, ROOT, hunt, keep_failures
from tests.hunt.table import BEGIN, END, page, write_between_marks
from tests.hunt.worker import judged, put

CASES = 60 * len(ORDER)
TREC = [n for n in range(200) if ORDER[n % len(ORDER)] == "trec"]


LEARNED = ("cutoff", "card")


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param([kind for kind in FORMATS if kind not in LEARNED], id="collections, examples, scores and trees"),
        pytest.param(LEARNED, id="cutoffs and cards"),
    ],
)
def test_no_damaged_file_crashes_hangs_or_misleads_ranksift(kinds):
    numbers = [n for n in range(CASES) if ORDER[n % len(ORDER)] in kinds]
    found = hunt(["ranksift"], numbers)
    assert found.failures == []
    assert sum(found.counts.values()) == len(numbers)
    for kind in kinds:  # a format of which nothing is read, or nothing refused, is not tried at all
        assert found.total("ranksift", "right", kind), kind
        assert found.total("ranksift", "refused", kind), kind
    assert found.total("ranksift", "unjudged") < len(numbers) / 10


def test_every_kind_of_file_is_among_them():
    seen: dict[str, set[str]] = {kind: set() for kind in FORMATS}
    for n in range(CASES):
        case = case_of(0, n)
        seen[case.format] |= {suffix for name in case.files for suffix in Path(name).suffixes}
        if case.format == "cutoff":
            seen["cutoff"].add(json.loads(case.genuine["cutoff.json"])["rule"])
        if case.format == "card":
            seen["card"].add(next(iter(case.files)).partition("/")[0])
    for kind in FORMATS:
        if kind.endswith("-packed") or kind in ("letor", "scores"):
            assert seen[kind] >= {".gz", ".zst"}, kind
    assert seen["scores"] >= {".csv", ".tsv"}
    assert seen["cutoff"] == {".json", *known_rules()}
    assert seen["card"] >= {*MODELS, NEW}


def test_a_value_that_is_a_little_off_is_noticed_in_every_format():
    first: dict[str, list[int]] = {kind: [] for kind in FORMATS}  # cases of each that the plain reader can read
    for n in range(CASES):
        some = first[ORDER[n % len(ORDER)]]
        if len(some) < 10 and isinstance(judged(case_of(0, n), "ranksift")[0], dict | list):
            some.append(n)
    found = hunt(["tests.hunt.misbehaving:is_a_little_off"], sorted(chain(*first.values())))
    assert {(f["format"], f["outcome"]) for f in found.failures} == {(kind, "different") for kind in FORMATS}


@pytest.mark.parametrize(
    ("fault", "outcome", "number"),
    [
        ("crashes", "crash", TREC[0]),
        ("hangs", "hang", TREC[0]),
        ("raises", "exception", TREC[0]),
        ("says_two_lines", "exception", TREC[0]),
        ("names_no_file", "exception", TREC[0]),
    ],
)
def test_a_faulty_reader_is_named_with_its_case(tmp_path, fault, outcome, number):
    others = [n for n in range(number, number + 8) if ORDER[n % len(ORDER)] in ("csv", "jsonl", "tsv")]
    others = [] if fault == "hangs" else others  # so that nothing is taken for a hang that is only slow
    subject = f"tests.hunt.misbehaving:{fault}"
    found = hunt([subject], [number, *others], patience=1.0 if fault == "hangs" else 60.0)
    assert [(f["outcome"], f["case"], f["format"]) for f in found.failures] == [(outcome, number, "trec")]
    assert sum(found.counts.values()) == 1 + len(others)  # it goes on behind the fault
    keep_failures(found, 0, tmp_path)
    (place,) = tmp_path.iterdir()
    command = (place / "repeat.txt").read_text().splitlines()[0]
    assert command == f"python -m tests.hunt --seed 0 --only {number} --subjects {subject}"
    assert {p.name for p in place.iterdir()} == {"repeat.txt", *case_of(0, number).files}


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("chatters", "noise"),
        ("differs", "different"),
        ("answers_everything", "different"),
        ("refuses_everything", "exception"),  # genuine files are among them
    ],
)
def test_what_is_wrong_only_now_and_then_is_noticed(fault, outcome):
    found = hunt([f"tests.hunt.misbehaving:{fault}"], TREC)
    assert {failure["outcome"] for failure in found.failures} == {outcome}


def test_the_files_of_a_case_are_the_same_wherever_it_is_made(tmp_path):
    here = {n: case_of(3, n).files for n in range(len(ORDER))}
    for n, files in here.items():
        put(files, tmp_path / str(n))
    code = (
        "import sys; from pathlib import Path; from tests.hunt.formats import ORDER, case_of\n"
        "for n in reversed(range(len(ORDER))):\n"
        "    for name, data in case_of(3, n).files.items():\n"
        "        assert (Path(sys.argv[1]) / str(n) / name).read_bytes() == data, (n, name)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code, tmp_path], cwd=ROOT, check=True)
    assert case_of(4, 0).files != here[0]


def test_damage_leaves_nothing_behind():
    before = copy.deepcopy(VALUES[-15:])  # beyond NaN, which is not equal to itself
    for n in range(2000):
        damaged_json(random.Random(n), b'{"a": {"b": [1, 2]}, "c": 3}')
    assert VALUES[-15:] == before


def test_the_command_repeats_a_case_and_writes_what_it_counted(tmp_path):
    command = (
        f"{sys.executable} -m tests.hunt --only {TREC[0]} --subjects tests.hunt.misbehaving:raises --out {tmp_path}"
    )
    done = subprocess.run(shlex.split(command), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "exception (trec): KeyError: 'label'" in done.stdout
    (failure,) = json.loads((tmp_path / "found.json").read_text())["failures"]
    assert failure["repeat"].startswith(f"python -m tests.hunt --seed 0 --only {TREC[0]}")


def test_other_tools_get_the_same_files():
    subjects = ["ranksift", "trec_eval", "pytrec_eval", "ir_measures"]
    found = hunt(subjects, TREC)
    for subject in subjects:
        assert sum(found.total(subject, outcome, "trec") for outcome in ("right", "refused")) > len(TREC) / 2
        assert sum(n for (who, _, _), n in found.counts.items() if who == subject) == len(TREC)
    assert not [f for f in found.failures if f["subject"] == "ranksift"]


def test_the_tables_go_between_the_marks(tmp_path):
    found = hunt(["ranksift"], range(len(ORDER)))
    text = page(found, "a command", len(ORDER))
    assert all(form.label in text for form in FORMATS.values())
    (tmp_path / "page.md").write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_between_marks(tmp_path / "page.md", text)
    written = (tmp_path / "page.md").read_text()
    assert written == f"before\n{BEGIN}\n\n{text}\n{END}\nafter\n"
    write_between_marks(tmp_path / "page.md", text)
    assert (tmp_path / "page.md").read_text() == written


def test_failures_are_what_the_table_calls_failures():
    found = hunt(["ranksift"], range(1))
    assert not set(FAILURES) & {outcome for _, _, outcome in found.counts}
