"""Every format once more, read with plain loops as the documentation describes it. Nothing of the library is used."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from typing import Any

from tests.collection import plain
from tests.collection.plain import NUMBER, Refused
from tests.measures import plain as measures

Table = dict[str, dict[str, float]]

NAMES = {
    "query": ("query_id", "qid", "q_id", "topic_id", "topic", "query"),
    "document": ("doc_id", "docno", "docid", "did", "document_id", "corpus_id", "doc", "document"),
    "label": ("label", "relevance", "rel", "judgment", "score"),
    "score": ("score", "sim", "value"),
}
MEASURES = {
    "AP": ("AP", {}),
    "nDCG@10": ("nDCG", {"k": 10}),
    "nDCG_f@5": ("nDCG_f", {"k": 5}),
    "P@5": ("P", {"k": 5}),
    "RR": ("RR", {}),
    "Bpref": ("Bpref", {}),
}
MISSING = ("null", "nan", "na", "")
SUMMARIES = ("all", "amean", "average", "avg", "gmean", "mean")
LARGEST_INDEX = 1 << 20


class Unjudged(Exception):  # noqa: N818
    """The plain reader does not say what this file holds."""


def values(qrels: Table, run: Table) -> dict[str, dict[str, float]]:
    """Each measure's value of each judged query."""
    if run and not any(query in qrels for query in run):
        raise Refused("no query in common")
    found = {
        name: measures.evaluate(qrels, run, list(qrels), short, parameters)[0]
        for name, (short, parameters) in MEASURES.items()
    }
    return {query: {name: found[name][i] for name in found} for i, query in enumerate(qrels)}


# -- tables of judgments and of runs ---------------------------------------------------------------------------------


def text_of(data: bytes) -> str:
    try:
        text = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if not text:
        raise Refused("empty")
    return text


def read_table(data: bytes, suffix: str, noun: str) -> Table:
    """``{query: {document: number}}`` of a file that is not compressed."""
    kind = plain.QRELS if noun == "label" else plain.RUN
    if suffix == ".jsonl":
        rows = json_lines(text_of(data), noun)
    elif suffix == ".parquet":
        rows = parquet(data, noun)
    elif suffix == ".csv" or (suffix == ".tsv" and has_header(data)):
        rows = delimited_rows(data, "," if suffix == ".csv" else "\t", noun)
    else:
        return plain.read(data, kind)
    found: Table = {}
    for query, document, value in rows:
        if not math.isfinite(value) or (noun == "label" and abs(value) >= 2**53):
            raise Refused(str(value))
        if document in found.setdefault(query, {}):
            raise Refused("a document twice")
        found[query][document] = value
    if noun == "label" and not found:
        raise Refused("no judgment")
    return found


def number_of(word: str) -> float:
    if not NUMBER.fullmatch(word.strip("\t\n\v\f\r ")):
        raise Refused(f"{word!r} is not a number")
    return float(word)


def columns_of(names: list[str], *roles: str) -> list[int]:
    folded = [name.strip().casefold().replace("-", "_").replace(" ", "_") for name in names]
    found = []
    for role in roles:
        name = next((name for name in NAMES[role] if name in folded), None)
        if name is None or folded.count(name) > 1:
            raise Refused(f"no column for the {role}, or two")
        found.append(folded.index(name))
    return found


def has_header(data: bytes) -> bool:
    line = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").partition(b"\n")[0].rstrip(b"\r")
    fields = [field.strip().strip('"') for field in line.decode("utf-8", "replace").split("\t")]
    known = {*NAMES["query"], *NAMES["document"]}
    named = any(f.strip().casefold().replace("-", "_").replace(" ", "_") in known for f in fields)
    return named and not any(is_float(field) for field in fields)


def is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def delimited_rows(data: bytes, separator: str, noun: str) -> list[tuple[str, str, float]]:
    names, lines = delimited(text_of(data), separator)
    query, document, value = columns_of(names, "query", "document", noun)
    return [(id_of(line[query]), id_of(line[document]), number_of(line[value][0])) for line in lines]


def id_of(field: tuple[str, bool]) -> str:
    """An id; blanks at its edge are meant only in quotation marks."""
    word, quoted = field
    if not word or (not quoted and (word[0] <= " " or word[-1] <= " ")):
        raise Refused(f"{word!r} is not an id")
    return word


