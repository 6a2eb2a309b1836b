"""ranksift train and rank: from labelled examples to a model, and from a model to a run."""

import json
import re

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.reviews import product_reviews
from ranksift.learning.methods import known_rankers, meanings_of, summary_of
from tests.cli.conftest import Command


@pytest.fixture
def letor(tmp_path):
    """Training, validation and test files whose labels follow a feature; -1 is forbidden."""

    def written(name: str, seed: int, features: int = 3):
        draw = np.random.default_rng(seed)
        x = draw.normal(size=(90, features))
        labels = np.select([x[:, 0] < -0.5, x[:, 0] < 0.5], [-1, 0], 1)
        lines = [
            f"{label} qid:{seed}{i // 6:02d} "
            + " ".join(f"{j}:{v:.5f}" for j, v in enumerate(row, 1))
            + f" #docid = d{i}"
            for i, (label, row) in enumerate(zip(labels, x, strict=True))
        ]
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return {name: written(f"{name}.txt", seed) for seed, name in enumerate(("train", "vali", "test"), 1)} | {
        "narrow": written("narrow.txt", 4, 2)
    }


def test_train_and_rank(ranksift: Command, letor, tmp_path):
    model = tmp_path / "model"
    done = ranksift(
        "train",
        letor["train"],
        "--validation",
        letor["vali"],
        "--model",
        "ListNet",
        "--out",
        model,
        "--set",
        "epochs=300",
    )
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[3:5]] == ["training", "validation"]
    assert json.loads((model / "model.json").read_text())["parameters"]["epochs"] == 300
    done = ranksift("rank", model, letor["test"], "--out", tmp_path / "test.run")
    assert done.code == 0
    examples = rs.read_examples(letor["test"])
    assert rs.read_run(tmp_path / "test.run").to_dict() == rs.load(model).rank(examples).to_dict()
    value = rs.evaluate(examples.qrels(), tmp_path / "test.run", "nDCG@5").mean_of("nDCG@5")
    best = rs.evaluate(examples.qrels(), examples.run(examples.labels), "nDCG@5").mean_of("nDCG@5")
    assert value > 0.9 * best
    assert ranksift("rank", model, letor["test"]).out == (tmp_path / "test.run").read_text()


def test_a_cutoff_goes_with_the_model(ranksift: Command, letor, tmp_path):
    model = tmp_path / "model"
    command = [
        "train",
        letor["train"],
        "--model",
        "l2-logistic-regression",
        "--gains=-1=-10",
        "-m",
        "nDCG_f@3",
        "--cutoff",
        "global",
    ]
    done = ranksift(*command, "--validation", letor["vali"], "--out", model)
    assert done.code == 0
    done = ranksift("rank", model, letor["test"], "--out", tmp_path / "short.run")
    assert "documents dropped by the model's cutoff, global" in done.err
    assert 0 < len(rs.read_run(tmp_path / "short.run")) < 90
    assert ranksift("rank", model, letor["test"], "--keep-all", "--out", tmp_path / "full.run").err == ""
    assert len(rs.read_run(tmp_path / "full.run")) == 90
    assert "too optimistic" in ranksift(*command, "--out", tmp_path / "other").err


def test_cross_validation(ranksift: Command, letor):
    done = ranksift("train", letor["train"], letor["vali"], "--model", "L2LogisticRegression", "--folds", 3)
    assert done.code == 0
    assert "3 folds, 30 queries" in done.out


def test_methods_and_their_parameters_are_listed(ranksift: Command):
    done = ranksift("train", "--list")
    assert done.code == 0
    assert {line.split()[0] for line in done.out.splitlines()[2:-1]} == set(known_rankers())
    done = ranksift("train", "--list", "--model", "FocusedNet")
    row = next(line for line in done.out.splitlines() if line.startswith("beta "))
    assert re.split(r"\s{2,}", row) == [
        "beta", "0.5", "a number from 0 to 1", "β, the weight of ListNet; RankNet has 1 − β."
    ]  # fmt: skip


