"""Classic measures equal trec_eval's, query by query, as pytrec_eval computes them.

pytrec_eval holds scores in 32 bits, RankSift (as trec_eval 10) in 64: here scores are rounded to 32 bits before either
sees them, which ties some documents of the real runs; both break ties by document id.

pytrec_eval crashes on a query without a label >= 0, so no query here has only negative ones. It also takes a
retrieved label below -2 for relevant in bpref (-1 and -2 are its own marks for unjudged documents).
"""

import random
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs

pytrec_eval = pytest.importorskip("pytrec_eval")

DEPTHS = [5, 10, 15, 20, 30, 100, 200, 500, 1000]
SUCCESS = [1, 5, 10]

# Names of trec_eval, and ours with a place for rel. nDCG does not ask what is relevant.
MEASURES = {
    "map": "AP({})", "recip_rank": "RR({})", "Rprec": "Rprec({})", "bpref": "Bpref({})", "ndcg": "nDCG",
    "set_P": "P({})", "set_recall": "R({})", "num_ret": "NumRet", "num_rel": "NumRel({})",
    "num_rel_ret": "NumRelRet({})", "set_F": "SetF({})", "infAP": "infAP({})",
    **{f"map_cut_{k}": f"AP({{}})@{k}" for k in DEPTHS},
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in DEPTHS},
    **{f"P_{k}": f"P({{}})@{k}" for k in DEPTHS},
    **{f"recall_{k}": f"R({{}})@{k}" for k in DEPTHS},
    **{f"success_{k}": f"Success({{}})@{k}" for k in SUCCESS},
}  # fmt: skip
FAMILIES = {name.rstrip("_0123456789") for name in MEASURES}


def assert_equal(qrels, run, rel):
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, FAMILIES, relevance_level=rel)
    theirs = evaluator.evaluate(run)
    ours = rs.evaluate(qrels, run, [name.format(f"rel={rel}") for name in MEASURES.values()], queries="run")
    assert set(ours.queries) == set(theirs)
    expected = np.array([[theirs[q][name] for name in MEASURES] for q in ours.queries])
    difference = np.abs(ours.values[0] - expected)
    worst = dict(zip(MEASURES, difference.max(axis=0).tolist(), strict=True))
    assert {name: d for name, d in worst.items() if d > 1e-12} == {}


def in_32_bits(run):
    return {q: {d: float(np.float32(s)) for d, s in scores.items()} for q, scores in run.items()}


def random_collection(seed, labels):
    """Ties, queries of one side only, unjudged documents; every query has a label >= 0."""
    rng = random.Random(seed)
    documents = [f"{letter}{i}" for letter in "aBé" for i in range(60)]
    scores = [x / 8 for x in range(-20, 60)] + [1e-30, 16777216.0]
    qrels, run = {}, {}
    for i in range(40):
        if i % 8 != 1:
            qrels[f"q{i}"] = {d: rng.choice(labels) for d in rng.sample(documents, rng.randint(1, 60))}
            if max(qrels[f"q{i}"].values()) < 0:
                qrels[f"q{i}"][rng.choice(documents)] = rng.choice([0, 1])
        if i % 8 != 2:
            run[f"q{i}"] = {d: rng.choice(scores) for d in rng.sample(documents, rng.randint(1, 120))}
    return qrels, run


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize(
    "labels", [[0, 1], [0, 0, 0, 1, 2, 3], [1], [0], [-2, 0, 1, 2], [-2, -1, -1, 0, 1], [-2, -2, -2, 0]], ids=str
)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")  # queries without judgments are meant
def test_random_collections(seed, labels, rel):
    assert_equal(*random_collection(seed, labels), rel)


@pytest.fixture(scope="module")
def dl_hard(data_dir: Path) -> Path:
    folder = data_dir / "dl_hard_runs"
    if not folder.is_dir():
        pytest.skip("the DL-Hard runs are not there")
    return folder


def test_dl_hard_runs(dl_hard: Path):
    """All 14 document runs, binary and at level 2."""
    qrels = rs.read_qrels(dl_hard / "dl_hard-doc.qrels.gz").to_dict()
    paths = sorted(path for path in (dl_hard / "doc").iterdir() if path.is_file())
    assert len(paths) == 14
    for path in paths:
        run = in_32_bits(rs.read_run(path).to_dict())
        for rel in (1, 2):
            assert_equal(qrels, run, rel)


def test_an_unanswered_query_counts_0_where_every_judged_query_counts():
    """trec_eval -c: pytrec_eval itself leaves it out."""
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 1.0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map"}).evaluate(run)
    assert rs.evaluate(qrels, run, ["AP"]).mean_of("AP") == theirs["q"]["map"] / 2
    assert rs.evaluate(qrels, run, ["AP"], queries="run").mean_of("AP") == theirs["q"]["map"]


def test_scores_are_compared_in_64_bits():
    """1 + 1e-9 is above 1 here and in trec_eval 10; 32 bits tie them and go by document id."""
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1 + 1e-9, "b": 1.0}}
    assert rs.evaluate(qrels, run, ["RR"]).mean_of("RR") == 1.0
    assert pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"] == 0.5
