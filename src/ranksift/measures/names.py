"""From the name of a measure to the measure: ``nDCG_f(gains={-2:-10})@20``."""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeAlias

from ranksift.errors import InputError
from ranksift.measures.measure import CATALOGUE, Measure

#: A measure, or its name.
MeasureLike: TypeAlias = Measure | str

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")
_REMEDY = "see: ranksift measures"

#: Names of other tools for the same thing (ir_measures, ranx), with the parameters that they imply.
ALIASES: dict[str, tuple[str, dict[str, Any]]] = {
    "nDCG_0": ("nDCG", {"alias": "nDCG_0"}),
    "NDCG": ("nDCG", {}),
    "ndcg": ("nDCG", {}),
    "ndcg_burges": ("nDCG", {"gains": "exp"}),
    "dcg": ("DCG", {}),
    "dcg_burges": ("DCG", {"gains": "exp"}),
    "MAP": ("AP", {}),
    "map": ("AP", {}),
    "MRR": ("RR", {}),
    "mrr": ("RR", {}),
    "recip_rank": ("RR", {}),
    "Precision": ("P", {}),
    "precision": ("P", {}),
    "SetP": ("P", {}),
    "set_P": ("P", {}),
    "Recall": ("R", {}),
    "recall": ("R", {}),
    "SetR": ("R", {}),
    "set_recall": ("R", {}),
    "RPrec": ("Rprec", {}),
    "r-precision": ("Rprec", {}),
    "BPref": ("Bpref", {}),
    "bpref": ("Bpref", {}),
    "success": ("Success", {}),
    "hit_rate": ("Success", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "rbp": ("RBP", {"p": 0.9, "gains": "linear", "over": "query"}),
}

# Names of other tools for what RankSift does not have, or has with another meaning, and what comes near.
_ELSEWHERE = {
    "NumRelRet": "R is their share of all relevant documents",
    "num_rel_ret": "R is their share of all relevant documents",
    "hits": "P@k is their share of the top k, R@k of all relevant documents",
    "SetF": "SetP and SetR are its two parts",
    "set_F": "SetP and SetR are its two parts",
    "f1": "P@k and R@k are its two parts",
    "SetAP": "it is the product of SetP and SetR",
    "set_map": "it is the product of SetP and SetR",
    "SetRelP": "SetP is the precision of the list as it is",
    "set_relative_P": "SetP is the precision of the list as it is",
    "infAP": "AP takes unjudged documents as irrelevant, Bpref skips them",
    "IPrec": "P@k and R@k show the same trade",
    "iprec_at_recall": "P@k and R@k show the same trade",
    "gm_map": "AP is averaged arithmetically here",
    "gm_bpref": "Bpref is averaged arithmetically here",
    "SDCG": "nDCG@k normalises by what the pool holds",
    "NERR8": "ERR is the measure that it approximates",
    "NERR9": "ERR is the measure that it approximates",
    "NERR10": "ERR is the measure that it approximates",
    "NERR11": "ERR is the measure that it approximates",
    "BPM": "RBP models a user, too",
    "INST": "RBP models a user, too",
    "INSQ": "RBP models a user, too",
    "Compat": "kNDCG@k compares with an ordered top k",
    "Accuracy": "Bpref counts pairs in the wrong order, too",
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

# trec_eval glues the cutoff to the name: ndcg_cut_10, P_5, map_cut.100.
_TREC_CUT = re.compile(r"(ndcg_cut|map_cut|P|recall|success)[_.](\d{1,18})")
_TREC_CUT_NAME = {"ndcg_cut": "nDCG", "map_cut": "AP", "P": "P", "recall": "R", "success": "Success"}


def parse_measure(name: MeasureLike) -> Measure:
    """Parse one measure.

    Names and parameters of ir_measures, ranx and trec_eval are understood where they mean the same.

    Examples
    --------
    >>> parse_measure("nDCG_f(gains={-2:-10})@20")
    nDCG_f(gains={-2:-10})@20
    >>> parse_measure("ndcg_cut_10"), parse_measure("nDCG(dcg='exp-log2')@5")
    (nDCG@10, nDCG(gains="exp")@5)
    >>> parse_measure("UL2(DCG@10)").measure
    DCG@10
    """
    if isinstance(name, Measure):
        return name
    if not isinstance(name, str):
        raise InputError(f"{name!r} is not the name of a measure", remedy=_REMEDY)
    text = name.strip()
    cut = _TREC_CUT.fullmatch(text)
    if cut:
        return _make(_TREC_CUT_NAME[cut[1]], [], {}, int(cut[2]), text)
    persistence = _RANX_RBP.fullmatch(text)
    if persistence:
        raise InputError(
            f"{text!r} of ranx takes labels as gains, which can exceed 1",
            remedy=f'write RBP(p=0.{persistence[1]}), or RBP(p=0.{persistence[1]}, gains="linear") for graded labels',
        )
    head = _NAME.match(text)
    if not head:
        raise InputError(f"{text!r} is not the name of a measure", remedy=_REMEDY)
    rest = text[head.end() :]
    inside, rest = _parenthesised(rest, text)
    k = None
    if rest:
        match = re.fullmatch(r"@(\d{1,18})", rest)
        if not match:
            raise InputError(f"{text!r} is not understood at {rest!r}", remedy="a cutoff is written @10, at the end")
        k = int(match[1])
    positional, parameters = _parameters(inside, text)
    return _make(head[0], positional, parameters, k, text)


def parse_measures(names: MeasureLike | Iterable[MeasureLike]) -> list[Measure]:
    """Parse several measures: a list, or one string with blanks or commas between them.

    >>> parse_measures("nDCG_f@10 AP, RBP_qwa(p=0.5)")
    [nDCG_f@10, AP, RBP_qwa(p=0.5)]
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
        for measure in (
            [parse_measure(w) for w in split_names(word)] if isinstance(word, str) else [parse_measure(word)]
        ):
            measures.setdefault(str(measure), measure)
    if not measures:
        raise InputError("no measure is named", remedy="ask for one, as nDCG_f@10")
    return list(measures.values())


def split_names(text: str) -> list[str]:
    """Split at blanks and commas that are not inside brackets.

    >>> split_names("AP, nDCG_f(gains={-2: -10, 3: 5})@20")
    ['AP', 'nDCG_f(gains={-2: -10, 3: 5})@20']
    """
    return [w.strip() for w in _split(text, " \t\n,") if w.strip()]


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
    level = _RANX_LEVEL.fullmatch(name)
    if level:
        name, parameters = level[1], {"rel": int(level[2]), **parameters}
    if name in _OF_SETS and k is not None:
        raise InputError(f"{text!r}: {name} is of the whole list", remedy=f"write {ALIASES[name][0]}@{k}")
    if name in ALIASES:
        name, implied = ALIASES[name]
        parameters = {**implied, **parameters}
    if name in _ELSEWHERE:
        raise InputError(f"RankSift does not have {text!r}", remedy=f"{_ELSEWHERE[name]}; {_REMEDY}")
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
            raise InputError(f"{text!r}: {name} takes no @k", remedy=f"write {name} without it")
        if "k" in parameters:
            raise InputError(f"{text!r} gives k twice", remedy="give it once")
        parameters["k"] = k
    try:
        return cls()(**parameters) if own[:1] != ["measure"] else cls(**parameters)
    except TypeError:
        raise InputError(f"{text!r}: the parameters do not fit", remedy=_REMEDY) from None


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
    if name == "NumRet" and "rel" in out:
        raise InputError(f"RankSift does not have {text!r}", remedy=_ELSEWHERE["NumRelRet"])
    if "judged_only" in out:
        raise InputError(
            f"{text!r}: judged_only would also drop documents with negative labels",
            remedy="use unjudged='drop' (--unjudged drop), which keeps them",
        )
    return out