def delimited(text: str, separator: str) -> tuple[list[str], list[list[tuple[str, bool]]]]:
    """Names of the columns, and below them lines of fields; of each field whether it is quoted."""
    header, _, body = text.lstrip("\r\n").partition("\n")
    try:
        names = next(csv.reader([header.rstrip("\r")], delimiter=separator, strict=True), [])
    except csv.Error:
        raise Refused("the header") from None
    lines: list[list[tuple[str, bool]]] = [[]]
    at = 0
    body += "" if body.endswith("\n") or not body else "\n"
    while at < len(body):
        quoted = body[at] == '"'
        word = ""
        if quoted:
            at += 1
            while True:
                end = body.find('"', at)
                if end < 0:
                    raise Refused("a quoted field has no closing quotation mark")
                word += body[at:end]
                at = end + 1
                if body[at : at + 1] != '"':
                    break
                word += '"'
                at += 1
            if body[at : at + 2] == "\r\n":
                at += 1
        else:
            start = at
            while body[at] not in (separator, "\n"):
                at += 1
            word = body[start:at]
            if body[at] == "\n":
                word = word.removesuffix("\r")
            if '"' in word:
                raise Refused("a quotation mark inside a field")
        if at >= len(body) or body[at] not in (separator, "\n"):
            raise Refused("text behind a quoted field")
        lines[-1].append((word, quoted))
        if body[at] == "\n":
            lines.append([])
        at += 1
    lines = [line for line in lines[:-1] if line != [("", False)] or len(names) == 1]
    if any(len(line) != len(names) for line in lines):
        raise Refused("another number of fields")
    return names, lines


def json_lines(text: str, noun: str) -> list[tuple[str, str, float]]:
    rows, keys = [], []
    for line in text.split("\n"):
        line = line.strip(" \t\r")
        if not line or line[0] == "#":
            continue
        record = strict_json(line)
        if not isinstance(record, dict):
            raise Refused(line)
        if not keys:
            names = list(record)
            keys = [names[c] for c in columns_of(names, "query", "document", noun)]
        if any(key not in record for key in keys):
            raise Refused(line)
        rows.append(row_of(*(record[key] for key in keys)))
    return rows


def row_of(query: Any, document: Any, value: Any) -> tuple[str, str, float]:
    ids = []
    for one in (query, document):
        if isinstance(one, bool) or not isinstance(one, str | int) or one == "":
            raise Refused(f"{one!r} is not an id")
        ids.append(str(one))
        if any("\ud800" <= c <= "\udfff" for c in ids[-1]):
            raise Refused("half a character")
    if not isinstance(value, int | float):
        raise Refused(f"{value!r} is not a number")
    try:
        return ids[0], ids[1], float(value)
    except OverflowError:
        raise Refused("too large") from None


def strict_json(text: str) -> Any:
    """A JSON value; what says something twice says nothing."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise Refused("a key twice")
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise Refused("not JSON") from None


def check_own_sum(document: dict[str, Any]) -> None:
    """Under ``sum`` stands the SHA-256 of everything else; where it does not stand, nothing is checked."""
    rest = {key: value for key, value in document.items() if key != "sum"}
    if "sum" in document and hashlib.sha256(json.dumps(rest).encode()).hexdigest() != document["sum"]:
        raise Refused("another sum")


def parquet(data: bytes, noun: str) -> list[tuple[str, str, float]]:
    """By another library than the one that RankSift uses. Where it refuses, nothing is said: it knows less, or more."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data), use_threads=False)
        names = [str(name) for name in table.column_names]
        lists = [table.column(c).to_pylist() for c in columns_of(names, "query", "document", noun)]
        # What holds bytes is text where Arrow's own schema is damaged beside that of Parquet.
        lists = [[cell.decode() if isinstance(cell, bytes) else cell for cell in column] for column in lists]
    except Refused:
        raise
    except Exception:
        raise Unjudged from None
    return [row_of(*row) for row in zip(*lists, strict=True)]


# -- examples --------------------------------------------------------------------------------------------------------


def letor(data: bytes) -> dict[str, Any]:
    """Rows in the order of the file: query, document, label, features."""
    text = text_of(data)
    if plain.CONTROL.search(text):
        raise Refused("a control character")
    rows: list[tuple[str, str | None, float | None, dict[int, float | None]]] = []
    for line in text.split("\n"):
        comment = re.search(r"(?:^|(?<=[\x00-\x20]))#", line)
        words = re.findall(r"[^\x00-\x20]+", line[: comment.start()] if comment else line)
        if not words:
            continue
        if len(words) < 2 or not words[1].startswith("qid:") or words[1] == "qid:":
            raise Refused(line)
        features: dict[int, float | None] = {}
        for word in words[2:]:
            index, _, value = word.partition(":")
            if not re.fullmatch("[0-9]{1,7}", index) or not value or int(index) > LARGEST_INDEX:
                raise Refused(word)
            if int(index) in features:
                raise Refused("a feature twice")
            features[int(index)] = gap_or_number(value)
        named = re.match(r"#\s*docid\s*=\s*(\S+)", line[comment.start() :], re.ASCII | re.I) if comment else None
        rows.append((words[1][4:], named[1] if named else None, gap_or_number(words[0]), features))
    indices = {index for *_, features in rows for index in features}
    if not indices:
        raise Refused("no feature")
    wanted = range(min(1, *indices, 1), max(indices) + 1)
    found, counts = [], dict[str, int]()
    for query, document, label, features in rows:
        counts[query] = counts.get(query, 0) + 1
        document = document or f"d{counts[query]}"
        if label is not None and abs(label) >= 2**53:
            raise Refused("a label too large")
        found.append([query, document, label, [features.get(index, 0.0) for index in wanted]])
    return {"names": [str(index) for index in wanted], "rows": found}


