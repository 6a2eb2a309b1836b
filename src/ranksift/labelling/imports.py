"""Queries and their documents from files: topics with a pool and texts, or tables with everything."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from ranksift.collection.qrels import read_qrels
from ranksift.collection.readers.column_names import find_column, find_if_any, has_column, is_header
from ranksift.collection.readers.formats import SEPARATORS, TABLES, kind
from ranksift.collection.readers.source_table import SourceTable, read_source_table
from ranksift.collection.run import read_run
from ranksift.collection.texts import texts_of
from ranksift.datasets.xml_elements import Element, read_xml
from ranksift.errors import InputError
from ranksift.files import STANDARD, display_name, first_line, read_text
from ranksift.labelling.records import Item, Query

Path = str | os.PathLike[str]
Media = Literal["text", "html"]
Fail = Callable[[int, str, str], InputError]

_SHOWN = 3
_MEDIA: dict[str, Media] = {"text": "text", "text/plain": "text", "html": "html", "text/html": "html"}
# A tag of BCP 47, which pages write into the attribute lang.
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_TOP = re.compile(r"<top>(.*?)(?:</top>|(?=<top>)|\Z)", re.DOTALL | re.IGNORECASE)
_FIELD = re.compile(r"<(num|title|desc|narr|dom|smry|con|fac|def|head|nat)>", re.IGNORECASE)
_SAID_BEFORE = re.compile(r"^\s*(number|topic|description|summary|narrative)\s*:", re.IGNORECASE)
_CLOSING = re.compile(r"</\w+>")
_NUMBERED = re.compile(r"([^\s:]+)(?:\t|:)(.+)")
_NAME_TEXT = "name a column query_id and a column query"
_RUN_FIELDS = 6


class Collected(NamedTuple):
    """What is to be labelled, and what the person who provided it should know.

    Attributes
    ----------
    queries
        The queries, with their documents.
    notes
        Notes, as sentences.
    """

    queries: tuple[Query, ...]
    notes: tuple[str, ...]


def collect(
    data: Sequence[Path] = (),
    *,
    topics: Path | None = None,
    pools: Sequence[Path] = (),
    texts: Sequence[Path] = (),
    known: Iterable[Query] = (),
    depth: int | None = None,
    language: str = "",
    media: Media | None = None,
    skip_missing: bool = False,
) -> Collected:
    """Read queries and documents; if anything is wrong, nothing is returned.

    Parameters
    ----------
    data
        Tables (``.jsonl``, ``.csv``, ``.tsv``, ``.parquet``) with the columns query_id, doc_id and doc (or html), and
        query unless there are ``topics``. Optional columns: title, description, language, media, prior.
    topics
        Texts of queries: TREC's topics, the Web track's XML, or a table with query_id and query.
    pools
        Which documents to label for each query: judgments, runs or both; the best ranks come first.
    texts
        Documents of the pools: tables with doc_id and doc (or html).
    known
        Queries that the project already has: their further documents need no text of the query, and from a pool only
        those of these queries are taken.
    depth
        How many documents of each run are taken.
    language, media
        The language and the media type of queries and documents that do not state them.
    skip_missing
        Leave out pooled documents without a text, and queries without one, instead of refusing them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "data.jsonl"
    ...     _ = file.write_text('{"query_id": "q1", "query": "A dentist?", "doc_id": "d1", "doc": "Try Hanna."}')
    ...     [(query.text, [item.content for item in query.items]) for query in collect([file]).queries]
    [('A dentist?', ['Try Hanna.'])]
    """
    _check_asked(data, topics, pools, texts, depth)
    _check_language(language)
    there = tuple(known)
    has = {query.query_id: {item.doc_id for item in query.items} for query in there}
    gathering = _Gathering(_Topics(there), has, language, media)
    given = () if topics is None else read_topics(topics)
    gathering.topics.add(given, display_name(topics) if topics is not None else "")
    for source in data:
        gathering.add_table(source)
    if pools:
        pooled = _pooled(pools, depth)
        wanted = {doc for docs in pooled.values() for doc in docs}
        gathering.add_pool(pooled, _Documents.read(texts, wanted, media), skip_missing=skip_missing)
    queries = gathering.queries()
    asked = {query.query_id.lstrip("0") for query in queries}
    without = [query.query_id for query in given if query.query_id.lstrip("0") not in asked]
    if without:
        gathering.notes.append(f"{_counted(without, 'topic')} without a document: left out")
    return Collected(queries, tuple(gathering.notes))


def _check_asked(
    data: Sequence[Path], topics: Path | None, pools: Sequence[Path], texts: Sequence[Path], depth: int | None
) -> None:
    if not data and not pools:
        remedy = "give a table with query_id, query, doc_id and doc, or topics with a pool and texts"
        raise InputError("nothing to label is given", remedy=remedy)
    if bool(pools) != bool(texts):
        what, remedy = (
            ("a pool is given, but no texts", "name a table with doc_id and doc: --texts")
            if pools
            else ("texts are given, but no pool", "say which documents to label: --pool with judgments or a run")
        )
        raise InputError(what, remedy=remedy)
    if depth is not None and (depth < 1 or not pools):
        raise InputError(f"a depth of {depth} without runs to take it from", remedy="give --pool, and a depth from 1")
    if [*data, topics, *pools, *texts].count(STANDARD) > 0:
        raise InputError("standard input is not read here", remedy="name a file")


# -- queries -----------------------------------------------------------------------------------------------------------


def read_topics(source: Path) -> tuple[Query, ...]:
    r"""Read texts of queries: TREC's ``<top>``, XML with ``<topic>``, a table, or lines of a number and a text.

    In TREC's topics, the title becomes the text, and the description and the narrative become the description; in those
    of the Web track, the query becomes the text, with its description. Subtopics are left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "topics.txt"
    ...     _ = file.write_text("<top>\n<num> Number: 301\n<title> Organized Crime\n<desc> Description:\nWho?\n</top>")
    ...     [(topic.query_id, topic.text, topic.description) for topic in read_topics(file)]
    [('301', 'Organized Crime', 'Who?')]
    """
    name = display_name(source)
    if kind(source) in TABLES and not _is_headless(source):
        found = _topics_of_table(read_source_table(source))
    else:
        text = read_text(source, if_empty="give at least one topic").decode()
        if re.search(r"<top>", text, re.IGNORECASE):
            found = _topics_of_sgml(text, name)
        elif text.lstrip().startswith("<"):
            found = [_topic_of_xml(one) for one in read_xml(source).all("topic")]
        else:
            found = _topics_of_lines(text, name)
    if not found:
        raise InputError("no topic in it", source=name, remedy="give <top> or <topic>, or a table with query_id, query")
    seen: set[str] = set()
    for query, fail in found:
        if query.query_id in seen:
            raise fail(f"topic {query.query_id!r} occurs twice here", "give every topic once")
        seen.add(query.query_id)
    return tuple(query for query, _ in found)


_Place = Callable[[str, str], InputError]


def _at(source: str, line: int) -> _Place:
    return lambda what, remedy: InputError(what, source=source, line=line, remedy=remedy)


def _checked(query_id: str, text: str, description: str, fail: _Place, language: str = "") -> tuple[Query, _Place]:
    if not query_id:
        raise fail("this topic has no number", 'give it one, as <num> Number: 301 or number="301"')
    if not text:
        raise fail(f"topic {query_id!r} has no text", "give it a title or a query")
    if "\0" in text + description + query_id:
        raise fail(f"topic {query_id!r} has a NUL character", "remove it")
    return Query(query_id, text, description, language), fail


def _topics_of_sgml(text: str, name: str) -> list[tuple[Query, _Place]]:
    found = []
    for top in _TOP.finditer(text):
        pieces = _FIELD.split(top[1])
        said: dict[str, str] = {}
        for tag, words in zip(pieces[1::2], pieces[2::2], strict=True):
            said.setdefault(tag.lower(), _SAID_BEFORE.sub("", _CLOSING.sub("", words)).strip())
        description = "\n\n".join(part for part in (said.get("desc", ""), said.get("narr", "")) if part)
        fail = _at(name, 1 + text.count("\n", 0, top.start()))
        found.append(_checked(said.get("num", ""), " ".join(said.get("title", "").split()), description, fail))
    return found


def _topic_of_xml(topic: Element) -> tuple[Query, _Place]:
    children = {child.tag.lower(): child for child in reversed(topic.children)}  # the first of each

    def words(*tags: str) -> str:
        child = next((children[tag] for tag in tags if tag in children), None)
        return "" if child is None else " ".join(child.text().split())

    number = next((topic.attributes[a] for a in ("number", "id", "qid", "num") if a in topic.attributes), None)
    number = words("number", "num", "id", "qid") if number is None else number.strip()
    text = words("query", "title") or " ".join("".join(topic.pieces).split())
    parts = (words("description", "desc", "question"), words("narrative", "narr"))
    return _checked(number, text, "\n\n".join(filter(None, parts)), _at(topic.source, topic.line))


def _topics_of_lines(text: str, name: str) -> list[tuple[Query, _Place]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fail, parts = _at(name, number), _NUMBERED.fullmatch(line.strip())
        if parts is None:
            raise fail("this is not a topic", "write a number, a tab (or a colon) and the text, or give <top> or XML")
        found.append(_checked(parts[1], parts[2].strip(), "", fail))
    return found


def _topics_of_table(table: SourceTable) -> list[tuple[Query, _Place]]:
    place: dict[str, Any] = {"source": table.source, "line": table.line}
    ids = table.ids(find_column(table.names, "topic id", **place), "query")
    words = texts_of(table.cells.objects(find_column(table.names, "topic text", **place)), "query", table.fail)
    description, language = (_words(table, role) for role in ("description", "language"))
    return [
        _checked(query, text, description[row], _of_row(table, row), _language(language[row], row, table.fail))
        for row, (query, text) in enumerate(zip(ids, words, strict=True))
    ]


def _of_row(table: SourceTable, row: int) -> _Place:
    return lambda what, remedy: table.fail(row, what, remedy)


def _is_headless(source: Path) -> bool:
    """Whether a tab separated file has no header, as MS MARCO's queries."""
    fields = first_line(source).decode("utf-8", "replace").split("\t")
    return kind(source) == ".tsv" and not (is_header(fields) or has_column(fields, "topic id"))


