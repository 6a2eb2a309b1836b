"""A ranker that filters."""

from __future__ import annotations

from pathlib import Path

from ranksift.cli.story.stage import Stage
from ranksift.collection.run import read_run
from ranksift.datasets.reviews import product_reviews
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import evaluate
from ranksift.report.charts import dumbbells

TITLE = "A ranker that learns what not to show"

PRODUCTS = 2000
GAINS = "-1=-10,0=0.1"


def tell(stage: Stage) -> None:
    """Train LambdaMART with the best threshold, and LambdaMART-f; judge both on products that they have not seen."""
    stage.say(
        """Where documents have features, the ranker itself can be trained. The folder `reviews` has made-up reviews of
        products: 14 features each, and a label that is -1 for spam, 0 without helpful votes, 1 or 2 with some. Spam is
        worth -10, a review without votes 0.1."""
    )
    if not _can_train(stage):
        return
    _write_reviews(Path("reviews"))
    data = f'reviews/train.csv --validation reviews/validation.csv --gains="{GAINS}"'
    stage.say(
        """The usual way is to train a ranker, then to look for the threshold on its scores that is best on validation
        data:"""
    )
    stage.run(f"ranksift train {data} --model LambdaMART -m nDCG_f@10 --cutoff global --out models/lambdamart")
    stage.say(
        """LambdaMART-f learns both at once. Its trees are fitted to what showing a document does to nDCG_f, so a score
        of 0 is where to cut, and no threshold is looked for afterwards:"""
    )
    stage.run(f"ranksift train {data} --model LambdaMARTf --out models/lambdamart-f")
    stage.say("Both on products that neither has seen:")
    for name in ("lambdamart", "lambdamart-f"):
        stage.run(f"ranksift rank models/{name} reviews/test.csv --out {name}.trec")
    stage.run("ranksift rank models/lambdamart reviews/test.csv --keep-all --name all-shown --out all-shown.trec")
    stage.run(
        f"ranksift compare reviews/test.qrels all-shown.trec lambdamart.trec lambdamart-f.trec "
        f'-m "nDCG_f@10 Fdocs@10" --gains="{GAINS}"'
    )
    runs = [read_run(f"{name}.trec") for name in ("lambdamart", "lambdamart-f")]
    scores = evaluate("reviews/test.qrels", runs, "nDCG_f@10 Fdocs@10", gains=GAINS)
    (usual, spam), (ours, less) = scores.aggregate().tolist()
    stage.say(
        f"""nDCG_f is {usual:.3f} with the threshold and {ours:.3f} with LambdaMART-f; {spam:.1%} and {less:.1%} of the
        first ten reviews are spam. The scores of LambdaMART are made to order the reviews of one product, and one
        threshold has to cut them all; those of LambdaMART-f are made to be cut. The folders in `models` hold all that
        `ranksift rank` needs, as text and numbers: a card, the trees, the cut."""
    )
    stage.draw(
        dumbbells(
            [(name, _all_shown(name), value) for name, value in (("lambdamart", usual), ("lambdamart-f", ours))],
            ("nDCG_f@10 with everything shown", "as the model cuts"),
        ),
        "Both rankers on the test products, before and after they drop what should not be shown.",
    )


def _can_train(stage: Stage) -> bool:
    from ranksift.learning.libraries import require

    try:
        require("This chapter", "lightgbm", "safetensors")
    except InputError as missing:
        stage.say(f"{missing}, then `ranksift demo` tells it.")
        return False
    return True


def _write_reviews(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    others, test = product_reviews(PRODUCTS).examples.split(0.75)
    training, validation = others.split(2 / 3)
    for name, part in (("train", training), ("validation", validation), ("test", test)):
        part.save(folder / f"{name}.csv")
    test.qrels().save(folder / "test.qrels")


def _all_shown(model: str) -> float:
    from ranksift.learning.ranker import load

    return load(f"models/{model}").value("reviews/test.csv", "nDCG_f@10")
