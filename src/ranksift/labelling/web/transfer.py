"""Files that a browser brings and takes away."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from starlette.responses import Response

from ranksift.collection.readers.trec import write_trec_qrels
from ranksift.labelling import exports
from ranksift.labelling.exports import Contents
from ranksift.labelling.imports import collect
from ranksift.labelling.store import Store
from ranksift.labelling.web.problems import not_found

#: What can be taken away, with what it is.
EXPORTS = {
    "qrels.txt": "Judgments in TREC's format, forbidden documents with their label: for evaluate, cutoff and train.",
    "qrels.jsonl": "The same as JSON lines, which can also hold ids with spaces.",
    "examples.jsonl": "The texts with these labels, for training.",
    "preferences.jsonl": "Every answer about two documents that counts, and the person who gave it.",
    "top-k.csv": "The ordered top k of each query.",
    "log.jsonl": "Everything that happened, including undone judgments, with times and notes.",
}


def export(store: Store, what: str) -> Response:
    """A file to save."""
    writers: dict[str, Callable[[Path], None]] = {
        "qrels.txt": lambda path: write_trec_qrels(exports.labelled(Contents.of(store)).qrels(), path),
        "qrels.jsonl": lambda path: exports.labelled(Contents.of(store)).qrels().save(path),
        "examples.jsonl": lambda path: _save_examples(store, path),
        "preferences.jsonl": lambda path: exports.write_rows(exports.preferences(Contents.of(store)), path),
        "top-k.csv": lambda path: exports.write_rows(
            exports.labelled(Contents.of(store)).order(), path, ("query_id", "rank", "doc_id", "label")
        ),
        "log.jsonl": lambda path: exports.write_rows(exports.log_rows(Contents.of(store)), path),
    }
    if what not in writers:
        raise not_found()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, what)
        writers[what](path)
        content = path.read_bytes()
    media = {".txt": "text/plain", ".csv": "text/csv", ".jsonl": "application/jsonl"}[Path(what).suffix]
    headers = {"content-disposition": f'attachment; filename="{what}"'}
    return Response(content, media_type=media, headers=headers)


def _save_examples(store: Store, path: Path) -> None:
    contents = Contents.of(store, contents=True)
    exports.examples(contents, exports.labelled(contents)).save(path)


def bring(store: Store, name: str, content: bytes) -> tuple[int, int, tuple[str, ...]]:
    """Add the queries of a file: how many queries and documents came, and what there is to know; all or nothing."""
    safe = re.sub(r"[^\w.-]", "_", Path(name).name)[-80:].lstrip(".") or "upload"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, safe)
        path.write_bytes(content)
        try:
            found = collect([path], known=store.queries())
        except ValueError as error:  # its path must not be shown
            raise type(error)(str(error).replace(f"{folder}/", "")) from None
    queries, items = store.add(found.queries)
    return queries, items, tuple(found.notes)
