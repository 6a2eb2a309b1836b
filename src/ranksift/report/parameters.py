"""The parameters of a class as a table: what each is by default, may be, and means."""

from __future__ import annotations

from typing import Any

from ranksift.evaluation.table import Table
from ranksift.parameters import declared


def parameter_table(kind: type, title: str, **defaults: Any) -> Table:
    """A row for each parameter; ``defaults`` are shown instead of what is declared.

    Examples
    --------
    >>> from ranksift.cutoffs.baselines import FixedCutoff
    >>> print(parameter_table(FixedCutoff, "A threshold chosen by hand."))
    A threshold chosen by hand.
    parameter  default  may be    meaning
    ---------  -------  --------  ------------------------------
    threshold  0.0      a number  The lowest score that is kept.
    """
    rows = [
        [name, str(defaults.get(name, default)), spec.kind.what, spec.plain_meaning]
        for name, (spec, default) in declared(kind).items()
    ]
    return Table(["parameter", "default", "may be", "meaning"], rows, title=title)
