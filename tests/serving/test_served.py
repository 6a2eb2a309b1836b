"""What is scored together is scored as if each request came alone, and as rank says it."""

from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.cutoffs import FixedCutoff
from ranksift.errors import InputError
from ranksift.serving.served import ServedRanker, load_served, version_of
from tests.learning.text.tiny import drawn_texts
from tests.serving.conftest import drawn, save_cutoff


def _requests(count: int, seed: int) -> list[tuple[str, list[str]]]:
    """Queries with documents; some queries ask the same, and some lists are long."""
    asked, docs, offsets, _ = drawn_texts(count, 9, 25, seed=seed)
    found = [(query, docs[a:b]) for query, a, b in zip(asked, offsets[:-1], offsets[1:], strict=True)]
    return [*found, (asked[0], found[1][1]), (asked[0], found[0][1] * 5)]


@pytest.mark.parametrize("name", ["text", "frozen"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_texts_that_are_scored_together_are_ranked_as_alone(models: Path, name: str, seed: int):
    model, served = rs.load(models / name), load_served(name, models / name, "v")
    requests = _requests(12, seed)
    try:
        lists = [served.listed(query, documents) for query, documents in requests]
        together = served.scores(lists)
        dropped = 0
        for (query, documents), one, scores in zip(requests, lists, together, strict=True):
            expected = model.rank(query, documents, explain=True)
            found = served.ranked(one, scores)
            assert {o.index: o.kept for o in found} == {o.index: o.kept for o in expected}
            by_index = {o.index: o for o in expected}
            assert max(abs(o.score - by_index[o.index].score) for o in found) <= 1e-6
            assert [o.score for o in found if o.kept] == sorted((o.score for o in found if o.kept), reverse=True)
            dropped += sum(not o.kept for o in found)
        assert 0 < dropped < sum(map(len, lists))
    finally:
        served.close()


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
@pytest.mark.parametrize("name", ["stacked", "features"])
def test_features_that_are_scored_together_are_ranked_as_alone(models: Path, name: str):
    served, new = load_served(name, models / name, "v"), drawn(14, seed=5)
    with_texts = served.ranker.reads_texts()
    requests = []
    for a, b, query in zip(new.offsets[:-1], new.offsets[1:], new.texts.queries, strict=True):
        requests.append((query if with_texts else "", new.texts.docs[a:b] if with_texts else None, new.features[a:b]))
    requests[0][2][0, 1] = np.nan
    try:
        lists = [served.listed(*one) for one in requests]
        for one, request, scores in zip(lists, requests, served.scores(lists), strict=True):
            alone = served.scores([served.listed(*request)])[0]
            np.testing.assert_allclose(scores, alone, rtol=0, atol=1e-6)
            kept = {o.index for o in served.ranked(one, scores) if o.kept}
            assert kept == set(np.flatnonzero(served.cutoff.keep(alone)))
    finally:
        served.close()


def test_the_features_ranker_scores_as_its_own_score_does(models: Path):
    served, new = load_served("features", models / "features", "v"), drawn(6, seed=9)
    rows = new.features
    try:
        scores = served.scores([served.listed("", None, rows)])[0]
    finally:
        served.close()
    expected = rs.load(models / "features").score(rs.Examples.from_arrays(
        rows, None, np.zeros(len(rows)), feature_names=("bm25", "age")
    ))  # fmt: skip
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)


def test_nothing_of_what_others_sent_is_kept(models: Path):
    served = load_served("frozen", models / "frozen", "v")
    try:
        served.scores([served.listed("w5 w6", ["w7 w8", "w9"])])
        assert served.ranker._network.encoder.remembered == {}
    finally:
        served.close()


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_a_version_follows_what_is_there(place: Path):
    first = version_of(place / "cutoff.json")
    save_cutoff(place / "cutoff.json", 0.8)
    assert version_of(place / "cutoff.json") != first
    before = version_of(place / "text")
    assert version_of(place / "text") == before
    rs.load(place / "text").save(place / "text")
    assert version_of(place / "text") != before
    rule = next((place / "features").glob("version-*/cutoff.json"))
    before = version_of(place / "features")
    FixedCutoff(0.25).fit([0.1, 0.3], [1, 1], [1, 1]).save(rule)
    assert version_of(place / "features") != before


def test_what_is_no_model_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="is neither a folder of a model nor a file of a cutoff"):
        version_of(tmp_path / "nothing")
    (tmp_path / "model").mkdir()
    with pytest.raises(InputError, match=r"has no model\.json"):
        version_of(tmp_path / "model")


def test_a_ranker_says_what_requests_lack(models: Path):
    served = load_served("text", models / "text", "v")
    assert isinstance(served, ServedRanker)
    assert served.notes == []
    served.close()
