"""The page on lists that quit while ahead: what it computes, and that its results are that."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.truncation import EXPERIMENT
from experiments.truncation.cuts import ended, hedged
from experiments.truncation.measure import UNFOUND, with_more_answers
from experiments.truncation.nil_share import at_share, best_by_chance, tau
from experiments.truncation.places import by_length, dealt, luck, perfect, telling_apart
from experiments.truncation.setting import CORRECT, MEASURES, MODIFIED, ORIGINAL, OWN_DEPTH, PLAIN, Q, Setting
from experiments.truncation.wikiqa import Questions
from tests.experiments.claims import apart, failing


@pytest.fixture(scope="module")
def data(data_dir: Path) -> Path:
    if absent := EXPERIMENT.absent(data_dir):
        pytest.skip(f"no {' and no '.join(absent)} in {data_dir}")
    return data_dir


@pytest.fixture(scope="module")
def dev(data: Path) -> Questions:
    return Questions(data, "dev")


@pytest.fixture(scope="module")
def setting(dev: Questions) -> Setting:
    return Setting(dev, dev, limit=5)


def test_results_are_what_is_measured_now(data: Path) -> None:
    assert not [*apart(EXPERIMENT.measured(data), EXPERIMENT.kept)]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("systems", "CNN-Cnt NIL@1", "modified", "RR"), 0.7, "Hedging no longer pays"),
        (("systems", "CNN q90", "at random", "AP"), 0.9, "Stopping at the right place is rewarded"),
        (("best", "rows", "RR′", "name"), "CNN q90", "these two systems should rather say nothing"),
        (("best", "against silence", "p"), 0.01, "a gain over silence is not established"),
        (("orders", "10 %, no hedging", "RBP"), 0.9, "What differs: RBP"),
        (("fifths", 4, "right"), 0.5, "showing a sentence is not worth the risk"),
    ],
)
def test_a_result_that_is_changed_fails_its_claim(path: tuple[str | int, ...], value: object, words: str) -> None:
    assert words in failing(EXPERIMENT, path, value)


def test_questions_are_those_of_the_provenance(data: Path) -> None:
    provenance = (data / "wikiqa" / "PROVENANCE.md").read_text(encoding="utf-8")
    for split in ("dev", "test"):
        row = re.search(
            rf"^\| {split} [^|]*\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) .*?\| ([\d,]+) \| ([\d,]+) \|$", provenance, re.M
        )
        assert row is not None
        of = Questions(data, split)
        counted = len(of.ids), (~of.nil).sum(), of.nil.sum(), of.candidates.sum(), of.answers.sum()
        assert [int(cell.replace(",", "")) for cell in row.groups()] == list(counted)


def test_two_questions_instead_of_one(setting: Setting) -> None:
    """Nil accuracy, answerable questions alone and Q by hand, and the sentences that depend on them."""
    questions, lists = setting.questions, setting.systems["CNN q50"].lists
    labels = questions.qrels.to_dict()
    ranked = {q: sorted(docs, key=docs.get, reverse=True) for q, docs in lists.items()}
    right = [ranked[q][:1] in ([], ["NIL"]) for q in questions.ids] == questions.nil
    assert setting.found.nil_accuracy["CNN q50"] == np.mean(right)
    alone = setting.found.on_answerable().scores
    assert alone.queries == tuple(np.array(questions.ids)[~questions.nil])
    reciprocal, q_values = [], []
    for q, nil in zip(questions.ids, questions.nil, strict=True):
        good = {"NIL"} if nil else {d for d, label in labels[q].items() if label > 0}
        ranks = [i for i, d in enumerate(ranked[q], 1) if d in good]
        if not nil:
            reciprocal.append(1 / ranks[0] if ranks else 0.0)
        blended = [(2 * found) / (min(rank, len(good)) + rank) for found, rank in enumerate(ranks, 1)]
        q_values.append(sum(blended) / len(good))
    assert alone.mean_of('RR(nil="NIL")')["CNN q50"] == pytest.approx(np.mean(reciprocal), abs=1e-12)
    assert setting.mean(ORIGINAL, Q, "CNN q50") == pytest.approx(np.mean(q_values), abs=1e-12)


@pytest.mark.parametrize(
    ("length", "limit", "expected"),
    [
        (0, 5, ["NIL"]),
        (2, 5, ["a", "b", "NIL"]),
        (3, 5, ["a", "b", "c"]),
        (2, 2, ["a", "b"]),
        (1, 2, ["a", "NIL"]),
        (2, None, ["a", "b", "NIL"]),
        (3, None, ["a", "b", "c"]),
    ],
)
def test_nil_is_said_where_the_system_left_something_out(length: int, limit: int | None, expected: list[str]) -> None:
    assert ended(["a", "b", "c"], length, limit) == expected


def test_a_hedge_goes_on_after_nil() -> None:
    assert hedged(["a", "b", "c"], 1, limit=None) == ["NIL", "a", "b", "c"]
    assert hedged(["a", "b", "c"], 3, limit=3) == ["a", "b", "NIL"]
    assert hedged(["a"], 4, limit=5) == ["a", "NIL"]


def test_thresholds_keep_their_share_of_the_dev_sentences(setting: Setting, dev: Questions) -> None:
    """On dev itself, where no list is too long for it, a threshold keeps what its quantile says."""
    whole = Setting(dev, dev, limit=None)
    sentences = dev.candidates.sum()
    for quantile in (50, 94):
        kept = whole.lengths[whole.names.index(f"CNN q{quantile}")].sum()
        assert kept / sentences == pytest.approx(1 - quantile / 100, abs=2 / sentences)
    assert (setting.lengths <= 5).all()


def test_plain_measures_never_reward_a_cut(setting: Setting) -> None:
    for measure in MEASURES:
        values = setting.by_question(PLAIN, measure)
        whole = values[setting.names.index("CNN all")]
        assert (values[setting.by("CNN")] <= whole + 1e-12).all()


def test_silence_scores_the_share_of_questions_without_an_answer(setting: Setting, dev: Questions) -> None:
    for measure in MEASURES:
        assert setting.mean(MODIFIED, measure, "nothing") == pytest.approx(dev.nil.mean(), abs=1e-12)
        assert setting.mean(MODIFIED, measure, "CNN NIL@1") == setting.mean(MODIFIED, measure, "nothing")
    assert setting.mean(PLAIN, CORRECT, "nothing") == 0


def test_one_sentence_instead_of_none(setting: Setting, dev: Questions) -> None:
    """RR' gains 1 where the sentence is right, and loses half where there is no answer."""
    gain = setting.mean(MODIFIED, "RR", "CNN top 1") - setting.mean(MODIFIED, "RR", "nothing")
    # A question with a single sentence has a list that ends without NIL: it is ended all the same.
    assert gain == pytest.approx(dev.top_is_right("CNN").mean() - dev.nil.mean() / 2, abs=1e-12)


