"""ranksift rank: features by their names and numbers, and models that are not whole."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.files import with_sum
from ranksift.learning.model_folder import CARD
from ranksift.learning.saved_model import CUTOFF, WEIGHTS
from tests.cli.conftest import Command

QUERIES, DOCS = 12, 6


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples as LETOR and as CSV; labels follow the first of three features."""
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("train", "test")):
        x = np.random.default_rng(seed).normal(size=(QUERIES * DOCS, 3)).round(3)
        groups = [f"{name}{i // DOCS}" for i in range(len(x))]
        labels = np.select([x[:, 0] < -0.5, x[:, 0] < 0.5], [-1, 0], 1)
        rs.Examples.from_arrays(x, labels, groups).save(folder / f"{name}.txt")
        rs.Examples.from_arrays(x, labels, groups, feature_names=["bm25", "age", "links"]).save(folder / f"{name}.csv")
    return folder


@pytest.fixture(scope="module")
def models(data: Path) -> dict[str, Path]:
    """Models of the LETOR file and of the table."""
    found = {}
    for suffix in ("txt", "csv"):
        model = rs.learning.CoordinateAscent(gains={-1: -10}, measure="nDCG_f@3").fit(data / f"train.{suffix}")
        model.fit_cutoff(data / f"train.{suffix}").save(data / f"model-{suffix}")
        found[suffix] = data / f"model-{suffix}"
    return found


def run_of(ranksift: Command, *arguments: object) -> tuple[dict[str, dict[str, float]], str]:
    done = ranksift("rank", *arguments)
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    return {q: {r[2]: float(r[4]) for r in rows if r[0] == q} for q in dict.fromkeys(r[0] for r in rows)}, done.err


def test_a_feature_that_no_line_of_a_letor_file_names_is_0(ranksift: Command, data: Path, models, tmp_path: Path):
    text = (data / "test.txt").read_text()
    (tmp_path / "zero.txt").write_text(re.sub(r" 3:\S+", " 3:0", text))
    (tmp_path / "sparse.txt").write_text(re.sub(r" 3:\S+", "", text))
    expected, _ = run_of(ranksift, models["txt"], tmp_path / "zero.txt")
    found, said = run_of(ranksift, models["txt"], tmp_path / "sparse.txt")
    assert found == expected
    assert said.splitlines()[0] == f"note: {tmp_path / 'sparse.txt'}: feature 3 occurs on no line, so it is 0"
    assert rs.load(models["txt"]).rank(tmp_path / "zero.txt").to_dict() == {q: expected.get(q, {}) for q in
        rs.read_examples(tmp_path / "zero.txt").query_ids}  # fmt: skip


def test_features_that_no_line_names_are_told_wherever_they_stand(
    ranksift: Command, data: Path, models, tmp_path: Path
):
    text = (data / "test.txt").read_text()
    (tmp_path / "first.txt").write_text(re.sub(r" 1:\S+", "", text))
    _, said = run_of(ranksift, models["txt"], tmp_path / "first.txt")
    assert said.splitlines()[0] == f"note: {tmp_path / 'first.txt'}: feature 1 occurs on no line, so it is 0"
    (tmp_path / "other.txt").write_text(re.sub(r" 1:(\S+) 2:(\S+) 3:", r" 4:\1 5:\2 6:", text))
    done = ranksift("rank", models["txt"], tmp_path / "other.txt")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"{tmp_path / 'other.txt'}: has none of the features that the model was fitted to, such as feature 1; "
        "give the features that the model was fitted to\n"
    )


def test_a_feature_that_training_has_not_seen_is_left_out(ranksift: Command, data: Path, models, tmp_path: Path):
    (tmp_path / "wide.txt").write_text(re.sub(r"( 3:\S+)", r"\1 4:9 5:9", (data / "test.txt").read_text()))
    found, said = run_of(ranksift, models["txt"], tmp_path / "wide.txt")
    assert found == run_of(ranksift, models["txt"], data / "test.txt")[0]
    assert "wide.txt: feature 4 (and 1 more) is unknown to the model, and left out\n" in said


def test_columns_of_a_table_may_stand_anywhere(ranksift: Command, data: Path, models, tmp_path: Path):
    import polars as pl

    table = pl.read_csv(data / "test.csv")
    table.select("links", "query_id", "bm25", pl.lit(7).alias("new"), "age", "doc_id").write_csv(tmp_path / "other.csv")
    assert run_of(ranksift, models["csv"], tmp_path / "other.csv")[0] == run_of(ranksift, models["csv"],
        data / "test.csv")[0]  # fmt: skip


