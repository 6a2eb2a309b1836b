"""Measures that pytrec_eval lacks, as other providers of ir_measures compute them, where they are installed."""

import random

import pytest

import ranksift as rs

ir_measures = pytest.importorskip("ir_measures")


def provider(name):
    found = getattr(ir_measures, name)
    if not found.is_available():
        pytest.skip(f"ir_measures' {name} needs something that is not installed")
    return found


def random_collection(seed):
    """No ties (each provider breaks them in its own way), some queries without an answer, numbers for ids (gdeval)."""
    rng = random.Random(seed)
    documents = [f"d{i}" for i in range(80)]
    qrels, run = {}, {}
    for i in range(1, 21):
        qrels[str(i)] = {d: rng.choice([-2, 0, 0, 1, 2, 4]) for d in rng.sample(documents, rng.randint(1, 40))}
        if i % 5:
            shown = rng.sample(documents, rng.randint(1, 60))
            run[str(i)] = {d: float(-rank) for rank, d in enumerate(shown)}
    return qrels, run


def assert_equal(name, measures, seed, tolerance, labels=None):
    """``measures``: theirs (as text) and ours."""
    qrels, run = random_collection(seed)
    if labels is not None:
        qrels = {q: {d: labels(label) for d, label in of_query.items()} for q, of_query in qrels.items()}
    theirs = {ir_measures.parse_measure(m): m for m in measures}
    values = {(theirs[v.measure], v.query_id): v.value for v in provider(name).iter_calc(list(theirs), qrels, run)}
    scores = rs.evaluate(qrels, run, list(measures.values()), queries="run")
    assert len(values) >= len(measures) * len(scores.queries)
    for their_name, our_name in measures.items():
        column = scores.column(our_name)
        expected = [values[their_name, q] for q in scores.queries]
        assert scores.values[0, :, column] == pytest.approx(expected, abs=tolerance), our_name


@pytest.mark.parametrize("seed", range(3))
def test_judged(seed):
    assert_equal("judged", {f"Judged@{k}": f"Judged@{k}" for k in (1, 5, 10, 100)}, seed, 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_msmarco_rr(seed):
    assert_equal("msmarco", {f"RR@{k}": f"RR@{k}" for k in (1, 5, 10, 100)}, seed, 1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_gdeval(seed):
    """The web track's script: grades up to 4, negative ones as 0, five decimals."""
    measures = {f"ERR@{k}": f"ERR_gdeval@{k}" for k in (5, 20)}
    measures |= {f"nDCG(dcg='exp-log2')@{k}": f'nDCG(gains="exp")@{k}' for k in (5, 20)}
    assert_equal("gdeval", measures, seed, 0.5001e-5)


@pytest.mark.parametrize("seed", range(3))
def test_cwl_eval(seed):
    """RBP; negative labels are not foreseen there."""
    measures = {f"RBP(p={p}, rel=1)": f"RBP(p={p})" for p in (0.5, 0.8)}
    assert_equal("cwl_eval", measures, seed, 1e-9, labels=lambda label: max(0, label))
