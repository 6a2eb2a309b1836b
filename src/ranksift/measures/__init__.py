"""Measures, one file per family. Every module here is imported, so a new file is all that a new measure needs.

The public name of a measure is its default instance: ``nDCG_f @ 10``, ``RBP(p=0.8)``.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from ranksift._lazy import export

for _module in sorted(m.name for m in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")


def _default_instance(name: str) -> "Measure | None":
    """A measure by the name of its class, including measures defined elsewhere."""
    from ranksift.measures.measure import CATALOGUE
    from ranksift.measures.names import parse_measure

    return parse_measure(name) if name in CATALOGUE or name in ("nDCG_0", "SetP", "SetR", "ERR_gdeval") else None


if TYPE_CHECKING:
    import ranksift.measures.bounds
    import ranksift.measures.classic
    import ranksift.measures.coverage
    import ranksift.measures.cumulative
    import ranksift.measures.filtering
    import ranksift.measures.interpolated
    import ranksift.measures.q_measure
    import ranksift.measures.sets
    import ranksift.measures.topk
    import ranksift.measures.truncation
    from ranksift.measures.measure import Measure as Measure
    from ranksift.measures.names import parse_measure as parse_measure
    from ranksift.measures.names import parse_measures as parse_measures

    # What editors and type checkers see of the default instances.
    DCG: ranksift.measures.cumulative.DCG
    nDCG: ranksift.measures.cumulative.nDCG
    nDCG_0: ranksift.measures.cumulative.nDCG
    nDCG_org: ranksift.measures.cumulative.nDCG_org
    nDCG_min: ranksift.measures.cumulative.nDCG_min
    nDCG_f: ranksift.measures.cumulative.nDCG_f
    P: ranksift.measures.classic.P
    R: ranksift.measures.classic.R
    AP: ranksift.measures.classic.AP
    RR: ranksift.measures.classic.RR
    Rprec: ranksift.measures.classic.Rprec
    Bpref: ranksift.measures.classic.Bpref
    Success: ranksift.measures.classic.Success
    RBP: ranksift.measures.classic.RBP
    Q: ranksift.measures.q_measure.Q
    ERR: ranksift.measures.classic.ERR
    GMAP: ranksift.measures.classic.GMAP
    infAP: ranksift.measures.classic.infAP
    IPrec: ranksift.measures.interpolated.IPrec
    AP_11pt: ranksift.measures.interpolated.AP_11pt
    SetF: ranksift.measures.sets.SetF
    NumRelRet: ranksift.measures.sets.NumRelRet
    NumRet: ranksift.measures.classic.NumRet
    NumRel: ranksift.measures.classic.NumRel
    Fdocs: ranksift.measures.filtering.Fdocs
    GoodFiltered: ranksift.measures.filtering.GoodFiltered
    RelevantFiltered: ranksift.measures.filtering.RelevantFiltered
    Empty: ranksift.measures.filtering.Empty
    Difficulty: ranksift.measures.filtering.Difficulty
    UBQ: ranksift.measures.filtering.UBQ
    UBQ_over: ranksift.measures.filtering.UBQ_over
    UBQ_under: ranksift.measures.filtering.UBQ_under
    RR_qwa: ranksift.measures.truncation.RR_qwa
    P_qwa: ranksift.measures.truncation.P_qwa
    RBP_qwa: ranksift.measures.truncation.RBP_qwa
    nDCG_qwa: ranksift.measures.truncation.nDCG_qwa
    AP_qwa: ranksift.measures.truncation.AP_qwa
    c_at_1: ranksift.measures.truncation.c_at_1
    SP: ranksift.measures.bounds.SP
    MSP: ranksift.measures.bounds.MSP
    DCG_ul1: ranksift.measures.bounds.DCG_ul1
    DCG_ul2: ranksift.measures.bounds.DCG_ul2
    MSP_ul1: ranksift.measures.bounds.MSP_ul1
    MSP_ul2: ranksift.measures.bounds.MSP_ul2
    E_DCG: ranksift.measures.bounds.E_DCG
    E_nDCG: ranksift.measures.bounds.E_nDCG
    E_SP: ranksift.measures.bounds.E_SP
    E_MSP: ranksift.measures.bounds.E_MSP
    UL1: ranksift.measures.bounds.UL1
    UL2: ranksift.measures.bounds.UL2
    kNDCG: ranksift.measures.topk.kNDCG
    kERR: ranksift.measures.topk.kERR
    Judged: ranksift.measures.coverage.Judged

export(__name__, make=_default_instance)
