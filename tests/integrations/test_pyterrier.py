"""In PyTerrier, without its bridge to Java: results come from frames."""

import sys

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.datasets.reviews import GAINS, product_reviews
from ranksift.datasets.synthetic import synthetic_collection
from ranksift.learning import LambdaMARTf
from tests.integrations.conftest import FORBIDDEN, QUERY, SCORES, TEXTS

pd = pytest.importorskip("pandas")
pt = pytest.importorskip("pyterrier", reason="needs the extra pyterrier")

from ranksift.integrations import RankSiftTransformer  # noqa: E402


@pytest.fixture
def results():
    """Of two queries, as a retriever gives them; the second has forbidden documents only."""
    rows = [("1", QUERY, f"d{n}", text, score) for n, (text, score) in enumerate(zip(TEXTS, SCORES, strict=True))]
    rows += [("2", QUERY, f"d{n}", TEXTS[n], SCORES[n]) for n in sorted(FORBIDDEN)]
    found = pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score"])
    return pt.model.add_ranks(found)


TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": [QUERY, QUERY]})


def test_a_ranker_of_texts_orders_and_drops(ranker, results):
    pipe = pt.Transformer.from_df(results) >> RankSiftTransformer(ranker)
    found = pipe(TOPICS)
    own = rs.load(ranker).rank(QUERY, TEXTS)
    assert found.qid.tolist() == ["1"] * 3
    assert found.docno.tolist() == [f"d{one.index}" for one in own]
    assert found.score.to_numpy() == pytest.approx([one.score for one in own], abs=1e-5)
    assert found["rank"].tolist() == [0, 1, 2]


def test_with_explain_dropped_ones_stay_behind_the_others(ranker, results):
    found = RankSiftTransformer(ranker, explain=True)(results)
    assert found.kept.tolist() == [True] * 3 + [False] * 4
    assert found["rank"].tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert {*found.docno[found.qid == "1"][~found.kept]} == {f"d{n}" for n in FORBIDDEN}


def test_a_cutoff_drops_by_the_scores_that_there_are(cutoff, results):
    found = (pt.Transformer.from_df(results) >> RankSiftTransformer(cutoff))(TOPICS)
    assert found[["qid", "docno", "score", "rank"]].to_numpy().tolist() == [["1", "d0", 0.9, 0], ["1", "d2", 0.8, 1]]
    assert len(results) == 7


def test_a_cutoff_of_two_scores_reads_the_column_cut_score(results):
    scores, ranks = [0.9, 0.4, 0.7, 0.2] * 10, [1, 2, 2, 1] * 10
    rule = rs.GlobalCutoff("nDCG_f@3").fit(scores, [1, -1, 2, -1] * 10, np.arange(40) // 4, rank_scores=ranks)
    found = RankSiftTransformer(rule)(results.assign(cut_score=[0.1, 0.9, 0.1, 0.9, 0.9, 0.1, 0.1]))
    assert found.docno.tolist() == ["d4", "d1", "d3"]  # by score
    with pytest.raises(pt.validate.InputValidationError, match="cut_score"):
        RankSiftTransformer(rule)(results)


def test_a_ranker_of_features_reads_the_column_features():
    examples = product_reviews(60).examples
    model = LambdaMARTf(trees=20, gains=GAINS).fit(examples)
    frame = pd.DataFrame({"qid": [str(examples.query_ids[q]) for q in examples.query], "docno": examples.docs})
    frame["features"] = [*examples.features]
    found = RankSiftTransformer(model)(frame.sample(frac=1, random_state=0))
    ours = model.rank(examples).to_frame()
    assert 0 < len(found) < len(frame)
    assert {*zip(found.qid, found.docno, strict=True)} == {*zip(ours["query_id"], ours["doc_id"], strict=True)}
    with pytest.raises(InputError, match="row 1 has 1 features, and the model was fitted to"):
        RankSiftTransformer(model)(frame.assign(features=[row[:1] for row in frame.features]))


def test_features_that_a_pipeline_makes(results):
    """``**`` makes a column of them: the retriever's score, and the length of the text."""
    length = pt.apply.doc_score(lambda row: len(row["text"]))
    pipe = pt.Transformer.from_df(results) >> (pt.Transformer.identity() ** length)
    made = pipe(TOPICS)
    examples = rs.Examples.from_arrays(np.stack(made.features), [2, -1, 1, -1, 1, -1, -1], made.qid)
    model = rs.learning.RankSVM().fit(examples)
    found = (pipe >> RankSiftTransformer(model))(TOPICS)
    first, second = model.score(examples)[:5], model.score(examples)[5:]
    assert found.score.tolist() == sorted(first, reverse=True) + sorted(second, reverse=True)


def test_a_column_that_lacks_is_named(ranker, cutoff, results):
    for model, column in ((ranker, "text"), (cutoff, "score")):
        with pytest.raises(pt.validate.InputValidationError, match=column):
            RankSiftTransformer(model)(results.drop(columns=[column]))
    renamed = results.rename(columns={"text": "body"})
    assert len(RankSiftTransformer(ranker, text_field="body")(renamed)) == 3


def test_no_results_are_results(ranker, cutoff, results):
    for model in (ranker, cutoff):
        assert RankSiftTransformer(model)(results[:0]).columns.tolist() == results.columns.tolist()
        assert len(RankSiftTransformer(model)(results[5:])) == 0


def test_pyterrier_knows_what_goes_in_and_comes_out(cutoff, results):
    stage = RankSiftTransformer(str(cutoff))
    assert pt.inspect.transformer_outputs(stage, ["qid", "docno", "score"]) == ["qid", "docno", "score", "rank"]
    assert str(cutoff) in repr(pt.Transformer.from_df(results) >> stage)


@pytest.mark.filterwarnings("ignore:.*have no label:ranksift.RankSiftWarning")
def test_in_an_experiment_the_filter_shows_in_nDCG_f():
    qrels, runs = synthetic_collection(queries=100, depth=8, judged=8, forbidden=0.4)
    gains = {-2: -10}
    rule = rs.GlobalCutoff("nDCG_f@5").fit_run(qrels, runs["weak"], gains=gains)
    frame = runs["weak"].to_frame().to_pandas().rename(columns={"query_id": "qid", "doc_id": "docno"})
    labels = qrels.to_frame().to_pandas().rename(columns={"query_id": "qid", "doc_id": "docno"})
    retriever = pt.Transformer.from_df(pt.model.add_ranks(frame))
    measure = rs.register_ir_measures(first=True).nDCG_f(gains=gains) @ 5
    topics = pd.DataFrame({"qid": [*qrels.query_ids]})
    table = pt.Experiment([retriever, retriever >> RankSiftTransformer(rule)], topics, labels, [measure])
    shown, kept = table.iloc[:, 1]
    assert kept == pytest.approx(rule.value_, abs=1e-9)
    assert kept > shown + 0.02


def test_no_java_was_started():
    assert "jnius" not in sys.modules
