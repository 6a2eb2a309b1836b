"""What results share: how they are printed, drawn and put in words, and how they name measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ranksift.errors import InputError
from ranksift.evaluation.printed import Tabular
from ranksift.measures.names import parse_measure
from ranksift.plotting import family_and_k

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Found = TypeVar("Found")


class Picture(NamedTuple):
    """A figure with a word for it, which becomes part of a file's name, and its caption."""

    name: str
    caption: str
    figure: Figure


# Lines that one picture takes.
_LINES = 28


def pictures_of(
    name: str, caption: str, measures: Sequence[str], plot: Callable[[list[str]], Figure], most: int = 7
) -> list[Picture]:
    """One picture of all measures, whatever their k; of many measures several, each of which has all ks of some.

    >>> [p.caption for p in pictures_of("p", "All p", ["AP", "nDCG@5", "nDCG@10", "P@5"], print, most=3)]
    ['AP', 'nDCG@5', 'nDCG@10', 'P@5']
    ['All p']
    >>> [p.caption for p in pictures_of("p", "All p", ["AP", "nDCG@5", "nDCG@10", "P@5"], print, most=2)]
    ['AP', 'nDCG@5', 'nDCG@10']
    ['P@5']
    ['All p, 1 of 2', 'All p, 2 of 2']
    """
    families: dict[str, list[str]] = {}
    for measure in measures:
        families.setdefault(family_and_k(measure)[0], []).append(measure)
    together = max(1, min(most, _LINES // max(map(len, families.values()))))
    groups = list(families.values())
    some = [groups[i : i + together] for i in range(0, len(groups), together)]
    found = []
    for i, group in enumerate(some, 1):
        word, title = (f"{name} {i}", f"{caption}, {i} of {len(some)}") if len(some) > 1 else (name, caption)
        found.append(Picture(word, title, plot([measure for family in group for measure in family])))
    return found


class Result(Tabular):
    """A result that is printed as a table."""

    def reading(self) -> list[str]:
        """The result in plain words, as sentences."""
        raise NotImplementedError

    def pictures(self) -> list[Picture]:
        """All its figures."""
        raise NotImplementedError

    def frames(self) -> dict[str, pl.DataFrame]:
        """All its frames, by a word for each; that of :meth:`to_frame` has none."""
        return {"": self.to_frame()}

    def __repr__(self) -> str:
        return f"<{self.table().title}>"


class PerMeasure(dict[str, Found]):
    """``{measure: value}``, in which a measure is found by any spelling.

    >>> PerMeasure({"nDCG@10": 0.5})["ndcg_cut_10"]
    0.5
    """

    def name_of(self, measure: Any) -> str:
        """The name that a measure has here."""
        try:
            name = str(parse_measure(measure))
        except InputError:
            name = str(measure)
        if name not in self:
            raise InputError(f"measure {measure!s} is not in this study", remedy=f"there are: {', '.join(self)}")
        return name

    def __missing__(self, measure: Any) -> Found:
        return self[self.name_of(measure)]
