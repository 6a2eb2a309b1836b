"""Which column is which: the names that tables give to queries, documents, labels and scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ranksift.errors import InputError

#: The user's names for the columns of a table: role to name.
Columns: TypeAlias = Mapping[str, str] | None

#: The roles that they may have.
MAPPED = ("query", "doc", "document", "label", "score")

# In order of preference: PyTerrier's frames have the text of a query beside its qid, and a number beside the docno.
_NAMES = {
    "query": ("query_id", "qid", "q_id", "topic_id", "topic", "query"),
    "document": ("doc_id", "docno", "docid", "did", "document_id", "corpus_id", "doc", "document"),
    "label": ("label", "relevance", "rel", "judgment", "score"),
    "score": ("score", "sim", "value"),
    "run": ("run", "run_id", "runid", "system", "system_id", "name", "tag"),
    "measure": ("measure", "metric"),
    "value": ("value", "score"),
    "grade": ("label", "relevance", "rel", "judgment", "grade"),  # a score among features is one of them
    # Of tables with texts: what can only be an id, what can only be a text, and what a text may be called beside an id.
    "query id": ("query_id", "qid", "q_id", "question_id", "topic_id", "topic"),
    "query words": ("query_text", "question_text", "question"),
    "query text": ("query_text", "query", "question_text", "question"),
    "document id": ("doc_id", "docno", "docid", "did", "document_id", "corpus_id", "answer_id", "comment_id"),
    "document words": ("doc_text", "document_text", "text", "passage", "answer_text", "answer", "sentence", "comment"),
    "document text": (
        *("doc_text", "doc", "document_text", "document"),
        *("text", "passage", "answer_text", "answer", "sentence", "comment"),
    ),
    "position": ("position",),
    "author": ("author", "author_id", "user_id"),
    "time": ("time", "timestamp", "date"),
    "parent": ("parent", "parent_id"),
    "asker": ("asker", "asker_id"),
    # Of what is to be labelled: files of topics alone and of documents alone may call an id by less.
    "topic id": ("query_id", "qid", "q_id", "question_id", "topic_id", "topic", "number", "_id", "id"),
    "topic text": ("query_text", "query", "question_text", "question", "text", "title"),
    "stored id": ("doc_id", "docno", "docid", "did", "document_id", "corpus_id", "_id", "id"),
    "stored text": ("doc_text", "doc", "document_text", "document", "text", "passage", "contents", "body"),
    "html": ("html", "doc_html"),
    "title": ("title", "doc_title"),
    "description": ("description", "desc"),
    "language": ("language", "lang"),
    "media": ("media", "media_type"),
    "prior": ("prior",),
}
_SHOWN = 12


def find_columns(
    names: Sequence[object],
    noun: str,
    columns: Columns = None,
    *,
    source: str | None = None,
    line: int | None = None,
) -> tuple[int, int, int]:
    """Positions of the query, the document and the label or score (``noun``) among the columns of a table.

    Capitals do not matter, nor whether words are joined by ``_``, ``-`` or a blank. The user's names for ``columns``
    goes first. Tables may call the query and the document differently: a table without a column of exactly that name is
    read by the known names. A missing label or score column is an error; another column is never used instead.

    Examples
    --------
    >>> find_columns(["query-id", "corpus-id", "score"], "label")
    (0, 1, 2)
    >>> find_columns(["qid", "docid", "docno", "Rank", "Score", "query"], "score")
    (0, 2, 4)
    >>> find_columns(["qid", "pid", "docid", "score"], "score", {"doc": "pid"})
    (0, 1, 3)
    """
    called = checked(columns)

    def find(role: str) -> int:
        name = called.get(role)
        same = [i for i, found in enumerate(names) if str(found).strip() == name]
        if len(same) != 1 and name is not None and (role == noun or not has_column(names, role)):
            what = f"{len(same) or 'no'} column{'s' * (len(same) > 1)} {name!r} for the {role} among {_listed(names)}"
            raise InputError(what, source=source, line=line, remedy="give the name of one of them")
        return same[0] if len(same) == 1 else find_column(names, role, source=source, line=line)

    return find("query"), find("document"), find(noun)


def checked(columns: Columns) -> dict[str, str]:
    """The names of columns by role; an unknown role is refused.

    >>> checked({"query": "qid", "doc": "pid"})
    {'query': 'qid', 'document': 'pid'}
    """
    if not isinstance(columns, Mapping | None):
        raise InputError(f"columns={columns!r} is not a mapping", remedy="write {'query': 'qid', 'doc': 'pid'}")
    out = {}
    for role, name in (columns or {}).items():
        if role not in MAPPED or not isinstance(name, str) or not name.strip():
            raise InputError(f"columns: {role!r}={name!r} is not understood", remedy=f"name {', '.join(MAPPED)}")
        out["document" if role == "doc" else role] = name.strip()
    return out


def find_column(names: Sequence[object], role: str, *, source: str | None = None, line: int | None = None) -> int:
    """The position of the column that plays a role: query, document, label, score, run, measure, value, grade, ….

    Examples
    --------
    >>> find_column(["System", "Topic", "AP"], "run")
    0
    """
    accepted, folded = _NAMES[role], [_folded(name) for name in names]
    name = next((n for n in accepted if n in folded), None)
    if name is None:
        check_separator(names, source=source, line=line)
        raise InputError(
            f"no column for the {role} among {_listed(names) or 'no columns at all'}",
            source=source,
            line=line,
            remedy=f"name it {accepted[0]} (or {', '.join(accepted[1:])})",
        )
    if folded.count(name) > 1:
        raise InputError(f"two columns are called {name!r}", source=source, line=line, remedy="rename one of them")
    return folded.index(name)


def check_separator(names: Sequence[object], *, source: str | None, line: int | None) -> None:
    """Refuse a header in which another separator stands than the one it was split at."""
    if len(names) == 1 and re.search("[;|\\t]", str(names[0])):
        raise InputError(
            f"one column only, {_listed(names)}: its separator is not the one that its suffix implies",
            source=source,
            line=line,
            remedy="separate columns by commas in .csv, by tabs in .tsv",
        )


def _listed(names: Sequence[object]) -> str:
    return ", ".join(repr(str(n)[:40]) for n in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)


def has_column(names: Sequence[object], role: str) -> bool:
    """Whether a column plays a role."""
    return any(_folded(name) in _NAMES[role] for name in names)


def find_if_any(
    names: Sequence[object], role: str, *, source: str | None = None, line: int | None = None
) -> int | None:
    """The position of the column that plays a role; None if there is none.

    >>> find_if_any(["qid", "doc"], "document"), find_if_any(["qid", "doc"], "document id")
    (1, None)
    """
    return find_column(names, role, source=source, line=line) if has_column(names, role) else None


def is_header(fields: Sequence[str]) -> bool:
    """Whether the first line of a table names columns, rather than being a TREC line.

    Examples
    --------
    >>> is_header(["query-id", "corpus-id", "score"]), is_header(["19335", "0", "1017759", "0"])
    (True, False)
    """
    known = set(_NAMES["query"] + _NAMES["document"])
    return any(_folded(f) in known for f in fields) and not any(is_number(f) for f in fields)


def _folded(name: object) -> str:
    return str(name).strip().casefold().replace("-", "_").replace(" ", "_")


def is_number(field: str) -> bool:
    """Whether a field is a number (``nan`` and ``inf`` are)."""
    try:
        float(field)
    except ValueError:
        return False
    return True