class _Topics:
    """Texts of queries by their ids; 051 is 51 if nothing else is."""

    def __init__(self, known: Iterable[Query]) -> None:
        self._queries = {query.query_id: replace(query, items=()) for query in known}
        self._plain = {query.lstrip("0"): query for query in self._queries}

    def add(self, queries: Iterable[Query], source: str) -> None:
        """Add those of a file, which must not contradict what is known."""
        for query in queries:
            before = self._queries.get(query.query_id)
            if before is not None and before.text != query.text:
                what = f"query {query.query_id!r} has another text in the project"
                raise InputError(what, source=source, remedy="give it another id, or leave it out")
            self._queries.setdefault(query.query_id, query)
            self._plain.setdefault(query.query_id.lstrip("0"), query.query_id)

    def has(self, query_id: str) -> bool:
        """Whether there is a text."""
        return query_id in self._queries or query_id.lstrip("0") in self._plain

    def find(self, query_id: str) -> Query:
        """The query of an id."""
        return self._queries.get(query_id) or self._queries[self._plain[query_id.lstrip("0")]]


# -- documents ---------------------------------------------------------------------------------------------------------


@dataclass
class _Gathering:
    """Queries with their documents, as they are put together."""

    topics: _Topics
    there: Mapping[str, Collection[str]]  # documents that the queries of the project have
    language: str
    media: Media | None
    found: dict[str, Query] = field(default_factory=dict)
    items: dict[str, dict[str, Item]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def queries(self) -> tuple[Query, ...]:
        """All of them, in the order in which they came."""
        return tuple(
            replace(
                query,
                language=query.language or self.language,
                items=tuple(replace(item, language=item.language or self.language) for item in items.values()),
            )
            for query, items in zip(self.found.values(), self.items.values(), strict=True)
        )

    def add_table(self, source: Path) -> None:
        """Add the rows of a table that has queries and documents."""
        if kind(source) not in TABLES:
            remedy = "give .jsonl, .csv, .tsv or .parquet; judgments and runs go with --pool, topics with --queries"
            raise InputError("not a table of queries and documents", source=display_name(source), remedy=remedy)
        table = read_source_table(source)
        place: dict[str, Any] = {"source": table.source, "line": table.line}
        if not table.height:
            raise table.wrong("no row in this table", "give one row per document")
        queries = table.ids(find_column(table.names, "query id", **place), "query")
        docs = table.ids(find_column(table.names, "document id", **place), "document")
        contents, media = _contents(table, "document text", self.media)
        asked = find_if_any(table.names, "query text", **place)
        texts = [""] * table.height if asked is None else _asked(table, asked)
        title, description, language = (_words(table, role) for role in ("title", "description", "language"))
        prior = _priors(table)
        for row, (query_id, doc_id) in enumerate(zip(queries, docs, strict=True)):
            fail = _of_row(table, row)
            tag = _language(language[row], row, table.fail)
            self._query(query_id, texts[row], description[row], tag, fail)
            if doc_id in self.items[query_id]:
                raise fail(f"document {doc_id!r} of query {query_id!r} occurs twice here", "give it once")
            if doc_id in self.there.get(query_id, ()):
                what = f"document {doc_id!r} of query {query_id!r} is already in the project"
                raise fail(what, "give only new ones")
            self.items[query_id][doc_id] = Item(doc_id, contents[row], title[row], media[row], tag, prior[row])

    def _query(self, query_id: str, text: str, description: str, language: str, fail: _Place) -> None:
        """Note a query as a row has it, which must agree with other rows, with the topics and with the project."""
        before = self.found.get(query_id)
        if before is None and self.topics.has(query_id):
            before = self.topics.find(query_id)
        if before is None:
            if not text:
                raise fail(f"query {query_id!r} has no text", f"{_NAME_TEXT}, or give topics: --queries")
            before = _checked(query_id, text, description, fail, language)[0]
        if text and before.text != text:
            what = f"query {query_id!r} had another text before"
            raise fail(what, "give all documents of a query the same text of the query, or another query_id")
        if not before.description and description:
            before = replace(before, description=description)
        self.found[query_id] = replace(before, query_id=query_id)
        self.items.setdefault(query_id, {})

    def add_pool(self, pooled: Mapping[str, Sequence[str]], documents: _Documents, *, skip_missing: bool) -> None:
        """Add the documents of pools, with their texts."""
        without_text = [query for query in pooled if not self.topics.has(query) and query not in self.found]
        if without_text and not skip_missing:
            remedy = "give their topics: --queries; or leave them out: --skip-missing"
            raise InputError(f"no text of {_counted(without_text, 'query of the pool', 'queries of the pool')}",
                             remedy=remedy)  # fmt: skip
        kept = {query: docs for query, docs in pooled.items() if query not in {*without_text}}
        everything = [(query, doc) for query, docs in kept.items() for doc in docs]
        pairs = [(query, doc) for query, doc in everything if doc not in self.there.get(query, ())]
        missing = list(dict.fromkeys(doc for _, doc in pairs if doc not in documents.items))
        if missing and not skip_missing:
            remedy = "add them; or leave them out: --skip-missing"
            raise InputError(f"no text of {_counted(missing, 'document')} of the pool", source=documents.name,
                             remedy=remedy)  # fmt: skip
        if len(missing) and len(missing) == len({doc for _, doc in pairs}):
            what = "has none of the documents of the pool"
            raise InputError(what, source=documents.name, remedy="give the texts of these documents")
        for query_id, doc_id in pairs:
            if doc_id not in documents.items:
                continue
            if query_id not in self.found:
                self.found[query_id] = replace(self.topics.find(query_id), query_id=query_id)
                self.items[query_id] = {}
            self.items[query_id].setdefault(doc_id, documents.items[doc_id])
        if without_text:
            self.notes.append(f"{_counted(without_text, 'query', 'queries')} of the pool without a text: left out")
        if missing:
            self.notes.append(f"{_counted(missing, 'document')} of the pool without a text: left out")
        if before := len(everything) - len(pairs):
            noun = "document of the pool is" if before == 1 else "documents of the pool are"
            self.notes.append(f"{before:,} {noun} in the project already")


@dataclass(frozen=True)
class _Documents:
    """The documents that are wanted by their ids, whatever the query."""

    name: str
    items: Mapping[str, Item]

    @classmethod
    def read(cls, sources: Sequence[Path], wanted: Collection[str], media: Media | None) -> _Documents:
        items: dict[str, Item] = {}
        for source in sources:
            table = read_source_table(source)
            place: dict[str, Any] = {"source": table.source, "line": table.line}
            docs = table.ids(find_column(table.names, "stored id", **place), "document")
            contents, kinds = _contents(table, "stored text", media)
            title, language = (_words(table, role) for role in ("title", "language"))
            for row, doc in enumerate(docs):
                if doc not in wanted:
                    continue
                if doc in items:
                    raise table.fail(row, f"document {doc!r} occurs twice here", "give the text of a document once")
                tag = _language(language[row], row, table.fail)
                items[doc] = Item(doc, contents[row], title[row], kinds[row], tag)
        return cls(", ".join(map(display_name, sources)), items)


def _asked(table: SourceTable, column: int) -> list[str]:
    """The texts of queries; empty if a row leaves that to others of its query."""
    cells = table.cells.objects(column)
    given = [row for row, cell in enumerate(cells) if not _is_gap(cell)]
    fail: Fail = lambda row, what, remedy: table.fail(given[row], what, remedy)  # noqa: E731
    said = dict(zip(given, texts_of([cells[row] for row in given], "query", fail), strict=True))
    return [said.get(row, "") for row in range(table.height)]


def _contents(table: SourceTable, role: str, media: Media | None) -> tuple[list[str], list[Media]]:
    """The texts of documents, and what each is: as the column media says, else html where it stands in that column."""
    html = find_if_any(table.names, "html", source=table.source, line=table.line)
    column = find_if_any(table.names, role, source=table.source, line=table.line)
    if column is None and html is None:
        column = find_column(table.names, role, source=table.source, line=table.line)  # which says what is missing
    columns = [table.cells.objects(one) for one in (column, html) if one is not None]
    cells = [next((cell for cell in row if not _is_gap(cell)), row[0]) for row in zip(*columns, strict=True)]
    contents = texts_of(cells, "document", table.fail)
    for row, text in enumerate(contents):
        if "\0" in text:
            raise table.fail(row, "the text of the document has a NUL character", "remove it")
    said = _words(table, "media")
    for row, word in enumerate(said):
        if word and word.lower() not in _MEDIA:
            raise table.fail(row, f"{word[:40]!r} is not a kind of document", "write text or html")
    marked = [column is None or _is_gap(cell) for cell in columns[0]]
    usual: list[Media] = [media or ("html" if one else "text") for one in marked]
    return contents, [_MEDIA.get(word.lower(), other) for word, other in zip(said, usual, strict=True)]


def _words(table: SourceTable, role: str) -> list[str]:
    """A column of words that may be missing, and so may its cells."""
    column = find_if_any(table.names, role, source=table.source, line=table.line)
    if column is None:
        return [""] * table.height
    found = []
    for row, value in enumerate(table.cells.objects(column)):
        if _is_gap(value):
            found.append("")
        elif isinstance(value, str | int | float):
            found.append(" ".join(str(value).split()) if role != "description" else str(value).strip())
        else:
            raise table.fail(row, f"the {role} is a {type(value).__name__}", "write a text, or nothing")
        if "\0" in found[-1] or any("\ud800" <= c <= "\udfff" for c in found[-1]):
            raise table.fail(row, f"the {role} is not valid text", "repair its encoding")
    return found


def _is_gap(cell: object) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())  # NaN is not itself


