"""What a run or a model says about documents before they are judged: their order, and what is obviously forbidden."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ranksift.collection.examples import Examples
from ranksift.collection.run import read_run
from ranksift.errors import InputError, RankSiftWarning
from ranksift.labelling.plain_text import text_of
from ranksift.labelling.records import Item, Query

if TYPE_CHECKING:
    from ranksift.learning.ranker import Ranker

#: The share of good documents that a cut may have hidden where it was checked, for what it drops to be obvious.
OBVIOUS = 0.02


class WithPrior(NamedTuple):
    """Queries whose documents have a prior, and what there is to know about it."""

    queries: tuple[Query, ...]
    notes: tuple[str, ...]


def with_prior(queries: Iterable[Query], source: Any, *, data: Any = None, obvious: float = OBVIOUS) -> WithPrior:
    """Give documents the scores of a run or a saved model, which order them, and propose obviously forbidden ones.

    A model with a cutoff proposes to flag the documents that it is surest to drop. For this, the cutoff is moved until
    it hides at most the share ``obvious`` of the good documents of the queries on which it was checked when the model
    was made. If there is no such cutoff, for example with a run, nothing is proposed.

    Parameters
    ----------
    queries
        The queries, with the contents of their documents, which a model that reads texts scores.
    source
        A model or its folder, or a run: anything that :func:`read_run` takes.
    data
        For a model with features: the documents with their features, joined by query and document.
    obvious
        From 0, which proposes only documents that score below all good documents of the check, to 1.

    Examples
    --------
    >>> query = Query("q1", "A dentist?", items=(Item("d1", "No idea"), Item("d2", "Try Hanna")))
    >>> [item.prior for item in with_prior([query], {"q1": {"d2": 7.5}}).queries[0].items]
    [None, 7.5]
    """
    given = tuple(queries)
    if not 0 <= obvious <= 1:
        raise InputError(f"{obvious:g} is not a share of good documents", remedy="give one from 0 to 1, such as 0.02")
    model = _model_of(source)
    if model is not None:
        scores, dropped, notes = _of_model(given, model, data, obvious)
    else:
        if data is not None:
            raise InputError("features are given for a run", remedy="give the folder of a model as --prior")
        scores, dropped, notes = read_run(source).to_dict(), set(), []
    pairs = [(query.query_id, item.doc_id) for query in given for item in query.items]
    missing = [doc for query, doc in pairs if doc not in scores.get(query, {})]
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    if pairs and len(missing) == len(pairs):
        remedy = "give scores of these queries and documents, by the same ids"
        raise InputError("scores none of the documents to label", source=name, remedy=remedy)
    if missing:
        notes.append(f"{len(missing):,} of {len(pairs):,} documents have no prior score, and come last")
    done = [
        replace(query, items=tuple(_scored(query.query_id, item, scores, dropped) for item in query.items))
        for query in given
    ]
    return WithPrior(tuple(done), tuple(notes))


def _scored(query: str, item: Item, scores: Mapping[str, Mapping[str, float]], dropped: set[tuple[str, str]]) -> Item:
    prior = scores.get(query, {}).get(item.doc_id)
    return replace(item, prior=prior, proposed_forbidden=(query, item.doc_id) in dropped)


def _model_of(source: Any) -> Ranker | None:
    """The model that is given, or that a folder has; None for a run."""
    if isinstance(source, str | os.PathLike):
        if not Path(source).is_dir():
            return None
        from ranksift.learning.saved_model import load

        return load(source)
    from ranksift.learning.ranker import Ranker

    if not isinstance(source, Ranker):
        return None
    own = copy.copy(source)  # its cut is moved here, and not there
    own.card_ = dict(source.card_)
    return own


def _of_model(
    queries: Sequence[Query], model: Ranker, data: Any, obvious: float
) -> tuple[dict[str, dict[str, float]], set[tuple[str, str]], list[str]]:
    """Scores, what is proposed to be flagged, and notes."""
    given = model.read(data) if data is not None else _texts(queries, model)
    values = model.scored(given)
    names = [given.query_ids[i] for i in given.query.tolist()]
    scores: dict[str, dict[str, float]] = {}
    for query, doc, value in zip(names, given.docs, values.tolist(), strict=True):
        scores.setdefault(query, {})[doc] = value
    problem = _move_cut(model, obvious)
    if problem or model.cutoff_ is None:
        return scores, set(), [f"no document is proposed as forbidden: {problem}"]
    from ranksift.collection.lists import Lists

    lists = Lists.from_arrays(values, None, given.query)
    rows = lists.row[~model.cutoff_.keep_lists(lists)].tolist()
    dropped = {(names[row], given.docs[row]) for row in rows}
    ours = {(query.query_id, item.doc_id) for query in queries for item in query.items}
    count = len(dropped & ours)
    said = f"{count:,} of {len(ours):,} documents are proposed as forbidden, for a random half of the queries"
    return scores, dropped, [said]


def _texts(queries: Sequence[Query], model: Ranker) -> Examples:
    if not model.reads_texts() or model.feature_names_:
        what = f"this {type(model).__name__} reads features, which documents to label do not have"
        remedy = "give a file with their features, query_id and doc_id: --prior-data; or a run of the model as --prior"
        raise InputError(what, remedy=remedy)
    rows = [(query, item) for query in queries for item in query.items]
    return Examples.from_texts(
        [query.text for query, _ in rows],
        [text_of(item) for _, item in rows],
        groups=[query.query_id for query, _ in rows],
        doc_ids=[item.doc_id for _, item in rows],
        position=[place for query in queries for place in range(1, len(query.items) + 1)],
        name="documents to label",
    )


def _move_cut(model: Ranker, obvious: float) -> str:
    """Move the cutoff of a model to what is obvious, or say why that is impossible."""
    if model.cutoff_ is None:
        return "the model has no cut"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankSiftWarning)
            model.at_most({"GoodFiltered": obvious})
    except InputError as error:
        return str(error)
    return ""
