"""RankSift's measures made known to other tools."""

from __future__ import annotations

from types import SimpleNamespace

from ranksift.errors import InputError


def register_ir_measures(*, first: bool = False) -> SimpleNamespace:
    """Make RankSift's measures known to ir_measures, and so to PyTerrier.

    Every measure of the catalogue that ir_measures lacks is registered under its name, with RankSift's parameters,
    ``cutoff`` for k, and ``judged_only=True`` for ``unjudged="drop"``. The provider stands last in ir_measures'
    default pipeline, so nothing that ir_measures computes by itself changes; but pytrec_eval, which ends the process if
    all labels of a query are negative, gets zeros there.

    Parameters
    ----------
    first
        Put the provider first instead: RankSift then also computes the measures of ir_measures that mean the same, such
        as AP.

    Returns
    -------
    SimpleNamespace
        The registered measures, by name.

    Examples
    --------
    >>> import ir_measures
    >>> measures = register_ir_measures()
    >>> qrels, run = {"q": {"good": 2, "bad": -2}}, {"q": {"good": 2.0, "bad": 1.0}}
    >>> ir_measures.calc_aggregate([measures.nDCG_f(gains={-2: -10}) @ 10], qrels, run)
    {nDCG_f(gains='-2=-10')@10: 0.474...}
    >>> ir_measures.parse_measure("nDCG_f(gains='-2=-10')@10").calc_aggregate(qrels, run)
    0.474...
    """
    try:
        from ranksift.evaluation.ir_measures_provider import register
    except ModuleNotFoundError as missing:
        if missing.name != "ir_measures":
            raise
        raise InputError("ir_measures is not installed", remedy="pip install ir_measures") from None
    return register(first=first)