@pytest.mark.parametrize("name", known_rankers())
def test_every_parameter_has_a_meaning(name: str):
    kind = known_rankers()[name]
    assert summary_of(kind).endswith(".")
    meanings = meanings_of(kind)
    assert [parameter for parameter, meaning in meanings.items() if not meaning.endswith((".", "…"))] == []
    assert not [meaning for meaning in (summary_of(kind), *meanings.values()) if "``" in meaning or ":`" in meaning]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["train", "{train}", "--out", "m"], "no method is named"),
        (["train", "{train}", "--model", "Magic", "--out", "m"], "method 'Magic' is unknown"),
        (["train", "--model", "ListNet", "--out", "m"], "no examples are given"),
        (["train", "{train}", "--model", "ListNet"], "say where to write the model"),
        (
            ["train", "{train}", "--model", "ListNet", "--set", "depth=3", "--out", "m"],
            "ListNet has no parameter 'depth'",
        ),
        (["train", "{train}", "{train}", "--model", "ListNet", "--out", "m"], "is also in"),
        (["train", "absent.txt", "--model", "ListNet", "--out", "m"], "absent.txt"),
        (["train", "{train}", "--model", "ListNet", "--cutoff", "magic", "--out", "m"], "rule 'magic' is unknown"),
        (["rank", "absent", "{test}"], "is not a folder of a model"),
        (["rank", ".", "{test}"], "has no model.json"),
    ],
)
def test_bad_input_is_one_line(ranksift: Command, letor, tmp_path, monkeypatch, arguments, fault):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    done = ranksift(*(str(a).format(**letor) for a in arguments))
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert fault in done.err
    assert set(tmp_path.iterdir()) == before


def test_a_model_that_lacks_a_file(ranksift: Command, letor, tmp_path):
    model = tmp_path / "model"
    assert ranksift("train", letor["train"], "--model", "L2LogisticRegression", "--out", model).code == 0
    next(model.glob("*/weights.safetensors")).unlink()
    done = ranksift("rank", model, letor["test"])
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "has no weights.safetensors" in done.err


def test_what_is_no_model_is_not_replaced(ranksift: Command, letor, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years")
    done = ranksift("train", letor["train"], "--model", "L2LogisticRegression", "--out", tmp_path / "mine")
    assert done.code == 2
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years"


def test_files_beside_a_model_are_not_lost(ranksift: Command, letor, tmp_path):
    train = ("train", letor["train"], "--model", "RankSVM", "--out", tmp_path / "model")
    assert ranksift(*train).code == ranksift(*train).code == 0
    (tmp_path / "model" / "test.run").write_text("precious")
    done = ranksift(*train)
    what = "holds 'test.run', which is not part of the model; move it away, or name another folder"
    assert (done.code, done.err) == (2, f"{tmp_path / 'model'}: {what}\n")
    assert (tmp_path / "model" / "test.run").read_text() == "precious"
    (tmp_path / "another").mkdir()
    (tmp_path / "another" / "model.json").write_text('{"learner": {}}')
    done = ranksift(*train[:-1], tmp_path / "another")
    assert (done.code, done.err) == (
        2,
        f"{tmp_path / 'another'}: already exists, and is not a model; name another folder\n",
    )
    assert [path.name for path in (tmp_path / "another").iterdir()] == ["model.json"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--measure", "nonsense"], "measure 'nonsense' is unknown"),
        (["--measure", "nDCG@10 AP"], "nDCG@10 AP is 2 measures"),
        (["--set", "C=much"], "C='much' is not a number"),
        (["--set", "C={[]:1}"], "C='{[]:1}' is not a number"),
    ],
)
def test_parameters_are_checked_before_anything_is_read(ranksift: Command, tmp_path, arguments, fault):
    out = tmp_path / "new" / "folder" / "model"
    done = ranksift("train", tmp_path / "absent.txt", "--model", "RankSVM", "--out", out, *arguments)
    assert done.code == 2
    assert done.err.startswith(fault)
    done = ranksift("train", tmp_path / "absent.txt", "--model", "RankSVM", "--out", out)
    assert done.err.startswith(f"{tmp_path / 'absent.txt'}: no such file")
    assert not (tmp_path / "new").exists()


