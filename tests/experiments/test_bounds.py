"""The page on random and perfect rankings: what it computes, and that its results are that.

To measure everything takes half a minute, so that parts of it are: the printed row of ListNet beside its models, and
what is expected of random rankings.
"""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.bounds import EXPERIMENT, letor, printed
from experiments.bounds.chance import means
from experiments.bounds.counts import counts
from experiments.bounds.measure import group, histograms, listnet
from experiments.bounds.origins import listnet_rows, perfect_msp
from experiments.bounds.readings import (
    DCG_EXACT,
    DCG_PRINTED,
    KS,
    MSP_PRINTED,
    PRINTED,
    READINGS,
    WRITTEN,
    Measured,
    averaged,
    part,
    random_of,
    scores_of,
    values_of,
)
from experiments.bounds.trials import Trial, drawn_queries, trials
from experiments.bounds.unpaired import unpaired
from experiments.bounds.words import in_range
from experiments.experiment import rounded
from tests.experiments.claims import apart, failing

LISTNET = "RankLib, 500 epochs, rate 10⁻⁵"


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def mq2007(data: Path) -> letor.Collection:
    return letor.mq2007(data)


@pytest.fixture(scope="module")
def measured(mq2007: letor.Collection) -> Measured:
    """With a few systems only."""
    few = {name: mq2007.models[name] for name in (*letor.SETTINGS[LISTNET], "LETOR1")}
    rankings = {name: mq2007.rankings[name] for name in ("ranking 1", "ranking 8")}
    return Measured.of(replace(mq2007, models=few, rankings=rankings))


# -- the results ---------------------------------------------------------------------------------------


def test_rows_of_listnet_are_what_is_measured_now(measured: Measured) -> None:
    kept = EXPERIMENT.kept["listnet"]
    assert kept["setting"] == LISTNET
    assert not [*apart(rounded(listnet(measured.scores, LISTNET)), kept["rows"])]
    rows = listnet_rows(measured.scores, LISTNET)
    assert all(row.inside == len(KS) for (_, _, reading), row in rows.items() if reading in PRINTED)
    assert all(row.inside == 0 for (_, i, reading), row in rows.items() if reading not in PRINTED and i > 0)
    assert (in_range(kept["rows"], PRINTED), in_range(kept["rows"], WRITTEN)) == ((25, 25), (0, 25))


