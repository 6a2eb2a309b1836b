"""What results share: how they are printed, and how they name measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ranksift.collection.errors import InputError
from ranksift.evaluation.table import Table
from ranksift.measures.names import parse_measure

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Found = TypeVar("Found")


class Result:
    """A result that is printed as a table."""

    def table(self) -> Table:
        """The result in short."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.table().text()

    def __repr__(self) -> str:
        return f"<{self.table().title}>"

    def __rich__(self) -> RichTable:
        return self.table().rich()

    def _repr_markdown_(self) -> str:
        return self.table().markdown()


class PerMeasure(dict[str, Found]):
    """``{measure: value}``, in which a measure is found by any spelling.

    >>> PerMeasure({"nDCG@10": 0.5})["ndcg_cut_10"]
    0.5
    """

    def __missing__(self, measure: Any) -> Found:
        try:
            name = str(parse_measure(measure))
        except InputError:
            name = str(measure)
        if name not in self:
            raise InputError(f"measure {measure!s} is not in this study", remedy=f"there are: {', '.join(self)}")
        return self[name]
