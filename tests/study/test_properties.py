"""Properties of measures: every counterexample computed again, plain loops, and what is known of the usual measures."""

from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

import ranksift as rs
from ranksift import study
from ranksift.errors import InputError
from ranksift.measures.measure import CATALOGUE, Measure, PerQuery
from ranksift.study.properties import PROPERTIES, SCALES, Shown


@pytest.fixture(scope="module")
def found() -> study.Properties:
    return study.properties(documents=4)


def again(shown: Shown) -> float:
    """The score of a list, computed by evaluate."""
    scores = rs.evaluate(shown.qrels, shown.run, [shown.measure], gains=shown.gains, queries=["q"])
    return float(scores.values[0, 0, 0])  # of the query: the mean of GMAP is another kind of number


@pytest.mark.filterwarnings("ignore::ranksift.errors.RankSiftWarning")
class TestCounterexamples:
    def test_evaluate_has_the_same_scores(self, found):
        for findings in found.found.values():
            for finding in findings.values():
                for shown in finding.counterexample.lists if finding.counterexample else ():
                    assert again(shown) == pytest.approx(shown.value, abs=1e-12), str(shown)

    def test_they_contradict_the_property(self, found):
        for measure, findings in found.found.items():
            sign = 1 if rs.parse_measure(measure).higher_is_better else -1
            for name, finding in findings.items():
                if finding.counterexample is None:
                    continue
                one, other = finding.counterexample.lists[0], finding.counterexample.lists[-1]
                gained = sign * (other.value - one.value)
                if name == "boundedness":
                    assert not 0 <= one.value <= 1
                elif name == "monotonicity":
                    assert gained < 0
                    assert other.shown[:-1] == one.shown
                elif name in ("convergence", "top-weightedness"):
                    assert gained <= 1e-12
                    assert len(one.shown) == len(other.shown)
                    first = next(
                        i for i, pair in enumerate(zip(one.shown, other.shown, strict=True)) if len(set(pair)) > 1
                    )
                    assert other.shown[first] > one.shown[first]
                    if name == "top-weightedness":
                        assert sorted(one.shown) == sorted(other.shown)
                elif name == "localization":
                    assert one.shown == other.shown
                    assert one.judged != other.judged
                    assert abs(gained) > 1e-12
                elif name == "completeness":
                    assert max(one.judged) <= 0
                elif name == "realizability":
                    assert max(one.judged) > 0
                    assert one.value != (1 if sign > 0 else 0)
                else:
                    assert (one.judged, one.shown) == (other.judged, other.shown)
                    assert abs(gained) > 1e-12

    def test_they_are_on_the_simplest_labels(self, found):
        least = {"no": {0, 1}, "binary": {0, 1, 2}, "graded": {-1, 0, 1, 2}}
        for findings in found.found.values():
            for finding in findings.values():
                if finding.counterexample:
                    assert set(finding.counterexample.lists[0].scale) == least[finding.holds]


def plain(name: str, scale: tuple[float, ...], documents: int, measure: str) -> bool:
    """Whether a property holds, by loops over documents that have names, one query at a time."""
    pools = [p for n in range(1, documents + 1) for p in combinations_with_replacement(scale, n)]

    def score(pool, shown, k):
        qrels = {"q": dict(enumerate_names(pool)), "scale": dict(enumerate_names(scale))}
        run = {"q": {f"d{d}": -float(i) for i, d in enumerate(shown)}}
        return rs.evaluate(qrels, run, [f"{measure}@{k}"], queries=["q"]).values[0, 0, 0]

    for pool in pools:
        for length in range(1, len(pool) + 1):
            for shown in permutations(range(len(pool)), length):
                value = score(pool, shown, length)
                outside = [d for d in range(len(pool)) if d not in shown]
                if name == "monotonicity":
                    others = [(*shown, d) for d in outside]
                    if any(score(pool, other, length + 1) < value - 1e-12 for other in others):
                        return False
                elif name == "convergence":
                    others = [
                        (*shown[:i], d, *shown[i + 1 :])
                        for i, e in enumerate(shown)
                        for d in outside
                        if pool[d] > pool[e]
                    ]
                    if any(score(pool, other, length) <= value + 1e-12 for other in others):
                        return False
                elif name == "boundedness" and not -1e-12 <= value <= 1 + 1e-12:
                    return False
    return True


def enumerate_names(labels):
    return ((f"d{i}", label) for i, label in enumerate(labels))


@pytest.mark.parametrize("measure", ["P", "nDCG", "nDCG_org", "nDCG_f", "ERR", "AP"])
@pytest.mark.parametrize("name", ["boundedness", "monotonicity", "convergence"])
def test_plain_loops_find_the_same(measure, name):
    searched = study.properties(f"{measure}@10", documents=2).holds(f"{measure}@10", name)
    held = "no"
    for word, scale in SCALES.items():
        if not plain(name, scale, 2, measure):
            break
        held = word
    assert searched == held