def test_expectations_are_what_is_measured_now(measured: Measured) -> None:
    kept = EXPERIMENT.kept
    assert not [*apart(histograms(measured), kept["histograms"])]
    assert not [*apart(perfect_msp(measured, 30), kept["perfect"])]
    assert not [*apart(rounded(group(measured, letor.SETTINGS[LISTNET])), kept["systems"]["groups"][LISTNET])]
    for reading in READINGS:
        assert not [*apart(rounded(means(measured.random, reading.random)), kept["chance"]["expected"][reading.name])]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("perfect",), 0.5, "is more than a perfect ranking can get"),
        (("listnet", "rows", "MSP V1", "MSP as printed", "low", 2), 0.3, "lie where real ListNet models do"),
        (("chance", "V2", "DCG", 4), 0.01, "A V2 of 0 is better than random"),
        (("tau", "drawn", "MSP, k p²", "uninformative", 1), 0.99, "Orders and tests change"),
        (("counts", "MAP", "unpaired"), 20, "fit unpaired t-tests"),
        (("significant", "whole", "DCG", "all", "paired", 2), 0.9, "it finds fewer on all queries"),
        (("significant", "drawn", "DCG", "ideal", "unpaired", 2), 0.1, "Unpaired, the paper's finding holds"),
        (("differences", "DCG", "ideal", "shifted"), 0.0955, "Percentage differences are not evidence"),
        (("across sets", "MSP, exact", "systems", 2), 0.6, "V2 orders systems more similarly"),
        (("by learning rate", "MQ2008", 0), 0.01, "no measure can turn it into agreement"),
        (("soundness", "DCG", "all", 2, "needed"), 700, "The normalisation makes scores more dependable"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


# -- the collections -----------------------------------------------------------------------------------


def test_collections_are_those_of_the_provenance(data: Path, mq2007: letor.Collection) -> None:
    provenance = (data / "letor4_mq2007_agg" / "PROVENANCE.md").read_text(encoding="utf-8")
    found = re.search(r"([\d,]+) rows, ([\d,]+) queries, labels 0:(\d+) 1:(\d+) 2:(\d+)", provenance)
    assert found is not None
    rows, queries, *labels = (int(number.replace(",", "")) for number in found.groups())
    qrels = mq2007.qrels
    assert (len(qrels), len(qrels.query_ids)) == (rows, queries)
    assert [int((qrels.labels == label).sum()) for label in (0, 1, 2)] == labels
    assert (len(mq2007.models), len(mq2007.rankings), len(mq2007.idle)) == (47, 21, 18)
    assert all(len(run) == rows for run in mq2007.models.values())


def test_a_ranking_lists_what_it_ranked_best_first(data: Path, mq2007: letor.Collection) -> None:
    import gzip

    with gzip.open(data / "letor4_mq2007_agg" / "A5.txt.gz", "rt") as lines:  # the test file of fold 1
        first = [line.split() for line in lines if " qid:7968 " in line]
    ranks = [
        (int(fields[2 + 7].removeprefix("8:")), f"{i:06d}") for i, fields in enumerate(first) if "NULL" not in fields[9]
    ]
    run = mq2007.rankings["ranking 8"]
    i = run.query_ids.index("7968")
    assert run.docs[run.offsets[i] : run.offsets[i + 1]].tolist() == [document for _, document in sorted(ranks)]


def test_settings_hold_every_model_of_ranklib_once() -> None:
    models = [model for models in letor.SETTINGS.values() for model in models]
    assert models == [f"RankLib{i}" for i in range(1, 41)]
    assert list(letor.methods([*models, "LETOR1", "ltr4l1"])) == [*letor.SETTINGS, "LETOR1"]


# -- the readings --------------------------------------------------------------------------------------

QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 0}, "r": {"a": 1, "b": 0, "c": 0}, "none": {"a": 0, "b": 0}}
RUNS = {
    "one": {"q": {"c": 4, "a": 3, "b": 2, "d": 1}, "r": {"b": 3, "a": 2, "c": 1}, "none": {"a": 1}},
    "two": {"q": {"a": 4, "b": 3, "c": 2, "d": 1}, "r": {"c": 2, "b": 1}, "none": {"b": 1}},
}


def test_readings_as_printed_by_hand() -> None:
    scores, random = scores_of(QRELS, RUNS), random_of(QRELS)
    discounts = 1 / np.log2(np.arange(2, 6))
    ideal, bound = 3 * discounts[0] + discounts[1], (2 ** (3 / 4) - 1) * discounts.sum()
    dcg = 3 * discounts[1] + discounts[2]
    one, q = scores.row("one"), scores.queries.index("q")

    def value(measure: str) -> float:
        return float(values_of(scores, f"{measure}@5")[one, q])

    assert value(DCG_PRINTED.base) == pytest.approx(dcg / ideal, abs=1e-12)
    assert value(DCG_PRINTED.v1) == pytest.approx(dcg / ideal * dcg / (dcg + bound), abs=1e-12)
    assert value(DCG_PRINTED.v2) == pytest.approx((dcg - bound) / (ideal - bound), abs=1e-12)
    assert value(MSP_PRINTED.base) == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-12)  # two relevant documents
    expected = {reading: values_of(random, f"{reading.random}@5")[0] for reading in (DCG_PRINTED, MSP_PRINTED)}
    assert expected[DCG_PRINTED][q] == pytest.approx(bound / ideal, abs=1e-12)
    assert expected[MSP_PRINTED][q] == pytest.approx(5 * (2 / 4) ** 2 / 2, abs=1e-12)
    nothing = scores.queries.index("none")
    for reading in READINGS:
        assert all(values_of(scores, f"{measure}@5")[one, nothing] == 0 for measure in reading.measures)


