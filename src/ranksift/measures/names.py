"""From the name of a measure to the measure: ``nDCG_f(gains={-2:-10})@20``."""

from __future__ import annotations

import ast
import difflib
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, TypeAlias

from ranksift.errors import InputError
from ranksift.measures.measure import CATALOGUE, Measure
from ranksift.measures.trec_names import MEASURES as TREC_EVAL
from ranksift.measures.trec_names import SETS, Own, Several, members

#: A measure, or its name.
MeasureLike: TypeAlias = Measure | str

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")
_REMEDY = "see: ranksift measures"

#: Names of other tools for the same thing (ir_measures, ranx), with the parameters that they imply.
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    "nDCG_0": ("nDCG", {"alias": "nDCG_0"}),
    "NDCG": ("nDCG", {}),
    "ndcg_burges": ("nDCG", {"gains": "exp"}),
    "dcg": ("DCG", {}),
    "dcg_burges": ("DCG", {"gains": "exp"}),
    "MAP": ("AP", {}),
    "MRR": ("RR", {}),
    "mrr": ("RR", {}),
    "Precision": ("P", {}),
    "precision": ("P", {}),
    "SetP": ("P", {}),
    "Recall": ("R", {}),
    "recall": ("R", {}),
    "SetR": ("R", {}),
    "RPrec": ("Rprec", {}),
    "r-precision": ("Rprec", {}),
    "BPref": ("Bpref", {}),
    "Qmeasure": ("Q", {}),
    "Q-measure": ("Q", {}),
    "success": ("Success", {}),
    "hit_rate": ("Success", {}),
    "ERR_gdeval": ("ERR", {"max_grade": 4}),
    **{name: (own.name, dict(own.parameters)) for name, own in TREC_EVAL.items() if isinstance(own, Own)},
}

# Names of other tools for what RankSift does not have, or has with another meaning, and what comes near.
_ELSEWHERE = {
    "nil_accuracy": "ranksift study --only truncation reports it for every run",
    "NilAccuracy": "ranksift study --only truncation reports it for every run",
    "hits": "P@k is their share of the top k, R@k of all relevant documents",
    "f1": "SetF is F1 of the whole list, P@k and R@k are the two parts of F1@k",
    "SetAP": "it is the product of SetP and SetR",
    "set_map": "it is the product of SetP and SetR",
    "SetRelP": "SetP is the precision of the list as it is",
    "set_relative_P": "SetP is the precision of the list as it is",
    "SDCG": "nDCG@k normalises by what the pool holds",
    "NERR8": "ERR is the measure that it approximates",
    "NERR9": "ERR is the measure that it approximates",
    "NERR10": "ERR is the measure that it approximates",
    "NERR11": "ERR is the measure that it approximates",
    "BPM": "RBP also models a user",
    "INST": "RBP also models a user",
    "INSQ": "RBP also models a user",
    "Compat": "kNDCG@k compares with an ordered top k",
    "gm_bpref": "Bpref is averaged arithmetically here",
    "Rprec_mult": "Rprec is precision at rank R",
    "utility": "Fdocs and GoodFiltered say what a list shows and what it leaves out",
    "binG": "nDCG also discounts by rank",
    "G": "nDCG also discounts by rank",
    "ndcg_rel": "nDCG counts every label",
    "Rndcg": "nDCG normalises by what the pool holds",
    "relative_P": "P@k and R@k are its two parts",
    "num_nonrel_judged_ret": "Judged@k is the share of the top k that is judged",
    "rbp_resid": "RBP(p=0.9, residual=True) takes negative labels as judged, and counts what lies beyond every list",
    "unj": "Judged@k is the share of the top k that is judged",
    "11pt_avg": "AP_11pt has its eleven points of recall, IPrec@0.25 has one",
    "yaap": "AP and GMAP are the two averages that it stands between",
    **dict.fromkeys(
        ("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret"),
        "Bpref counts preferences that follow from labels; ranksift label export makes labels of preferences",
    ),
    "relstring": "ranksift explain shows the labels in the order of the ranks",
    "Accuracy": "Bpref also counts pairs in the wrong order",
    "NumQ": "Scores.queries lists them",
    "num_q": "Scores.queries lists them",
    **dict.fromkeys(
        ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "MAP_IA", "P_IA", "StRecall"),
        "RankSift has no subtopics; ir_measures computes it",
    ),
}

