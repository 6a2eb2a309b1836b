"""LTRF-CQA: questions about products with judged answers, from Carmel et al. 2022 (Carmel et al., SIGIR 2022)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ranksift.collection.examples import Examples, read_examples, usual_docs
from ranksift.collection.ragged import offsets_of
from ranksift.errors import InputError, RankSiftWarning
from ranksift.parameters import path, takes

#: Fully satisfying, satisfying, forbidden: what the letters of the annotators count.
LABELS: Mapping[str, float] = {"P": 2, "S": 1, "F": -1}

#: What the labels are worth in the paper.
GAINS = {-1.0: -10.0}


@takes(file=path())
def carmel_cqa(
    file: str | os.PathLike[str], labels: Mapping[str, float] = LABELS, *, skip_bad_rows: bool = False
) -> Examples:
    r"""Carmel et al.'s questions and answers: 29,700 questions with 61,000 answers, a quarter of them forbidden.

    Rows with the same question, answer and label as an earlier one are copies: they are left out, with a warning.
    The data is at https://registry.opendata.aws/ltrf-cqa-dataset.

    Parameters
    ----------
    file
        ``.csv``, ``.tsv``, ``.jsonl`` or ``.parquet`` with the columns ``question_id``, ``question_text``,
        ``answer_text`` and ``label``; other columns are ignored. The answers have no ids: they become d1, d2, ….
    labels
        The label for each letter of the annotators; Carmel et al. 2022 have gains of 2, 1 and -10 for them
        (:data:`GAINS`).
    skip_bad_rows
        As in :func:`read_examples`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "ltrf-cqa.csv"
    ...     rows = ["question_id,question_text,answer_text,label", "-7,does it float?,Yes!,S", "-7,does it float?,?,F"]
    ...     _ = file.write_text("\n".join(rows))
    ...     examples = carmel_cqa(file)
    >>> examples, examples.labels.tolist()
    (<Examples: 2 documents, 1 query, 0 features, with texts>, [1.0, -1.0])
    """
    examples = read_examples(file, features=(), labels=labels, skip_bad_rows=skip_bad_rows)
    if examples.texts is None or np.isnan(examples.labels).all():
        what = "not the questions and answers of LTRF-CQA"
        remedy = "give a table with question_id, question_text, answer_text and label"
        raise InputError(what, source=os.fspath(file), remedy=remedy)
    distinct = _distinct(examples)
    if len(distinct) < len(examples):
        copies = len(examples) - len(distinct)
        several = copies > 1
        warnings.warn(
            f"{os.fspath(file)}: {copies:,} row{'s' * several} {'are copies' if several else 'is a copy'} of earlier "
            f"ones, and left out",
            RankSiftWarning,
            stacklevel=3,
        )
    return distinct


def _distinct(examples: Examples) -> Examples:
    """The examples without copies: the first of those with the same query, text and label."""
    texts = examples.texts
    assert texts is not None
    first: dict[tuple[int, str, str], int] = {}
    for row, (query, doc, label) in enumerate(
        zip(examples.query.tolist(), texts.docs, examples.labels.tolist(), strict=True)
    ):
        first.setdefault((query, doc, repr(label)), row)
    rows = np.array(sorted(first.values()), dtype=np.int64)
    if len(rows) == len(examples):
        return examples
    offsets = offsets_of(np.bincount(examples.query[rows], minlength=len(examples.query_ids)))
    return replace(
        examples,
        offsets=offsets,
        features=examples.features[rows],
        labels=examples.labels[rows],
        docs=usual_docs(np.diff(offsets)),
        row=np.argsort(np.argsort(examples.row[rows], kind="stable"), kind="stable"),
        texts=texts.of_rows(rows),
    )
