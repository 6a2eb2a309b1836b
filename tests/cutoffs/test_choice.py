"""Held-out queries decide on a model's own cut."""

import numpy as np
import pytest

from ranksift import Lists
from ranksift.cutoffs import GlobalCutoff
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.cutoffs.choice import EVERYTHING, NOTHING, OWN, TUNED, CutChoice
from ranksift.cutoffs.comparison import compare_cutoffs


def lists(signal, queries=200, seed=0, forbidden=0.5, penalty=-10.0):
    """Scores that tell forbidden documents by so much; those of good ones lie around 1."""
    draw = np.random.default_rng(seed)
    labels = np.where(draw.random(queries * 6) < forbidden, penalty, 1.0)
    scores = draw.normal(size=queries * 6) + np.where(labels > 0, 1.0, 1.0 - signal)
    return Lists.from_arrays(scores, labels, np.repeat(np.arange(queries), 6))


def choice(documents, threshold):
    return CutChoice.of(documents, FixedCutoff(threshold).fit_lists(documents), "nDCG_f@3")


@pytest.mark.parametrize(
    ("signal", "threshold", "options", "chosen"),
    [
        (8.0, -3.0, {}, OWN),  # far apart: where they are cut makes no difference
        (0.0, 0.0, {}, NOTHING),  # scores that say nothing
        (0.0, 1.0, {"forbidden": 0.02, "penalty": -1.0}, EVERYTHING),  # hardly anything to filter
        (4.0, -4.0, {}, TUNED),  # a cut in the wrong place
    ],
)
def test_the_simplest_that_is_good_enough(signal, threshold, options, chosen):
    documents = lists(signal, **options)
    found = choice(documents, threshold)
    assert found.chosen == chosen
    # It is what another draw of queries would have chosen, too: not worse than any other by much.
    others = lists(signal, seed=1, **options)
    value = {name: float(found.comparison.value(name)) for name in (OWN, NOTHING, EVERYTHING, TUNED)}
    assert value[chosen] > max(value.values()) - 0.02
    rule = found.rule(documents)
    kept = rule.keep_lists(others)
    assert {NOTHING: not kept.any(), EVERYTHING: kept.all()}.get(chosen, 0 < kept.sum() < len(kept))


def test_a_cut_that_is_as_good_as_another_stands():
    documents = lists(4.0)
    best = GlobalCutoff("nDCG_f@3").fit_lists(documents).threshold_
    assert choice(documents, best + 0.05).chosen == OWN


def test_what_is_told():
    found = choice(lists(0.0), 0.0)
    said = found.warning()
    assert said.startswith("On 200 held-out queries the model's own cut has a nDCG_f@3 of 0.")
    assert "so this model shows nothing; give more examples, better features or smaller penalties (gains)" in said
    assert choice(lists(4.0), -4.0).warning() == ""
    assert choice(lists(8.0), -3.0).warning() == ""
    assert "shows no document at all" in choice(lists(0.0), 100.0).warning()
    told = found.to_dict()
    assert (told["chosen"], told["measure"], told["queries"]) == (NOTHING, "nDCG_f@3", 200)
    nothing = next(row for row in told["cuts"] if row["cut"] == NOTHING)
    assert (nothing["Empty"], nothing["GoodFiltered"], nothing["Fdocs@3"]) == (1.0, 1.0, 0.0)
    assert nothing["standard_error"] > 0
    assert "nothing shown *" in found.table().text()


def test_the_own_cut_is_judged_as_it_is_and_not_fitted_again():
    documents = lists(4.0)
    own = GlobalCutoff("nDCG_f@3").fit([0.0, 1.0], [-10, 1], ["q", "r"])  # fitted elsewhere, in the wrong place
    found = CutChoice.of(documents, own, "nDCG_f@3")
    kept = documents.score >= own.threshold_
    from ranksift.cutoffs.held_out import aggregate
    from ranksift.cutoffs.threshold import one_measure

    assert found.comparison.value(OWN) == pytest.approx(aggregate(one_measure("nDCG_f@3"), documents, kept))


def test_intervals_hold_what_other_queries_come_to():
    """Of many draws of 200 queries, about 95 % of the values of a long run are inside the interval of a draw."""
    measures = ("nDCG_f@3", "Fdocs@3", "GoodFiltered", "Empty")
    rules = {"own": FixedCutoff(0.5)}
    whole = compare_cutoffs(lists(2.0, queries=20_000, seed=1), rules=rules, measure="nDCG_f@3", k=3, folds=2)
    inside = dict.fromkeys(measures, 0)
    for seed in range(60):
        card = choice(lists(2.0, seed=100 + seed), 0.5).to_dict()
        own = next(row for row in card["cuts"] if row["cut"] == OWN)
        for measure in measures:
            low, high = own["intervals"][measure]
            assert low < own[measure] < high
            inside[measure] += low <= whole.value("own", measure) <= high
    assert min(inside.values()) >= 51  # 85 %: fewer in one of 1,000 runs where 95 % are meant
