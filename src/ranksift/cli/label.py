"""``ranksift label``: the life of a labelling project, from the first import to the last export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ranksift.cli.label_place import VARIABLE, Place
from ranksift.cli.options import NONE
from ranksift.cli.output import note, show, write_json
from ranksift.errors import InputError
from ranksift.evaluation.table import Column, Table

if TYPE_CHECKING:
    from ranksift.labelling.assignment import Finished
    from ranksift.labelling.exports import Contents, Labelled
    from ranksift.labelling.records import NewTask, Person
    from ranksift.labelling.store import Store

label = typer.Typer(
    help="Label the top k of each query with few judgments, alone or as a team.",
    epilog=f"PROJECT is a folder or postgresql://...; - uses the project that the variable {VARIABLE} names.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ToolChoice = Annotated[
    Literal["pairs", "grades"] | None,
    typer.Option("--tool", help="What assessors judge: pairs of documents, or grades."),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of the random numbers.")]
Url = Annotated[
    str,
    typer.Option(
        "--url", metavar="URL", envvar="RANKSIFT_LABEL_URL", help="The address of the pages, for personal links."
    ),
]
HERE = "http://127.0.0.1:8765"
_SHOWN = 10


@label.command()
def new(
    project: Place,
    title: Annotated[
        str, typer.Option("--title", help="The title that assessors see. [default: the folder's name]")
    ] = "",
    k: Annotated[
        int, typer.Option("--k", min=1, max=1000, help="How many of the best documents of each query to put in order.")
    ] = 10,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            metavar="NAME",
            help="How the next pair is chosen; ranksift label simulate compares the strategies.",
        ),
    ] = "tournament",
    guidelines: Annotated[
        Path | None,
        typer.Option(
            "--guidelines", metavar="FILE", help="A plain text file that assessors can open with one key while judging."
        ),
    ] = None,
    grades: Annotated[
        str | None,
        typer.Option(
            "--grades",
            metavar="NAMES",
            help="The names of the grades, worst first. [default: bad,fair,good,excellent,perfect]",
        ),
    ] = None,
    forbidden_label: Annotated[
        int, typer.Option("--forbidden-label", max=-1, help="The label of forbidden documents in exported judgments.")
    ] = -1,
    lead: Annotated[str, typer.Option("--lead", metavar="NAME", help="The name of the lead.")] = "lead",
    url: Url = HERE,
) -> None:
    """Create a project, and print the personal link of its lead.

    ranksift label new restaurants --title Restaurants --k 10 --lead Ann
    """
    from ranksift.files import read_text
    from ranksift.labelling.judgments import GRADES
    from ranksift.labelling.records import Project
    from ranksift.labelling.strategies import strategy as named

    named(strategy, k=k)  # which says what there is
    names = GRADES if grades is None else tuple(part.strip() for part in grades.split(","))
    if len(set(names)) < max(len(names), 2) or not all(names) or len(names) > _MOST_GRADES:
        raise InputError(f"--grades {grades!r}: not 2 to {_MOST_GRADES} different names", remedy="write bad,fair,good")
    words = "" if guidelines is None else read_text(guidelines, if_empty="write something into it").decode()
    told = title or ("Labelling" if "://" in project else Path(project).resolve().name)
    with _store().create(project, Project(told, words, k, strategy, names, forbidden_label)) as store:
        person, token = store.add_person(lead, "lead")
        show(f"Made {store.place}, led by {person.name}: {_link(url, token)}")
    note("the link is shown only once, and anyone who has it can sign in; people PROJECT link NAME creates a new one")


_MOST_GRADES = 9


@label.command("import")
def import_(
    project: Place,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DATA...", help="Tables of query_id, query, doc_id, doc (JSONL, CSV, Parquet).", show_default=False
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", metavar="TOPICS", help="Take the texts of queries from TREC topics, XML, or a table."
        ),
    ] = None,
    pool: Annotated[
        list[str], typer.Option("--pool", metavar="FILE", help="Judgments or a run: what to label; may be repeated.")
    ] = NONE,
    texts: Annotated[
        list[str], typer.Option("--texts", metavar="FILE", help="Tables of doc_id and doc or html; may be repeated.")
    ] = NONE,
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="How many documents of each run to take.")] = None,
    language: Annotated[
        str,
        typer.Option(
            "--language",
            metavar="TAG",
            help="The language of queries and documents that do not state their own, such as fa.",
        ),
    ] = "",
    html: Annotated[
        bool, typer.Option("--html", help="Treat documents as HTML unless the data say otherwise.")
    ] = False,
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            metavar="MODEL-or-RUN",
            help="A model or a run that orders the documents first, and proposes those that are obviously forbidden.",
        ),
    ] = None,
    prior_data: Annotated[
        str | None, typer.Option("--prior-data", metavar="FILE", help="The features that the model of --prior reads.")
    ] = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Skip documents without a text, and report how many there are.")
    ] = False,
) -> None:
    """Add queries with their documents; if anything is wrong, nothing is added.

    ranksift label import restaurants data.jsonl

    ranksift label import web --queries topics.xml --pool qrels.txt --texts pages.jsonl --prior bm25.run
    """
    from ranksift.labelling.imports import collect

    if prior is None and prior_data is not None:
        raise InputError("--prior-data needs a model, and none is named", remedy="name its folder: --prior")
    with _store().open(project) as store:
        found = collect(
            data or (),
            topics=queries,
            pools=pool,
            texts=texts,
            known=store.queries(),
            depth=depth,
            language=language,
            media="html" if html else None,
            skip_missing=skip_missing,
        )
        given, notes = found.queries, list(found.notes)
        if prior is not None:
            from ranksift.labelling.prior import with_prior

            ordered = with_prior(given, prior, data=prior_data)
            given, notes = ordered.queries, notes + list(ordered.notes)
        added, items = store.add(given)
        show(f"Added {_count(added, 'query', 'queries')} and {_count(items, 'document')} to {store.place}")
    for one in notes:
        note(one)


@label.command()
def people(
    project: Place,
    action: Annotated[
        Literal["list", "add", "link", "retire", "reinstate"],
        typer.Argument(
            metavar="[list|add|link|retire|reinstate]", help="What to do; list is the default.", show_default=False
        ),
    ] = "list",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="The people.", show_default=False)
    ] = None,
    lead: Annotated[bool, typer.Option("--lead", help="Add leads, who may do everything and see all labels.")] = False,
    url: Url = HERE,
) -> None:
    """List who may sign in, add people, create new personal links, or retire and reinstate people.

    ranksift label people restaurants add Bob Eve

    ranksift label people restaurants retire Bob
    """
    given = names or []
    if (action == "list") is bool(given):
        what = (
            f"list takes no name, but {given[0]!r} is given" if given else f"{action} takes a name, but none is given"
        )
        raise InputError(what, remedy=f"write: people PROJECT {'list' if given else action + ' NAME'}")
    if lead and action != "add":
        raise InputError("--lead is only for people who are added", remedy="write: people PROJECT add NAME --lead")
    with _store().open(project) as store:
        if action == "list":
            show(_people_table(store))
            return
        if action == "add":
            _check_new(store, given)
            for name in given:
                person, token = store.add_person(name, "lead" if lead else "assessor")
                show(f"{person.name} ({person.role}): {_link(url, token)}")
            return
        chosen = [_person(store, name, active=action != "reinstate") for name in given]
        for person in chosen:
            if action in ("link", "reinstate"):
                token = store.new_link(person.id) if action == "link" else store.reinstate(person.id)
                show(f"{person.name} ({person.role}): {_link(url, token)}")
            else:
                free = [task for task in store.tasks(person=person.id) if not task.done]
                store.retire(person.id)
                show(f"{person.name} is retired; their judgments stay")
                if free:
                    note(f"{_count(len(free), 'open task')} withdrawn: assign PROJECT (--verify) gives them to others")


def _check_new(store: Store, names: Sequence[str]) -> None:
    """Refuse names that cannot all be added, before the first is."""
    there = {person.name for person in store.people()}
    for place, name in enumerate(names):
        if name in there or name in names[:place]:
            raise InputError(f"there is already a person called {name!r}", remedy="choose another name")


def _people_table(store: Store) -> Table:
    tasks = store.tasks(active_only=False)
    rows = []
    for person in store.people():
        own = [task for task in tasks if task.person == person.id and (task.active or task.judgments)]
        rows.append(
            (
                person.name,
                person.role if person.active else f"{person.role}, retired",
                len(own),
                sum(task.done for task in own),
                sum(task.judgments for task in own),
            )
        )
    columns = [Column("name"), Column("role"), Column("tasks"), Column("finished"), Column("judgments")]
    return Table(columns, rows)


@label.command()
def queries(
    project: Place,
    action: Annotated[
        Literal["list", "retire", "reinstate"],
        typer.Argument(metavar="[list|retire|reinstate]", help="What to do; list is the default.", show_default=False),
    ] = "list",
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY...", help="The ids of the queries.", show_default=False)
    ] = None,
) -> None:
    """List queries, retire some (no new tasks, but their judgments stay), or take retired ones back.

    ranksift label queries restaurants retire q17
    """
    if (action == "list") is bool(ids):
        raise InputError(
            "list takes no query, and retire and reinstate take at least one",
            remedy="write: queries PROJECT retire QUERY",
        )
    with _store().open(project) as store:
        if action != "list":
            for query_id in ids or ():
                store.query(query_id)
            for query_id in ids or ():
                (store.retire_query if action == "retire" else store.reinstate_query)(query_id)
            which = _count(len(ids or ()), "query", "queries")
            show(f"{which} retired; the judgments stay" if action == "retire" else f"{which} can be assigned again")
            return
        done = {task.query_id for task in store.tasks(active_only=False) if task.done}
        rows = [
            (
                query.query_id,
                query.text[:_LONG],
                len(query.items),
                ("finished" if query.query_id in done else "") if query.active else "retired",
            )
            for query in store.queries(active_only=False)
        ]
        show(Table([Column("query"), Column("text"), Column("documents"), Column("")], rows))


_LONG = 60


@label.command()
def assign(
    project: Place,
    per_query: Annotated[int, typer.Option("--per-query", min=1, help="How many assessors judge each query.")] = 1,
    overlap: Annotated[
        float, typer.Option("--overlap", min=0, max=1, help="The share of the queries that one more assessor judges.")
    ] = 0.0,
    paper: Annotated[
        bool, typer.Option("--paper", help="Compare pairs with grades: no assessor judges a query with both.")
    ] = False,
    verify: Annotated[
        int | None,
        typer.Option("--verify", min=1, help="How many pairs of each finished query go to a second assessor."),
    ] = None,
    tool: ToolChoice = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", metavar="NAME", help="How the next pair is chosen. [default: the project's strategy]"
        ),
    ] = None,
    to: Annotated[
        list[str],
        typer.Option(
            "--to", metavar="NAME", help="Give queries to these people only; may be repeated. [default: assessors]"
        ),
    ] = NONE,
    seed: Seed = 0,
) -> None:
    """Assign queries to assessors; run it again when queries or people change: it adds what is missing.

    ranksift label assign restaurants --per-query 2

    ranksift label assign restaurants --overlap 0.2 --seed 1
    """
    from ranksift.labelling import assignment
    from ranksift.labelling.assistant import with_proposals
    from ranksift.labelling.strategies import strategy as named

    if paper and (tool or verify or per_query > 1 or overlap):
        raise InputError(
            "--paper decides the whole assignment", remedy="leave out --tool, --verify, --per-query, --overlap"
        )
    if verify and tool == "grades":
        raise InputError("--verify only asks about pairs", remedy="leave --tool out")
    with _store().open(project) as store:
        settings, tasks = store.project, store.tasks(active_only=False)
        which = strategy or settings.strategy
        named(which, k=settings.k)
        chosen = [_person(store, name).id for name in to] or [
            p.id for p in store.people() if p.active and p.role == "assessor"
        ]
        if not chosen:
            raise InputError(
                "there is no assessor", remedy="add one: people PROJECT add NAME; or name a lead: --to NAME"
            )
        given = store.queries()
        ids = [query.query_id for query in given]
        made: list[NewTask]
        notes: list[str] = []
        if verify:
            found = _finished(store)
            made = assignment.verification(
                found, chosen, pairs=verify, edge=min(2, verify), k=settings.k, existing=tasks, seed=seed
            )
            given_now = {task.query_id for task in made}
            seen = [one for one in assignment.unverified(found, tasks) if one.query_id not in given_now]
            if seen:
                notes.append(f"{_count(len(seen), 'query', 'queries')} not verified: all of these people have seen it")
        elif paper:
            made = assignment.rotation(ids, chosen, strategy=which, k=settings.k, existing=tasks, seed=seed)
            if before := len(ids) - len({task.query_id for task in made}):
                notes.append(f"{_count(before, 'query', 'queries')} already assigned: left unchanged")
        else:
            made = assignment.ordinary(
                ids,
                chosen,
                per_query=per_query,
                overlap=overlap,
                tool=tool or "pairs",
                strategy=which,
                k=settings.k,
                existing=tasks,
                seed=seed,
            )
        done = store.assign(with_proposals(made, given, existing=tasks, seed=seed))
        show(f"Assigned {_count(len(done), 'task')} to {_count(len({t.person for t in done}), 'person', 'people')}")
        shown = sum(task.with_proposals for task in done)
        if shown:
            notes.append(
                f"proposals of the model are shown in {shown} of them, drawn at random; "
                "the report compares them with the others"
            )
    for one in notes:
        note(one)


def _finished(store: Store) -> list[Finished]:
    """Orders that a first assessor has found, of queries that no second one has."""
    from ranksift.labelling.assignment import Finished

    tasks = [task for task in store.tasks() if task.purpose in ("label", "overlap")]
    assessors = Counter(task.query_id for task in tasks)
    found = Finished.orders(store, [task for task in tasks if assessors[task.query_id] == 1])
    if not found:
        what = "no query that has only one assessor is finished, so there is nothing to verify"
        raise InputError(what, remedy="label first")
    return found


@label.command()
def status(
    project: Place,
    form: Annotated[Literal["table", "json"], typer.Option("--format", "-f", help="The output format.")] = "table",
) -> None:
    """Show the progress of a project, and when it is expected to be done.

    ranksift label status restaurants
    """
    from ranksift.labelling.exports import Contents

    with _store().open(project) as store:
        contents, place = Contents.of(store), str(store.place)
    said, rows = _standing(contents)
    if form == "json":
        write_json({"project": contents.project.title, "place": place, **said, "people": rows})
        return
    columns = [Column(name, digits=1) for name in rows[0]] if rows else []
    parts: list[Table | str] = [
        f"{contents.project.title} ({place}): top {contents.project.k} by {contents.project.strategy}",
        Table([Column("what"), Column("value", digits=1)], [*said.items()]),
    ]
    if rows:
        parts.append(Table(columns, [tuple(row.values()) for row in rows]))
    show(*parts)
    if not contents.tasks:
        note("nothing has been assigned yet: assign PROJECT")


def _standing(contents: Contents) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The progress of the project, and of each assessor."""
    from ranksift.labelling.cost import answers, progress
    from ranksift.labelling.task_state import task_state

    items = {query.query_id: [item.doc_id for item in query.items] for query in contents.queries}
    logs: dict[str, list[Any]] = {task.key: [] for task in contents.tasks}
    for entry in sorted(contents.entries, key=lambda one: one.number):
        logs.setdefault(entry.task, []).append(entry.judgment)  # others continue to work meanwhile
    states = {
        task.key: task_state(task, items[task.query_id], logs[task.key])
        for task in contents.tasks
        if task.active and not task.done and task.query_id in items
    }
    left = {key: state.expected for key, state in states.items()}
    now = progress(contents.entries, contents.tasks, left)
    finished = {task.query_id for task in contents.tasks if task.active and task.done and task.purpose == "label"}
    said = {
        "queries": len(contents.queries) - len(contents.retired),
        "finished queries": len(finished - contents.retired),
        "documents": sum(map(len, items.values())),
        "tasks": now.tasks,
        "finished tasks": now.done,
        "judgments": now.judgments,
        "judgments to come": round(now.expected, 1),
        "minutes to come": None if now.minutes != now.minutes else round(now.minutes, 1),
        "done, at this pace": None if now.finished is None else now.finished.isoformat(" ", "minutes"),
    }
    given = Counter(entry.task for entry in answers(contents.entries))
    rows = []
    for person in contents.people:
        own = [task for task in contents.tasks if task.person == person.id and task.active]
        if own:
            rows.append(
                {
                    "name": person.name,
                    "tasks": len(own),
                    "finished": sum(task.done for task in own),
                    "judgments": sum(given[task.key] for task in own),
                    "to come": round(sum(left.get(task.key, 0.0) for task in own), 1),
                }
            )
    return said, rows


