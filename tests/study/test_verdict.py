"""Is a filter worth it: against sets, plain loops and the measures themselves; and what is refused."""

import json

import numpy as np
import pytest

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError
from ranksift.report.verdict import verdict_page
from ranksift.study.verdict import KINDS, LARGEST_PENALTY


def collection(seed, labels=(-2, 0, 1, 2), queries=12, documents=15, spared=0.1):
    """Judgments, a run, and what a filter that errs left of it; some documents are unjudged."""
    draw = np.random.default_rng(seed)
    qrels, base, kept = {}, {}, {}
    for q in range(queries):
        ids = [f"d{i}" for i in range(documents)]
        label = {d: int(draw.choice(labels)) for d in ids}
        qrels[f"q{q}"] = {d: label[d] for d in ids if draw.random() < 0.8}
        base[f"q{q}"] = {d: float(draw.random()) for d in ids if draw.random() < 0.8}
        gone = {d for d in base[f"q{q}"] if draw.random() < (1 - spared if label[d] < 0 else 0.35)}
        kept[f"q{q}"] = {d: x for d, x in base[f"q{q}"].items() if d not in gone}
    return qrels, base, kept


def ranked(scores):
    return sorted(scores, key=lambda d: (scores[d], d), reverse=True)


def kind(label):
    return "unjudged" if label is None else "forbidden" if label < 0 else "relevant" if label > 0 else "harmless"


def difference(qrels, base, kept, measure, gains):
    found = rs.evaluate(qrels, {"base": base, "kept": kept}, [measure], gains=gains).values[:, :, 0]
    return found[1] - found[0]


class TestRemoved:
    @pytest.mark.parametrize("unjudged", ["zero", "drop"])
    @pytest.mark.parametrize("seed", range(4))
    def test_the_counts_are_those_of_sets(self, seed, unjudged):
        qrels, base, kept = collection(seed)
        found = rs.verdict(qrels, base, kept, "nDCG_f@5", unjudged=unjudged).filters[0]
        counts = {name: [0, 0, 0, 0, 0] for name in KINDS}
        for q, judged in qrels.items():

            def top(scores, judged=judged):
                order = [d for d in ranked(scores) if unjudged == "zero" or d in judged]
                return set(order[:5])

            for d in base[q]:
                of = counts[kind(judged.get(d))]
                of[0] += 1
                of[1] += d not in kept[q]
                of[2] += d in top(base[q])
                of[3] += d in top(base[q]) and d not in kept[q]
            for d in top(kept[q]):
                counts[kind(judged.get(d))][4] += 1
        assert {r.kind: [r.listed, r.removed, r.top, r.removed_from_top, r.top_after] for r in found.removed} == counts

    def test_queries_that_do_not_count_are_left_out(self):
        qrels, base, kept = collection(1)
        stranger = {**base, "stranger": {"x": 1.0}}
        with pytest.warns(rs.RankSiftWarning, match="without judgments left out"):
            other = rs.verdict(qrels, stranger, kept)
        one = rs.verdict(qrels, base, kept)
        assert one.filters[0].removed == other.filters[0].removed

    def test_run_counts_the_queries_of_the_base_not_those_of_the_filtered_run(self):
        qrels, base, kept = collection(2)
        del base["q0"], kept["q0"]
        kept["q1"] = {}  # the filter dropped all: an empty list is an answer
        found = rs.verdict(qrels, base, kept, queries="run").filters[0]
        assert sorted(q.query_id for q in found.queries) == sorted(set(qrels) - {"q0"})
        assert next(q for q in found.queries if q.query_id == "q1").before > 0


