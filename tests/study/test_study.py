"""The room as a whole: light to import, functions that bear their files' names, real tables."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ranksift
from ranksift import InputError, Scores, plotting, study


def imported_by(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_takes_nothing_along():
    names = "{'numpy', 'polars', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules)"
    assert imported_by(f"import sys; from ranksift import study; print({names})") == "set()"


def test_a_study_needs_neither_frames_nor_pictures():
    program = """
import sys
from ranksift import Scores, study
scores = Scores.from_array([[[1.0], [0.5]], [[0.2], [0.3]]], runs=["a", "b"], queries=["p", "q"], measures=["AP"])
study.stability(scores, 2), study.sensitivity(scores, 2), study.reliability(scores, 2)
print({'polars', 'scipy', 'matplotlib', 'pandas'} & set(sys.modules))
"""
    assert imported_by(program) == "set()"


def test_every_public_name_resolves():
    assert [name for name in study.__all__ if not hasattr(study, name)] == []
    assert set(study.__all__) <= set(dir(study))


@pytest.mark.parametrize("first", ["import ranksift.study.stability", "from ranksift.study.stability import Stability"])
def test_a_function_is_not_hidden_by_its_file(first):
    program = f"{first}\nfrom ranksift import study\nprint(type(study.stability).__name__)"
    assert imported_by(program) == "function"


def test_the_room_is_a_public_name():
    assert ranksift.study is study


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'beauty'"):
        _ = study.beauty


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pictures need matplotlib; pip install 'ranksift\[report\]'"):
        plotting.drawing("x", "y")


class TestWebTrack:
    """Submissions of the TREC Web Tracks."""

    @pytest.fixture(params=[2010, 2013])
    def scores(self, request, data_dir: Path) -> Scores:
        folder = data_dir / "trec_web_pertopic_scores"
        if not folder.is_dir():
            pytest.skip("no trec_web_pertopic_scores among the real data")
        names = {"AP": "ap", "nDCG@20": "ndcg20", "P@20": "p20"}
        tables = [
            np.loadtxt(folder / f"web{request.param}_{name}.csv", delimiter=",", skiprows=1) for name in names.values()
        ]
        topics, runs = tables[0].shape
        return Scores.from_array(
            np.stack(tables, axis=2).transpose(1, 0, 2),
            runs=[f"sys{r}" for r in range(runs)],
            queries=[f"q{q}" for q in range(topics)],
            measures=list(names),
        )

    @pytest.mark.filterwarnings("ignore:the runs:ranksift.RankSiftWarning")  # some submissions are copies
    def test_more_topics_fewer_errors_and_more_reliability(self, scores):
        stable = study.stability(scores, samples=100, sizes=[5, 10, 20])
        sensitive = study.sensitivity(scores, samples=200)
        reliable = study.reliability(scores, samples=100)
        for measure in ("AP", "nDCG@20", "P@20"):
            five, ten, twenty = stable.error_rate[measure].values()
            assert 0.25 > five > ten > twenty > 0
            low, middle, high = sensitive.curve([0.01, 0.05, 0.2])[measure]
            assert 0.2 < low < middle < high < 1
            assert 0.6 < reliable.phi_interval[measure][0] < reliable.phi[measure] < reliable.rho2[measure] < 1


@pytest.mark.parametrize("order", [list(range(29, -1, -1)), np.random.default_rng(4).permutation(30).tolist()])
def test_what_is_drawn_does_not_depend_on_the_order_of_the_topics(order):
    values = np.random.default_rng(3).random((5, 30, 2)).round(2)
    names = [f"q{i}" for i in range(30)]
    axes = {"runs": list("abcde"), "measures": ["AP", "nDCG@10"]}
    one = Scores.from_array(values, queries=names, **axes)
    other = Scores.from_array(values[:, order], queries=[names[q] for q in order], **axes)
    levels = [study.sensitivity(scores, 200).asl["AP"].tolist() for scores in (one, other)]
    assert levels[0] == levels[1]
    rates = [study.stability(scores, 20, sizes=[5, 20]).error_rate["AP"] for scores in (one, other)]
    assert rates[0] == rates[1]
    bounds = [study.reliability(scores, 200).phi_interval["AP"] for scores in (one, other)]
    assert bounds[0] == pytest.approx(bounds[1], abs=1e-12)
