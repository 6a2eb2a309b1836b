"""The synthetic user study: what the printed tables imply, and that its results are what is computed now."""

from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from experiments import labelling
from experiments.experiment import rounded
from experiments.labelling_study import EXPERIMENT, printed
from experiments.labelling_study.documents import by_query, documents, in_folds
from experiments.labelling_study.fits import TOP_K, found_of_the_top, kappa_ndcg_of, true_labels
from experiments.labelling_study.measure import implied
from experiments.labelling_study.study import ASSESSORS, SEED, K, Measured, again, perception
from experiments.learning import Task, fits
from experiments.top_k.fits import MEASURES, Learned
from experiments.top_k.methods import candidates
from ranksift.collection.examples import Examples
from ranksift.labelling.assignment import rotation
from ranksift.labelling.exports import position_labels
from ranksift.labelling.strategies import strategy
from ranksift.labelling.study import Assessor, Perception, rehearse
from ranksift.labelling.web.desk import shown as sides
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def examples(data: Path) -> tuple[Examples, dict[str, dict[str, float]]]:
    found, values = documents(data)
    return found, by_query(found, values)


# -- what the printed tables imply -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "agreement"), [(printed.TABLE_2, printed.PAIRS), (printed.TABLE_3, printed.GRADES)])
def test_shares_of_rows_give_both_printed_agreements(table, agreement) -> None:
    share = printed.shares(table, *agreement)
    assert share.sum() == pytest.approx(1)
    assert (share > 0).all()
    counts = share[:, None] * table
    assert np.trace(counts) == pytest.approx(agreement[0])
    untied = counts[[0, 2]][:, [0, 2]]
    assert np.trace(untied) / untied.sum() == pytest.approx(agreement[1])
    assert untied.sum() == pytest.approx(printed.untied_share(table, share))
    assert table.sum(axis=1) == pytest.approx(np.ones(3), abs=2e-4)


def test_counts_lead_to_the_printed_chi_squares() -> None:
    from scipy.stats import chi2_contingency

    found = printed.fitting()
    table = [[found.pairs * 0.745, found.pairs * 0.255], [found.inferred * 0.547, found.inferred * 0.453]]
    assert chi2_contingency(table, correction=False).statistic == pytest.approx(420.7, abs=1e-3)
    kept = [
        printed.untied_share(t, printed.shares(t, *p)) * n
        for t, p, n in (
            (printed.TABLE_2, printed.PAIRS, found.pairs),
            (printed.TABLE_3, printed.GRADES, found.inferred),
        )
    ]
    table = [[n * share, n * (1 - share)] for n, share in zip(kept, (0.897, 0.831), strict=True)]
    assert chi2_contingency(table, correction=False).statistic == pytest.approx(28.5, abs=1e-3)
    assert printed.counts(printed.EVERY_PAIR).untied < 22


# -- documents, labels, folds ------------------------------------------------------------------------------------------


def test_documents_are_fifty_of_fifty_and_in_the_order_of_their_labels(examples) -> None:
    whole, utilities = examples
    assert len(utilities) == 50
    assert all(len(own) == 50 for own in utilities.values())
    for query, doc, label in zip(whole.query.tolist(), whole.docs, whole.labels.tolist(), strict=True):
        assert label <= utilities[whole.query_ids[query]][doc] < label + 1


def test_every_query_is_judged_once_and_never_learned_from_in_that_fold(examples) -> None:
    whole, utilities = examples
    collection = in_folds(whole, utilities, "study")
    judged = [query for fold in collection.folds for query in fold.test.query_ids]
    assert sorted(judged) == sorted(utilities)
    for fold in collection.folds:
        parts = [set(part.query_ids) for part in fold]
        assert [len(part) for part in parts] == [30, 10, 10]
        assert len(set.union(*parts)) == 50
    values = by_query(collection.whole, collection.whole.labels)
    assert values == utilities


def test_labels_against_the_truth() -> None:
    utilities = {"q": {f"d{i:02}": float(20 - i) for i in range(20)}}
    truth = true_labels(utilities)
    assert truth["q"]["d00"] == 10
    assert truth["q"]["d09"] == 1
    assert truth["q"]["d10"] == 0
    assert found_of_the_top(truth, utilities).tolist() == [1]
    assert kappa_ndcg_of(truth, truth) == 1
    # All twenty have one grade: of the ten true ones, half are expected among the first ten.
    assert found_of_the_top({"q": dict.fromkeys(utilities["q"], 1.0)}, utilities).tolist() == pytest.approx([0.5])
    five = {"q": {doc: float(i < 5) for i, doc in enumerate(utilities["q"])}}
    assert found_of_the_top(five, utilities).tolist() == pytest.approx([(5 + 5 * 5 / 15) / 10])


