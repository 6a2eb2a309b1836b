"""From files to joined runs: what is read, when, and which queries count."""

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.collection import judged_runs as module
from ranksift.collection.judged_runs import JudgedRuns, named_runs

QRELS = {"q": {"a": 2, "b": -1}, "r": {"c": 1}, "s": {"d": 1}}
RUNS = {"one": {"q": {"a": 3, "x": 2, "b": 1}, "r": {"c": 1}}, "two": {"q": {"b": 1}, "t": {"z": 1}}}


@pytest.fixture
def reads(monkeypatch):
    """How often a run is read."""
    count = [0]
    real = module.read_run

    def spy(source, **how):
        count[0] += 1
        return real(source, **how)

    monkeypatch.setattr(module, "read_run", spy)
    return count


def test_a_run_is_read_when_it_is_asked_for(reads):
    given = JudgedRuns.of(QRELS, RUNS)
    assert reads == [0]
    name, judged, notes = given[0]
    assert (name, judged.length.tolist(), notes) == ("one", [3, 1, 0], ())
    assert reads == [1]
    assert given[1].notes[0] == "run 'two': 1 query without judgments left out (the first is 't')"
    given[1]
    assert reads == [3]  # nothing is kept unless somebody asks for it


def test_kept_runs_are_read_once_also_with_other_gains(reads):
    given = JudgedRuns.of(QRELS, RUNS, keep=True)
    plain = [judged for _, judged, _ in given]
    other = JudgedRuns.of(given.qrels, given, gains={-1: -10})
    assert [judged.gain().tolist() for _, judged, _ in other] == [[2.0, -10.0, 1.0], [-10.0]]
    assert [judged.gain().tolist() for judged in plain] == [[2.0, -1.0, 1.0], [-1.0]]
    assert reads == [2]


@pytest.mark.parametrize("how", [{"unjudged": "drop"}, {"queries": ["q"]}, {"queries": "run"}, {"nil": ["x"]}])
def test_runs_that_are_to_be_joined_in_another_way_are_read_again(reads, how):
    given = JudgedRuns.of(QRELS, RUNS, keep=True)
    list(given)
    again = JudgedRuns.of(given.qrels, given, **how)
    fresh = JudgedRuns.of(QRELS, RUNS, **how)
    for one, two in zip(again, fresh, strict=True):
        for part in ("query", "rank", "label", "length", "listed"):
            np.testing.assert_array_equal(getattr(one.judged, part), getattr(two.judged, part))
    assert reads == [6]


def test_other_judgments_are_another_join():
    given = JudgedRuns.of(QRELS, RUNS, keep=True)
    assert JudgedRuns.of({"q": {"x": 1}}, given)[0].judged.label.tolist() == [1.0]


def test_queries_that_count():
    answered = np.array([True, False, False])
    assert JudgedRuns.of(QRELS, RUNS).counted(answered).all()
    assert JudgedRuns.of(QRELS, RUNS, queries=["s", "q"]).counted(answered[:2]).all()
    assert JudgedRuns.of(QRELS, RUNS, queries="run").counted(answered).tolist() == [True, False, False]
    with pytest.raises(InputError, match="no judged query is answered by every run; use queries='qrels'"):
        JudgedRuns.of(QRELS, RUNS, queries="run").counted(np.zeros(3, dtype=bool))


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_evaluate_and_explain_go_by_the_same_queries():
    one = RUNS["one"]
    for queries in ("qrels", "run", ["r", "q"]):
        scores = rs.evaluate(QRELS, one, "nDCG_f@3", queries=queries)
        told = rs.explain(QRELS, one, "nDCG_f@3", queries=queries)
        assert {row.query_id for row in told.queries} == set(scores.queries)
        assert told.overall.value == pytest.approx(scores.mean_of("nDCG_f@3"), abs=1e-12)


def test_runs_of_one_name_get_others():
    assert [run.name for run in named_runs([RUNS["one"], RUNS["two"]])] == ["run", "run_2"]


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_a_study_reads_each_run_once(reads):
    draw = np.random.default_rng(0)
    qrels = {f"q{i}": {f"d{j}": int(x) for j, x in enumerate(draw.integers(-1, 3, 8))} for i in range(6)}
    runs = {
        name: {q: {d: float(s) for d, s in zip(docs, draw.random(8), strict=True)} for q, docs in qrels.items()}
        for name in ("a", "b", "c")
    }
    found = rs.study.survey(qrels=qrels, runs=runs, measures="nDCG_f@3 nDCG_min@3", limit=5)
    assert {part.procedure for part in found.parts} >= {"boundedness", "penalty_sweep", "truncation"}
    assert reads == [3]


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_named_queries_may_be_an_array():
    queries = np.array(["r", "q"])
    assert rs.evaluate(QRELS, RUNS, "AP", queries=queries).queries == ("r", "q")
    assert rs.study.survey(qrels=QRELS, runs=RUNS, measures="AP", queries=queries, only=["reliability"])


def test_scores_lie_in_memory_as_runs_queries_and_measures_do():
    """Sums over the cube have the same last bit whichever way it was made."""
    assert rs.evaluate(QRELS, {"one": RUNS["one"]}, ["AP", "RR"]).numerators.flags.c_contiguous
