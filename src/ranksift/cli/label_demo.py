"""``ranksift label demo``: a project on a synthetic forum, and simulated assessors that use the JSON API."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from ranksift.cli.output import note, show
from ranksift.errors import InputError, missing_library
from ranksift.evaluation.table import Column, Table
from ranksift.web.door import listening

if TYPE_CHECKING:
    from ranksift.labelling.demonstration import Demonstration, People
    from ranksift.labelling.store import Store

#: A player takes this share of a person's time, so that something happens while one looks.
_PACE = 0.35
_BEFORE = 4  # queries that are finished when the visitor comes
_PATIENCE = 60.0


def play_and_print(folder: Path | None, seed: int) -> None:
    """Run to the end without serving the pages, and print the result."""
    with _opened(folder, seed) as (store, made, people), _served(store, 0) as url:
        from ranksift.labelling.demonstration import play_all

        began = time.monotonic()
        count = play_all(url, made, people)
        took = time.monotonic() - began
        show(*_told(store, made), f"{count} judgments through the JSON API in {took:.1f} s")
        if folder is not None:
            show(f"The project: {folder}; try: ranksift label report {folder} --out page.html")


def play_and_serve(folder: Path | None, port: int, seed: int) -> None:
    """Serve the project, play along, and print links, until it is interrupted."""
    from ranksift.labelling.demonstration import VISITOR, play_all, tasks_of

    with _opened(folder, seed) as (store, made, people), _served(store, port) as url:
        ids = [query.query_id for query in made.queries]
        play_all(url, made, people, tasks=ids[:_BEFORE])
        show(
            f"A lead sees progress, agreement and exports:  {url}/in/{people.lead}",
            f"You label, with Bob, Eve and Sam:             {url}/in/{people.visitor}",
            f"The JSON API:                                 {url}/api",
        )
        note(f"{len(tasks_of(store, VISITOR))} queries are waiting for you; Ctrl-C stops the demo")
        stop = threading.Event()
        try:
            play_all(url, made, people, pause=_PACE, stop=stop)
            note("Bob, Eve and Sam are done; the pages stay until you press Ctrl-C")
            while not stop.wait(3600):
                pass
        finally:
            stop.set()


def _told(store: Store, made: Demonstration) -> list[Table | str]:
    """The results: costs, agreement, and the quality of the labels."""
    from ranksift.collection.run import read_run
    from ranksift.evaluation.evaluate import evaluate
    from ranksift.labelling.agreement import agreement_among, flags, pairwise
    from ranksift.labelling.exports import RULES, Contents, labelled
    from ranksift.labelling.proposals import FOLLOWED, effect

    contents = Contents.of(store)
    done = [task for task in contents.tasks if task.done]
    documents = [len(query.items) for query in contents.queries]
    pairs = sum(n * (n - 1) / 2 for n in documents) / len(documents)
    mean = sum(task.judgments for task in done) / len(done)
    rows, name = [], f"kNDCG@{made.project.k}"
    for rule in RULES:
        found = labelled(contents, rule)
        kept = {query: {doc: y for doc, y in own.items() if y >= 0} for query, own in found.labels.items()}
        rows.append((rule, float(evaluate(made.labels(), read_run(kept), name).aggregate()[0, 0])))
    preferences, forbidden = (agreement_among(read(contents.entries), samples=200) for read in (pairwise, flags))
    notes = [
        f"{mean:.1f} judgments per query and assessor; all pairs of {sum(documents) / len(documents):.1f} documents "
        f"are {pairs:.1f}",
        f"assessors agree on {preferences.overall.value:.0%} of {preferences.units} pairs that two of them judged, "
        f"and on {forbidden.overall.value:.0%} of flags",
    ]
    proposed = {q.query_id: [item.doc_id for item in q.items if item.proposed_forbidden] for q in contents.queries}
    what = effect(contents.entries, contents.tasks, proposed, samples=200)
    if what is not None:
        shown = what[FOLLOWED]
        notes.append(
            f"of what a model proposes to forbid, {shown.shown.value:.0%} was flagged where that was shown, and "
            f"{shown.hidden.value:.0%} where it was not"
        )
    columns = [Column("rule"), Column(name)]
    title = f"Labels of {len(contents.queries)} queries by two assessors each, against the truth"
    return [Table(columns, rows, title=title, notes=notes)]


@contextmanager
def _opened(folder: Path | None, seed: int) -> Iterator[tuple[Store, Demonstration, People]]:
    """The project in a folder; in one that is removed, if none is named."""
    try:
        from ranksift.labelling.store import Store
    except ImportError as error:
        raise missing_library("labelling needs", error.name or "SQLAlchemy", "label") from None
    from ranksift.labelling.demonstration import Demonstration, set_up

    with tempfile.TemporaryDirectory(prefix="ranksift-") if folder is None else nullcontext(str(folder)) as place:
        made = Demonstration.of_forum(seed=seed)
        with Store.create(place, made.project) as store:
            yield store, made, set_up(store, made, seed)


@contextmanager
def _served(store: Store, port: int) -> Iterator[str]:
    """The pages, in a thread; their address."""
    try:
        import uvicorn

        from ranksift.labelling.web import application
    except ImportError as error:
        raise missing_library("labelling needs", error.name or "uvicorn", "label") from None
    door = listening("127.0.0.1", port)
    server = uvicorn.Server(uvicorn.Config(application(store), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
    thread.start()
    until = time.monotonic() + _PATIENCE
    while not server.started:
        if time.monotonic() > until or not thread.is_alive():
            raise InputError("the server does not start", remedy="RANKSIFT_DEBUG=1 shows why")
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
        door.close()
