"""A study as files: whole, the same each time, and never over a user's own."""

import csv
import hashlib
import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from ranksift import InputError, Scores, read_scores, study
from ranksift.datasets.synthetic import synthetic_collection
from ranksift.report.study import write_study
from ranksift.report.study_folder import MANIFEST, PAGE


@pytest.fixture(scope="module")
def survey():
    qrels, runs = synthetic_collection(queries=24, seed=5)
    return study.survey(qrels=qrels, runs=runs, measures="nDCG_org@5 nDCG_f@5 RR_qwa", gains="-2=-10")


@pytest.fixture(scope="module")
def folder(survey, tmp_path_factory):
    out = tmp_path_factory.mktemp("study") / "deep" / "er"
    write_study(survey, out, title="A <title>", command="ranksift study a b --out DIR")
    return out


@pytest.fixture(scope="module")
def small(survey):
    return study.survey(survey.scores, only=["agreement"])


class Reader(HTMLParser):
    """Sees that elements are closed in order, and collects what the page refers to."""

    VOID = ("meta", "img", "br", "hr", "input", "link")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.refers: list[str] = []
        self.words: list[str] = []
        self.images = 0

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.images += tag == "img"
        self.refers += [
            value for name, value in attrs if name in ("href", "src") and not value.startswith(("data:", "#"))
        ]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def page(folder):
    reader = Reader()
    reader.feed((folder / PAGE).read_text("utf-8"))
    assert not reader.open
    return reader


def test_the_page_is_whole_and_fetches_nothing(folder, page):
    assert page.refers
    assert all((folder / name).is_file() for name in page.refers)
    text = (folder / PAGE).read_text("utf-8")
    assert "http" not in text.replace("http://www.w3.org", "")
    assert "<script" not in text


def test_it_begins_with_the_scores_of_the_runs_the_best_first(survey, folder):
    before = (folder / PAGE).read_text("utf-8").partition("<nav>")[0]
    first = survey.scores.aggregate()[:, 0]
    order = [survey.scores.runs[r] for r in np.argsort(-first, kind="stable")]
    assert re.findall(r"<tr><td>(.*?)</td>", before) == order
    assert f"{first.max():.4f}" in before


def test_of_many_runs_it_shows_the_first(tmp_path):
    values = np.random.default_rng(0).random((30, 6, 1))
    scores = Scores.from_array(values, runs=[f"r{i}" for i in range(30)], queries="abcdef", measures=["AP"])
    write_study(study.survey(scores, only=["discrimination"]), tmp_path)
    before = (tmp_path / PAGE).read_text("utf-8").partition("<nav>")[0]
    assert before.count("<tr><td>") == 20
    assert "and 10 more rows" in before


def test_every_table_and_figure_is_on_it_and_beside_it(survey, folder, page):
    words = "".join(page.words)
    for part in survey.parts:
        assert part.result.table().title in words
        assert all(sentence in words for sentence in part.result.reading())
        assert (folder / f"{part.name}.csv").is_file()
        assert (folder / f"{part.name}.tex").is_file()
    assert page.images == sum(len(part.result.pictures()) for part in survey.parts)
    assert len(list(folder.glob("*.svg"))) == len(list(folder.glob("*.pdf"))) == page.images


def test_headings_are_the_names_of_measures(page):
    words = page.words
    assert "nDCG_f@5" in words
    assert not any(word.startswith("NDCG") for word in words)
    assert "By nDCG_org@5" not in words  # it has no expectation
    assert any(word.startswith("By ") for word in words)


def test_names_from_outside_do_no_harm(tmp_path):
    measures = ["<script>x</script>", r"$\frac$", "a$b$c", "%_{}^&#~\\", "two\nlines", "_hidden", "x" * 300, "../up"]
    draw = np.random.default_rng(0)
    scores = Scores.from_array(
        draw.random((3, 8, len(measures))), runs=["_r", "$", "<i>"], queries=[f"q{i}" for i in range(8)],
        measures=measures,
    )  # fmt: skip
    write_study(study.survey(scores), tmp_path)
    text = (tmp_path / PAGE).read_text("utf-8")
    assert "<script" not in text
    assert "<i>" not in text
    assert "<td>&lt;i&gt;</td>" in text
    drawn = "".join(path.read_text("utf-8") for path in tmp_path.glob("*.svg"))
    for name in ("&lt;script&gt;x&lt;/script&gt;", r"$\frac$", "a$b$c", "_hidden", "two lines"):
        assert name in drawn
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))


