"""Truncation: paper 2's stories by hand, plain loops, scipy, WikiQA cut at many places, and what is refused."""

import gzip

import numpy as np
import pytest
from scipy import stats

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError, RankSiftWarning
from ranksift.measures.measure import CATALOGUE

LIMIT = 5


def ranked(*documents):
    return {d: -float(i) for i, d in enumerate(documents)}


@pytest.fixture(scope="module")
def answers():
    """40 questions, a quarter without answers, and 6 systems that end their lists in their own ways."""
    draw = np.random.default_rng(7)
    qrels, runs = {}, {f"s{s}": {} for s in range(6)}
    for q in range(40):
        relevant = 0 if q % 4 == 0 else int(draw.integers(1, 4))
        qrels[f"q{q}"] = {f"d{i}": int(i < relevant) for i in range(8)}
        for s, run in enumerate(runs.values()):
            order = [f"d{i}" for i in np.argsort(draw.random(8) + (np.arange(8) >= relevant) * 0.1 * s)[:LIMIT]]
            if draw.random() < 0.15 * s:
                order = [*order[: draw.integers(0, LIMIT)], "NIL", *order[LIMIT - 1 :]]
            run[f"q{q}"] = ranked(*order[: LIMIT if draw.random() < 0.7 else 3])
    return qrels, runs


@pytest.fixture(scope="module")
def found(answers):
    return study.truncation(*answers, nil="NIL", limit=LIMIT)


class TestScores:
    def test_they_are_the_measures(self, answers, found):
        names = ['RR(nil="NIL")', 'nDCG(nil="NIL")@5', 'RBP(p=0.5, nil="NIL")', 'AP(nil="NIL")']
        names += [f'{m}(limit=5, nil="NIL"{more})' for m, more in (("RR_qwa", ""), ("nDCG_qwa", ""), ("AP_qwa", ""))]
        names.append('RBP_qwa(p=0.5, limit=5, nil="NIL")')
        wanted = rs.evaluate(*answers, names)
        for name in names:
            assert found.scores.mean_of(name) == wanted.mean_of(name)
        assert found.pairs[2] == ('RBP(p=0.5, nil="NIL")', 'RBP_qwa(limit=5, nil="NIL", p=0.5)')
        assert len(found.scores.measures) == 8

    def test_tau_is_scipys(self, found):
        for original, modified in found.pairs:
            one, two = (list(found.scores.mean_of(m).values()) for m in (original, modified))
            assert found.correlation[original].tau_b == pytest.approx(stats.kendalltau(one, two).statistic, abs=1e-12)
            if len(set(one)) == len(set(two)) == 6:
                assert found.tau[original] == pytest.approx(found.correlation[original].tau_b, abs=1e-12)

    def test_change(self, found):
        original, modified = found.pairs[0]
        wanted = [found.scores.mean_of(modified)[r] - found.scores.mean_of(original)[r] for r in found.scores.runs]
        assert found.change[original].tolist() == pytest.approx(wanted, abs=1e-15)


class TestLengths:
    def test_a_plain_count_says_the_same(self, answers, found):
        qrels, runs = answers
        before, after, ended = [], [], {}
        for name, run in runs.items():
            lists = [sorted(run[q], key=run[q].get, reverse=True) for q in qrels]
            cut = [x[: x.index("NIL")] if "NIL" in x else x for x in lists]
            before += [len(x) for x in lists]
            after += [len(x) for x in cut]
            ended[name] = np.mean(["NIL" in x or len(x) < LIMIT for x in lists])
        assert found.lengths("before") == {n: before.count(n) for n in sorted(set(before))}
        assert found.lengths("after") == {n: after.count(n) for n in sorted(set(after))}
        assert found.truncated == pytest.approx(ended)
        assert 0 < found.truncated["s1"] < 1
        assert found.nil_queries == 10
        says_none = {name: [x[:1] in ([], ["NIL"]) for x in map(by_score, run.values())] for name, run in runs.items()}
        answers = [any(labels.values()) for labels in qrels.values()]
        right = {
            name: np.mean([no != yes for no, yes in zip(said, answers, strict=True)])
            for name, said in says_none.items()
        }
        assert found.nil_accuracy == pytest.approx(right)
        assert len(set(right.values())) > 2

    def test_unjudged_documents_count_also_where_they_are_dropped(self):
        qrels, run = {"q": {"a": 1}}, {"q": ranked("x", "a", "NIL", "y")}
        for unjudged in ("zero", "drop"):
            with pytest.warns(RankSiftWarning, match="one run has no order"):
                found = study.truncation(qrels, run, nil="NIL", limit=5, unjudged=unjudged)
            assert found.lengths("before") == {4: 1}
            assert found.lengths("after") == {2: 1}

    def test_without_a_limit_the_longest_list_of_the_query_is_full(self):
        qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
        runs = {"long": {"q": ranked("a", "b"), "r": ranked("a")}, "short": {"q": ranked("a"), "r": ranked("a")}}
        found = study.truncation(qrels, runs)
        assert found.truncated == {"long": 0.0, "short": 0.5}
        assert [a for a, _ in found.pairs] == ["RR", "nDCG", "RBP(p=0.5)", "AP"]

    def test_without_a_limit_a_nil_in_its_midst_does_not_make_a_list_longer(self):
        qrels = {"q": {"a": 1, "b": 0}}
        runs = {"full": {"q": ranked("a", "b")}, "hedges": {"q": ranked("a", "NIL", "b")}}
        assert study.truncation(qrels, runs, nil="NIL").truncated == {"full": 0.0, "hedges": 1.0}