# Measures of the whole list by definition.
_OF_SETS = ("SetP", "set_P", "SetR", "set_recall")

# ranx glues the smallest relevant label to the name, map-l2@100, and the persistence, rbp.95.
_RANX_LEVEL = re.compile(r"(.+)-l(\d{1,9})")
_RANX_RBP = re.compile(r"rbp\.(\d{1,9})")

# trec_eval glues values to the name: ndcg_cut_10, P_5, map_cut.100; ndcg.1=3,2=9 are gains.
_NUMBER = r"\d{1,18}|\d?\.\d{1,18}"
_WITH_VALUES = {name.lower(): own for name, own in TREC_EVAL.items() if isinstance(own, Several)}
_TREC_CUT = re.compile(rf"({'|'.join(_WITH_VALUES)})[_.]({_NUMBER})", re.IGNORECASE)
_TREC_GAINS = re.compile(r"ndcg[_.]((?:-?\d+=-?[\d.]+,?)+)")

# trec_eval's parameters of one measure: set_F.x, where x weighs recall, is F of β = √x; rbp.p=0.8 is a persistence.
_TREC_SET_F = re.compile(rf"set_f[_.]({_NUMBER}|\d+\.\d*)", re.IGNORECASE)
_TREC_RBP = re.compile(rf"rbp[_.]p=({_NUMBER})", re.IGNORECASE)

# What may follow after a comma: further values of the parameter that stands last, as in nDCG@5,10 and P.5,10.
_LAST_VALUE = re.compile(rf"(.*@|.*[A-Za-z][._])({_NUMBER})")
_VALUE = re.compile(_NUMBER)
_GAIN = re.compile(r"-?\d+=-?[\d.]+")


def parse_measure(name: MeasureLike) -> Measure:
    """Parse one measure.

    A name is looked up exactly among RankSift's names, then among trec_eval's, then among names of ir_measures or ranx
    that mean the same, and then among RankSift's without regard to case. trec_eval's names with a value, such as
    ndcg_cut_10, are also read without regard to case.

    Examples
    --------
    >>> parse_measure("nDCG_f(gains={-2:-10})@20")
    nDCG_f(gains={-2:-10})@20
    >>> parse_measure("ndcg_cut_10"), parse_measure("nDCG(dcg='exp-log2')@5"), parse_measure("ndcg_f@5")
    (nDCG@10, nDCG(gains="exp")@5, nDCG_f@5)
    >>> parse_measure("UL2(DCG@10)").measure
    DCG@10
    """
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not the name of a measure", remedy=_REMEDY)
    text = name.strip()
    if is_several(text):
        first, second = list(members(text))[:2]
        raise InputError(f"{text!r} names several measures", remedy=f"name one of them: {first}, {second} …")
    cut = _TREC_CUT.fullmatch(text)
    if cut:
        own = _WITH_VALUES[cut[1].lower()]
        return _make(own.name, [], {own.parameter: _value(cut[2])}, None, text)
    gains = _TREC_GAINS.fullmatch(text)
    if gains:
        return _make("nDCG", [], {"gains": gains[1]}, None, text)
    weight = _TREC_SET_F.fullmatch(text)
    if weight:
        return _make("SetF", [], {"beta": math.sqrt(float(weight[1]))}, None, text)
    patience = _TREC_RBP.fullmatch(text)
    if patience:
        return _make("rbp", [], {"p": float(patience[1])}, None, text)
    persistence = _RANX_RBP.fullmatch(text)
    if persistence:
        raise InputError(
            f"{text!r} of ranx takes labels as gains, which can exceed 1",
            remedy=f'write RBP(p=0.{persistence[1]}), or RBP(p=0.{persistence[1]}, gains="linear") for graded labels',
        )
    name_before, point, _ = text.partition(".")
    if point and name_before in _ELSEWHERE:  # with a parameter of trec_eval, as utility.1,-1,0,0
        raise _not_here(text, name_before)
    if text in TREC_EVAL and text not in CATALOGUE:
        return _make(text, [], {}, None, text)
    head = _NAME.match(text)
    if not head:
        raise InputError(f"{text!r} is not the name of a measure", remedy=_REMEDY)
    rest = text[head.end() :]
    inside, rest = _parenthesised(rest, text)
    k = None
    level = re.fullmatch(rf"@({_NUMBER})", rest) if head[0].lower() == "iprec" else None
    if level:
        inside, rest = f"{inside}, recall={level[1]}", ""
    if rest:
        match = re.fullmatch(r"@(\d{1,18})", rest)
        if not match and len(words := split_names(text)) > 1:
            raise InputError(f"{text!r} names several measures", remedy=f"name one of them: {words[0]}, {words[1]} …")
        if not match:
            raise InputError(f"{text!r} is not understood at {rest!r}", remedy="a cutoff is written @10, at the end")
        k = int(match[1])
    positional, parameters = _parameters(inside, text)
    return _make(head[0], positional, parameters, k, text)