def test_scaling_none_is_a_word(ranksift: Command, letor, tmp_path):
    for name, arguments in {"a": ("--scaling", "none"), "b": ("--set", "scaling=none")}.items():
        assert ranksift("train", letor["train"], "--model", "RankSVM", "--out", tmp_path / name, *arguments).code == 0
    one, other = (rs.load(tmp_path / name) for name in "ab")
    assert one.scaling == other.scaling == "none"
    assert np.array_equal(one.weights_, other.weights_)


def test_what_lists_are_cut_by_is_what_is_told(ranksift: Command, letor, tmp_path):
    train = ("train", letor["train"], "--validation", letor["vali"], "--gains=-1=-10", "--model", "LambdaMART")
    done = ranksift(*train, "--set", "trees=20", "--cutoff", "global", "--out", tmp_path / "model")
    model = rs.load(tmp_path / "model")
    assert model.cutoff_.measure == model.measure == "nDCG_f@10"
    assert "nDCG_f@10 is computed on what the model's cutoff, global, keeps" in done.out
    assert done.err == ""
    own = ["--set", "trees=20", "--set", "measure=nDCG_f@5"]
    assert ranksift(*train, *own, "--cutoff", "global", "--out", tmp_path / "model").err == ""
    assert rs.load(tmp_path / "model").cutoff_.measure == rs.load(tmp_path / "model").measure == "nDCG_f@5"
    done = ranksift(*train, "--set", "trees=20", "--measure", "AP", "--out", tmp_path / "model")
    assert done.err == "note: LambdaMART stops by its loss; with --set stop_by=measure it stops by AP\n"


def test_the_card_says_what_a_model_was_made_of(ranksift: Command, letor, tmp_path):
    import lightgbm

    train = ("train", letor["train"], "--validation", letor["vali"], "--model", "LambdaMART", "--set", "trees=5")
    assert ranksift(*train, "--out", tmp_path / "model").code == 0
    card = json.loads((tmp_path / "model" / "model.json").read_text())
    assert card["versions"] == {"numpy": np.__version__, "lightgbm": lightgbm.__version__}
    assert (card["validation"]["queries"], card["validation"]["documents"]) == (15, 90)
    rs.load(tmp_path / "model").save(tmp_path / "again")
    again = json.loads((tmp_path / "again" / "model.json").read_text())
    assert {**again, "version": card["version"], "sum": card["sum"]} == card


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--seed", "4", "--set", "seed=5"], "seed is given both by --seed and by --set; leave one out\n"),
        (["--set", "C=1", "--set", "C=2"], "--set names 'C' twice; name it once\n"),
        (["--cutoff-set", "by=zscore"], "--cutoff-set needs a rule, and none is named; name it: --cutoff RULE\n"),
        (
            ["--set", "C=[1, 10]", "--folds", "3"],
            "2 values of C, and no validation examples; give some, or a single C\n",
        ),
        (
            ["--cutoff", "risk", "--cutoff-set", "alpha=abc"],
            "alpha='abc' is not a number between 0 and 1; write alpha=0.05, for example\n",
        ),
        (
            ["--cutoff", "shape", "--cutoff-set", "seed=-1"],
            "seed=-1 is not an integer of at least 0; write seed=0, for example\n",
        ),
        (["--cutoff", "normalized", "--cutoff-set", "bye=3"], "rule normalized has no parameter 'bye'; it has: "),
    ],
)
def test_options_that_do_not_go_together(ranksift: Command, letor, tmp_path, arguments, fault):
    done = ranksift("train", letor["train"], "--model", "RankSVM", "--out", tmp_path / "model", *arguments)
    assert done.code == 2
    assert done.err.startswith(fault)