def by_score(documents):
    return sorted(documents, key=documents.get, reverse=True)


class TestAnswerable:
    def test_it_is_the_study_of_these_queries(self, answers, found):
        qrels, runs = answers
        alone = found.on_answerable()
        some = {q: labels for q, labels in qrels.items() if any(labels.values())}
        of_these = study.truncation(some, {n: {q: run[q] for q in some} for n, run in runs.items()}, nil="NIL", limit=5)
        assert alone.scores.queries == of_these.scores.queries
        assert np.array_equal(alone.scores.numerators, of_these.scores.numerators)
        assert (alone.truncated, alone.tau, alone.nil_accuracy) == (
            of_these.truncated,
            of_these.tau,
            of_these.nil_accuracy,
        )
        assert alone.lengths("after") == of_these.lengths("after")
        assert alone.nil_queries == 0
        assert str(alone).startswith("Truncation: 6 runs, 30 queries, 0 without an answer")

    def test_the_mean_of_both_kinds_is_the_whole(self, found):
        alone = found.on_answerable().scores.aggregate()
        nil = study.on_queries(found.scores, np.flatnonzero(~found.answerable).tolist()).aggregate()
        np.testing.assert_allclose((30 * alone + 10 * nil) / 40, found.scores.aggregate(), atol=1e-12)

    def test_a_run_that_never_says_none_is_right_where_there_is_an_answer(self):
        qrels = {"q": {"a": 1}, "r": {"b": 0}, "s": {"c": 0}}
        runs = {
            "always": {q: ranked("a", "b") for q in qrels},
            "never": {},
            "hedges": {q: ranked("NIL", "a") for q in qrels},
            "late": {q: ranked("a", "NIL") for q in qrels},
        }
        found = study.truncation(qrels, runs, nil="NIL", limit=5)
        assert found.nil_accuracy == {"always": 1 / 3, "never": 2 / 3, "hedges": 2 / 3, "late": 1 / 3}
        assert (
            "never and hedges say best whether there is an answer, in 66.7% of the queries; always giving"
            in " ".join(found.reading())
        )

    def test_without_any_answer_there_is_nothing_to_look_at(self):
        found = study.truncation({"q": {"a": 0}}, {"x": {"q": {"a": 1}}, "y": {}})
        with pytest.raises(InputError, match="no query has an answer; look at all of them"):
            found.on_answerable()