def test_the_gain_of_the_mean_label_is_below_the_mean_gain(measured: Measured) -> None:
    for k in KS:
        printed_bound, exact = (values_of(measured.random, f"{r.random}@{k}")[0] for r in (DCG_PRINTED, DCG_EXACT))
        assert (printed_bound <= exact + 1e-12).all()
        assert (printed_bound < exact - 0.01).any()


def test_no_learner_could_have_the_printed_map_by_the_formula(measured: Measured) -> None:
    assert perfect_msp(measured, 30) < printed.learners(printed.MAP)[:, -1].min()


def test_parts_and_averages_of_scores() -> None:
    scores = scores_of(QRELS, RUNS)
    some = part(scores, runs=["two"], measures=["MSP@10", "nDCG@5"])
    assert (some.runs, [str(m) for m in some.measures]) == (("two",), ["MSP@10", "nDCG@5"])
    np.testing.assert_array_equal(values_of(some, "nDCG@5"), values_of(scores, "nDCG@5")[[scores.row("two")]])
    mean = averaged(scores, {"both": ("one", "two")})
    np.testing.assert_allclose(values_of(mean, "MSP@5")[0], values_of(scores, "MSP@5").mean(axis=0))


# -- sets and tests ------------------------------------------------------------------------------------


def test_drawn_queries_are_halved(measured: Measured) -> None:
    drawn = drawn_queries(measured.scores.queries)
    assert len(set(drawn)) == 1000
    types = trials(measured, drawn)[DCG_EXACT].types
    assert set(types.uninformative) | set(types.ideal) == set(drawn)
    assert max(types.difference[types.queries.index(q)] for q in types.uninformative) <= min(
        types.difference[types.queries.index(q)] for q in types.ideal
    )


def test_unpaired_tests_are_those_of_scipy(measured: Measured) -> None:
    from scipy.stats import ttest_ind

    scores = Trial(measured, DCG_EXACT, measured.scores.queries, 500).scores
    found = unpaired(scores, DCG_EXACT.measures)
    pairs = [(i, j) for i in range(len(scores.runs)) for j in range(i + 1, len(scores.runs))]
    verdicts = {}
    for measure in DCG_EXACT.measures[:2]:
        tests = [
            [
                ttest_ind(values_of(scores, f"{measure}@{k}")[i], values_of(scores, f"{measure}@{k}")[j])
                for i, j in pairs
            ]
            for k in KS
        ]
        verdicts[measure] = np.array([[np.sign(t.statistic) * (t.pvalue <= 0.05) for t in row] for row in tests])
        np.testing.assert_array_equal(found.significant[measure], verdicts[measure] != 0)
    one, two = verdicts.values()
    assert found.conflicts(*DCG_EXACT.measures[:2]) == pytest.approx((one != two).mean())
    assert 0 < found.share("nDCG") < 1


def test_printed_counts_are_those_of_unpaired_tests(mq2007: letor.Collection) -> None:
    """From the printed means and ListNet's deviations: no count is missed by more than five of 140."""
    models = {name: mq2007.models[name] for name in [m for of in letor.SETTINGS.values() for m in of[:1]]}
    models |= {name: mq2007.models[name] for name in letor.SETTINGS[LISTNET]}
    scores = scores_of(mq2007.qrels, models)
    few = {name: of[:1] for name, of in letor.SETTINGS.items()} | {LISTNET: letor.SETTINGS[LISTNET]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.bounds.counts.SETTINGS", few)
        patch.setattr("experiments.bounds.origins.SETTINGS", few)
        found = counts(Measured(mq2007, scores, scores))
    assert all(abs(n.printed - n.unpaired) <= 5 for n in found.values())
    assert all(n.paired > n.printed + 20 for n in found.values())
