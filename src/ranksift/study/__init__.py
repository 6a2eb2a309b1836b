"""How well a measure works: how bounded, stable, sensitive, reliable and discriminating it is, on your own data.

Each procedure is a function of the same name: ``study.stability(scores)``. ``study.survey`` applies all of them.
"""

from typing import TYPE_CHECKING

from ranksift._lazy import export

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
    from ranksift.study.presets import Preset as Preset
    from ranksift.study.presets import preset as preset
    from ranksift.study.properties import Counterexample as Counterexample
    from ranksift.study.properties import Properties as Properties
    from ranksift.study.properties import properties as properties
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
    from ranksift.study.verdict import BreakEven as BreakEven
    from ranksift.study.verdict import FilterVerdict as FilterVerdict
    from ranksift.study.verdict import Verdict as Verdict
    from ranksift.study.verdict import verdict as verdict

export(__name__)
