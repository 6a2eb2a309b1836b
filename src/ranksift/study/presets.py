"""The settings of published studies, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ranksift.collection.judged_run import Unjudged
from ranksift.errors import InputError
from ranksift.measures.bounds import PAPER_3
from ranksift.measures.cumulative import PAPER_1, PAPER_4
from ranksift.measures.topk import PAPER_5
from ranksift.measures.truncation import PAPER_2
from ranksift.parameters import takes, text


@dataclass(frozen=True)
class Preset:
    """How a paper evaluated its runs, and with which parameters it studied its measures.

    Attributes
    ----------
    name, paper
        The name of the preset, and its paper.
    measures
        Names of measures, each with its k.
    gains, unjudged
        As in :func:`evaluate`.
    parameters
        For each procedure the keyword arguments that differ from its own defaults.
    """

    name: str
    paper: str
    measures: tuple[str, ...]
    gains: str
    unjudged: Unjudged
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))


def _at(names: str, *ks: int) -> tuple[str, ...]:
    return tuple(f"{name}@{k}" for name in names.split() for k in ks)


#: Every preset by its name.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        preset.name: preset
        for preset in (
            Preset(
                "forbidden-2022",
                f"{PAPER_1}, section 4",
                _at('nDCG_org nDCG_0(gains="exp") nDCG_min nDCG_f', 500),
                gains="-2=-10",
                unjudged="drop",
                parameters={
                    "stability": {"samples": 200, "fuzziness": 0.01},
                    "sensitivity": {"samples": 1000},
                },
            ),
            Preset(
                "negative-2020",
                f"{PAPER_4}, section 5",
                _at("nDCG_org nDCG_0 nDCG_min", 5, 10, 15, 20),
                gains="linear",
                unjudged="drop",
                parameters={
                    "stability": {"samples": 200, "fuzziness": 0.05},
                    "sensitivity": {"samples": 1000},
                },
            ),
            Preset(
                "bounds-2022",
                f"{PAPER_3}, section 4",
                _at('nDCG DCG_ul1 DCG_ul2 MSP MSP_ul1(expected="paper") MSP_ul2(expected="paper")', 5, 10, 15, 20, 30),
                gains="exp",
                unjudged="zero",
                parameters={
                    "discrimination": {"test": "t", "correction": "none", "alpha": 0.05, "over_k": True},
                    "agreement": {"over_k": True},
                },
            ),
            Preset(
                "quit-2016",
                f"{PAPER_2}, section 3",
                (
                    'RR(nil="NIL")',
                    'RR_qwa(limit=5, nil="NIL")',
                    'nDCG(nil="NIL")@5',
                    'nDCG_qwa(limit=5, nil="NIL")',
                    'RBP(p=0.5, nil="NIL")',
                    'RBP_qwa(limit=5, nil="NIL", p=0.5)',
                    'AP(nil="NIL")',
                    'AP_qwa(limit=5, nil="NIL")',
                ),
                gains="linear",
                unjudged="zero",
                parameters={"truncation": {"nil": "NIL", "limit": 5, "p": 0.5}},
            ),
            Preset(
                "topk-2012",
                f"{PAPER_5}, section 4.2",
                (*_at("kNDCG", *range(1, 11)), "kERR"),
                gains="exp",
                unjudged="zero",
            ),
        )
    }
)


@takes(name=text("a name"))
def preset(name: str) -> Preset:
    """The preset with this name.

    Examples
    --------
    >>> preset("negative-2020").parameters["stability"]["fuzziness"]
    0.05
    """
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is unknown", remedy=f"use {', '.join(PRESETS)}")
    return PRESETS[name]