def test_long_tables_are_cut_on_the_page_and_nowhere_else(tmp_path):
    measures = [f"m{i}" for i in range(16)]
    draw = np.random.default_rng(0)
    names = {"runs": list("abc"), "queries": list("pqrst"), "measures": measures}
    scores = Scores.from_array(draw.random((3, 5, 16)), **names)
    write_study(study.survey(scores, only=["agreement"]), tmp_path)
    assert "and 20 more rows" in (tmp_path / PAGE).read_text("utf-8")
    assert len((tmp_path / "agreement.csv").read_text().splitlines()) == 121


def test_it_says_how_it_was_made(page):
    words = "".join(page.words)
    assert "A <title>" in words
    assert "ranksift study a b --out DIR" in words
    assert "seed: 0" in words
    assert "matplotlib" in words
    assert "gains: -2=-10" in words


def test_tables_can_be_read_again(survey, folder):
    rows = list(csv.DictReader((folder / "reliability.csv").open()))
    assert {row["measure"]: float(row["phi"]) for row in rows} == survey.of("reliability").phi
    again = study.survey(read_scores(folder / "scores.csv"), only=["reliability"])
    assert again.of("reliability").phi == survey.of("reliability").phi


def test_same_study_same_bytes(survey, folder, tmp_path):
    write_study(survey, tmp_path, title="A <title>", command="ranksift study a b --out DIR")
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in tmp_path.iterdir())
    assert [n for n in names if (folder / n).read_bytes() != (tmp_path / n).read_bytes()] == []
    assert sorted([*json.loads((folder / MANIFEST).read_text())["files"], MANIFEST]) == names


