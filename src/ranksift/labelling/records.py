"""The contents of a labelling project, as values: the store writes and reads them, pages and reports show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ranksift.labelling.judgments import GRADES, Judgment

Role = Literal["lead", "assessor"]

#: Pairs are the paper's T1, grades its T2.
Tool = Literal["pairs", "grades"]

#: Why there is a task: to label, to see whether assessors agree, to check single pairs of another, to settle a dispute.
Purpose = Literal["label", "overlap", "verify", "adjudicate"]


@dataclass(frozen=True)
class Project:
    """The settings of a whole project.

    Attributes
    ----------
    title, guidelines
        The title and the guidelines, as the lead wrote them; guidelines are plain text.
    k
        How many documents of each query to put in order.
    strategy
        The name of the strategy of new tasks with pairs.
    grades
        Names of the grades, worst first.
    forbidden_label
        The label of forbidden documents in exported judgments.
    """

    title: str
    guidelines: str = ""
    k: int = 10
    strategy: str = "tournament"
    grades: tuple[str, ...] = GRADES
    forbidden_label: int = -1


@dataclass(frozen=True)
class Item:
    """A document of a query.

    Attributes
    ----------
    doc_id, title, content
        The content is untrusted.
    media
        The type of the content.
    language
        A tag such as ``fa``; empty if it is not known.
    prior
        The score of a run or a model, larger is better; None if there is none.
    proposed_forbidden
        Whether a model proposes to flag it.
    """

    doc_id: str
    content: str
    title: str = ""
    media: Literal["text", "html"] = "text"
    language: str = ""
    prior: float | None = None
    proposed_forbidden: bool = False


@dataclass(frozen=True)
class Query:
    """A query with its documents, best first if there is a prior run.

    Attributes
    ----------
    active
        False once the query is retired: it is no longer assigned, and its judgments stay.
    """

    query_id: str
    text: str
    description: str = ""
    language: str = ""
    items: tuple[Item, ...] = ()
    active: bool = True


@dataclass(frozen=True)
class Person:
    """A person who may sign in."""

    id: int
    name: str
    role: Role
    active: bool = True


@dataclass(frozen=True)
class NewTask:
    """A query for an assessor, still to be assigned.

    Attributes
    ----------
    pairs
        For a task that verifies or settles: the only pairs to ask about.
    with_proposals
        Whether proposals of a model are shown.
    """

    query_id: str
    person: int
    tool: Tool
    purpose: Purpose = "label"
    strategy: str = "tournament"
    k: int = 10
    seed: int = 0
    with_proposals: bool = False
    pairs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Task:
    """A query that is assigned to an assessor, under a name that cannot be guessed."""

    key: str
    query_id: str
    person: int
    tool: Tool
    purpose: Purpose
    strategy: str
    k: int
    seed: int
    with_proposals: bool
    pairs: tuple[tuple[str, str], ...]
    active: bool
    done: bool
    judgments: int
    created: datetime


@dataclass(frozen=True)
class Entry:
    """A judgment as it is stored in the log of a project.

    Attributes
    ----------
    number
        From 1, within the task.
    client_id
        Made by the client, so that a judgment sent twice is saved only once.
    active_seconds
        How long the assessor worked on it, without pauses, hidden pages and idle time.
    note
        The assessor's note; may be empty.
    proposed
        Items of the question that a model proposed to flag, if the proposal was shown.
    """

    task: str
    query_id: str
    person: str
    tool: Tool
    purpose: Purpose
    number: int
    client_id: str
    judgment: Judgment
    active_seconds: float
    note: str
    proposed: tuple[str, ...]
    created: datetime
    more: Mapping[str, str] = field(default_factory=dict)
