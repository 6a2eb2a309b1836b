"""The commands that write files, each with what it wrote before and what it writes now."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

#: Kinds of output.
FILE, STUDY, MODEL, JOURNAL, TRAINING, DEMO = "file", "study", "model", "journal", "training", "demo"

#: Those that grow while a command runs, and stay or go at its end: the storage of a search, the state of a training.
GROWING = (JOURNAL, TRAINING)


@dataclass(frozen=True)
class Command:
    """A command, run in the folder that its outputs go to.

    Attributes
    ----------
    name
        In the table.
    old, new
        What is typed behind ``ranksift``; the old one empty: nothing is there before. ``IN`` stands for the inputs.
    outputs
        Kinds by path.
    long
        Whether runs are treated as large ones, whose values are kept until a study is done.
    weight
        One step in so many is tried: of commands that consist of others, and take long.
    """

    name: str
    old: str
    new: str
    outputs: Mapping[str, str]
    long: bool = False
    weight: int = 1

    def arguments(self, words: str, inputs: Path) -> list[str]:
        """The words, as a shell would give them."""
        return [re.sub(r"(?<![^=])IN/", f"{inputs}/", word) for word in shlex.split(words)]


def _to_file(name: str, words: str, old: str, new: str, out: str = "out.txt") -> Command:
    return Command(name, f"{words} {old} --out {out}", f"{words} {new} --out {out}", {out: FILE})


_RUNS = "IN/qrels.txt IN/a.run IN/b.run"
_STUDY = f"study {_RUNS} IN/c.run --out study --samples 20 --topic-sets 5 --seed 1"
_ONE, _TWO = "-m nDCG@5 --only reliability", "-m nDCG_f@5 --only boundedness"
_TRAIN = "train IN/train.csv --validation IN/validation.csv --model RankSVM --out model"
_TUNE = "tune IN/train.csv --validation IN/validation.csv --model RankSVM --out model"
_READ = "train IN/texts.jsonl --validation IN/more.jsonl --model text --set encoder=IN/encoder --set epochs=2"
_SEARCH = "tune IN/train.csv --validation IN/validation.csv --model RankSVM --storage trials.log"

COMMANDS = (
    _to_file("evaluate", f"evaluate {_RUNS}", "-m AP", "-m 'nDCG_f@5 AP' -q"),
    _to_file("evaluate, gzip", f"evaluate {_RUNS} -f csv", "-m AP", "-m 'nDCG_f@5 AP' -q", "out.csv.gz"),
    _to_file("evaluate, zstd", f"evaluate {_RUNS} -f trec", "-m AP", "-m 'nDCG_f@5 AP' -q", "out.zst"),
    _to_file("compare", f"compare {_RUNS} -f json", "-m AP", "-m nDCG_f@5", "out.json"),
    _to_file("explain", "explain IN/qrels.txt IN/a.run", "-m AP", "-m nDCG_f@5"),
    _to_file("describe", f"describe {_RUNS}", "", "-f json"),
    _to_file("check", "check IN/qrels.txt IN/a.run", "--require AP>=0", "--require 'AP>=0 nDCG_f@5>=-1'"),
    _to_file("measures", "measures", "", "-f markdown"),
    Command(
        "cutoff fit",
        "cutoff fit IN/qrels.txt IN/a.run -m nDCG_f@5 --samples 10 --out cutoff.json --plot cutoff.svg",
        "cutoff fit IN/qrels.txt IN/b.run -m nDCG_f@3 --samples 10 --out cutoff.json --plot cutoff.svg",
        {"cutoff.json": FILE, "cutoff.svg": FILE},
    ),
    _to_file("cutoff apply", "cutoff apply IN/cutoff.json --any-scale", "IN/a.run", "IN/b.run", "cut.run"),
    Command(
        "cutoff compare",
        "cutoff compare IN/qrels.txt IN/a.run -r 'global rank-only' --out out.txt --plot out.svg",
        "cutoff compare IN/qrels.txt IN/b.run -r 'global rank-only' --out out.txt --plot out.svg",
        {"out.txt": FILE, "out.svg": FILE},
    ),
    _to_file("cutoff audit", "cutoff audit IN/cutoff.json IN/qrels.txt IN/a.run", "", "-f csv"),
    Command("study", f"{_STUDY} {_ONE}", f"{_STUDY} {_TWO}", {"study": STUDY}),
    Command("study, new folder", "", f"{_STUDY} {_TWO}", {"study": STUDY}),
    Command("study of large runs", f"{_STUDY} {_ONE}", f"{_STUDY} {_TWO}", {"study": STUDY}, long=True),
    Command("train", f"{_TRAIN} --set C=0.1", f"{_TRAIN} --cutoff global", {"model": MODEL}),
    Command("train, new folder", "", _TRAIN, {"model": MODEL}),
    Command("train, trees", _TRAIN, _TRAIN.replace("RankSVM", "LambdaMARTf --set trees=3"), {"model": MODEL}),
    Command(
        "train, texts", f"{_READ} --freeze --set max_length=32 --out model", f"{_READ} --set max_length=32 --out model",
        {"model": MODEL, "model.training": TRAINING},
    ),
    *(
        _to_file(f"rank, {form}", "rank IN/model IN/validation.csv", "", "--keep-all --name all", f"ranked.{form}")
        for form in ("run", "csv", "jsonl", "parquet")
    ),
    Command(
        "tune", _TRAIN, f"{_TUNE} --space C=0.1,1,10", {"model": MODEL, "model.tuning": JOURNAL}
    ),
    Command(
        "tune, kept trials", f"{_SEARCH} --space C=0.1..10 --trials 2", f"{_SEARCH} --space C=0.1..10 --trials 4",
        {"trials.log": JOURNAL},
    ),
    Command("demo", "", "demo --out demo", {"demo": DEMO}, weight=100),
)  # fmt: skip


def make_inputs(folder: Path) -> None:
    """What the commands read."""
    import numpy as np

    from ranksift import Examples
    from ranksift.cutoffs.rules import rule_of
    from ranksift.datasets.reviews import product_reviews
    from ranksift.datasets.synthetic import synthetic_collection
    from ranksift.learning.svm import RankSVM
    from tests.learning.text.tiny import drawn_texts, write_encoder

    folder.mkdir()
    qrels, runs = synthetic_collection(queries=12, depth=20)
    qrels.save(folder / "qrels.txt")
    for name, run in zip("abc", runs.values(), strict=False):
        run.save(folder / f"{name}.run")
    rule = rule_of("global")(measure="nDCG_f@5").fit_run(qrels, next(iter(runs.values())), unjudged="drop")
    rule.save(folder / "cutoff.json")
    training, validation = product_reviews(16).examples.split(0.5)
    training.save(folder / "train.csv")
    validation.save(folder / "validation.csv")
    model = RankSVM().fit(training)
    model.fit_cutoff(validation, rule_of("global")())
    model.save(folder / "model")
    write_encoder(folder / "encoder")
    for seed, name in enumerate(("texts", "more")):
        queries, docs, offsets, gains = drawn_texts(6, seed=seed)
        group = np.repeat([f"{name}{n}" for n in range(6)], np.diff(offsets))
        asked = {f"{name}{n}": query for n, query in enumerate(queries)}
        Examples.from_texts(asked, docs, gains, group).save(folder / f"{name}.jsonl")