def test_a_former_study_is_replaced_and_a_users_file_is_not(small, tmp_path):
    write_study(small, tmp_path)
    write_study(small, tmp_path, title="Anew")
    assert "Anew" in (tmp_path / PAGE).read_text()
    (tmp_path / MANIFEST).unlink()
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match="already exists, and no study wrote it"):
        write_study(small, tmp_path, title="Never")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_nothing_of_a_former_study_is_left_over(survey, folder, small, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "notes.txt").write_text("mine")
    write_study(small, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {*json.loads((tmp_path / MANIFEST).read_text())["files"], MANIFEST, "notes.txt"}
    write_study(study.survey(survey.scores, only=["agreement", "reliability"]), tmp_path)
    assert (tmp_path / "reliability.csv").is_file()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def former(small, tmp_path):
    """A study in a folder that has a file of somebody else."""
    (tmp_path / "notes.txt").write_text("mine")
    write_study(small, tmp_path, title="Former")
    return tmp_path


def refused(survey, folder, fault):
    before = contents(folder)
    with pytest.raises(InputError, match=fault):
        write_study(survey, folder, title="Never")
    assert contents(folder) == before


@pytest.mark.parametrize("named", ["notes.txt", "../mine.txt", "sub/mine.txt"])
def test_a_list_that_was_changed_by_hand_is_not_believed(small, former, named):
    listed = json.loads((former / MANIFEST).read_text())
    listed["files"][named] = hashlib.sha256(b"mine").hexdigest()
    (former / MANIFEST).write_text(json.dumps(listed))
    refused(small, former, f"{MANIFEST}: was changed since a study wrote it; move it away")


@pytest.mark.parametrize("named", [["notes.txt", PAGE, MANIFEST], ["../mine.txt", "sub", "..", "", 1, None]])
def test_of_a_list_without_sums_nothing_is_removed_or_replaced(small, former, named):
    (former / MANIFEST).write_text(json.dumps({"ranksift": "0.4", "files": named}))
    refused(small, former, f"{MANIFEST}: is of an earlier version, which kept no sums of its files; remove that study")


@pytest.mark.parametrize(
    "text", ["mine", "[]", "{}", '{"files": 1}', '{"files": {"notes.txt": 1}}', "[" * 100_000, "\ud800", "1"]
)
def test_a_list_that_is_none(small, former, text):
    (former / MANIFEST).write_bytes(text.encode("utf-8", "backslashreplace"))
    refused(small, former, f"{MANIFEST}: (already exists, and no study|was changed since a study) wrote it")


@pytest.mark.parametrize("name", [PAGE, "agreement.csv", "scores.csv"])
def test_a_file_that_was_changed_since_is_kept(survey, small, former, name):
    with (former / name).open("a") as file:
        file.write("my own remarks")
    refused(small, former, f"{name}: was changed since a study wrote it; move it away, or name another folder")
    (former / name).rename(former / "mine")
    write_study(study.survey(survey.scores, only=["reliability"]), former)
    assert "my own remarks" in (former / "mine").read_text()
    assert not (former / "agreement.csv").exists()


def test_a_link_or_folder_in_the_place_of_a_file_is_kept(small, former):
    (former / "agreement.csv").rename(former / "mine.csv")
    (former / "agreement.csv").symlink_to("mine.csv")
    refused(small, former, "agreement.csv: already exists, and no study wrote it")
    (former / "agreement.csv").unlink()
    (former / "agreement.csv").mkdir()
    refused(small, former, "agreement.csv: already exists, and no study wrote it")


def test_permissions_stay_and_lost_files_are_made_again(small, former):
    (former / "scores.csv").unlink()
    (former / PAGE).chmod(0o640)
    write_study(small, former)
    assert (former / "scores.csv").is_file()
    assert (former / PAGE).stat().st_mode & 0o777 == 0o640


def test_names_of_any_length_in_any_script(small, tmp_path):
    part = replace(small.parts[0], word="文" * 100)
    files = write_study(replace(small, parts=(part, replace(part, word="文" * 99 + "書"))), tmp_path)
    assert len(set(files)) == len(files)
    assert all(path.is_file() for path in files)


def test_parts_of_like_names_have_files_of_their_own(small, tmp_path):
    part = small.parts[0]
    twins = (replace(part, word="f(-2)"), replace(part, word="f(2)"), replace(part, word="x" * 300))
    files = [path.name for path in write_study(replace(small, parts=twins), tmp_path)]
    assert len(set(files)) == len(files)
    assert {"agreement-f-2.csv", "agreement-f-2-2.csv", "agreement-f-2-tau-2.svg"} <= set(files)
    reader = Reader()
    reader.feed((tmp_path / PAGE).read_text("utf-8"))
    assert set(reader.refers) == set(files) - {MANIFEST, PAGE}


def test_a_command_that_is_no_text(small, tmp_path):
    write_study(small, tmp_path, command="ranksift study caf\udce9.txt")
    assert "caf\\udce9.txt" in (tmp_path / PAGE).read_text("utf-8")


def test_a_file_where_the_folder_should_be(small, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="study: cannot be made"):
        write_study(small, tmp_path / "out" / "study")
    with pytest.raises(InputError, match="out: is not a folder"):
        write_study(small, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
    with pytest.raises(InputError, match="cannot be made"):
        write_study(small, tmp_path / ("x" * 300))


def test_two_collections_stand_side_by_side(tmp_path):
    names = {"runs": list("abc"), "measures": ["AP", "RR"]}
    draw = np.random.default_rng(0)
    one, two = (
        Scores.from_array(draw.random((3, n, 2)), queries=[f"q{i}" for i in range(n)], **names) for n in (12, 8)
    )
    found = study.survey(one, only=["reliability", "agreement"], against=two, names=("web 2012", "web 2013"))
    write_study(found, tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert {
        "web-2012-scores.csv",
        "web-2013-scores.csv",
        "web-2012-reliability.csv",
        "web-2013-agreement-ranks.csv",
    } <= files
    assert {"overview.csv", "consistency.csv", PAGE} <= files
    text = (tmp_path / PAGE).read_text("utf-8")
    assert text.count("<h3>On web 2012</h3>") == text.count("<h3>On web 2013</h3>") == 2  # in either section
    assert "<h3>The orders on web 2012 and on web 2013</h3>" in text
    assert "web 2012 (3 runs, 12 topics) and web 2013 (3 runs, 8 topics)" in text
    assert "The study of web 2013:" in text
    rows = list(csv.DictReader((tmp_path / "overview.csv").open()))
    assert [(row["measure"], row["on"]) for row in rows] == [
        (m, w) for m in ("AP", "RR") for w in ("web 2012", "web 2013")
    ]