class TestScores:
    def test_they_are_those_of_compare(self):
        qrels, base, kept = collection(3)
        other = {q: dict(list(docs.items())[::2]) for q, docs in kept.items()}
        found = rs.verdict(qrels, base, {"kept": kept, "other": other}, "nDCG_f@5", gains={-2: -10})
        scores = rs.evaluate(
            qrels, {"run": base, "kept": kept, "other": other}, ["nDCG_f@5", "nDCG@5"], gains={-2: -10}
        )
        expected = rs.compare(scores, "run")
        for f, one in enumerate(found.filters):
            assert one.difference == expected.difference[f, 0]
            assert one.ordinary_difference == expected.difference[f, 1]
            assert one.corrected_p == expected.corrected_p[f, 0]
            assert (one.low, one.high) == (expected.low[f, 0], expected.high[f, 0])
            assert [q.difference for q in one.queries] == sorted((q.difference for q in one.queries), reverse=True)

    def test_outcomes(self):
        queries = [f"q{i}" for i in range(20)]
        qrels = {q: {"good": 1, "bad": -1, "also": 1} for q in queries}
        base = {q: {"bad": 3.0, "good": 2.0, "also": 1.0 + i / 100} for i, q in enumerate(queries)}
        clean = {q: {d: x for d, x in docs.items() if d != "bad"} for q, docs in base.items()}
        harsh = {q: {"bad": docs["bad"], **({"also": 1.0} if q > "q5" else {})} for q, docs in base.items()}
        mixed = {q: (clean if i % 2 else harsh)[q] for i, q in enumerate(queries)}
        found = rs.verdict(qrels, base, {"clean": clean, "harsh": harsh, "same": base})
        assert [one.outcome for one in found.filters] == ["worth it", "harmful", "no effect"]
        assert found.filters[0].hurt() == ()
        assert len(found.filters[0].helped(3)) == 3
        assert found.filters[1].helped() == ()
        assert found.filters[1].hurt(1)[0].relevant >= 1
        assert rs.verdict(qrels, base, mixed, alpha=0.0001).filters[0].outcome == "undecided"
        assert found.sentence(found.filters[0]).startswith("clean is worth it: nDCG_f@10 goes from ")
        unchanged = "same makes no difference: nDCG_f@10 is the same in each of 20 queries."
        assert found.sentence(found.filters[2]) == unchanged


