"""PerCQA: Persian questions in a forum with judged answers (Jamali et al., LREC 2022)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ranksift.datasets.folders import file_in
from ranksift.datasets.threads import Answer, Thread, checked_threads
from ranksift.errors import InputError
from ranksift.files import parse_json, read_text

_RECORD = '{"qid": "1", "subject": "…", "body": "…", "comments": [{"cid": "2", "label": "Good", "text": "…"}]}'
_REMEDY = f"write each line as: {_RECORD}"


def percqa_threads(folder: str | os.PathLike[str]) -> list[Thread]:
    """PerCQA: 990 questions with 21,986 answers: Good, Potential or Bad, 67 not judged; no author is known.

    Parameters
    ----------
    folder
        With ``percqa.jsonl`` or ``percqa.trimmed.jsonl``, plain, ``.gz`` or ``.zst``: one JSON object per question,
        with ``qid``, ``subject``, ``body`` and ``comments``, each with ``cid``, ``label`` (empty or null if it was not
        judged) and ``text``; anything else is ignored.
    """
    file = file_in(Path(folder), "percqa.jsonl", "percqa.trimmed.jsonl", remedy="name a folder of PerCQA")
    return checked_threads(file, _threads(file))


def _threads(file: Path) -> Iterator[tuple[Thread, Callable[[str], InputError]]]:
    for number, line in enumerate(read_text(file, if_empty=_REMEDY).split(b"\n"), 1):
        if not line.strip():
            continue
        wrong = partial(InputError, source=str(file), line=number, remedy=_REMEDY)
        try:
            record = parse_json(line)
        except ValueError as error:
            raise wrong(f"damaged JSON ({error})") from None
        comments = _value(record, "comments", list, "this line", wrong)
        answers = tuple(_answer(comment, f"comment {i}", wrong) for i, comment in enumerate(comments, 1))
        qid, subject, body = (_value(record, key, str, "this line", wrong) for key in ("qid", "subject", "body"))
        yield Thread(qid, f"{subject}\n{body}", answers), wrong


def _answer(comment: Any, place: str, wrong: Callable[[str], InputError]) -> Answer:
    cid, text = (_value(comment, key, str, place, wrong) for key in ("cid", "text"))
    return Answer(cid, text, _value(comment, "label", str | None, place, wrong) or None)


def _value(record: Any, key: str, kind: Any, place: str, wrong: Callable[[str], InputError]) -> Any:
    """What stands under a key, if it is there and of this kind."""
    if not isinstance(record, Mapping):
        raise wrong(f"{place} is not an object but a {type(record).__name__}")
    if key not in record:
        raise wrong(f"{place} has no {key!r}")
    value = record[key]
    if not isinstance(value, kind):
        raise wrong(f"{key!r} of {place} is a {type(value).__name__}")
    return value