def gap_or_number(word: str) -> float | None:
    if word.lower() in MISSING:
        return None
    value = number_of(word)
    if not math.isfinite(value):
        raise Refused(word)
    return value


# -- ready scores ----------------------------------------------------------------------------------------------------


def scores(data: bytes, separator: str, measure: str) -> dict[str, float]:
    """``{run, query, measure: value}`` of a long table, or of a wide one whose first column is called topic."""
    names, lines = delimited(text_of(data), separator)
    names = [name.strip() for name in names]
    found: dict[str, float] = {}
    if names == ["run", "query_id", "measure", "value"]:
        cells = [(id_of(run), id_of(query), id_of(which), number_of(value[0])) for run, query, which, value in lines]
        if any(is_float(run) for run, *_ in cells) or {which for _, _, which, _ in cells} - {"AP", "P@5"}:
            raise Unjudged  # how a measure may be spelled is another matter
    elif names[:1] == ["topic"] and len(names) > 1 and not {name.casefold() for name in names[1:]} & KNOWN:
        if "" in names or len(set(names)) < len(names):
            raise Refused("systems without a name of their own")
        topics = [id_of(line[0]) for line in lines]
        if len(set(topics)) < len(topics):
            raise Refused("a topic twice")
        cells = [
            (names[c], topic, measure, number_of(line[c][0]))
            for topic, line in zip(topics, lines, strict=True)
            for c in range(1, len(names))
        ]
    else:
        raise Unjudged
    for run, query, which, value in cells:
        if not math.isfinite(value):
            raise Refused("not finite")
        if query.casefold() in SUMMARIES:
            continue
        if abs(value) > 1e100:
            raise Unjudged
        key = json.dumps([run, query, which])
        if key in found:
            raise Refused("a value twice")
        found[key] = value
    axes = [{json.loads(key)[i] for key in found} for i in range(3)]
    if not found or len(found) < math.prod(map(len, axes)):
        raise Refused("values are missing")
    return found


#: Names of the columns of a long table, which is another form.
KNOWN = {"run", "run_id", "runid", "system", "system_id", "name", "tag", "measure", "metric", "value", "score"}
KNOWN |= set(NAMES["query"])


# -- trees -----------------------------------------------------------------------------------------------------------

INTEGER = re.compile("0|-?[1-9][0-9]*")


def trees(text: bytes, rows: list[list[float]]) -> list[float]:
    """What LightGBM's trees say of rows of features that are not missing and not 0; an empty text has no trees."""
    if not text:
        return [0.0] * len(rows)
    lines = text_of(text).split("\n")
    blocks: list[dict[str, str]] = [{}]
    for line in lines:
        if line == "end of trees":
            break
        if line.startswith("Tree="):
            blocks.append({})
        key, equals, value = line.partition("=")
        if equals:
            if key in blocks[-1]:
                raise Unjudged
            blocks[-1][key] = value
    else:
        raise Unjudged
    return [sum(leaf(block, row) for block in blocks[1:]) for row in rows]


def leaf(tree: dict[str, str], row: list[float]) -> float:
    """The value of the leaf in which a row ends."""
    count = int_of(tree.get("num_leaves", ""))
    leaves = [float_of(word) for word in tree.get("leaf_value", "").split(" ")]
    if count < 1 or len(leaves) != count or tree.get("num_cat") != "0" or tree.get("is_linear", "0") != "0":
        raise Unjudged
    if count == 1:
        return leaves[0]
    feature, left, right, kinds = (
        [int_of(word) for word in tree.get(key, "").split(" ")]
        for key in ("split_feature", "left_child", "right_child", "decision_type")
    )
    bounds = [float_of(word) for word in tree.get("threshold", "").split(" ")]
    if any(len(column) != count - 1 for column in (feature, left, right, kinds, bounds)):
        raise Unjudged
    node = 0
    for _ in range(count):
        if (
            not 0 <= node < count - 1
            or not 0 <= feature[node] < len(row)
            or kinds[node] & 1
            or not 0 <= kinds[node] < 12
        ):
            raise Unjudged
        node = left[node] if row[feature[node]] <= bounds[node] else right[node]
        if node < 0:
            if ~node >= count:
                raise Unjudged
            return leaves[~node]
    raise Unjudged


def int_of(word: str) -> int:
    if not INTEGER.fullmatch(word):
        raise Unjudged
    return int(word)


def float_of(word: str) -> float:
    if not NUMBER.fullmatch(word) or not math.isfinite(float(word)):
        raise Unjudged
    return float(word)