What = Literal["qrels", "preferences", "order", "log", "examples"]


@label.command()
def export(
    project: Place,
    what: Annotated[What, typer.Option("--what", "-w", help="What to export.")] = "qrels",
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write to this file; its suffix sets the format; - is standard output.",
        ),
    ] = "-",
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            metavar="NAME",
            help="How the labels of several assessors are combined: adjudicated, majority, mean or first.",
        ),
    ] = "adjudicated",
    assessor: Annotated[
        str | None, typer.Option("--assessor", metavar="NAME", help="Export the judgments of this assessor only.")
    ] = None,
    tool: ToolChoice = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features", metavar="FILE", help="Export examples with these features (LETOR, CSV, ...) instead of texts."
        ),
    ] = None,
) -> None:
    """Write judgments, preferences, the ordered top k, the whole log, or labelled examples for train.

    ranksift label export restaurants --out topk.qrels

    ranksift label export restaurants --what examples --features features.csv --out labelled.csv
    """
    from ranksift.labelling import exports

    if features is not None and what != "examples":
        raise InputError("--features is only for examples", remedy="add --what examples, or leave it out")
    if what in ("preferences", "log") and (assessor or tool or rule != "adjudicated"):
        raise InputError(
            f"{what} contains the answers of all assessors", remedy="leave out --rule, --assessor and --tool"
        )
    with _store().open(project) as store:
        contents = exports.Contents.of(store, contents=what == "examples" and features is None)
    if what == "preferences":
        exports.write_rows(exports.preferences(contents), out, exports.PREFERENCES)
        return
    if what == "log":
        exports.write_rows(exports.log_rows(contents), out, exports.LOG)
        return
    found = exports.labelled(contents, rule, tool=tool, assessor=assessor)  # type: ignore[arg-type]
    notes = _write_labels(contents, found, what, out, features)
    for one in (*found.notes, *notes):
        note(one)


