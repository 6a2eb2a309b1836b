"""What a run or a model says before anybody judged: order, proposals, and in which tasks they are shown."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets.reviews import GAINS, product_reviews
from ranksift.labelling.assistant import with_proposals
from ranksift.labelling.prior import with_prior
from ranksift.labelling.records import Item, NewTask, Query
from ranksift.learning import RankBoost
from tests.labelling.logs import task

QUERIES = (
    Query("q1", "A dentist?", items=(Item("d1", "No idea"), Item("d2", "Try Hanna"), Item("d3", "Hm"))),
    Query("q2", "A vet?", items=(Item("d1", "No"),)),
)


def test_a_run_orders_and_proposes_nothing(tmp_path: Path):
    run = tmp_path / "bm25.run"
    run.write_text("q1 Q0 d2 1 7.5 x\nq1 Q0 d1 2 -1 x\nq2 Q0 d1 1 3 x\nq9 Q0 d1 1 3 x\n")
    found = with_prior(QUERIES, run)
    assert [item.prior for query in found.queries for item in query.items] == [-1.0, 7.5, None, 3.0]
    assert not any(item.proposed_forbidden for query in found.queries for item in query.items)
    assert found.notes == ("1 of 4 documents have no prior score, and come last",)


def test_a_run_of_other_documents_is_refused(tmp_path: Path):
    run = tmp_path / "bm25.run"
    run.write_text("q9 Q0 d2 1 7.5 x\n")
    with pytest.raises(rs.InputError, match=r"bm25\.run: scores none of the documents to label"):
        with_prior(QUERIES, run)
    with pytest.raises(rs.InputError, match="features are given for a run"):
        with_prior(QUERIES, {"q1": {"d1": 1.0}}, data="features.csv")
    with pytest.raises(rs.InputError, match="2 is not a share of good documents"):
        with_prior(QUERIES, {"q1": {"d1": 1.0}}, obvious=2)


@pytest.fixture(scope="module")
def reviews():
    """Made-up reviews to label, and others from which a model has learned, with its cut."""
    others, ours = product_reviews(600, seed=2).examples.split(0.8, seed=0)
    training, held_out = others.split(0.6, seed=0)
    model = RankBoost(gains=GAINS).fit(training).fit_cutoff(held_out)
    bounds = zip(ours.query_ids, ours.offsets[:-1].tolist(), ours.offsets[1:].tolist(), strict=True)
    queries = [Query(q, "Q", items=tuple(Item(doc, "x") for doc in ours.docs[lo:hi])) for q, lo, hi in bounds]
    return model, ours, queries


def test_a_model_scores_and_proposes_what_is_obvious(reviews, tmp_path: Path):
    model, ours, queries = reviews
    model.save(tmp_path / "model")
    ours.save(tmp_path / "ours.csv")
    found = with_prior(queries, tmp_path / "model", data=tmp_path / "ours.csv")
    items = [item for query in found.queries for item in query.items]
    assert [item.prior for item in items] == pytest.approx(model.score(ours).tolist())
    proposed = np.array([item.proposed_forbidden for item in items])
    scores = np.array([item.prior for item in items])
    assert 0 < proposed.sum() < len(items) / 2
    assert scores[proposed].max() < scores[~proposed].min()  # a threshold, below that of the model
    assert scores[proposed].max() < model.cutoff_.threshold_
    good = ours.labels > 0
    assert proposed[good].mean() < 0.05  # 2 % were asked for, on other queries
    assert proposed[ours.labels < 0].mean() > 3 * proposed[good].mean()
    assert f"{proposed.sum():,} of {len(items):,} documents are proposed" in found.notes[0]


def test_a_stricter_margin_proposes_less(reviews):
    model, ours, queries = reviews
    before = model.cutoff_.threshold_
    counts = [
        sum(
            item.proposed_forbidden
            for q in with_prior(queries, model, data=ours, obvious=share).queries
            for item in q.items
        )
        for share in (0.0, 0.02, 0.2)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert model.cutoff_.threshold_ == before  # the model that was given stays as it is


def test_a_model_without_a_cut_only_orders(reviews):
    _, ours, queries = reviews
    found = with_prior(queries, RankBoost(gains=GAINS).fit(ours), data=ours)
    assert found.notes == ("no document is proposed as forbidden: the model has no cut",)
    assert not any(item.proposed_forbidden for query in found.queries for item in query.items)


def test_a_model_of_features_needs_them(reviews):
    model, _, queries = reviews
    with pytest.raises(rs.InputError, match=r"this RankBoost reads features.*--prior-data"):
        with_prior(queries, model)


# -- in which tasks ----------------------------------------------------------------------------------------------------


def proposed(count: int) -> list[Query]:
    """Queries with a proposal, and one without."""
    items = (Item("a", "A", proposed_forbidden=True), Item("b", "B"))
    return [*(Query(f"q{i}", "Q", items=items) for i in range(count)), Query("none", "Q", items=(Item("a", "A"),))]


def test_half_of_the_queries_show_proposals_to_all_of_their_assessors():
    queries = proposed(20)
    tasks = [NewTask(query.query_id, person, "pairs") for query in queries for person in (1, 2)]
    made = with_proposals(tasks, queries, seed=3)
    shown = {}
    for one in made:
        shown.setdefault(one.query_id, set()).add(one.with_proposals)
    assert all(len(said) == 1 for said in shown.values())
    assert sum(said == {True} for said in shown.values()) == 10
    assert shown["none"] == {False}
    assert made == with_proposals(tasks, queries, seed=3)
    assert made != with_proposals(tasks, queries, seed=4)


def test_an_odd_query_falls_on_either_side():
    shown = [with_proposals([NewTask("q0", 1, "pairs")], proposed(1), seed=s)[0].with_proposals for s in range(20)]
    assert 4 < sum(shown) < 16


def test_later_tasks_of_a_query_stay_in_its_half():
    queries = proposed(2)
    before = [task("q0", "ann", 1, with_proposals=True)]
    made = with_proposals([NewTask("q0", 2, "pairs"), NewTask("q1", 2, "pairs")], queries, existing=before)
    assert [one.with_proposals for one in made] == [True, False]


def test_a_query_stays_in_its_half_after_it_was_verified():
    before = [task("q0", "ann", 1, with_proposals=True), task("q0", "bob", 2, purpose="verify")]
    for existing in (before, before[::-1]):
        (made,) = with_proposals([NewTask("q0", 3, "pairs", "overlap")], proposed(2), existing=existing)
        assert made.with_proposals
    # And what was only verified has no half yet.
    tasks = [NewTask(f"q{i}", 3, "pairs") for i in range(6)]
    existing = [task(f"q{i}", "bob", 2, purpose="verify") for i in range(6)]
    assert sum(one.with_proposals for one in with_proposals(tasks, proposed(6), existing=existing)) == 3


def test_tasks_that_verify_show_none():
    made = with_proposals([NewTask("q0", 1, "pairs", "verify")], proposed(1), existing=[
        replace(task("q0", "ann", 2), with_proposals=True)
    ])  # fmt: skip
    assert [one.with_proposals for one in made] == [False]


def test_a_model_that_reads_scores_titles_and_html_as_text(tmp_path: Path):
    pytest.importorskip("torch")
    from ranksift.learning import TextRanker
    from tests.learning.text.tiny import write_encoder

    forum = rs.datasets.synthetic_forum(12, seed=5).examples
    model = TextRanker(
        encoder=str(write_encoder(tmp_path / "bert", "bert")), freeze=True, context=False, epochs=1, max_length=64
    )
    model.fit(forum).save(tmp_path / "model")
    items = (
        Item("d1", "<p>Try <b>Doctor</b> Hanna", "Re", media="html"),
        Item("d2", "Re. Try Doctor Hanna"),
        Item("d3", "No"),
    )
    (query,) = with_prior([Query("q1", "A dentist?", items=items)], tmp_path / "model").queries
    first, second, third = (item.prior for item in query.items)
    assert first == pytest.approx(second, abs=1e-5)
    assert third != pytest.approx(second, abs=1e-5)
