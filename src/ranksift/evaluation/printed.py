"""What results have in common: how they are printed, shown in a notebook, put into a paper and converted to pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ranksift.evaluation.table import Table, in_markdown, notebook

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from rich.console import Group


class Printed:
    """A result that people read as tables and sentences.

    Examples
    --------
    >>> class Answer(Printed):
    ...     def table(self):
    ...         return Table(["question", "answer"], [["6 × 7 < 50?", True]])
    >>> print(Answer())
    question     answer
    -----------  ------
    6 × 7 < 50?  yes
    >>> "<td>6 × 7 &lt; 50?</td>" in Answer()._repr_html_()
    True
    """

    def table(self) -> Table:
        """The result in short."""
        raise NotImplementedError

    def parts(self) -> Sequence[Table | str]:
        """What is printed: tables, and sentences between them."""
        return (self.table(),)

    def to_latex(self) -> str:
        r"""The tables for a paper that has ``\usepackage{booktabs}``."""
        return "\n\n".join(part.latex() for part in self.parts() if isinstance(part, Table))

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.parts()))

    def __rich__(self) -> Group:
        from rich.console import Group

        return Group(*(part.rich() if isinstance(part, Table) else part for part in self.parts()))

    def _repr_html_(self) -> str:
        return notebook(*self.parts())

    def _repr_markdown_(self) -> str:
        return in_markdown(*self.parts())


class Tabular(Printed):
    """A result that programs read as one table."""

    def to_frame(self) -> pl.DataFrame:
        """The result in full, as a polars frame."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """:meth:`to_frame` as a pandas frame, without pyarrow."""
        from ranksift.collection.readers.frames import as_pandas

        return as_pandas(self.to_frame())
