"""ranksift split: three files of what was one; and training where some rows are bad."""

import json

import pytest

import ranksift as rs
from ranksift.datasets import synthetic_forum


@pytest.fixture(scope="module")
def forum(tmp_path_factory):
    """A forum of 50 threads in five boards, with words as labels."""
    examples = synthetic_forum(50, seed=1).examples
    words = {-1.0: "bad", 1.0: "useful", 2.0: "good"}
    path = tmp_path_factory.mktemp("forum") / "forum.v1.jsonl"
    with path.open("w") as file:
        for row in examples.to_frame().iter_rows(named=True):
            board = f"board {int(row['query_id'][1:]) % 10}"
            file.write(
                json.dumps({**row, "label": words[float(row["label"])], "board": board, "length": len(row["doc"])})
                + "\n"
            )
    return path


WORDS = ("--labels", "good=2, useful=1, bad=-1")


def test_three_files(ranksift, forum, tmp_path):
    done = ranksift("split", forum, "--out", tmp_path / "new" / "parts", *WORDS)
    assert (done.code, done.out) == (0, "")
    files = [tmp_path / "new" / "parts" / f"{name}.jsonl" for name in ("train", "validation", "test")]
    parts = [rs.read_examples(file) for file in files]
    assert [len(part.query_ids) for part in parts] == [32, 8, 10]
    assert f"{files[0]}: 32 queries, {len(parts[0])} documents; {files[1]}: 8 queries" in done.err
    whole = synthetic_forum(50, seed=1).examples
    assert sum(map(len, parts)) == len(whole)
    said = {(q, d): text for q, d, text in whole.to_frame().select("query_id", "doc_id", "doc").iter_rows()}
    for part in parts:
        assert part.feature_names == ("length",)
        assert part.texts.known() == ("position", "author", "time", "parent", "asker")
        for query, doc, text in part.to_frame().select("query_id", "doc_id", "doc").iter_rows():
            assert said[query, doc] == text


def test_groups_and_seeds(ranksift, forum, tmp_path):
    found = []
    for seed in (1, 1, 2):
        assert ranksift("split", forum, "-o", tmp_path, "--by", "board", "--seed", seed, *WORDS).code == 0
        found.append(
            [rs.read_examples(tmp_path / f"{name}.jsonl").query_ids for name in ("train", "validation", "test")]
        )
    assert found[0] == found[1] != found[2]
    boards = [{int(query[1:]) % 10 for query in part} for part in found[0]]
    assert sum(map(len, boards)) == 10


@pytest.mark.parametrize(
    ("name", "made"), [("a.csv.gz", "train.csv.gz"), ("a.letor", "train.txt"), ("a.pq", "train.pq")]
)
def test_the_format_stays(ranksift, tmp_path, name, made):
    rs.Examples.from_arrays([[1.0]] * 30, [1, 0] * 15, range(30)).save(tmp_path / name)
    assert ranksift("split", tmp_path / name, "-o", tmp_path / "parts", "--shares", "0.5/0.25/0.25").code == 0
    assert len(rs.read_examples(tmp_path / "parts" / made).query_ids) == 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            (),
            "label 'useful' is not a number; write a number or nothing, or give each word a label: --labels=",
        ),
        (("--labels", "good"), "--labels 'good' is not a list of WORD=NUMBER; write it as --labels good=2,bad=-1"),
        (("--labels", "good=x"), "--labels 'x': not a number"),
        (("--labels", "good=2,good=1"), "is not a list of WORD=NUMBER"),
        (("--labels", "good=2"), "no label for the word"),
        ((*WORDS, "--shares", "64 16 20"), "shares of 64 / 16 / 20; give three that sum to 1"),
        ((*WORDS, "--shares", "most"), "--shares 'most': not a number"),
        ((*WORDS, "--by", "forum"), "no column 'forum'; it has "),
        ((*WORDS, "--by", "doc"), "column 'doc': query 'q1' had "),
    ],
)
def test_errors(ranksift, forum, tmp_path, options, message):
    done = ranksift("split", forum, "--out", tmp_path / "parts", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err.splitlines()[-1]
    assert not (tmp_path / "parts").exists()


def test_what_is_split_is_not_overwritten(ranksift, tmp_path):
    rs.Examples.from_arrays([[1.0]] * 30, [1, 0] * 15, range(30)).save(tmp_path / "test.csv")
    before = (tmp_path / "test.csv").read_bytes()
    done = ranksift("split", tmp_path / "test.csv", "-o", tmp_path)
    assert done.code == 2
    assert "would be overwritten by one of its parts; name another folder: --out DIR" in done.err
    assert (tmp_path / "test.csv").read_bytes() == before
    (tmp_path / "file").write_text("")
    assert ranksift("split", tmp_path / "test.csv", "-o", tmp_path / "file").code == 2


def test_bad_rows_stop_training_unless_they_are_skipped(ranksift, forum, tmp_path):
    lines = forum.read_text().splitlines()
    lines[3] = lines[3][:30]
    lines[7] = json.dumps({**json.loads(lines[7]), "doc": ""})
    path = tmp_path / "damaged.jsonl"
    path.write_text("\n".join(lines))
    train = ("train", path, "--model", "L2LogisticRegression", "--out", tmp_path / "model", *WORDS)
    done = ranksift(*train)
    assert done.code == 2
    assert f"{path}:4: not JSON" in done.err
    assert not (tmp_path / "model").exists()
    done = ranksift(*train, "--skip-bad-rows")
    assert done.code == 0, done.err
    assert f"note: {path}: 2 bad rows of {len(lines)} are left out: line 4: not JSON" in done.err
    assert "line 8: the text of the document is empty" in done.err
    assert rs.load(tmp_path / "model").feature_names_ == ("length",)
    done = ranksift("split", path, "-o", tmp_path / "parts", *WORDS, "--skip-bad-rows")
    assert "2 bad rows" in done.err
    parts = [rs.read_examples(tmp_path / "parts" / f"{name}.jsonl") for name in ("train", "validation", "test")]
    assert sum(map(len, parts)) == len(lines) - 2