def test_without_errors_both_tools_agree_fully() -> None:
    utilities = {f"q{q}": {f"d{i}": float((7 * i + q) % 13) for i in range(13)} for q in range(5)}
    clear = Perception(0, 0, 0, 0, 0, (2.5, 5.5, 8.5, 10.5))
    found = Measured.of(rehearse(utilities, [Assessor(i, utilities, clear) for i in range(1, 6)], k=3), samples=0)
    assert found.pairs.overall.value == found.inferred.overall.value == 1
    assert found.repeats.asked == found.repeats.same > 0


# -- results -----------------------------------------------------------------------------------------------------------


def test_what_the_printed_tables_imply_is_what_is_kept() -> None:
    assert not [*apart(rounded(implied()), EXPERIMENT.kept["printed"])]


def test_results_are_of_the_study_that_is_carried_out_now(examples) -> None:
    """The log is the same without a store, which takes a minute."""
    found, kept = again(examples[1], SEED), EXPERIMENT.kept
    assert not [*apart(rounded(found.levels()), kept["ties"]["0.07"])]
    for name in ("pairs", "inferred"):
        one, own = getattr(found, name), kept["study"]["agreement"][name]
        assert one.counts.tolist() == own["counts"]
        assert not [*apart(rounded(one.matrix()), own["matrix"])]
    assert kept["study"]["cost"]["pairs"]["per_query"]["value"] == pytest.approx(found.cost["pairs"].per_query.value)


def test_results_are_what_is_learned_now(examples) -> None:
    """Labels by the log without a store: those of who was given the query first."""
    whole, utilities = examples
    eyes = perception(utilities)
    log = rehearse(
        utilities, [Assessor(i + 1, utilities, eyes, SEED) for i in range(ASSESSORS)], k=K, sides=sides, seed=SEED
    )
    tasks = rotation(list(utilities), range(1, 6), strategy="heap", k=K, shared_order=True, seed=SEED)
    seeds = {task.query_id: task.seed for task in tasks}
    labels = {}
    for query, own in utilities.items():
        said = [e.judgment for e in log if (e.query_id, e.tool, e.purpose) == (query, "pairs", "label")]
        state = strategy("heap", k=K, seed=seeds[query]).state(list(own), said)
        assert state.done
        labels[query] = {d: float(v) for d, v in position_labels(state.groups, state.rest, K).items()}
    collection = in_folds(whole, labels, "top-k study")
    with threadpool_limits(1):
        found = [fits(Task(fold, candidates("RankBoost", TOP_K.betas))) for fold in collection.folds]
    learned = Learned(collection, TOP_K, {"RankBoost": found})
    means = rounded({measure: learned.mean("RankBoost", measure) for measure in MEASURES})
    assert not [*apart(means, EXPERIMENT.kept["top k"]["means"]["RankBoost"])]


def test_without_ties_is_what_the_page_on_strategies_says() -> None:
    assert EXPERIMENT.kept["without ties"] == labelling.EXPERIMENT.kept["plain"]["heap"]["mean"]


def test_page_states_what_is_simulated() -> None:
    text = EXPERIMENT.made_of(EXPERIMENT.kept).files[EXPERIMENT.page]
    assert "What is simulated, and what is not" in text


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("ties", "1", "per_query"), 150.0, "so that ties make it cheaper"),
        (("study", "agreement", "inferred", "overall", "value"), 0.8, "Two assessors agree more often about pairs"),
        (("draws", 3, "difference"), -0.01, "In 20 further draws of all errors"),
        (("study", "agreement", "pairs", "untied", "value"), 0.99, "the levels resemble the printed ones"),
        (("printed", "counts", "every", "untied"), 28.4, "The printed χ² are not those of all inferred pairs"),
        (("ties", "0.6", "per_query"), 140.0, "the two printed figures do not go together"),
        (("top k", "differences", "kERR", 5, "p"), 0.04, "Table 5 is too small to decide much"),
        (("study", "agreement", "pairs", "matrix", 1, 1), 0.8, "The matrices of the paper are less even"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)
