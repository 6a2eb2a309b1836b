"""The pages of leads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any, get_args

from starlette.responses import Response

from ranksift.errors import InputError
from ranksift.labelling.assignment import Finished, ordinary, rotation, unverified, verification
from ranksift.labelling.assistant import with_proposals
from ranksift.labelling.records import NewTask, Person, Purpose, Role, Task, Tool
from ranksift.labelling.strategies import PAIRWISE
from ranksift.labelling.web import transfer
from ranksift.labelling.web.api import PROJECT, link, person_of, query_of, retire
from ranksift.labelling.web.overview import agreement_of, disputes_of
from ranksift.labelling.web.pages import Page
from ranksift.labelling.web.problems import not_found
from ranksift.labelling.web.site import Visit
from ranksift.web.problems import Problem
from ranksift.web.shapes import complaint


def _lead(visit: Visit) -> Response:
    return visit.show("lead/progress.html", view=visit.site.overviews.get(), tab="progress")


def _progress(visit: Visit) -> Response:
    """The part of the page that is renewed every few seconds."""
    return visit.show("lead/progress_part.html", view=visit.site.overviews.get())


# -- people ------------------------------------------------------------------------------------------------------------


def _people(visit: Visit, **values: Any) -> Response:
    view = visit.site.overviews.get(fresh=True)  # what another lead just did has to be there
    return visit.show("lead/people.html", view=view, tab="people", **{"new": None, "address": "", **values})


def _add_person(visit: Visit) -> Response:
    role: Role = "lead" if visit.field("role") == "lead" else "assessor"
    name = visit.field("name")
    _check(name, {"type": "string", "minLength": 1, "maxLength": 200}, "The name")
    person, token = visit.store.add_person(name, role)
    return _people(visit, new=person, address=link(visit, token))


def _new_link(visit: Visit) -> Response:
    person = person_of(visit)
    return _people(visit, new=person, address=link(visit, visit.store.new_link(person.id)))


def _retire(visit: Visit) -> Response:
    retire(visit, person_of(visit))
    visit.site.overviews.get(fresh=True)
    return visit.go("/lead/people")


def _reinstate(visit: Visit) -> Response:
    person = person_of(visit)
    return _people(visit, new=person, address=link(visit, visit.store.reinstate(person.id)))


# -- tasks -------------------------------------------------------------------------------------------------------------


def _tasks(visit: Visit, note: str = "") -> Response:
    names = {person.id: person for person in visit.store.people()}
    queries = {query.query_id: query for query in visit.store.queries()}
    tasks = sorted(visit.store.tasks(), key=lambda task: (task.done, task.query_id, task.key))
    covered = {task.query_id for task in tasks}
    return visit.show(
        "lead/tasks.html",
        tab="tasks",
        note=note,
        tasks=tasks[:_MOST_ROWS],
        more=max(0, len(tasks) - _MOST_ROWS),
        people=names,
        queries=queries,
        free=[query_id for query_id in queries if query_id not in covered],
        strategies=PAIRWISE,
        proposals=any(item.proposed_forbidden for query in queries.values() for item in query.items),
    )


_MOST_ROWS = 500


def _assign(visit: Visit) -> Response:
    chosen = [value for value in visit.form.getlist("person") if isinstance(value, str)]
    people = [person for person in visit.store.people() if person.active and str(person.id) in chosen]
    if not people:
        raise InputError("no one is chosen", remedy="choose who gets the tasks")
    queries = [query.query_id for query in visit.store.queries()]
    one = visit.field("query")
    if one:
        queries = [query_of(visit, one).query_id]
    if not queries:
        raise InputError("there is no query yet", remedy="add queries first")
    tool: Tool = "grades" if visit.field("tool") == "grades" else "pairs"
    strategy, existing = visit.field("strategy"), visit.store.tasks(active_only=False)
    if strategy not in PAIRWISE:
        raise InputError(f"{strategy!r} is not a strategy", remedy="choose one of the list")
    k, ids, seen = visit.store.project.k, [person.id for person in people], list[str]()
    if visit.field("plan") == "rotation":
        tasks = rotation(queries, ids, strategy=strategy, k=k, existing=existing)
    elif visit.field("plan") == "verify":
        found = Finished.orders(visit.store, [task for task in existing if task.purpose == "label"])
        tasks = verification(found, ids, k=k, existing=existing)
        given = {task.query_id for task in tasks}
        seen = [one.query_id for one in unverified(found, existing) if one.query_id not in given] if given else []
    else:
        tasks = ordinary(
            queries,
            ids,
            per_query=_whole(visit, "per_query", 1, 100),
            overlap=_whole(visit, "overlap", 0, 100) / 100,
            tool=tool,
            strategy=strategy,
            k=k,
            existing=_with_others(existing, people, visit.store.people()),
        )
    if not tasks:
        remedy = "ask for more assessors per query or more overlap, or finish queries to be verified"
        raise InputError("there is nothing to assign", remedy=remedy)
    visit.store.assign(_proposals(visit, tasks, existing))
    visit.site.overviews.get(fresh=True)
    if seen:
        return _tasks(visit, f"Not verified, because all of these people have seen it: {', '.join(seen)}.")
    return visit.go("/lead/tasks")


def _with_others(existing: list[Task], chosen: list[Person], everybody: list[Person]) -> list[Task]:
    """Tasks, in which those of people who are there and not chosen count as if they were done: they will be."""
    others = {person.id for person in everybody if person.active} - {person.id for person in chosen}
    return [replace(task, done=True) if task.active and task.person in others else task for task in existing]


def _proposals(visit: Visit, tasks: list[NewTask], existing: list[Task]) -> list[NewTask]:
    """The tasks, with proposals of a model where the lead wants them."""
    which = visit.field("proposals")
    if which == "all":
        return [replace(task, with_proposals=task.purpose in ("label", "overlap")) for task in tasks]
    return with_proposals(tasks, visit.store.queries(), existing=existing) if which == "half" else tasks


def _withdraw(visit: Visit) -> Response:
    task = visit.store.task(visit.request.path_params["key"])
    if task is None:
        raise not_found()
    visit.store.withdraw(task.key)
    visit.site.overviews.get(fresh=True)
    return visit.go("/lead/tasks")


# -- queries -----------------------------------------------------------------------------------------------------------


def _queries(visit: Visit, notes: tuple[str, ...] = ()) -> Response:
    view = visit.site.overviews.get(fresh=True)
    retired = [query for query in visit.store.queries(active_only=False) if not query.active]
    return visit.show("lead/queries.html", tab="queries", view=view, notes=notes, retired=retired)


def _add_queries(visit: Visit, file: tuple[str, bytes]) -> Response:
    name, content = file
    if not content:
        raise InputError("no file is chosen, or it is empty", remedy="choose a JSONL, CSV, TSV or Parquet file")
    queries, items, notes = transfer.bring(visit.store, name, content)
    said = f"{queries:,} {'query' if queries == 1 else 'queries'} and {items:,} documents were added."
    return _queries(visit, (said, *notes))


def _retire_query(visit: Visit) -> Response:
    visit.store.retire_query(query_of(visit, visit.field("query")).query_id)
    return visit.go("/lead/queries")


def _reinstate_query(visit: Visit) -> Response:
    visit.store.reinstate_query(query_of(visit, visit.field("query")).query_id)
    return visit.go("/lead/queries")


# -- agreement ---------------------------------------------------------------------------------------------------------


def _agreement(visit: Visit) -> Response:
    view = visit.site.overviews.get()
    names = {"pairs": agreement_names(visit)}
    return visit.show(
        "lead/agreement.html",
        tab="agreement",
        parts=agreement_of(view),
        rows=disputes_of(view, visit.store)[:_MOST_ROWS],
        people=[person for person in visit.store.people() if person.active],
        names=names,
        grades=visit.store.project.grades,
    )


def agreement_names(visit: Visit) -> tuple[str, ...]:
    """What the rows and columns of the matrix are called."""
    return ("A better", "equal", "B better")


def _adjudicate(visit: Visit) -> Response:
    """A task for a third person with what was chosen."""
    person = next((one for one in visit.store.people() if one.active and str(one.id) == visit.field("person")), None)
    if person is None:
        raise InputError("no one is chosen", remedy="choose who decides")
    wanted: dict[tuple[str, Tool], list[tuple[str, str]]] = defaultdict(list)
    rows = {row.value: row for row in disputes_of(visit.site.overviews.get(fresh=True), visit.store)}
    for value in visit.form.getlist("dispute"):
        row = rows.get(value) if isinstance(value, str) else None
        if row is None or row.task is not None:
            continue
        docs = row.dispute.docs
        _check_third(person, row.dispute.said)
        if row.kind == "flags":  # it comes beside another document, and can be flagged there
            others = [item.doc_id for item in visit.store.items(row.dispute.query_id) if item.doc_id != docs[0]]
            docs = (docs[0], others[0]) if others else docs
        tool: Tool = "grades" if row.kind == "grades" else "pairs"
        pair = (docs[0], docs[-1])
        if pair not in wanted[row.dispute.query_id, tool]:
            wanted[row.dispute.query_id, tool].append(pair)
    if not wanted:
        raise InputError("no open disagreement is chosen", remedy="choose one or more")
    purpose: Purpose = "adjudicate"
    project = visit.store.project
    visit.store.assign(
        NewTask(query, person.id, tool, purpose, project.strategy, project.k, pairs=tuple(pairs))
        for (query, tool), pairs in wanted.items()
    )
    return visit.go("/lead/agreement")


def _check_third(person: Person, said: Any) -> None:
    if person.name in said:
        raise InputError(f"{person.name} is one of the people who disagree", remedy="choose a third person")


#: What the form calls each setting.
_SETTINGS = {
    "title": "the title",
    "guidelines": "the guidelines",
    "k": "how many documents are ordered",
    "strategy": "the strategy",
    "forbidden_label": "the label of forbidden documents",
    "grades": "the grades",
}

# -- exports and settings ----------------------------------------------------------------------------------------------


def _exports(visit: Visit) -> Response:
    return visit.show("lead/exports.html", tab="exports", exports=transfer.EXPORTS)


def _download(visit: Visit) -> Response:
    return transfer.export(visit.store, visit.request.path_params["what"])


def _settings(visit: Visit, saved: bool = False, typed: Mapping[str, Any] | None = None) -> Response:
    """The form, with what the lead has ``typed`` instead of the current settings."""
    now = asdict(visit.store.project)
    return visit.show(
        "lead/settings.html",
        tab="settings",
        strategies=PAIRWISE,
        saved=saved,
        values={**now, **(typed or {})},
        known={name: _fingerprint(now[name]) for name in PROJECT["properties"]},
        elsewhere=[_SETTINGS[name] for name in typed or ()],
    )


def _fingerprint(value: Any) -> str:
    """What a form remembers of a setting that it showed; texts as forms send them."""
    told = value.replace("\r\n", "\n").strip() if isinstance(value, str) else repr(value)
    return sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def _save_settings(visit: Visit) -> Response:
    """Save what this lead has changed; what another lead has changed since the form was shown stays."""
    said: dict[str, Any] = {
        "title": visit.field("title"),
        "guidelines": visit.field("guidelines").replace("\r\n", "\n"),
        "k": _whole(visit, "k", 1, 1000),
        "strategy": visit.field("strategy"),
        "forbidden_label": _whole(visit, "forbidden_label", -1000, -1),
        "grades": [line.strip() for line in visit.field("grades").splitlines() if line.strip()],
    }
    _check(said, PROJECT, "")
    said["grades"] = tuple(said["grades"])
    now = asdict(visit.store.project)
    shown = {name: visit.field(f"known-{name}") or _fingerprint(now[name]) for name in said}
    mine = {name: value for name, value in said.items() if _fingerprint(value) != shown[name]}
    if [name for name, value in mine.items() if _fingerprint(now[name]) not in (shown[name], _fingerprint(value))]:
        return _settings(visit, typed=mine)
    visit.store.change(**mine)
    return _settings(visit, saved=True)


def _check(value: Any, schema: Any, name: str) -> None:
    if wrong := complaint(value, schema, name):
        raise Problem(422, f"{wrong[0].upper()}{wrong[1:]}.")


def _whole(visit: Visit, name: str, least: int, most: int) -> int:
    try:
        value = int(visit.field(name))
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise InputError(f"{name.replace('_', ' ')} has to be a whole number", remedy=f"give {least} to {most}")
    return value


PURPOSES = get_args(Purpose)

PAGES = (
    Page("/lead", _lead, caller="lead"),
    Page("/lead/progress", _progress, caller="lead"),
    Page("/lead/people", _people, caller="lead"),
    Page("/lead/people", _add_person, "POST", "lead"),
    Page("/lead/people/{person}/link", _new_link, "POST", "lead"),
    Page("/lead/people/{person}/retire", _retire, "POST", "lead"),
    Page("/lead/people/{person}/reinstate", _reinstate, "POST", "lead"),
    Page("/lead/tasks", _tasks, caller="lead"),
    Page("/lead/tasks", _assign, "POST", "lead"),
    Page("/lead/tasks/{key}/withdraw", _withdraw, "POST", "lead"),
    Page("/lead/queries", _queries, caller="lead"),
    Page("/lead/queries", _add_queries, "POST", "lead", upload=True),
    Page("/lead/queries/retire", _retire_query, "POST", "lead"),
    Page("/lead/queries/reinstate", _reinstate_query, "POST", "lead"),
    Page("/lead/agreement", _agreement, caller="lead"),
    Page("/lead/agreement", _adjudicate, "POST", "lead"),
    Page("/lead/exports", _exports, caller="lead"),
    Page("/lead/exports/{what}", _download, caller="lead"),
    Page("/lead/settings", _settings, caller="lead"),
    Page("/lead/settings", _save_settings, "POST", "lead"),
)
