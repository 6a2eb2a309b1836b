"""Which measures share their types of queries: one base measure at every k, and what normalises it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ranksift.measures.bounds import V1
from ranksift.measures.measure import Measure
from ranksift.study.systems import without_k
from ranksift.study.wording import joined


@dataclass(frozen=True)
class CaseStudy:
    """A base measure at every k, with the lower bound by which queries are sorted.

    Attributes
    ----------
    name
        The base measure, and the lower bound where it is studied with more than one.
    bases
        The base measure at every k; real scores are averaged over them.
    lower_bounds
        For each of them the measure whose expectation stands for a random ranking.
    measures
        What is studied on the case's sets of queries.
    """

    name: str
    bases: tuple[Measure, ...]
    lower_bounds: tuple[Measure, ...]
    measures: tuple[Measure, ...]

    @property
    def words(self) -> str:
        """What queries are sorted by."""
        bound = "" if self.lower_bounds == self.bases else f", with {joined(self.lower_bounds)} for random rankings"
        return f"By {joined(self.bases)}{bound}"


def case_studies(measures: Sequence[Measure], known: Collection[Measure]) -> list[CaseStudy]:
    """Every base measure with its own sets of queries.

    A normalised measure belongs to the case of its base, and brings the lower bound. What belongs to no case is studied
    on the sets of every one.

    Parameters
    ----------
    measures
        All that are studied.
    known
        Those whose value of a random ranking has a closed form.

    Examples
    --------
    >>> from ranksift.measures.names import parse_measures
    >>> names = 'nDCG@5 nDCG@10 DCG_ul2@5 DCG_ul2@10 MSP@5 MSP_ul2(expected="paper")@5 nDCG_f@5'
    >>> measures = parse_measures(names)
    >>> for case in case_studies(measures, [measures[i] for i in (0, 1, 4)]):
    ...     print(case.words, case.measures, sep="; ")
    By nDCG@5 and nDCG@10; (nDCG@5, nDCG@10, DCG_ul2@5, DCG_ul2@10, nDCG_f@5)
    By MSP@5, with E_MSP(expected="paper")@5 for random rankings; (MSP@5, MSP_ul2(expected="paper")@5, nDCG_f@5)
    """
    families: dict[str, list[Measure]] = {}
    for measure in measures:
        if measure in known:
            families.setdefault(without_k(measure), []).append(measure)
    bounds: dict[str, dict[str, Measure]] = {name: {} for name in families}
    belongs: dict[Measure, tuple[str, str]] = {}
    for measure in measures:
        if isinstance(measure, V1) and without_k(measure.inner) in families:
            belongs[measure] = without_k(measure.inner), without_k(measure.lower_bound)
            bounds[belongs[measure][0]][belongs[measure][1]] = measure.lower_bound
    others = {m for m in measures if m not in belongs and not any(m in bases for bases in families.values())}
    found = []
    for name, bases in families.items():
        for bound, example in (bounds[name] or {name: bases[0]}).items():
            lower = tuple(base if bound == name or base.k is None else example @ base.k for base in bases)
            here = tuple(m for m in measures if m in bases or m in others or belongs.get(m) == (name, bound))
            found.append(CaseStudy(f"{name}, {bound}" if len(bounds[name]) > 1 else name, tuple(bases), lower, here))
    return found