class TestBreakEven:
    @pytest.mark.parametrize("measure", ["nDCG_f@5", "nDCG_f", "nDCG_min@5", "DCG@5", "nDCG_f(base=10)@5"])
    @pytest.mark.parametrize("seed", range(6))
    def test_the_sign_of_the_difference_turns_there(self, seed, measure):
        qrels, base, kept = collection(seed, spared=0.5)
        at = rs.verdict(qrels, base, kept, measure, samples=50).filters[0].break_even

        def mean(x):
            return difference(qrels, base, kept, measure, {-2: -x}).mean()

        above = [x for x in (0.01, 0.1, 1, 3, 10, 100, 900) if x > at.penalty * (1 + 1e-6)]
        assert all(mean(x) > -1e-12 for x in above)
        if np.isinf(at.penalty):
            assert mean(LARGEST_PENALTY) < 0
        elif at.penalty > 0:
            assert abs(mean(at.penalty)) < 1e-9
            assert mean(at.penalty * (1 - 1e-4)) < 0 < mean(at.penalty * (1 + 1e-4))

    def test_some_of_these_turn_inside(self):
        found = [
            rs.verdict(*collection(seed, spared=0.5), "nDCG_f@5", samples=10).filters[0].break_even.penalty
            for seed in range(6)
        ]
        assert sum(0 < x < LARGEST_PENALTY for x in found) >= 2

    def test_it_is_the_last_swap_of_the_sweep(self):
        for seed in range(6):
            qrels, base, kept = collection(seed, spared=0.5)
            at = rs.verdict(qrels, base, kept, "nDCG_f@5", samples=10).filters[0].break_even.penalty
            swaps = study.penalty_sweep(
                qrels, {"base": base, "kept": kept}, "nDCG_f@5", penalties=[0.001, LARGEST_PENALTY]
            ).swaps
            if 0 < at < LARGEST_PENALTY:
                assert swaps[-1].overtaking == "kept"
                assert at == pytest.approx(swaps[-1].penalty, rel=1e-5)
            else:
                assert not swaps or swaps[-1].overtaking == ("base" if np.isinf(at) else "kept")

    def test_of_several_forbidden_gains_it_is_a_multiple(self):
        turned = 0
        for seed in range(6):
            qrels, base, kept = collection(seed, labels=(-2, -1, 0, 1, 2), spared=0.5)
            gains = {-2: -10, -1: -0.5}
            found = rs.verdict(qrels, base, kept, "nDCG_f@5", gains=gains, samples=10)
            at = found.filters[0].break_even
            assert (found.unit, at.yours) == ("times the penalties", 1.0)
            if 0 < at.penalty < LARGEST_PENALTY:
                turned += 1
                at_it = {label: gain * at.penalty for label, gain in gains.items()}
                assert difference(qrels, base, kept, "nDCG_f@5", at_it).mean() == pytest.approx(0, abs=1e-9)
        assert turned

    def test_the_interval_is_that_of_resampled_queries(self):
        qrels, base, kept = collection(5, queries=9, spared=0.5)
        found = rs.verdict(qrels, base, kept, "nDCG_f@5", samples=200, seed=3).filters[0].break_even
        names = sorted(qrels)
        grid = np.geomspace(0.001, 1000, 4001)
        curves = np.stack([difference(qrels, base, kept, "nDCG_f@5", {-2: -x}) for x in grid])
        order = list(rs.evaluate(qrels, base, ["AP"]).queries)
        curves = curves[:, [order.index(name) for name in names]]
        random, drawn = np.random.default_rng(3), []
        for chosen in random.integers(0, 9, size=(200, 9)):
            behind = np.flatnonzero(curves[:, chosen].mean(axis=1) < -1e-13)
            last = behind[-1] if len(behind) else -1
            drawn.append(0.0 if last < 0 else np.inf if last == len(grid) - 1 else grid[last])
        low, high = np.quantile(drawn, [0.025, 0.975], method="inverted_cdf")
        for mine, theirs in ((found.low, low), (found.high, high)):
            assert mine == pytest.approx(theirs, rel=5e-3)

    def test_what_pays_at_low_penalties_only_is_not_said_never_to_pay(self):
        # The harmless document made room for a relevant one at rank 2, and for a forbidden one in the top 3.
        qrels = {q: {"fine": 0, "good": 1, "bad": -1} for q in "ab"}
        full = {q: {"fine": 4.0, "good": 3.0, "other": 2.0, "bad": 1.0} for q in "ab"}
        kept = {q: {d: x for d, x in docs.items() if d != "fine"} for q, docs in full.items()}
        found = rs.verdict(qrels, full, {"kept": kept}, "nDCG_f@3", samples=10)
        assert np.isinf(found.filters[0].break_even.penalty)
        # 1 - 1 / log2(3) is gained, and x / log2(4) lost.
        turn = 2 * (1 - 1 / np.log2(3))
        below = max(x for x in found.curves[0] if x < turn)
        assert f"It pays only below a penalty of {below:.3g}:" in found.reading()[-1]
        assert found.table().rows[0][-2].value == f"only below {below:.3g}"
        assert found.to_dict()["filters"][0]["break_even"]["pays"] == "below"

    @pytest.mark.parametrize("measure", ["AP", "nDCG@5", "RR"])
    def test_measures_without_a_penalty_have_none(self, measure):
        found = rs.verdict(*collection(1), measure)
        assert found.filters[0].break_even is None
        assert found.pictures() == []
        with pytest.raises(InputError, match="does not depend on the penalty"):
            found.plot()

    def test_nothing_forbidden_is_said(self):
        qrels, base, kept = collection(1, labels=(0, 1))
        with pytest.warns(rs.RankSiftWarning, match="no judged document is forbidden"):
            found = rs.verdict(qrels, base, kept)
        assert found.filters[0].break_even is None
        assert "use gains={0: -1}" in found.notes[0]

    def test_a_filter_without_forbidden_documents_may_gain_all_the_same(self):
        qrels = {q: {"good": 1, "dull": 0} for q in "ab"}
        full = {q: {"dull": 2.0, "good": 1.0} for q in "ab"}
        with pytest.warns(rs.RankSiftWarning, match="no judged document is forbidden"):
            found = rs.verdict(qrels, full, {"kept": {q: {"good": 1.0} for q in "ab"}})
        assert found.filters[0].difference > 0
        assert "only cost" not in found.notes[0]