def _write_labels(contents: Contents, found: Labelled, what: What, out: str, features: str | None) -> list[str]:
    from ranksift.labelling import exports

    notes: list[str] = []
    judged = found.qrels()  # which refuses a project without a finished query
    if what == "qrels":
        judged.save(out)
    elif what == "order":
        exports.write_rows(found.order(), out, exports.ORDER)
    elif features is None:
        exports.examples(contents, found).save(out)
    else:
        joined, notes = exports.with_features(found, features)
        joined.save(out)
    return notes


@label.command()
def backup(
    project: Place,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; .gz and .zst are compressed.", show_default=False)
    ],
) -> None:
    """Write the whole project into one file, even while people are working.

    ranksift label backup restaurants restaurants.jsonl.gz
    """
    with _store().open(project) as store:
        store.backup(file)
    show(f"The backup: {file}")


@label.command()
def restore(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file that ranksift label backup wrote.", show_default=False)
    ],
    project: Place,
) -> None:
    """Restore a backup as a new project, in a folder or in PostgreSQL.

    ranksift label restore restaurants.jsonl.gz postgresql://ann@db/restaurants
    """
    with _store().restore(file, project) as store:
        counted = _count(len(store.queries()), "query", "queries")
        show(f"Restored {counted} into {store.place}")