def test_validation_of_train_is_read_as_the_training_examples_are(ranksift: Command, data: Path, tmp_path: Path):
    (tmp_path / "sparse.txt").write_text(re.sub(r" 3:\S+", "", (data / "test.txt").read_text()))
    done = ranksift("train", data / "train.txt", "--validation", tmp_path / "sparse.txt", "--model", "AdaRank",
                    "--out", tmp_path / "model")  # fmt: skip
    assert done.code == 0
    assert done.err == f"note: {tmp_path / 'sparse.txt'}: feature 3 occurs on no line, so it is 0\n"


FILES = {
    "renamed.csv": lambda csv, txt: csv.replace("age", "ages"),
    "semicolons.csv": lambda csv, txt: csv.replace(",", ";"),
    "word.csv": lambda csv, txt: csv.replace(csv.splitlines()[2].split(",")[4], "old", 1),
    "infinite.csv": lambda csv, txt: csv.replace(csv.splitlines()[2].split(",")[4], "inf", 1),
    "header.csv": lambda csv, txt: csv.splitlines()[0] + "\n",
    "empty.csv": lambda csv, txt: "",
    "empty.txt": lambda csv, txt: "",
    "infinite.txt": lambda csv, txt: re.sub(r" 2:\S+", " 2:inf", txt, count=1),
    "unlabelled.txt": lambda csv, txt: re.sub(r"(?m)^\S+ ", "NULL ", txt),
    "half.txt": lambda csv, txt: "\n".join(txt.splitlines()[: DOCS + 2]) + "\n",
    "rest.txt": lambda csv, txt: "\n".join(txt.splitlines()[DOCS + 2 :]) + "\n",
}


@pytest.fixture(scope="module")
def wrong(data: Path) -> Path:
    """Files that are wrong in one way each."""
    csv, txt = (data / "test.csv").read_text(), (data / "test.txt").read_text()
    for name, made in FILES.items():
        (data / name).write_text(made(csv, txt))
    return data


RANK = [
    ("model-csv renamed.csv", "renamed.csv:1: no column 'age'; it has 'query_id', 'doc_id', 'label', 'bm25', 'ages'"),
    ("model-csv test.txt", "test.txt: has numbers for features, and the model was fitted to names, such as 'bm25'"),
    ("model-txt test.csv", "test.csv:1: no column '1'; it has"),
    ("model-csv semicolons.csv", "semicolons.csv:1: one column only, 'query_id;doc_id;label;bm25;age;links': its"),
    ("model-csv word.csv", "word.csv:3: column 'age': value 'old' is not a number"),
    ("model-csv infinite.csv", "infinite.csv:3: column 'age': value 'inf' is not finite"),
    ("model-csv header.csv", "header.csv:1: no row in this table"),
    ("model-csv empty.csv", "empty.csv: the file is empty"),
    ("model-txt empty.txt", "empty.txt: the file is empty"),
    ("model-txt infinite.txt", "infinite.txt:1: value 'inf' is not finite"),
    ("model-txt half.txt rest.txt", "rest.txt: example 1: query 'test1' is also in 'half.txt'; put each query"),
    ("model-txt absent.txt", "absent.txt: no such file"),
    ("absent test.txt", "absent: is not a folder of a model; name what ranksift train wrote"),
    ("test.txt test.txt", "test.txt: is not a folder of a model"),
    (". test.txt", ".: has no model.json"),
    ("model-txt test.txt --out absent/test.run", "absent/test.run: cannot be written"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), RANK)
def test_what_rank_cannot_use_is_told_in_one_line(ranksift: Command, wrong, models, monkeypatch, arguments, says):
    monkeypatch.chdir(wrong)
    done = ranksift("rank", *arguments.split())
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert done.err.startswith(says)


TRAIN = [
    ("unlabelled.txt", "unlabelled.txt: no document has a label; give some: the first number of a LETOR line, or"),
    ("semicolons.csv", "semicolons.csv:1: one column only"),
    ("header.csv", "header.csv:1: no row in this table"),
    ("infinite.csv", "infinite.csv:3: column 'age': value 'inf' is not finite"),
    ("half.txt rest.txt", "rest.txt: example 1: query 'test1' is also in 'half.txt'"),
    ("train.csv --validation renamed.csv", "renamed.csv:1: no column 'age'"),
    ("train.csv --validation test.txt", "test.txt: has numbers for features"),
    ("train.txt --validation unlabelled.txt", "unlabelled.txt: no document has a label"),
    ("train.txt --set rounds=many", "rounds='many' is not a positive integer; write rounds=500, for example"),
    ("train.txt --set rounds=2.5", "rounds=2.5 is not a positive integer"),
    ("train.txt --set rounds=true", "rounds=True is not a positive integer"),
    ("train.txt --out train.csv", "train.csv: already exists, and is not a model; name another folder"),
    ("train.txt --out .", ".: already exists, and is not a model"),
    ("train.txt --out train.csv/model", "train.csv/model: cannot be written"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), TRAIN)