class TestNotes:
    def test_a_filter_adds_nothing_and_keeps_the_order(self):
        qrels, base, kept = collection(1)
        assert rs.verdict(qrels, base, kept).notes == ()
        q = next(iter(kept))
        more = {**kept, q: {**kept[q], "new": 9.0}}
        (added,) = rs.verdict(qrels, base, {"more": more}).notes
        assert added.endswith("lists 1 document that run does not: it does more than filter")
        (swapped,) = rs.verdict(qrels, {"kept": kept}, {"run": base}).notes
        assert swapped.endswith("filter; if the two are swapped, give the run before filtering first")
        turned = {**kept, q: {d: -x for d, x in kept[q].items()}}
        assert "changes the order of run in 1 query" in rs.verdict(qrels, base, {"turned": turned}).notes[0]


class TestForms:
    def test_data_and_words(self):
        found = rs.verdict(*collection(4, spared=0.5), "nDCG_f@5", samples=50)
        as_json = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert as_json["filters"][0]["sentence"] == found.sentence(found.filters[0])
        assert as_json["filters"][0]["break_even"]["pays"] == "from"
        assert found.to_frame().height == 12
        assert str(found).startswith(found.sentence(found.filters[0]))
        assert found.reading()[0] == found.sentence(found.filters[0])
        assert [p.name for p in found.pictures()] == ["break-even"]
        assert repr(found) == f"<Verdict: run_2 {found.filters[0].outcome}, by nDCG_f@5>"

    def test_what_always_never_and_nowhere_pays_is_said_in_words(self):
        qrels = {q: {"good": 1, "fine": 0, "bad": -1} for q in "abc"}
        full = {q: {"bad": 3.0, "good": 2.0, "fine": 1.0} for q in "abc"}
        filters = {
            name: {q: {d: x for d, x in docs.items() if d != gone} for q, docs in full.items()}
            for name, gone in [("kept", "bad"), ("harsh", "good"), ("same", ""), ("idle", "fine")]
        }
        filters["harsh"] = {q: {"bad": 3.0} for q in "abc"}
        found = rs.verdict(qrels, full, filters, samples=10)
        assert [row[-2].value for row in found.table().rows] == ["always", "never", None, None]
        kept, harsh, *_ = found.filters
        assert "It pays at every penalty, however small (the 95% interval of the break-even is 0" in found.why(kept)[-1]
        assert (
            "It does not pay at any penalty up to 1,000 (the 95% interval of the break-even is beyond 1,000;"
            in found.why(harsh)[-1]
        )
        # The interval of one filter knows nothing of the others.
        assert "uncorrected 95% interval" in found.sentence(kept)

    def test_the_table_names_the_test(self):
        qrels, base, kept = collection(4)
        one = rs.verdict(qrels, base, kept, test="unpaired", samples=50)
        assert "p: unpaired t test." in str(one.table())
        two = rs.verdict(qrels, base, {"a": kept, "b": kept}, test="wilcoxon", samples=50)
        assert "p: Wilcoxon signed-rank test, corrected after Holm." in str(two.table())

    def test_the_page_begins_with_the_answer(self):
        qrels, base, kept = collection(4, spared=0.5)
        html = verdict_page(rs.verdict(qrels, base, {"a<b": kept}, "nDCG_f@5", samples=50), command="ranksift verdict")
        assert "a&lt;b" in html
        assert "a<b" not in html
        assert html.index("<figure>") < html.index("<nav>")
        several = verdict_page(rs.verdict(qrels, base, {"one": kept, "two": base}, samples=50))
        assert "of 2 filters of run" in several


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measure": "Fdocs@10"}, "better when higher"),
        ({"measure": "AP P@5"}, "cannot decide"),
        ({"base": [{"q0": {"d1": 1.0}}, {"q0": {"d2": 1.0}}]}, "the base is 2 runs"),
        ({"alpha": 2}, "alpha"),
        ({"samples": 0}, "samples"),
        ({"base": {"other": {"d1": 1.0}}, "queries": "run"}, "answers no judged query"),
    ],
)
def test_bad_input(change, words):
    qrels, base, kept = collection(1)
    asked = {"qrels": qrels, "base": base, "filtered": kept, **change}
    with pytest.raises(InputError, match=words):
        rs.verdict(**asked)