@label.command()
def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="FOLDER",
            help="The folder of the project. [default: a temporary folder, removed at the end]",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port of the pages; 0 takes a free one.")
    ] = 8765,
    no_serve: Annotated[
        bool, typer.Option("--no-serve", help="Run to the end without serving the pages, and print the result.")
    ] = False,
    seed: Seed = 0,
) -> None:
    """Open a project on a synthetic forum with simulated assessors, and label alongside them.

    ranksift label demo
    """
    from ranksift.cli.label_demo import play_and_print, play_and_serve

    if no_serve:
        play_and_print(folder, seed)
    else:
        play_and_serve(folder, port, seed)


# -- what they share ---------------------------------------------------------------------------------------------------


def _store() -> type[Store]:
    """The store; without its libraries, the error that says how to get them."""
    try:
        from ranksift.labelling.store import Store
    except ImportError as error:
        from ranksift.errors import missing_library

        raise missing_library("labelling needs", error.name or "SQLAlchemy", "label") from None
    return Store


def _person(store: Store, name: str, *, active: bool = True) -> Person:
    people = [person for person in store.people() if person.active is active]
    for person in people:
        if person.name == name:
            return person
    known = ", ".join(person.name for person in people) or ("nobody: add people first" if active else "nobody")
    what = f"there is nobody called {name!r}" if active else f"nobody called {name!r} was retired"
    raise InputError(what, remedy=f"choose among {known}")


def _link(url: str, token: str) -> str:
    return f"{url.rstrip('/')}/in/{token}"


def _count(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def _attached() -> None:
    """Add the commands that have files of their own."""
    for name in ("serve", "simulate", "agreement", "report"):
        label.command(name)(getattr(import_module(f"ranksift.cli.label_{name}"), name))


_attached()
