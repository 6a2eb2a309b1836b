"""Logs as a project keeps them, written short."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Entry, Purpose, Task, Tool

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def prefer(left: str, sign: str, right: str, *, forbidden: tuple[str, ...] = ()) -> Judgment:
    """``prefer("a", ">", "b")``."""
    return Judgment("prefer", left, right, answer={">": "left", "~": "tie", "<": "right"}[sign], forbidden=forbidden)


def graded(doc: str, grade: int | None, *, forbidden: bool = False) -> Judgment:
    """A document with its grade."""
    return Judgment("grade", doc, grade=grade, forbidden=(doc,) if forbidden else ())


def log(
    query: str,
    person: str,
    judgments: Iterable[Judgment],
    *,
    tool: Tool = "pairs",
    purpose: Purpose = "label",
    seconds: float | Sequence[float] = 4.0,
    proposed: dict[str, bool] | None = None,
) -> list[Entry]:
    """The log of one task; its key is made of query, person, tool and purpose."""
    entries = []
    for i, judgment in enumerate(judgments):
        took = seconds if isinstance(seconds, float) else seconds[i]
        shown = tuple(doc for doc in judgment.question.items if (proposed or {}).get(doc))
        entries.append(
            Entry(
                key(query, person, tool, purpose),
                query,
                person,
                tool,
                purpose,
                i + 1,
                f"{query}-{person}-{tool}-{purpose}-{i}",
                judgment,
                took,
                "",
                shown,
                BEGIN + timedelta(seconds=10 * i),
            )
        )
    return entries


def key(query: str, person: str, tool: Tool = "pairs", purpose: Purpose = "label") -> str:
    """Of a task."""
    return f"{query}/{person}/{tool}/{purpose}"


def task(
    query: str,
    person: str,
    number: int,
    *,
    tool: Tool = "pairs",
    purpose: Purpose = "label",
    strategy: str = "tournament",
    with_proposals: bool = False,
    active: bool = True,
    done: bool = True,
    judgments: int = 0,
) -> Task:
    """A task under the key of :func:`key`."""
    return Task(
        key(query, person, tool, purpose),
        query,
        number,
        tool,
        purpose,
        strategy,
        10,
        0,
        with_proposals,
        (),
        active,
        done,
        judgments,
        BEGIN,
    )