def test_a_rule_has_parameters(ranksift: Command, letor, tmp_path):
    train = ("train", letor["train"], "--validation", letor["vali"], "--model", "RankSVM", "--gains=-1=-10")
    done = ranksift(*train, "--cutoff", "normalized", "--cutoff-set", "by=minmax", "--out", tmp_path / "model")
    assert done.code == 0, done.err
    assert rs.load(tmp_path / "model").cutoff_.by == "minmax"


def test_what_is_told_of_a_model_takes_one_scoring_of_each_data_set(ranksift: Command, letor, tmp_path, monkeypatch):
    scored, sets = rs.learning.RankSVM.scored, []
    monkeypatch.setattr(rs.learning.RankSVM, "scored", lambda self, x: sets.append(x.name) or scored(self, x))
    train = ("train", letor["train"], "--validation", letor["vali"], "--model", "RankSVM", "--out", tmp_path / "model")
    done = ranksift(*train)
    assert sets == [str(letor["train"]), str(letor["vali"])]
    value = rs.load(tmp_path / "model").value(letor["vali"])
    assert done.out.splitlines()[4].split() == ["validation", "15", "90", f"{value:.4f}"]


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reviews")
    training, test = product_reviews(300).examples.split(0.7, seed=1)
    training.save(folder / "train.csv")
    test.save(folder / "test.csv")
    return folder


@pytest.fixture(scope="module")
def model(reviews):
    path = reviews / "model"
    ranker = rs.learning.LambdaMARTf(trees=60, gains={-1: -10, 0: 0.1})
    ranker.fit(reviews / "train.csv").save(path)
    return path


