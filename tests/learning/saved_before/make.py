"""Models, a cutoff and a search as RankSift saved them when a model was a flat folder (format ranksift-model-1).

It was run once, with the last code that saved in that format, and is kept to say what the files are:

    python tests/learning/saved_before/make.py
"""

import json
import os
from pathlib import Path

import numpy as np

import ranksift as rs
from ranksift.cli.main import run
from ranksift.learning import ExpectedGainRanker, LambdaMART, LambdaMARTf, RankNet, RankSVM

GAINS = {-1: -3}


def main() -> None:
    x, noise = np.random.default_rng(7).normal(size=(96, 3)).round(3), np.random.default_rng(8).normal(size=96)
    labels = np.clip((0.5 + x[:, 0] + 0.5 * x[:, 1] + 0.5 * noise).round(), -1, 2)
    groups = np.repeat(np.arange(16), 6)
    rs.Examples.of_arrays(x, labels, groups, feature_names=["a", "b", "c"]).save("examples.csv")
    examples = rs.read_examples("examples.csv")
    some, others = (examples.of_queries(np.arange(first, 16, 2)) for first in (0, 1))

    few = {"min_documents": 5, "gains": GAINS}
    models = {
        "RankSVM": RankSVM(gains=GAINS).fit(examples),
        "RankSVM-with-a-cutoff": RankSVM(gains=GAINS, scaling="query").fit(some),
        "RankNet": RankNet(epochs=3, gains=GAINS).fit(examples),
        "LambdaMART": LambdaMART(trees=4, models=2, **few).fit(some, others),
        "LambdaMARTf": LambdaMARTf(trees=4, **few).fit(examples),
        "ExpectedGainRanker": ExpectedGainRanker(options={"trees": 20, "leaves": 3, **few}, gains=GAINS, folds=2).fit(
            examples
        ),
    }
    models["RankSVM-with-a-cutoff"].fit_cutoff(others, rs.GlobalCutoff("nDCG_f@6"))
    for name, model in models.items():
        model.save(name)

    # The trials stay too, as --storage keeps them.
    command = ["tune", "examples.csv", "--model", "RankSVM", "--gains=-1=-3", "--space", "C=0.001,1,10"]
    assert run([*command, "--folds", "2", "--storage", "trials", "--out", "tuned"]) == 0
    models["tuned"] = rs.load("tuned")

    risk = rs.RiskCutoff(alpha=0.1, delta=None, k=6).fit_lists(models["RankSVM"].judged(examples).lists(GAINS))
    risk.save("risk.json")
    known = {
        "scores": {name: model.score(examples).tolist() for name, model in models.items()},
        "ranked": {name: len(model.rank(examples)) for name, model in models.items()},
        "kept by risk.json": risk.keep(models["RankSVM"].score(examples)).tolist(),
    }
    Path("known.json").write_text(json.dumps(known) + "\n")


if __name__ == "__main__":
    os.chdir(Path(__file__).parent)
    main()