class TestThePapersStories:
    """Systems that section 3 speaks of."""

    def change(self, lists, name="RR"):
        qrels = {"nil": {"x": 0}, "one": {"a": 1, "x": 0}}
        runs = {"plain": {q: ranked(*"vwxyz") for q in qrels}, "system": {q: ranked(*d) for q, d in lists.items()}}
        found = study.truncation(qrels, runs, nil="NIL", limit=5)
        original = next(a for a, _ in found.pairs if a.startswith(name))
        assert found.change[original][0] == 0  # full lists without NIL score as before
        return found.change[original][1]

    def test_a_nil_at_the_end_of_every_list_gains_nothing_by_RR(self):
        assert self.change({"nil": ["x", "y", "z", "w", "NIL"], "one": ["a", "x", "y", "z", "NIL"]}) == 0

    def test_a_nil_before_the_answer_costs(self):
        assert self.change({"nil": ["NIL"], "one": ["NIL", "a"]}) < 0
        assert self.change({"nil": ["NIL"], "one": ["NIL", "a"]}, "AP") < 0

    def test_stopping_after_the_answer_pays(self):
        """By RBP: the rest of the list, after the one answer, is as good as the answer."""
        assert self.change({"nil": ["NIL"], "one": ["a", "NIL"]}, "RBP") > 0

    def test_a_list_that_just_ends_is_no_longer_a_failure_on_a_nil_query(self):
        assert self.change({"nil": [], "one": ["a", "NIL"]}) == pytest.approx(0.5)


class TestWikiQA:
    def test_cut_at_every_length(self, data_dir):
        """Two systems, each cut at 1 to 5 and whole: the orders by original and modified measures differ."""
        folder = data_dir / "wikiqa"
        with gzip.open(folder / "WikiQA-dev.ref.gz", "rt") as lines:
            rows = [line.split() for line in lines]
        qrels = {q: {} for q, *_ in rows}
        for q, _, document, label in rows:
            qrels[q][document] = int(label)
        runs = {}
        for system in ("CNN", "CNN-Cnt"):
            whole = {q: {} for q in qrels}
            with gzip.open(folder / f"WikiQA.{system}.dev.rank.gz", "rt") as lines:
                for q, _, document, _, score, _ in map(str.split, lines):
                    whole[q][document] = float(score)
            for cut in (1, 2, 3, 5, None):
                kept = {q: dict(sorted(d.items(), key=lambda x: (-x[1], x[0]))[:cut]) for q, d in whole.items()}
                runs[f"{system}-{cut or 'whole'}"] = kept
        found = study.truncation(qrels, runs)
        assert found.nil_queries == 170
        assert found.truncated["CNN-whole"] == 0
        assert found.truncated["CNN-1"] > 0.9
        # On nil queries the shorter list is the better one, on the others RR' is RR.
        gain = dict(zip(found.scores.runs, found.change["RR"], strict=True))
        assert gain["CNN-1"] == pytest.approx(170 / 296 / 2, abs=1e-12)
        assert gain["CNN-1"] > gain["CNN-2"] > gain["CNN-3"] > gain["CNN-5"] > gain["CNN-whole"] > 0
        assert all(-1 <= tau < 1 for tau in found.tau.values())


class TestResult:
    def test_frame(self, found):
        frame = found.to_frame()
        assert frame.height == 4 * 6
        row = frame.row(7, named=True)
        assert row["run"] == "s1"
        assert row["original"] == found.pairs[1][0]
        assert row["change"] == pytest.approx(row["modified_score"] - row["original_score"], abs=1e-15)

    def test_table(self, found):
        text = str(found)
        assert text.startswith("Truncation: 6 runs, 40 queries, 10 without an answer")
        heads = text.splitlines()[1].split()
        assert heads == [
            "run",
            "truncated",
            "nil",
            "accuracy",
            "RR",
            "RR'-RR",
            "nDCG",
            "nDCG'-nDCG",
            "RBP",
            "RBP'-RBP",
            "AP",
            "AP'-AP",
        ]
        assert f"tau {found.tau[found.pairs[3][0]]:.3f}" in text

    def test_figures(self, found):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        assert len(found.plot().axes[0].collections) == 3
        points = found.plot("scores", found.pairs[3][0]).axes[0].collections[0].get_offsets()
        assert points[:, 0].tolist() == list(found.scores.mean_of(found.pairs[3][0]).values())
        heights = sum(bar.get_height() for bar in found.plot("lengths").axes[0].patches)
        assert heights == 2 * 40 * 6
        with pytest.raises(InputError, match="plot='pie' is unknown"):
            found.plot("pie")

    def test_the_page_has_both_scores_and_their_change_by_every_pair(self, found):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        names = [f"{what} {m}" for m in ("RR", "nDCG", "RBP", "AP") for what in ("scores by", "change of")]
        pictures = found.pictures()
        assert [p.name for p in pictures] == [*names, "lengths"]
        points = pictures[0].figure.axes[0].collections[0].get_offsets()
        assert points[:, 1].tolist() == pytest.approx(list(found.scores.mean_of(found.pairs[0][1]).values()))

    def test_lengths_of_long_lists_are_counted_in_ranges(self):
        pytest.importorskip("matplotlib", reason="figures need matplotlib")
        runs = {"long": {"q": {f"d{i}": -i for i in range(300)}}, "short": {"q": {"d1": 1}}}
        axes = study.truncation({"q": {"d1": 1}}, runs).plot("lengths").axes[0]
        assert [stairs.get_data().values.sum() for stairs in axes.patches] == [2, 2]

    def test_nothing_enters_the_catalogue(self):
        assert "Shown" not in CATALOGUE