class TestTheCut:
    """What train says of the cut that a method brings, and the dial."""

    def train(self, ranksift, reviews, *words):
        usual = ("--model", "LambdaMARTf", "--set", "trees=60", "--gains=-1=-10,0=0.1")
        return ranksift("train", reviews / "train.csv", *usual, *words)

    def test_the_own_cut_stands_beside_the_simplest_ones(self, ranksift: Command, reviews, tmp_path):
        done = self.train(ranksift, reviews, "--out", tmp_path / "model")
        assert (done.code, done.err) == (0, "")
        lines = done.out.splitlines()
        at = lines.index("Cuts on 210 held-out queries")
        assert [line.split("  ")[0] for line in lines[at + 3 : at + 7]] == [
            "nothing shown",
            "everything shown",
            "own cut *",
            "tuned cut",
        ]
        card = json.loads((tmp_path / "model" / "model.json").read_text())
        assert (card["cut"]["chosen"], card["cut"]["queries"]) == ("own cut", 210)

    def test_too_few_queries_to_check_it(self, ranksift: Command, tmp_path):
        product_reviews(4).examples.save(tmp_path / "train.csv")
        done = self.train(ranksift, tmp_path, "--out", tmp_path / "model")
        said = "the cutoff was not checked: this takes 10 held-out queries; give more as --validation"
        assert done.err.endswith(f"note: {said}\n")
        done = self.train(ranksift, tmp_path, "--at-most", "Empty<=0.1", "--out", tmp_path / "other")
        assert done.code == 2
        assert "was not checked on held-out queries; fit it with validation examples" in done.err
        assert not (tmp_path / "other").exists()

    def test_limits_are_kept_and_can_be_changed_later(self, ranksift: Command, reviews, model, tmp_path):
        done = self.train(ranksift, reviews, "--at-most", "GoodFiltered<=0.2", "--out", tmp_path / "limited")
        assert "Within GoodFiltered<=0.2 the best nDCG_f@10 is 0." in done.out
        assert " *" not in done.out
        limited, free = rs.load(tmp_path / "limited"), rs.load(model)
        hidden = [
            rs.evaluate(
                rs.read_examples(reviews / "test.csv").qrels(), one.rank(reviews / "test.csv"), "GoodFiltered",
                gains={-1: -10, 0: 0.1},
            ).mean_of("GoodFiltered")
            for one in (limited, free)
        ]  # fmt: skip
        assert hidden[0] < 0.35 < hidden[1]
        done = ranksift(
            "rank", model, reviews / "test.csv", "--at-most", "GoodFiltered<=0.2", "--out", tmp_path / "run"
        )
        assert done.code == 0
        kept = {query: docs for query, docs in limited.rank(reviews / "test.csv").to_dict().items() if docs}
        assert rs.read_run(tmp_path / "run").to_dict() == kept

    @pytest.mark.parametrize(
        ("words", "fault"),
        [
            (["--at-most", "GoodFiltered<=0.01 Fdocs@10<=0.001"], "no threshold keeps GoodFiltered<=0.01 and Fdocs@10"),
            (["--at-most", "AP>=0.1"], "the trade-off has no AP; it has: nDCG_f@10, Fdocs@10, GoodFiltered, Empty"),
            (["--at-most", "AP"], "requirement 'AP' is not understood; write limits as"),
            (["--at-most", "Empty<=1", "--keep-all"], "--keep-all drops nothing, and --at-most limits what is dropped"),
        ],
    )
    def test_limits_that_cannot_be_kept(self, ranksift: Command, reviews, model, tmp_path, words, fault):
        done = ranksift("rank", model, reviews / "test.csv", *words, "--out", tmp_path / "run")
        assert done.code == 2
        assert done.err.startswith(fault)
        assert not (tmp_path / "run").exists()

    def test_limits_of_a_method_without_a_cut_are_those_of_the_best_threshold(
        self, ranksift: Command, reviews, tmp_path
    ):
        done = ranksift(
            "train", reviews / "train.csv", "--validation", reviews / "test.csv", "--model", "AdaRank",
            "--gains=-1=-10,0=0.1", "--at-most", "GoodFiltered<=0.5", "--out", tmp_path / "model",
        )  # fmt: skip
        assert done.code == 0
        assert rs.load(tmp_path / "model").cutoff_.to_dict()["parameters"]["at_most"] == "GoodFiltered<=0.5"
        done = ranksift(
            "train", reviews / "train.csv", "--model", "AdaRank", "--cutoff", "risk", "--at-most", "Empty<=0.5",
            "--out", tmp_path / "model",
        )  # fmt: skip
        assert (done.code, done.err) == (
            2,
            "the rule risk cannot keep limits; leave --at-most out, or use --cutoff global\n",
        )

    def test_limits_without_a_model(self, ranksift: Command, reviews, tmp_path):
        done = self.train(ranksift, reviews, "--folds", "3", "--at-most", "Empty<=0.1")
        assert (done.code, done.err) == (
            2,
            "--at-most belongs to the model that --out writes; name a folder: --out MODEL\n",
        )
        done = self.train(ranksift, reviews, "--folds", "3", "--at-most", "nonsense", "--out", tmp_path / "model")
        assert (done.code, (tmp_path / "model").exists()) == (2, False)

    def test_the_curve(self, ranksift: Command, reviews, tmp_path):
        done = self.train(ranksift, reviews, "--plot", tmp_path / "curve.svg", "--out", tmp_path / "model")
        assert done.code == 0
        assert "forbidden documents in the top 10" in (tmp_path / "curve.svg").read_text()
        done = self.train(ranksift, reviews, "--plot", tmp_path / "curve.txt", "--out", tmp_path / "other")
        assert (done.code, (tmp_path / "other").exists()) == (2, False)


def test_of_several_processes_the_first_one_speaks_and_saves(ranksift: Command, letor, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    train = ("train", letor["train"], "--validation", letor["vali"], "--model", "RankSVM", "--measure", "AP")
    for rank, speaks in (("1", False), ("0", True)):
        monkeypatch.setenv("RANK", rank)
        done = ranksift(*train, "--cutoff", "global", "--out", tmp_path / "model")
        assert (done.code, done.out != "", (tmp_path / "model").exists()) == (0, speaks, speaks)
    # Other commands have nothing to share: a job's environment does not make them silent.
    monkeypatch.setenv("RANK", "1")
    assert ranksift("rank", tmp_path / "model", letor["test"]).out != ""