def test_what_train_cannot_use_is_told_in_one_line(ranksift: Command, wrong, monkeypatch, arguments, says):
    monkeypatch.chdir(wrong)
    before = set(wrong.rglob("*"))
    out = [] if "--out" in arguments else ["--out", "new"]
    done = ranksift("train", *arguments.split(), "--model", "AdaRank", *out)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert done.err.startswith(says)
    assert set(wrong.rglob("*")) == before


def test_a_folder_that_cannot_hold_a_model_is_refused_before_anything_is_read(ranksift: Command, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years")
    done = ranksift("train", tmp_path / "absent.txt", "--model", "AdaRank", "--out", tmp_path / "mine")
    assert done.err == f"{tmp_path / 'mine'}: already exists, and is not a model; name another folder\n"


@pytest.mark.parametrize("name", [CARD, WEIGHTS, CUTOFF])
@pytest.mark.parametrize("harm", ["remove", "empty", "other"])
def test_a_model_that_is_not_whole(ranksift: Command, data: Path, models, tmp_path: Path, name: str, harm: str):
    shutil.copytree(models["txt"], tmp_path / "model")
    (file,) = (tmp_path / "model").rglob(name)
    if harm == "remove":
        file.unlink()
    else:
        file.write_text("" if harm == "empty" else "something else")
    done = ranksift("rank", tmp_path / "model", data / "test.txt")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert done.err.startswith(f"{tmp_path / 'model'}")
    assert name in done.err


def test_a_cutoff_may_be_changed_by_hand(ranksift: Command, data: Path, models, tmp_path: Path):
    shutil.copytree(models["txt"], tmp_path / "model")
    (cutoff,) = (tmp_path / "model").rglob(CUTOFF)
    changed = re.sub(r'("threshold":) [^,]+,', r"\1 -1000,", cutoff.read_text())
    cutoff.write_text(changed)
    with pytest.raises(
        rs.InputError, match=r"was changed since it was saved; .* if you changed it on purpose, delete its line 'sum'"
    ):
        rs.load(tmp_path / "model")
    cutoff.write_text(re.sub(r',\s+"sum": "[0-9a-f]+"', "", changed))
    assert len(rs.load(tmp_path / "model").rank(data / "test.txt")) == QUERIES * DOCS


def test_stopping_goes_by_the_methods_own_measure_unless_another_is_named(
    ranksift: Command, data: Path, tmp_path: Path
):
    for measure, asked in (("nDCG_f@10", []), ("nDCG_f@3", ["-m", "nDCG_f@3"])):
        done = ranksift("train", data / "train.txt", "--model", "LambdaMARTf", *asked, "--out", tmp_path / "model")
        assert done.code == 0
        assert done.out.splitlines()[1].split() == ["queries", "documents", measure, "dropped"]
        assert str(rs.load(tmp_path / "model").measure) == measure
    done = ranksift("train", data / "train.txt", "--validation", data / "test.txt", "--model", "AdaRank",
                    "--cutoff", "global", "--out", tmp_path / "model")  # fmt: skip
    assert rs.load(tmp_path / "model").cutoff_.to_dict()["parameters"]["measure"] == "nDCG_f@10"
    assert done.code == 0


def test_what_is_ranked_is_not_overwritten(ranksift: Command, data: Path, models, tmp_path: Path):
    shutil.copy(data / "test.txt", tmp_path / "test.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "test.txt")
    for name in ("test.txt", "link.txt"):
        done = ranksift("rank", models["txt"], tmp_path / "test.txt", "--out", tmp_path / name)
        what = "is an input of this command; write the run to another file"
        assert (done.code, done.err) == (2, f"{tmp_path / name}: {what}\n")
    assert (tmp_path / "test.txt").read_bytes() == (data / "test.txt").read_bytes()


def test_a_run_is_not_written_into_the_model(ranksift: Command, data: Path, models):
    files = [path for path in models["txt"].rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    for path in (*files, models["txt"] / "new.run", models["txt"] / "new" / "new.run"):
        done = ranksift("rank", models["txt"], data / "test.txt", "--out", path)
        assert done.code == 2
        assert done.err == f"{path}: is in the folder of the model; write the run elsewhere\n"
    assert {path: path.read_bytes() for path in models["txt"].rglob("*") if path.is_file()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["rank", "measures", "--version", "--help"])
def test_a_full_disk_is_told(data: Path, models, command, unbuffered):
    words = [command, *([str(models["txt"]), str(data / "test.txt")] if command == "rank" else [])]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ranksift", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "no space left on" in done.stderr.lower()


@pytest.mark.parametrize(
    ("file", "old", "new", "fault"),
    [
        (CUTOFF, r'"threshold": [^,\n]+', '"threshold": "abc"', "is damaged (threshold is 'abc', and not a number)"),
        (
            CARD,
            r'"scaling": null',
            '"scaling": 3',
            "is damaged (scaling=3 is unknown; use 'none', 'standard' or 'query', or None)",
        ),
    ],
)
def test_a_file_that_was_edited_into_nonsense_is_named(
    ranksift: Command, data, models, tmp_path, file, old, new, fault
):
    shutil.copytree(models["txt"], tmp_path / "model")
    (edited,) = (tmp_path / "model").rglob(file)
    text, changed = re.subn(old, new, edited.read_text())
    assert changed == 1
    edited.write_text(json.dumps(with_sum(json.loads(text))))
    done = ranksift("rank", tmp_path / "model", data / "test.txt")
    assert done.code == 2
    assert done.err.startswith(f"{edited}: {fault}")


def test_nothing_to_filter_is_told(ranksift: Command, data: Path, tmp_path: Path):
    (tmp_path / "good.txt").write_text(re.sub(r"(?m)^-1 ", "0 ", (data / "train.txt").read_text()))
    done = ranksift("train", tmp_path / "good.txt", "--model", "LambdaMARTf", "--gains=-1=-10", "--set", "trees=5",
                    "--out", tmp_path / "model")  # fmt: skip
    assert done.code == 0
    assert "good.txt: gains name the label -1, which no judged document has" in done.err
    assert "good.txt: no gain is negative, so there is nothing to filter; LambdaMARTf may still drop good" in done.err
    assert 'if 0 means "must not be shown", use --gains="0=-1"' in done.err


def test_odd_data_is_told(ranksift: Command, data: Path, tmp_path: Path):
    (tmp_path / "same.txt").write_text(re.sub(r"(?m)^\S+ ", "0 ", (data / "train.txt").read_text()))
    done = ranksift("train", tmp_path / "same.txt", "--model", "AdaRank", "--out", tmp_path / "model")
    assert (done.code, done.err) == (
        0,
        f"note: {tmp_path / 'same.txt'}: every label is 0, so there is nothing to learn\n",
    )
    done = ranksift("train", data / "train.txt", "--validation", data / "train.txt", "--model", "AdaRank",
                    "--out", tmp_path / "model")  # fmt: skip
    assert "12 of 12 queries have the id of a training query" in done.err
    done = ranksift("train", data / "train.txt", "--validation", tmp_path / "same.txt", "--model", "AdaRank",
                    "--out", tmp_path / "model")  # fmt: skip
    assert f"{tmp_path / 'same.txt'}: every label is 0, so training cannot decide when to stop" in done.err


WITHOUT = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from ranksift.cli.main import main
main({arguments!r})
"""


@pytest.mark.parametrize(
    ("model", "missing", "says"),
    [
        ("LambdaMARTf", ["lightgbm"], "LambdaMARTf needs LightGBM; pip install 'ranksift[trees]', or"),
        ("ListNet", ["torch"], "ListNet needs PyTorch; pip install 'ranksift[learn]', or"),
        (
            "L2LogisticRegression",
            ["sklearn"],
            "L2LogisticRegression needs scikit-learn; pip install 'ranksift[learn]', or",
        ),
        ("AdaRank", ["safetensors"], "saving a model needs safetensors; pip install 'ranksift[trees]', or"),
        ("AdaRank", ["lightgbm", "torch", "sklearn", "optuna"], ""),
        ("LambdaMART", ["torch", "sklearn", "optuna"], ""),
    ],
)
def test_a_method_asks_for_its_own_library_only(data: Path, tmp_path: Path, model, missing, says):
    arguments = ["train", str(data / "train.txt"), "--model", model, "--out", str(tmp_path / "model")]
    program = WITHOUT.format(missing=missing, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == (2 if says else 0)
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == bool(says)
    assert (tmp_path / "model").exists() == (not says)