def _priors(table: SourceTable) -> list[float | None]:
    column = find_if_any(table.names, "prior", source=table.source, line=table.line)
    if column is None:
        return [None] * table.height
    return [None if value != value else value for value in table.numbers(column, "prior", gaps=True).tolist()]


def _check_language(tag: str) -> None:
    if tag and not _LANGUAGE.fullmatch(tag):
        raise InputError(f"{tag[:40]!r} is not a language", remedy="write a tag such as en or fa")


def _language(tag: str, row: int, fail: Fail) -> str:
    if tag and not _LANGUAGE.fullmatch(tag):
        raise fail(row, f"{tag[:40]!r} is not a language", "write a tag such as en or fa, or nothing")
    return tag


# -- pools -------------------------------------------------------------------------------------------------------------


def _pooled(sources: Sequence[Path], depth: int | None) -> dict[str, list[str]]:
    """The documents of each query in some judgments and runs, each once, the best rank in any of them first."""
    best: dict[str, dict[str, int]] = {}
    for source in sources:
        of_run = is_run(source)
        table = read_run(source) if of_run else read_qrels(source)
        docs = table.docs.tolist()
        bounds = zip(table.query_ids, table.offsets[:-1].tolist(), table.offsets[1:].tolist(), strict=True)
        for query, start, end in bounds:
            ranks = best.setdefault(query, {})
            for rank, doc in enumerate(docs[start:end][: depth if of_run else None]):
                ranks[doc] = min(rank, ranks.get(doc, rank))
    return {query: sorted(ranks, key=ranks.__getitem__) for query, ranks in best.items() if ranks}