class TestInput:
    def test_own_pairs(self, answers):
        found = study.truncation(*answers, pairs=[("P@3", "P_qwa@3"), ("RBP(p=0.8)", "RBP_qwa(p=0.8)")])
        assert found.pairs == (("P@3", "P_qwa@3"), ("RBP(p=0.8)", "RBP_qwa(p=0.8)"))
        assert set(found.tau) == {"P@3", "RBP(p=0.8)"}

    def test_one_run_has_no_order(self, answers):
        qrels, runs = answers
        with pytest.warns(RankSiftWarning, match="one run has no order: tau is not a number"):
            found = study.truncation(qrels, {"s1": runs["s1"]})
        assert np.isnan(found.tau["RR"])
        assert "no order to compare" in str(found)

    def test_a_nil_that_is_never_given_is_told(self, answers):
        with pytest.warns(RankSiftWarning, match="no list holds the document 'NOTHING'"):
            study.truncation(*answers, nil="NOTHING", limit=5)

    def test_a_judged_nil_is_refused(self):
        with pytest.raises(InputError, match="the NIL document 'NIL' is judged for query 'q'"):
            study.truncation({"q": {"NIL": 1}}, {"a": {"q": {"x": 1}}, "b": {"q": {"x": 1}}}, nil="NIL")

    def test_a_string_of_two_measures_is_no_pair(self, answers):
        with pytest.raises(InputError, match="is 2 measures; give pairs as"):
            study.truncation(*answers, pairs=[("RR AP", "RR_qwa")])

    def test_a_limit_is_a_number(self, answers):
        with pytest.raises(InputError, match="not a positive integer"):
            study.truncation(*answers, limit=0)

    def test_gains_above_1_are_told(self, answers):
        qrels, runs = answers
        graded = {q: {d: 3 * label for d, label in labels.items()} for q, labels in qrels.items()}
        with pytest.warns(RankSiftWarning, match=r"gains up to 3, but \[0, 1\] is assumed"):
            found = study.truncation(graded, runs, pairs=[("AP", "AP_qwa")])
        assert "AP_qwa: gains up to 3, but [0, 1] is assumed" in str(found)


def test_what_changes_nothing_is_not_said_to_gain():
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    runs = {"one": {"q": {"a": 1}, "r": {"b": 1}}, "two": {"q": {"x": 2, "a": 1}, "r": {"b": 1}}}
    of_rr, of_ndcg, *_ = study.truncation(qrels, runs).reading()[1:]
    assert of_rr.startswith("From RR to RR_qwa, no score changes.")
    assert "two gains the most (+0.031)" in of_ndcg
    rbp = study.truncation(qrels, {"one": runs["one"], "same": {"q": {"a": 9}, "r": {"b": 9}}}).reading()[3]
    assert rbp.startswith("From RBP(p=0.5) to RBP_qwa(p=0.5), every run gains +0.500.")


def test_runs_that_tell_best_are_all_named():
    qrels = {"q": {"a": 1}, "r": {"b": 0}}
    stops = {"q": ranked("a")}
    found = study.truncation(qrels, {"one": stops, "two": {"q": ranked("x", "a")}, "three": {"r": ranked("b")}})
    assert found.reading()[1].startswith("one and two say best whether there is an answer, in 100% of the queries")


def test_lists_beyond_the_limit_are_told():
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    runs = {"long": {"q": ranked("a", "b", "c"), "r": ranked("b")}, "short": {"q": ranked("a", "b"), "r": ranked("b")}}
    with pytest.warns(RankSiftWarning, match="lists of more than 2 documents, the limit: 1 of 4"):
        found = study.truncation(qrels, runs, limit=2)
    assert found.notes == ("lists of more than 2 documents, the limit: 1 of 4",)
