"""Who is hunted: RankSift with every format, and the tools that read TREC's text with that.

A subject takes a format and a folder with a case's files, and gives what :attr:`Format.read` gives, or refuses.
"""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.collection.plain import NUMBER, Refused
from tests.hunt import plain
from tests.hunt.formats import FORMATS, Case, Files

Subject = Callable[[str, Path], Any]
RANKSIFT = "ranksift"
PEERS = ("trec_eval", "pytrec_eval", "ir_measures")
# What all of them know, by the names in trec_eval.
SHARED = {"AP": "map", "nDCG@10": "ndcg_cut_10", "P@5": "P_5", "RR": "recip_rank", "Bpref": "bpref"}


class CrashError(Exception):
    """A program that a subject started was ended by a signal."""


class HangError(Exception):
    """A program that a subject started did not end."""


def subject_of(name: str, options: dict[str, Any]) -> Subject:
    """A subject by its name, or by ``module:function``."""
    if name == RANKSIFT:
        return lambda kind, folder: FORMATS[kind].read(folder)
    if ":" in name:
        module, _, function = name.partition(":")
        return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]
    if name == "trec_eval" and not options["trec_eval"]:
        return by_trec_evals_readers
    if name == "trec_eval":
        return lambda kind, folder: by_trec_eval(options["trec_eval"], folder, options["patience"])
    return {"pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures}[name]


def by_pytrec_eval(kind: str, folder: Path) -> Any:
    import pytrec_eval

    with (folder / "qrels.txt").open(encoding="utf-8") as qrels, (folder / "run.txt").open(encoding="utf-8") as run:
        return evaluated(pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(run))


def by_trec_evals_readers(kind: str, folder: Path) -> Any:
    from tests.hunt.trec_eval_library import read_and_join

    return evaluated(*read_and_join(folder))


def evaluated(judged: Any, ranked: Any) -> Any:
    """What pytrec_eval makes of tables."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(judged, set(SHARED.values()))
    found = evaluator.evaluate(ranked)
    return {q: {name: values[short] for name, short in SHARED.items()} for q, values in found.items()}


def by_ir_measures(kind: str, folder: Path) -> Any:
    import ir_measures

    names = {ir_measures.parse_measure(name): name for name in SHARED}
    qrels, run = (getattr(ir_measures, f"read_trec_{k}")(str(folder / f"{k}.txt")) for k in ("qrels", "run"))
    found: dict[str, dict[str, float]] = {}
    for one in ir_measures.iter_calc(list(names), list(qrels), list(run)):
        found.setdefault(one.query_id, {})[names[one.measure]] = one.value
    return found


def by_trec_eval(program: str, folder: Path, patience: float) -> Any:
    wanted = [word for short in SHARED.values() for word in ("-m", re.sub("_(?=[0-9])", ".", short))]
    try:
        done = subprocess.run(
            [*program.split(), "-q", *wanted, folder / "qrels.txt", folder / "run.txt"],
            capture_output=True,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        raise HangError("trec_eval does not end") from None
    if done.returncode < 0 or done.returncode > 128:
        raise CrashError(f"trec_eval: exit code {done.returncode}")
    if done.returncode:
        raise Refused(done.stderr.decode("utf-8", "replace"))
    found: dict[str, dict[str, float]] = {}
    names = {short: name for name, short in SHARED.items()}
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        short, query, value = line.split("\t")
        if query != "all":
            found.setdefault(query, {})[names[short.strip()]] = float(value)
    return found


# -- what is fair to expect of other tools ---------------------------------------------------------------------------


def fair_expectation(case: Case) -> tuple[dict[str, dict[str, float]], str]:
    """Values of the queries that are judged and answered, and what is wrong with the files, if anything.

    Damage is what breaks the format as trec_eval documents it: a line without its 4 or 6 columns, a label that is not
    an integer, a score that is not a number, a document twice for a query. Further columns are no damage. Of damaged
    files a tool is expected to refuse them, or at least to give the values of the genuine files.
    """
    try:
        return _shared(*(_read_fairly(case.files, kind) for kind in ("qrels", "run"))), ""
    except Refused as reason:
        return _shared(*(_read_fairly(case.genuine, kind) for kind in ("qrels", "run"))), str(reason)


def _read_fairly(files: Files, kind: str) -> plain.Table:
    count, number = (4, 3) if kind == "qrels" else (6, 4)
    try:
        text = files[f"{kind}.txt"].decode()
    except UnicodeDecodeError:
        raise plain.Unjudged from None
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\xa0\u2000-\u206f\ufeff#]|\r(?!\n)", text):
        raise plain.Unjudged  # whether a tool takes this for a blank or a comment is its own affair
    found: plain.Table = {}
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        if len(words) < count:
            raise Refused("a line lacks columns")
        word = words[number]
        if kind == "qrels":
            if not re.fullmatch("[+-]?[0-9]+", word):
                raise Refused("a label is not an integer")
            if not -1 <= int(word) < 128:
                raise plain.Unjudged
        elif not NUMBER.fullmatch(word):
            raise Refused("a score is not a number")
        value = float(word)
        if abs(value) > 1e30:
            raise plain.Unjudged
        if words[2] in found.setdefault(words[0], {}):
            raise Refused("a document is listed twice")
        found[words[0]][words[2]] = value
    return found


def _shared(qrels: plain.Table, run: plain.Table) -> dict[str, dict[str, float]]:
    if not qrels or not run:
        raise plain.Unjudged
    both = [query for query in qrels if query in run]
    if not both:
        return {}
    found = plain.values(qrels, run)
    return {query: {name: found[query][name] for name in SHARED} for query in both}