def is_run(source: Path) -> bool:
    """Whether a file of documents with numbers is a run, and not judgments.

    TREC's lines show it by their six fields, tables by a column of scores or ranks without one of labels.
    """
    if kind(source) not in TABLES or (kind(source) == ".tsv" and not is_header(_fields(source))):
        text = (
            read_text(source).decode()
            if first_line(source).startswith(b"#")
            else first_line(source).decode("utf-8", "replace")
        )
        rows = (line.split() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))
        return len(next(rows, [""] * _RUN_FIELDS)) >= _RUN_FIELDS
    names = [name.casefold() for name in read_source_table(source).names]
    labels = {"label", "relevance", "rel", "judgment"}
    return not labels & {*names} and bool({"rank", "sim", "value", "score"} & {*names}) and names != [
        "query-id", "corpus-id", "score",  # BEIR's judgments
    ]  # fmt: skip


def _fields(source: Path) -> list[str]:
    return [field.strip().strip('"') for field in first_line(source).decode("utf-8", "replace").split(
        SEPARATORS.get(kind(source), "\t"))]  # fmt: skip


def _counted(names: Sequence[str], noun: str, nouns: str = "") -> str:
    """How many there are, and the first of them.

    >>> _counted(["d1", "d2"], "document"), _counted(["q1"], "query", "queries")
    ("2 documents ('d1', 'd2')", "1 query ('q1')")
    """
    first = ", ".join(repr(name[:60]) for name in names[:_SHOWN]) + ", …" * (len(names) > _SHOWN)
    return f"{len(names):,} {noun if len(names) == 1 else nouns or noun + 's'} ({first})"
