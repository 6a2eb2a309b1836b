"""What is a measure worth: how bounded, stable, sensitive, reliable and discriminating it is, on one's own data.

Each procedure is a function of the same name: ``study.stability(scores)``. ``study.survey`` applies all of them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ranksift.study.agreement import Agreement as Agreement
    from ranksift.study.agreement import Consistency as Consistency
    from ranksift.study.agreement import agreement as agreement
    from ranksift.study.agreement import consistency as consistency
    from ranksift.study.boundedness import Boundedness as Boundedness
    from ranksift.study.boundedness import boundedness as boundedness
    from ranksift.study.discrimination import Discrimination as Discrimination
    from ranksift.study.discrimination import discrimination as discrimination
    from ranksift.study.penalty import PenaltySweep as PenaltySweep
    from ranksift.study.penalty import penalty_sweep as penalty_sweep
    from ranksift.study.query_types import QueryTypes as QueryTypes
    from ranksift.study.query_types import expected_scores as expected_scores
    from ranksift.study.query_types import on_queries as on_queries
    from ranksift.study.query_types import query_types as query_types
    from ranksift.study.reliability import Reliability as Reliability
    from ranksift.study.reliability import reliability as reliability
    from ranksift.study.sensitivity import Sensitivity as Sensitivity
    from ranksift.study.sensitivity import sensitivity as sensitivity
    from ranksift.study.stability import Stability as Stability
    from ranksift.study.stability import stability as stability
    from ranksift.study.survey import Survey as Survey
    from ranksift.study.survey import survey as survey
    from ranksift.study.truncation import Truncation as Truncation
    from ranksift.study.truncation import truncation as truncation

# Where each public name lives. Nothing is imported before it is asked for.
_HOME = {
    "Agreement": "agreement",
    "Consistency": "agreement",
    "agreement": "agreement",
    "consistency": "agreement",
    "Boundedness": "boundedness",
    "boundedness": "boundedness",
    "Discrimination": "discrimination",
    "discrimination": "discrimination",
    "PenaltySweep": "penalty",
    "penalty_sweep": "penalty",
    "QueryTypes": "query_types",
    "expected_scores": "query_types",
    "on_queries": "query_types",
    "query_types": "query_types",
    "Reliability": "reliability",
    "reliability": "reliability",
    "Sensitivity": "sensitivity",
    "sensitivity": "sensitivity",
    "Stability": "stability",
    "stability": "stability",
    "Survey": "survey",
    "survey": "survey",
    "Truncation": "truncation",
    "truncation": "truncation",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ranksift.study' has no attribute {name!r}")
    value = getattr(import_module(f"ranksift.study.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])


class _Room(ModuleType):
    """A package in which a function may have the name of its file, whoever imports the file first."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _HOME and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room