def test_lengths_dealt_at_random_are_the_mean_of_many_deals(setting: Setting, dev: Questions) -> None:
    name, size = "CNN-Cnt q90", np.minimum(dev.candidates, 5)
    values = by_length(setting, "CNN-Cnt", MODIFIED, "RR")
    lengths, draw, scores = setting.lengths[setting.names.index(name)], np.random.default_rng(3), []
    assert values[lengths, np.arange(len(lengths))].mean() == pytest.approx(
        setting.mean(MODIFIED, "RR", name), abs=1e-12
    )
    for _ in range(2000):
        random = np.empty_like(lengths)
        for n in range(1, 6):
            random[size == n] = draw.permutation(lengths[size == n])
        scores.append(values[random, np.arange(len(lengths))].mean())
    error = np.std(scores) / np.sqrt(len(scores))
    assert dealt(setting, name, MODIFIED, "RR") == pytest.approx(np.mean(scores), abs=4 * error)
    real = setting.mean(MODIFIED, "RR", name)
    assert luck(setting, name, MODIFIED, "RR", 999, 0) == pytest.approx(np.mean(np.array(scores) >= real), abs=0.05)


def test_nothing_that_is_cut_beats_the_perfect_cut(setting: Setting) -> None:
    for measure in MEASURES:
        best = perfect(setting, "CNN", MODIFIED, measure)
        assert (setting.means(MODIFIED, measure)[setting.by("CNN")] <= best + 1e-12).all()


def test_telling_apart_is_the_area_under_the_curve(setting: Setting, dev: Questions) -> None:
    from scipy.stats import mannwhitneyu

    top, nil = dev.top_scores("CNN"), dev.nil
    area = mannwhitneyu(top[~nil], top[nil]).statistic / (nil.sum() * (~nil).sum())
    assert telling_apart(setting, "CNN") == pytest.approx(area, abs=1e-12)


def test_at_its_own_share_nothing_is_weighted(setting: Setting, dev: Questions) -> None:
    share, every = float(dev.nil.mean()), setting.of("all", "score", "length", "hedge", "nothing")
    for measure, (original, _) in zip(MEASURES, setting.found.pairs, strict=True):
        assert at_share(setting, ORIGINAL, measure, share) == pytest.approx(setting.means(ORIGINAL, measure), abs=1e-12)
        assert tau(setting, measure, share, every) == pytest.approx(setting.found.tau[original], abs=1e-12)


def test_the_best_in_samples_is_the_best_of_each_sample(setting: Setting) -> None:
    best = best_by_chance(setting, MODIFIED, "nDCG", samples=3, seed=5)
    values, n = setting.by_question(MODIFIED, "nDCG"), len(setting.questions.ids)
    counts = np.random.default_rng(5).multinomial(n, np.full(n, 1 / n), size=3)
    for found, count in zip(best, counts, strict=True):
        scores = [np.average(v, weights=count) if h else -1 for v, h in zip(values, setting.honest, strict=True)]
        assert scores[found] == max(scores)


def test_more_answers_change_questions_that_have_one(dev: Questions) -> None:
    richer = with_more_answers(dev)
    assert (richer.answers == np.where(dev.nil, 0, dev.answers + UNFOUND)).all()
    assert richer.rankings is dev.rankings


def test_a_list_of_its_own_depth_is_compared_with_an_ideal_as_long(setting: Setting, dev: Questions) -> None:
    """A right first sentence with NIL behind it: depth 2, so all that counts of a second answer is rank 2."""
    right = dev.top_is_right("CNN") & (dev.answers == 2) & (dev.candidates > 1)
    values = setting.by_question(OWN_DEPTH, "nDCG")[setting.names.index("CNN top 1")][right]
    assert right.any()
    assert values == pytest.approx(1 / (1 + 1 / np.log2(3)), abs=1e-12)
