"""The names of measures in trec_eval, in its order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ranksift.measures.interpolated import LEVELS
from ranksift.measures.measure import CATALOGUE, Measure


class Own(NamedTuple):
    """Our name for a measure, and its parameters."""

    name: str
    parameters: Mapping[str, Any] = MappingProxyType({})

    def made(self, **further: Any) -> Measure:
        """The measure itself."""
        return CATALOGUE[self.name]()(**self.parameters, **further)


class Several(NamedTuple):
    """A measure that trec_eval computes for several values of one parameter."""

    name: str
    parameter: str
    usual: tuple[float, ...]

    def made(self, value: float) -> Measure:
        """The measure for one value."""
        return Own(self.name).made(**{self.parameter: value})


_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)

#: What RankSift has of trec_eval's measures, in the order in which trec_eval prints them.
MEASURES: dict[str, Own | Several] = {
    "num_ret": Own("NumRet"),
    "num_rel": Own("NumRel"),
    "num_rel_ret": Own("NumRelRet"),
    "map": Own("AP"),
    "gm_map": Own("GMAP"),
    "Rprec": Own("Rprec"),
    "bpref": Own("Bpref"),
    "recip_rank": Own("RR"),
    "iprec_at_recall": Several("IPrec", "recall", LEVELS),
    "P": Several("P", "k", _CUTOFFS),
    "recall": Several("R", "k", _CUTOFFS),
    "infAP": Own("infAP"),
    "11pt_avg": Own("AP_11pt"),
    "ndcg": Own("nDCG"),
    "ndcg_cut": Several("nDCG", "k", _CUTOFFS),
    "map_cut": Several("AP", "k", _CUTOFFS),
    "success": Several("Success", "k", (1, 5, 10)),
    "set_P": Own("P"),
    "set_recall": Own("R"),
    "set_F": Own("SetF"),
    "rbp": Own("RBP", {"p": 0.9, "gains": "linear", "over": "query"}),
}

#: Nicknames of several measures.
SETS = {
    "official": (
        *("num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
        *("iprec_at_recall", "P"),
    ),
    "set": ("num_ret", "num_rel", "num_rel_ret", "set_P", "set_recall", "set_F"),
    "all_trec": tuple(MEASURES),
}


def trec_name(measure: Measure, rel: float = 1) -> str | None:
    """The name of a measure in trec_eval, if it has one; ``rel`` is the smallest relevant label of the evaluation.

    Examples
    --------
    >>> from ranksift import AP, RBP, nDCG
    >>> trec_name(AP), trec_name(nDCG @ 10), trec_name(RBP)
    ('map', 'ndcg_cut_10', None)
    >>> trec_name(AP(rel=2)), trec_name(AP(rel=2), rel=2)
    (None, 'map')
    """
    if measure.takes("rel") and measure.gains is None:
        # From which label on a document is relevant is an option of trec_eval, and not in its names.
        if measure.rel != rel:  # type: ignore[attr-defined]
            return None
        measure = measure(rel=1)
    for parameter, names in _by_parameter().items():
        if measure.takes(parameter) and (value := getattr(measure, parameter)) is not None:
            name = names.get(measure(**{parameter: getattr(type(measure)(), parameter)}))
            if name is not None:
                return f"{name}_{value}" if parameter == "k" else f"{name}_{value:.2f}"
    gains = measure.gains
    if gains is not None and gains.overrides and gains.curve == "linear" and measure == Own("nDCG").made(gains=gains):
        return f"ndcg_{str(gains).strip('{}').replace(':', '=')}"
    return _single().get(measure)


@cache
def _single() -> dict[Measure, str]:
    return {own.made(): name for name, own in MEASURES.items() if isinstance(own, Own)}


@cache
def _by_parameter() -> dict[str, dict[Measure, str]]:
    out: dict[str, dict[Measure, str]] = {}
    for name, own in MEASURES.items():
        if isinstance(own, Several):
            out.setdefault(own.parameter, {})[Own(own.name).made()] = name
    return out


def members(nickname: str) -> Iterator[Measure]:
    """The measures that a nickname stands for, or a name that trec_eval computes for several values.

    Examples
    --------
    >>> [str(measure) for measure in members("success")]
    ['Success@1', 'Success@5', 'Success@10']
    """
    for name in SETS.get(nickname, (nickname,)):
        own = MEASURES[name]
        if isinstance(own, Own):
            yield own.made()
        else:
            yield from (own.made(value) for value in own.usual)
