"""The page and the tables of a labelling project: what they say is what the log says."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer import Typer
from typer.testing import CliRunner

from ranksift.cli.label_agreement import agreement
from ranksift.cli.label_report import report
from ranksift.labelling import agreement as ag
from ranksift.labelling.cost import costs
from ranksift.labelling.exports import Contents
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Item, Person, Project, Query
from ranksift.labelling.store import Store
from ranksift.labelling.study import Assessor, Perception, made_up_utilities, set_up, work_through
from ranksift.labelling.web import application
from ranksift.report import labelling as report_of
from tests.labelling.logs import graded, log, prefer, task

UTILITIES = made_up_utilities(10, 12)
EYES = Perception(0.1, 0.2, 0.14, 0.05, 0.1, (0.2, 0.5, 1.0, 2.0))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which all but the last three tasks are done."""
    folder = tmp_path_factory.mktemp("labelling") / "project"
    with Store.create(folder, Project("Cafés <b>in town</b>", k=3)) as store:
        tasks, tokens = set_up(store, UTILITIES)
        client = TestClient(application(store))
        for one in tasks[:-3]:
            client.headers["authorization"] = f"Bearer {tokens[one.person]}"
            work_through(client, one.key, Assessor(one.person, UTILITIES, EYES))
    return folder


@pytest.fixture(scope="module")
def contents(place: Path) -> Contents:
    with Store.open(place) as store:
        return Contents.of(store)


@pytest.fixture(scope="module")
def html(contents: Contents) -> str:
    return report_of.labelling_page(contents, command="ranksift label report", samples=100)


def words(page: str) -> str:
    return re.sub(r"<[^>]+>", " ", page)


def test_tasks_that_were_withdrawn_do_not_count_in_agreement(contents: Contents) -> None:
    both = report_of.findings(contents, samples=1)
    assert both.kinds
    assert both.disputes
    left = [replace(one, active=(one.purpose, one.tool) == ("label", "pairs")) for one in contents.tasks]
    alone = report_of.findings(replace(contents, tasks=tuple(left)), samples=1)
    assert (alone.kinds, alone.disputes) == ({}, [])


def test_the_first_screen_is_the_answer(html: str, contents: Contents) -> None:
    glance = words(html.split('id="part-1"')[1].split("</section>")[0])
    found = report_of.findings(contents, samples=100)
    pairs = found.kinds[report_of.PAIRS]
    assert "37 of 40 tasks are done (92%)" in glance
    assert f"{pairs.overall.value:.1%} of {pairs.units} cases" in glance
    (spent,) = [c for c in costs(contents.entries, contents.tasks) if c.tool == "pairs"]
    assert f"{spent.per_query.value:.1f} judgments" in glance
    assert "What to do next" in glance
    assert "3 open tasks" in glance


def test_the_page_needs_nothing_else_and_runs_nothing(html: str) -> None:
    assert "<script" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    assert "<b>in town" not in html
    assert "Cafés &lt;b&gt;in town&lt;/b&gt;" in html
    assert "nan" not in words(html).lower().split()


def test_the_same_project_gives_the_same_page(html: str, contents: Contents) -> None:
    assert html == report_of.labelling_page(contents, command="ranksift label report", samples=100)


def test_tables_hold_what_agreement_found(contents: Contents) -> None:
    found = report_of.findings(contents, samples=50)
    summary, details, first, second, *rest = report_of.agreement_tables(found)
    by = {row[0].value: row for row in summary.rows}
    direct = ag.agreement_among(ag.pairwise(contents.entries), samples=50)
    assert by["pairs"][1].value == direct.units
    assert str(by["pairs"][3].value).startswith(f"{direct.overall.value:.2f} (")
    assert [row[1].value for row in details.rows] == [estimate.value for estimate in direct.estimates().values()]
    flags = [row[list(found.kinds).index("flags") + 1].value for row in details.rows]
    assert flags[0] == 1.0  # nobody flagged anything
    assert flags[1:] == [None] * 8
    assert [cell.value for cell in first.rows[0][1:4]] == pytest.approx(direct.matrix()[0].tolist())
    inferred = ag.agreement_among(ag.from_grades(contents.entries), samples=0)
    assert [cell.value for cell in second.rows[2][1:4]] == pytest.approx(inferred.matrix()[2].tolist())
    tools = rest[-1]
    assert tools.rows[0][2].value == pytest.approx(ag.chi_square(direct.agreed, inferred.agreed)[0])
    both = report_of.agreement_tables(found, symmetrised=True)[2]
    assert [cell.value for cell in both.rows[0][1:4]] == pytest.approx(direct.matrix(symmetrised=True)[0].tolist())


