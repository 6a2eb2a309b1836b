"""trec_eval's own readers, out of the library that pytrec_eval brings, for who has no program trec_eval.

That library is trec_eval's C code but for its ``main``. Here its functions read the two files and join them, as
``main`` does, and pytrec_eval applies its measures to what they read.
"""

from __future__ import annotations

from ctypes import CDLL, POINTER, Structure, byref, c_char_p, c_float, c_long, c_void_p, cast, create_string_buffer
from functools import cache
from pathlib import Path
from typing import Any

from tests.collection.plain import Refused

_FLAGS = ("query_flag", "summary_flag", "debug_level", "debug_query", "relation_flag", "average_complete_flag")
_FLAGS += ("judged_docs_only_flag", "num_docs_in_coll", "relevance_level", "max_num_docs_per_topic")


class _Settings(Structure):
    _fields_ = [
        *((name, c_long) for name in _FLAGS),
        ("rel_info_format", c_char_p),
        ("results_format", c_char_p),
        ("zscore_flag", c_long),
        ("meas_arg", c_void_p),
    ]


class _Judged(Structure):
    _fields_ = [("docno", c_char_p), ("number", c_long)]


class _Retrieved(Structure):
    _fields_ = [("docno", c_char_p), ("number", c_float)]


class _Judgments(Structure):
    _fields_ = [("count", c_long), ("room", c_long), ("documents", POINTER(_Judged))]


class _Ranking(Structure):
    _fields_ = [("count", c_long), ("room", c_long), ("documents", POINTER(_Retrieved))]


class _JudgedQuery(Structure):
    _fields_ = [("qid", c_char_p), ("format", c_char_p), ("contents", POINTER(_Judgments))]


class _RankedQuery(Structure):
    _fields_ = [("qid", c_char_p), ("run", c_char_p), ("format", c_char_p), ("contents", POINTER(_Ranking))]


class _AllJudged(Structure):
    _fields_ = [("count", c_long), ("room", c_long), ("queries", POINTER(_JudgedQuery))]


class _AllRanked(Structure):
    _fields_ = [("count", c_long), ("room", c_long), ("queries", POINTER(_RankedQuery))]


@cache
def _library() -> Any:
    import pytrec_eval_ext

    return CDLL(pytrec_eval_ext.__file__)


def read_and_join(folder: Path) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and rankings of ``qrels.txt`` and ``run.txt``; what trec_eval refuses is refused."""
    library = _library()
    settings = _Settings(relation_flag=1, relevance_level=1, max_num_docs_per_topic=2**63 - 1)
    settings.rel_info_format, settings.results_format = b"qrels", b"trec_results"
    judged, ranked = _AllJudged(), _AllRanked()
    try:
        if library.te_get_qrels(byref(settings), bytes(folder / "qrels.txt"), byref(judged)) == -1:
            raise Refused("qrels")
        if library.te_get_trec_results(byref(settings), bytes(folder / "run.txt"), byref(ranked)) == -1:
            raise Refused("run")
        rankings = {ranked.queries[i].qid: i for i in range(ranked.count)}
        joined = create_string_buffer(1024)
        for i in range(judged.count):
            j = rankings.get(judged.queries[i].qid)
            if j is None:
                continue
            one, other = (cast(byref(x), c_void_p) for x in (judged.queries[i], ranked.queries[j]))
            if library.te_form_res_rels(byref(settings), one, other, joined) == -1:
                raise Refused("the join")
        return _table(judged), _table(ranked)
    finally:
        library.te_form_res_rels_cleanup()
        library.te_get_qrels_cleanup()
        library.te_get_trec_results_cleanup()


def _table(found: Any) -> Any:
    table = {}
    for i in range(found.count):
        query = found.queries[i]
        held = query.contents.contents
        documents = (held.documents[d] for d in range(held.count))
        table[query.qid.decode("utf-8", "replace")] = {d.docno.decode("utf-8", "replace"): d.number for d in documents}
    return table