class TestWhatIsKnown:
    """What Moffat says of the usual measures, for binary relevance."""

    @pytest.mark.parametrize(
        ("measure", "lacks"),
        [
            ("P@10", {"monotonicity", "top-weightedness", "realizability"}),
            ("RR", {"convergence", "top-weightedness"}),
            ("AP", {"localization", "completeness"}),
            ("nDCG@10", {"monotonicity", "localization", "completeness"}),
            ("RBP(p=0.8)", {"realizability"}),
            ("DCG@10", {"boundedness", "realizability"}),
        ],
    )
    def test_measures(self, found, measure, lacks):
        assert {name for name in list(PROPERTIES)[:7] if found.holds(measure, name) == "no"} == lacks

    def test_papers_1_and_4(self, found):
        """Negative gains break nDCG, and lists that filter break nDCG_min."""
        assert found.holds("nDCG_org@10", "boundedness") == "graded"
        assert found.holds("nDCG_min@10", "boundedness") == "no"
        assert found.holds("nDCG_f@10", "boundedness") == "yes"
        assert found.counterexample("nDCG_min@10", "boundedness").lists[0].shown == ()

    def test_gains(self, found):
        assert found.holds("nDCG_f@10", "scale") == "yes"
        assert found.holds("DCG@10", "scale") == "no"
        for without in ("AP", "RBP(p=0.8)", "kNDCG", "MSP@10"):
            assert found.holds(without, "scale") is None
        own = study.properties('RBP(gains="linear") RBP_qwa(scale="max") UL2(DCG(gains="exp")@5)', documents=3)
        assert [findings["scale"].holds for findings in own.found.values()] == ["yes", "yes", "yes"]
        assert [findings["shift"].holds for findings in own.found.values()] == ["no", "no", "no"]


def test_every_measure_is_there(found):
    assert {name.split("(")[0].split("@")[0] for name in found.found} == set(CATALOGUE)
    assert {"AP", "AP@10", "UL2(DCG@10)"} <= set(found.found)


def test_without_a_nil_document_nil_changes_what_is_complete_alone():
    found = study.properties('AP AP(nil="NIL") RR_qwa RR_qwa(nil="NIL")', documents=3)
    one, with_nil, ended, cut = ({name: f.holds for name, f in findings.items()} for findings in found.found.values())
    assert {name for name in one if one[name] != with_nil[name]} == {"completeness"}
    assert with_nil["completeness"] == "yes"
    assert ended == cut


def test_a_measure_of_ones_own():
    from dataclasses import dataclass

    try:

        @dataclass(frozen=True, repr=False)
        class Length(Measure):
            """Documents shown."""

            def per_query(self, judged):
                return PerQuery(judged.length.astype(np.float64))

        found = study.properties(Length(), documents=2)
        assert found.holds("Length", "boundedness") == "no"
        assert found.counterexample("Length", "boundedness").lists[0].shown == (1, 1)
        assert found.holds("Length", "monotonicity") == "yes"
    finally:
        CATALOGUE.pop("Length", None)


class TestResult:
    def test_frame_and_words(self):
        found = study.properties("RR nDCG_f@10", documents=3)
        frame = found.to_frame()
        assert frame.height == 2 * len(PROPERTIES)
        assert frame.row(2) == (
            "RR",
            "convergence",
            "no",
            "judged [1, 1, 0]: RR gives [1, 0] 1.0000, and [1, 1] 1.0000",
        )
        assert found.reading()[0] == f"RR, convergence: {frame.row(2)[3]}."
        pools = [p for n in (1, 2, 3) for p in combinations_with_replacement((-1, 0, 1, 2), n)]
        lists = [(p, shown) for p in pools for n in range(len(p) + 1) for shown in set(permutations(p, n))]
        assert str(found).startswith(f"Properties of measures, in all {len(lists)} lists of up to 3 documents")
        assert "k runs from 1 to 4" in str(found)
        assert "k runs from" not in str(study.properties("RR", documents=2))

    def test_what_is_not_there_is_refused(self):
        found = study.properties("RR", documents=2)
        with pytest.raises(InputError, match="property 'beauty' is unknown; use boundedness, "):
            found.holds("RR", "beauty")
        with pytest.raises(InputError, match="measure AP is not in this study; there are: RR"):
            found.holds("AP", "scale")
        with pytest.raises(InputError, match="documents=7 is not an integer from 2 to 6"):
            study.properties("RR", documents=7)


def test_a_value_that_is_nearly_1_is_not_written_as_1():
    """infAP's guard against a division by 0 takes a little from the perfect list."""
    example = study.properties("infAP", documents=2).counterexample("infAP", "realizability")
    assert str(example) == "judged [1, 1]: no list is better than [1, 1], to which infAP gives 0.9999975"