def parse_measures(names: MeasureLike | Iterable[MeasureLike]) -> list[Measure]:
    """Parse several measures: a list, or one string with blanks or commas between them.

    Several cutoffs may follow one name. ``official``, ``set`` and ``all_trec`` stand for the same measures as in
    trec_eval, if RankSift has them, and so does a name such as ``success`` without a cutoff.

    >>> parse_measures("nDCG_f@10 AP, RBP_qwa(p=0.5)")
    [nDCG_f@10, AP, RBP_qwa(p=0.5)]
    >>> parse_measures("nDCG@5,10 success")
    [nDCG@5, nDCG@10, Success@1, Success@5, Success@10]
    """
    if isinstance(names, Measure):
        return [names]
    if isinstance(names, str):
        words: list[MeasureLike] = [*split_names(names)]
    elif isinstance(names, Iterable):
        words = list(names)
    else:
        words = [names]
    measures: dict[str, Measure] = {}
    for word in words:
        for measure in _named(word) if isinstance(word, str) else [parse_measure(word)]:
            measures.setdefault(str(measure), measure)
    if not measures:
        raise InputError("no measure is named", remedy="name one, such as nDCG_f@10")
    return list(measures.values())


def _named(text: str) -> Iterator[Measure]:
    for word in split_names(text):
        yield from members(word) if is_several(word) else [parse_measure(word)]


def is_several(name: str) -> bool:
    """Whether a name stands for several measures: one of trec_eval's that has usual cutoffs, or a set of measures."""
    return name in SETS or (isinstance(TREC_EVAL.get(name), Several) and name not in CATALOGUE)


def split_names(text: str) -> list[str]:
    """Split at blanks and commas that are not inside brackets; further values of a parameter have its name again.

    >>> split_names("AP, nDCG_f(gains={-2: -10, 3: 5})@20")
    ['AP', 'nDCG_f(gains={-2: -10, 3: 5})@20']
    >>> split_names("nDCG@5,10 P.5,10 ndcg.1=3,2=9")
    ['nDCG@5', 'nDCG@10', 'P.5', 'P.10', 'ndcg.1=3,2=9']
    """
    words: list[str] = []
    for word in (w.strip() for w in _split(text, " \t\n,") if w.strip()):
        last = _LAST_VALUE.fullmatch(words[-1]) if words and _VALUE.fullmatch(word) else None
        if last:
            words.append(last[1] + word)
        elif words and _GAIN.fullmatch(word) and _TREC_GAINS.fullmatch(words[-1]):
            words[-1] += f",{word}"
        else:
            words.append(word)
    return words


def _depths(text: str) -> list[int]:
    """How many brackets are open at each character (its own included); quoted ones do not count."""
    depths, depth, quote, escaped = [], 0, "", False
    for c in text:
        if quote:
            quote = "" if c == quote and not escaped else quote
            escaped = c == "\\" and not escaped
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "({[") - (c in ")}]")
        depths.append(depth + bool(quote))
    return depths


def _split(text: str, separators: str) -> list[str]:
    words = [""]
    for c, depth in zip(text, _depths(text), strict=True):
        if c in separators and depth == 0:
            words.append("")
        else:
            words[-1] += c
    return words


def _parenthesised(rest: str, text: str) -> tuple[str, str]:
    if not rest.startswith("("):
        return "", rest
    depths = _depths(rest)
    if 0 not in depths:
        raise InputError(f"{text!r} has an open bracket", remedy="close it")
    end = depths.index(0)
    return rest[1:end], rest[end + 1 :]


