"""What the integrations share."""

import importlib
import sys

import numpy as np
import pytest

import ranksift as rs
from ranksift import InputError, RankSiftWarning
from ranksift.integrations.sifter import Sifter
from ranksift.learning import RankSVM
from tests.integrations.conftest import FORBIDDEN, QUERY, SCORES, TEXTS


def test_a_ranker_gives_what_its_rank_gives(ranker):
    kept, dropped = Sifter.of(ranker).sift(QUERY, TEXTS, [])
    assert kept == rs.load(ranker).rank(QUERY, TEXTS)
    assert {one.index for one in dropped} == FORBIDDEN
    assert all(one.margin < 0 for one in dropped)
    assert all(one.margin >= 0 for one in kept)


def test_a_cutoff_gives_what_its_keep_gives_in_the_order_of_the_list(cutoff, threshold):
    scores = [0.5, 0.1, 0.9, 0.2, 0.7]
    kept, dropped = Sifter.of(str(cutoff)).sift(None, TEXTS, scores)
    assert [one.index for one in kept] == np.flatnonzero(rs.load_cutoff(cutoff).keep(scores)).tolist() == [0, 2, 4]
    assert [one.margin for one in kept + dropped] == pytest.approx([scores[i] - threshold for i in (0, 2, 4, 1, 3)])


@pytest.mark.parametrize("rule", [rs.GlobalCutoff("nDCG_f@3"), rs.ShapeCutoff("nDCG_f@3")])
def test_a_rule_of_two_scores_cuts_on_the_one_and_the_list_is_ranked_by_the_other(rule):
    scores, ranks, group = [0.9, 0.4, 0.7, 0.2] * 10, [1, 2, 2, 1] * 10, np.arange(40) // 4
    fitted = rule.clone().fit(scores, [1, -1, 2, -1] * 10, group, rank_scores=ranks)
    found = Sifter.of(fitted).sift(None, ["a", "b", "c"], [0.3, 0.8, 0.95])
    assert [one.index for one in found.kept] == [1, 2]
    assert np.flatnonzero(fitted.keep([0.3, 0.8, 0.95], rank_scores=[3, 2, 1])).tolist() == [1, 2]


def test_fewer_documents_on_request_and_none_of_none(ranker):
    assert len(Sifter.of(ranker).sift(QUERY, TEXTS, [], top=2).kept) == 2
    assert Sifter.of(ranker).sift(QUERY, [], []) == ([], [])
    with pytest.raises(InputError, match="top=0 is not a positive integer"):
        Sifter.of(ranker).sift(QUERY, TEXTS, [], top=0)


def test_scores_of_another_scale_are_warned_of(cutoff):
    with pytest.warns(RankSiftWarning, match="scores from 8 to 12, and the cutoff was fitted on scores from 0"):
        assert len(Sifter.of(cutoff).sift(None, TEXTS, [8, 9, 10, 11, 12]).kept) == 5


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (RankSVM(), "this RankSVM is not fitted; call fit first"),
        (rs.GlobalCutoff(), "this GlobalCutoff is not fitted; call fit first"),
        (7, "7 is neither a ranker nor a cutoff; give a model's folder, a cutoff's file, or a fitted object"),
        ("nowhere.json", "nowhere.json: cannot be read (No such file or directory); name a cutoff's file"),
    ],
)
def test_what_cannot_sift_is_refused_in_a_line(given, said):
    with pytest.raises(InputError) as refused:
        Sifter.of(given)
    assert str(refused.value) == said


def test_a_cutoff_needs_scores_and_a_ranker_a_query(ranker, cutoff):
    with pytest.raises(InputError, match="document 2 of 5 has no score, and a cutoff cuts on scores; put it behind"):
        Sifter.of(cutoff).sift(QUERY, TEXTS, [0.9, None, 0.8, 0.1, 0.3])
    with pytest.raises(InputError, match="TextRanker reads the query, and there is none"):
        Sifter.of(ranker).sift(None, TEXTS, SCORES)
    with pytest.raises(InputError, match="nan"):
        Sifter.of(cutoff).sift(QUERY, ["a"], [float("nan")])


def test_a_model_of_features_refuses_texts():
    model = RankSVM().fit(rs.Examples.from_arrays([[0.1], [0.9], [0.3]], [0, 2, 1], ["q", "q", "q"]))
    with pytest.raises(InputError, match="RankSVM was fitted to features, but texts are given"):
        Sifter.of(model).sift(QUERY, TEXTS, [])


@pytest.mark.parametrize(
    ("module", "library", "said"),
    [
        ("haystack", "haystack", "Haystack; pip install 'ranksift[haystack]'"),
        ("langchain", "langchain_core", "LangChain; pip install 'ranksift[langchain]'"),
        ("llama_index", "llama_index.core", "LlamaIndex; pip install 'ranksift[llamaindex]'"),
        ("pyterrier", "pyterrier", "PyTerrier; pip install 'ranksift[pyterrier]'"),
        ("sklearn", "sklearn", "scikit-learn; pip install 'ranksift[learn]'"),
    ],
)
def test_a_library_that_is_missing_is_named_with_its_extra(monkeypatch, module, library, said):
    name = f"ranksift.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError) as refused:
        importlib.import_module(name)
    assert str(refused.value).startswith(f"{name} needs {said}")