def test_a_project_at_its_beginning_says_what_to_do() -> None:
    queries = (Query("q1", "x", items=(Item("a", ""), Item("b", ""))), Query("q2", "y"))
    empty = Contents(Project("New"), queries, (), (), ())
    text = words(report_of.labelling_page(empty, samples=10))
    assert "Nothing has been assigned yet" in text
    assert "Assign queries to assessors" in text
    assert "Nothing has been judged yet" in text
    begun = replace(empty, tasks=(task("q1", "ann", 1, done=False),), people=(Person(1, "ann", "assessor"),))
    text = words(report_of.labelling_page(begun, samples=10))
    assert "Assign 1 query that no assessor has" in text
    assert "Give some queries to a second assessor" in text


def test_a_finished_project_is_to_be_exported_and_its_disputes_are_shown() -> None:
    entries = (
        *log("q1", "ann", [graded("a", 4), graded("b", 0)], tool="grades"),
        *log("q1", "bob", [graded("a", 0), graded("b", 0)], tool="grades", purpose="overlap"),
    )
    contents = Contents(
        Project("Done"),
        (Query("q1", "x", items=(Item("a", ""), Item("b", ""))),),
        (Person(1, "ann", "assessor"), Person(2, "bob", "assessor", active=False)),
        (task("q1", "ann", 1, tool="grades"), task("q1", "bob", 2, tool="grades", purpose="overlap")),
        entries,
    )
    text = words(report_of.labelling_page(contents, samples=10))
    assert "Everything is labelled" in text
    assert "ann: perfect, bob: bad" in text
    assert "Settle 1 disagreement," in text
    assert "sharpen the guidelines" in text


def test_open_tasks_of_people_who_left_are_named() -> None:
    contents = Contents(
        Project("Left"),
        (Query("q1", "x", items=(Item("a", ""), Item("b", ""))),),
        (Person(1, "ann", "assessor", active=False),),
        (task("q1", "ann", 1, done=False),),
        tuple(log("q1", "ann", [Judgment("skip", "a", "b")])),
    )
    assert "Hand over 1 open task of people who have left" in words(report_of.labelling_page(contents, samples=10))


def test_what_the_assistant_did_is_a_section() -> None:
    entries, tasks = [], []
    docs = [f"d{i}" for i in range(6)]
    for q in range(8):
        for number, name in enumerate(("ann", "bob")):
            shown = q % 2 == 0
            said = [prefer(docs[i], ">", docs[i + 1], forbidden=docs[i + 1 : i + 2] if shown else ()) for i in range(5)]
            said = [replace(one, forbidden=tuple(one.forbidden)) for one in said]
            entries += log(f"q{q}", name, said)
            tasks.append(task(f"q{q}", name, number, with_proposals=shown))
    queries = tuple(
        Query(f"q{q}", "x", items=tuple(Item(doc, "", proposed_forbidden=doc == "d3") for doc in docs))
        for q in range(8)
    )
    contents = Contents(Project("Assisted"), queries, (), tuple(tasks), tuple(entries))
    text = words(report_of.labelling_page(contents, samples=200))
    assert "What the assistant did" in text
    assert "Proposals bias assessors: 100.0% of proposed documents are flagged where the proposal is shown" in text


def test_forecast_is_what_strategies_expect(contents: Contents) -> None:
    found = report_of.expected(contents)
    assert set(found) == {t.key for t in contents.tasks if not t.done}
    assert all(value > 0 for value in found.values())


# -- commands ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def app() -> Typer:
    made = Typer(pretty_exceptions_enable=False)
    made.command()(agreement)
    made.command()(report)
    return made


def test_agreement_as_table_and_json(app: Typer, place: Path, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["agreement", str(place), "--samples", "50"])
    assert shown.exit_code == 0, shown.output
    assert "Agreement between assessors" in shown.output
    assert "What another assessor says: pairs" in shown.output
    out = tmp_path / "found.json"
    done = CliRunner().invoke(app, ["agreement", str(place), "--samples", "50", "--format", "json", "--out", str(out)])
    assert done.exit_code == 0, done.output
    found = json.loads(out.read_text())
    pairs = found["agreement"]["pairs"]
    assert sum(map(sum, pairs["counts"])) == pairs["units"]
    assert all(math.isclose(sum(row), 1) for row in pairs["row_shares"] if row[0] is not None)
    assert pairs["overall"]["low"] <= pairs["overall"]["value"] <= pairs["overall"]["high"]
    assert found["pairs_less_grades"]["overall"]["chi_square"] > 0


def test_report_writes_one_page(app: Typer, place: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(place), "--samples", "50", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_text().startswith("<!doctype html>")
    assert "--samples 50" in words(out.read_text())


def test_a_folder_without_a_project_is_refused_and_nothing_is_written(app: Typer, tmp_path: Path) -> None:
    from ranksift.errors import InputError

    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(tmp_path / "nothing"), "--out", str(out)])
    assert isinstance(done.exception, InputError)
    assert not out.exists()