def _parameters(inside: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for word in (w.strip() for w in _split(inside, ",")):
        if not word:
            continue
        key, equals, value = word.partition("=")
        if equals and key.strip().isidentifier():
            if key.strip() in named:
                raise InputError(f"{text!r} gives {key.strip()} twice", remedy="give it once")
            named[key.strip()] = _value(value.strip())
        else:
            positional.append(word)
    return positional, named


def _value(text: str) -> Any:
    if re.fullmatch(r"\{[^{}]*\}", text):
        return text  # a mapping of gains; Gains.of reads it, whatever it looks like
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, about text that only looks like Python
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value if isinstance(value, int | float | str) or value is None else text


def _make(name: str, positional: list[Any], parameters: dict[str, Any], k: int | None, text: str) -> Measure:
    if name == "NumRet" and "rel" in parameters:  # of ir_measures
        name = "NumRelRet"
    level = _RANX_LEVEL.fullmatch(name)
    if level:
        name, parameters = level[1], {"rel": int(level[2]), **parameters}
    if name in _OF_SETS and k is not None:
        raise InputError(f"{text!r}: {name} applies to the whole list", remedy=f"write {ALIASES[name][0]}@{k}")
    if name in ALIASES and name not in CATALOGUE:
        name, implied = ALIASES[name]
        parameters = {**implied, **parameters}
    for known in (name, re.sub(r"_\d+$", "", name)):
        if known in _ELSEWHERE:
            raise _not_here(text, known)
    name = name if name in CATALOGUE else _in_any_case().get(name.lower(), name)
    if name not in CATALOGUE:
        spelled = {known.lower(): known for known in [*ALIASES, *CATALOGUE]}
        near = [spelled[word] for word in difflib.get_close_matches(name.lower(), spelled, 3, 0.5)]
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError(f"measure {text!r} is unknown", remedy=hint + _REMEDY)
    cls = CATALOGUE[name]
    own = [f.name for f in fields(cls)]
    if positional:
        if own[:1] != ["measure"] or len(positional) > 1:
            raise InputError(f"{text!r}: parameter {positional[0]!r} has no name", remedy="write it as name=value")
        parameters = {"measure": str(_value(positional[0])), **parameters}
    parameters = _from_ir_measures(name, parameters, text)
    if k is not None:
        if "k" not in own:
            raise InputError(f"{text!r}: {name} does not take @k", remedy=f"write {name} without it")
        if "k" in parameters:
            raise InputError(f"{text!r} gives k twice", remedy="give it once")
        parameters["k"] = k
    try:
        return cls()(**parameters) if own[:1] != ["measure"] else cls(**parameters)
    except TypeError:
        raise InputError(f"{text!r}: the parameters do not fit", remedy=_REMEDY) from None


def _not_here(text: str, name: str) -> InputError:
    return InputError(f"RankSift does not have {text!r}", remedy=f"{_ELSEWHERE[name]}; {_REMEDY}")


def _in_any_case() -> dict[str, str]:
    """Our names by what they are in small letters; those that differ by case only are not there."""
    lowered = Counter(map(str.lower, CATALOGUE))
    return {known.lower(): known for known in CATALOGUE if lowered[known.lower()] == 1}


def _from_ir_measures(name: str, parameters: dict[str, Any], text: str) -> dict[str, Any]:
    """Translate parameters that ir_measures calls otherwise."""
    out = dict(parameters)
    if "cutoff" in out:
        out["k"] = out.pop("cutoff")
    if name in ("nDCG", "DCG") and "dcg" in out:
        form = out.pop("dcg")
        if form not in ("log2", "exp-log2"):
            raise InputError(f"{text!r}: dcg={form!r} is unknown", remedy="use 'log2' or 'exp-log2'")
        if form == "exp-log2":
            out["gains"] = "exp"
    if out.get("judged_only") is False:
        del out["judged_only"]
    if out.get("relative") is False:
        del out["relative"]
    if "relative" in out:
        raise InputError(f"RankSift does not have {text!r}", remedy=_ELSEWHERE["SetRelP"])
    if "judged_only" in out:
        raise InputError(
            f"{text!r}: judged_only would also drop documents with negative labels",
            remedy="use unjudged='drop', which keeps them",
        )
    return out
