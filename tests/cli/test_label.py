"""ranksift label: the life of a project on the command line."""

import json
import re
from pathlib import Path

import pytest

import ranksift as rs
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.records import Project
from ranksift.labelling.simulation import SimulatedAssessor, Truth
from ranksift.labelling.store import Store
from ranksift.labelling.task_state import task_state
from tests.cli.conftest import Command

DOCS = [f"d{i}" for i in range(8)]
QUERIES = ("q1", "q2", "q3", "q4")


@pytest.fixture
def run(ranksift: Command) -> Command:
    """Run a command of the group."""
    return lambda *arguments: ranksift("label", *arguments)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four queries of eight documents."""
    path = tmp_path / "data.jsonl"
    rows = [
        {"query_id": query, "query": f"What of {query}?", "doc_id": doc, "doc": f"{doc} of {query}"}
        for query in QUERIES
        for doc in DOCS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def project(run: Command, data: Path, tmp_path: Path) -> Path:
    """A project with queries and two assessors."""
    place = tmp_path / "project"
    assert run("new", place, "--k", 3, "--title", "Things", "--lead", "Ann").code == 0
    assert run("import", place, data).code == 0
    assert run("people", place, "add", "Bob", "Eve").code == 0
    return place


def truth(query: str) -> Truth:
    """What there is to find out: every query has another order, and its last document is forbidden."""
    return Truth.made_up(DOCS, forbidden=0.125, seed=QUERIES.index(query))


def work(place: Path, *names: str, only: tuple[str, ...] = QUERIES) -> int:
    """Let assessors answer all that they are asked; how many judgments that took."""
    count = 0
    with Store.open(place) as store:
        for person in store.people():
            for task in store.tasks(person=person.id) if person.name in names else ():
                if task.query_id not in only:
                    continue
                log = store.log(task.key)
                docs = [item.doc_id for item in store.items(task.query_id)]
                while (asked := task_state(task, docs, log).question) is not None:
                    said = SimulatedAssessor(truth(task.query_id)).answer(asked)
                    done = task_state(task, docs, [*log, said]).done
                    store.append(task.key, f"{len(log)}", said, after=len(log), active_seconds=5.0, done=done)
                    log.append(said)
                    count += 1
    return count


def test_without_a_command_it_says_which_there_are(run: Command):
    done = run()
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^ +import +Add queries with their documents", done.out, re.M)


def test_new_prints_the_link_of_the_lead(run: Command, tmp_path: Path):
    done = run("new", tmp_path / "p", "--url", "https://label.example.org/", "--guidelines", __file__, "--k", 7)
    assert done.code == 0
    token = re.search(r"https://label\.example\.org/in/(\S+)$", done.out.strip())[1]
    with Store.open(tmp_path / "p") as store:
        assert store.person_of_link(token).role == "lead"
        assert store.project == Project("p", Path(__file__).read_text(), 7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--strategy", "bubblesort"], "there is no strategy 'bubblesort'; choose one of tournament"),
        (["--grades", "good"], "not 2 to 9 different names"),
        (["--grades", "good,good"], "not 2 to 9 different names"),
        (["--guidelines", "/nowhere.txt"], "no such file"),
        (["--forbidden-label", "0"], "forbidden-label"),
        (["--k", "0"], "--k"),
    ],
)
def test_new_refuses_and_makes_nothing(run: Command, tmp_path: Path, options: list[str], said: str):
    done = run("new", tmp_path / "p", *options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err
    assert not (tmp_path / "p" / "labels.db").exists()


def test_new_refuses_a_project_that_is_there(run: Command, project: Path):
    done = run("new", project)
    assert (done.code, done.err.count("\n")) == (2, 1)


@pytest.mark.parametrize("command", ["status", "people", "queries", "assign", "export"])
def test_what_is_no_project_is_refused(run: Command, tmp_path: Path, command: str):
    done = run(command, tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert str(tmp_path) in done.err


def test_a_malformed_import_adds_nothing(run: Command, project: Path, tmp_path: Path):
    bad = tmp_path / "bad.jsonl"
    bad.write_text(
        '{"query_id": "q9", "query": "New?", "doc_id": "d1", "doc": "A"}\n'
        '{"query_id": "q9", "query": "New?", "doc_id": "d2", "doc": ""}\n'
    )
    done = run("import", project, bad)
    assert done.code == 2
    assert done.err == f"{bad}:2: the text of the document is empty; write a text into every row\n"
    bad.write_text(
        '{"query_id": "q9", "query": "New?", "doc_id": "d1", "doc": "A"}\n'
        '{"query_id": "q1", "doc_id": "d1", "doc": "there already"}\n'
    )
    done = run("import", project, bad)
    assert (done.code, "'d1'" in done.err) == (2, True)
    with Store.open(project) as store:
        assert [query.query_id for query in store.queries()] == [*QUERIES]


def test_a_run_as_prior_orders_the_documents(run: Command, data: Path, tmp_path: Path):
    prior = tmp_path / "bm25.run"
    prior.write_text("".join(f"q1 Q0 d{i} 1 {i} x\n" for i in range(8)))
    run("new", tmp_path / "p")
    done = run("import", tmp_path / "p", data, "--prior", prior)
    assert done.code == 0
    assert "note: 24 of 32 documents have no prior score, and come last" in done.err
    with Store.open(tmp_path / "p") as store:
        assert [item.doc_id for item in store.items("q1")] == DOCS[::-1]


def test_people_come_and_go(run: Command, project: Path):
    done = run("people", project)
    assert re.findall(r"^(\w+) +(lead|assessor)", done.out, re.M) == [
        ("Ann", "lead"), ("Bob", "assessor"), ("Eve", "assessor")
    ]  # fmt: skip
    first = run("people", project, "link", "Bob").out
    second = run("people", project, "link", "Bob").out
    with Store.open(project) as store:
        assert store.person_of_link(first.strip().rpartition("/")[2]) is None
        assert store.person_of_link(second.strip().rpartition("/")[2]).name == "Bob"
    assert "choose among Ann, Bob, Eve" in run("people", project, "retire", "Zoe").err
    assert "already" in run("people", project, "add", "Zoe", "Bob").err
    assert "Zoe" not in run("people", project).out  # all or none
    assert run("people", project, "add").code == 2
    assert run("people", project, "list", "Bob").code == 2
    run("people", project, "retire", "Bob")
    assert "choose among Bob" in run("people", project, "reinstate", "Eve").err
    back = run("people", project, "reinstate", "Bob").out
    with Store.open(project) as store:
        assert store.person_of_link(back.strip().rpartition("/")[2]).name == "Bob"
    assert "choose among nobody" in run("people", project, "reinstate", "Bob").err


def test_the_whole_life_of_a_project(run: Command, project: Path, data: Path, tmp_path: Path):
    assert run("assign", project).out.startswith("Assigned 4 tasks to 2 people")
    assert run("assign", project).out.startswith("Assigned 0 tasks")
    work(project, "Bob")  # and Eve has done nothing when she leaves
    left = run("people", project, "retire", "Eve")
    assert "2 open tasks withdrawn" in left.err
    more = tmp_path / "more.jsonl"
    more.write_text('{"query_id": "q5", "query": "Late?", "doc_id": "a", "doc": "A"}\n')
    assert run("import", project, more).out.startswith("Added 1 query and 1 document")
    run("queries", project, "retire", "q5")
    assert "retired" in run("queries", project).out
    assert run("queries", project, "reinstate", "q5").out == "1 query can be assigned again\n"
    assert "retired" not in run("queries", project).out
    run("queries", project, "retire", "q5")
    run("people", project, "add", "Zoe")
    assert run("assign", project).code == 0
    work(project, "Bob", "Zoe")
    said = json.loads(run("status", project, "--format", "json").out)
    assert (said["queries"], said["finished queries"], said["judgments to come"]) == (4, 4, 0)
    assert said["minutes to come"] == 0
    done = run("export", project, "--out", tmp_path / "topk.qrels")
    assert done.code == 0
    assert "note: 1 query (q5) retired" in done.err
    found = rs.read_qrels(tmp_path / "topk.qrels").to_dict()
    assert found == {query: truth(query).labels(3) for query in QUERIES}


def test_status_says_what_is_to_come(run: Command, project: Path):
    assert "nothing has been assigned yet" in run("status", project).err
    run("assign", project, "--per-query", 2)
    given = work(project, "Bob", only=("q1", "q2"))
    done = run("status", project)
    assert re.search(rf"judgments +{given}\b", done.out)
    with Store.open(project) as store:  # an answer that is taken back is none
        task = next(task for task in store.tasks() if not task.done)
        left, right = (item.doc_id for item in store.items(task.query_id)[:2])
        for number, judgment in enumerate((Judgment("prefer", left, right, "tie"), Judgment("undo"))):
            store.append(task.key, str(number), judgment, after=number)
    said = json.loads(run("status", project, "--format", "json").out)
    assert said["finished queries"] + 0 in (1, 2)  # who labels and who overlaps is drawn by lot
    assert (said["tasks"], said["finished tasks"]) == (8, 2)
    assert said["judgments to come"] > given
    assert said["minutes to come"] == pytest.approx(said["judgments to come"] * 5 / 60, abs=0.1)
    people = {row["name"]: (row["finished"], row["judgments"]) for row in said["people"]}
    assert (people, said["judgments"]) == ({"Bob": (2, given), "Eve": (0, 0)}, given)


def test_verification_goes_to_somebody_else(run: Command, project: Path):
    run("assign", project, "--to", "Bob")
    assert "there is nothing to verify" in run("assign", project, "--verify", 3).err
    work(project, "Bob")
    assert run("assign", project, "--verify", 3).out.startswith("Assigned 4 tasks to 1 person")
    with Store.open(project) as store:
        tasks = [task for task in store.tasks() if task.purpose == "verify"]
        assert {len(task.pairs) for task in tasks} == {3}
        assert {task.person for task in tasks} == {p.id for p in store.people() if p.name == "Eve"}


def test_the_assignment_of_the_paper(run: Command, project: Path):
    run("people", project, "add", "Joe", "Kim")
    assert run("assign", project, "--paper").out.startswith("Assigned 16 tasks to 4 people")
    with Store.open(project) as store:
        seen = [(task.person, task.query_id) for task in store.tasks()]
    assert len(seen) == len(set(seen))
    assert "already assigned" in run("assign", project, "--paper").err
    assert run("assign", project, "--paper", "--per-query", 2).code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "Zoe"], "there is nobody called 'Zoe'; choose among Ann, Bob, Eve"),
        (["--per-query", "3"], "add assessors"),
        (["--strategy", "nothing"], "there is no strategy 'nothing'"),
        (["--overlap", "2"], "--overlap"),
    ],
)
def test_assign_refuses(run: Command, project: Path, arguments: list[str], said: str):
    done = run("assign", project, *arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


# -- exports -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def labelled(run: Command, project: Path) -> Path:
    """A project that two assessors have finished."""
    run("assign", project, "--per-query", 2)
    work(project, "Bob", "Eve")
    return project


def test_every_export(run: Command, labelled: Path, tmp_path: Path):
    def rows(what: str) -> list[dict]:
        assert run("export", labelled, "--what", what, "--out", tmp_path / f"{what}.jsonl").code == 0
        return [json.loads(line) for line in (tmp_path / f"{what}.jsonl").read_text().splitlines()]

    order = rows("order")
    assert [row["doc_id"] for row in order if row["query_id"] == "q1"] == [*truth("q1").order[:3]]
    assert len(rows("preferences")) == len(rows("log"))
    assert {row["assessor"] for row in rows("log")} == {"Bob", "Eve"}
    found = rs.read_examples(tmp_path / "examples.jsonl") if rows("examples") else None
    assert found.texts.docs[0].endswith("of q1")
    assert rs.read_qrels(tmp_path / "order.jsonl").query_ids == QUERIES


def test_an_export_goes_to_standard_output(run: Command, labelled: Path):
    done = run("export", labelled, "--assessor", "Bob")
    assert done.out.splitlines()[0].split() == ["q1", "0", truth("q1").order[0], "3"]
    assert json.loads(run("export", labelled, "--what", "log").out.splitlines()[0])["kind"] == "prefer"


def test_exports_refuse(run: Command, project: Path, tmp_path: Path):
    out = tmp_path / "out.qrels"
    cases = [
        ([], "no query is finished"),
        (["--rule", "median"], "no rule is called 'median'"),
        (["--assessor", "Zoe"], "no assessor is called 'Zoe'"),
        (["--features", "x.csv"], "--features is only for examples"),
        (["--what", "log", "--rule", "mean"], "log contains the answers of all assessors"),
        (["--what", "log"], "rows are not written as .qrels"),
    ]
    for arguments, said in cases:
        done = run("export", project, "--out", out, *arguments)
        assert (done.code, said in done.err, done.err.count("\n")) == (2, True, 1), done.err
    assert not out.exists()


def test_a_top_k_trains_focusednet_and_is_evaluated_in_two_commands(
    run: Command, ranksift: Command, labelled: Path, tmp_path: Path
):
    features = tmp_path / "features.csv"
    lines = [f"{query},{doc},{truth(query).score[doc]}" for query in QUERIES for doc in DOCS]
    features.write_text("query_id,doc_id,bm25\n" + "\n".join(lines) + "\n")
    run("export", labelled, "--what", "examples", "--features", features, "--out", tmp_path / "labelled.csv")
    run("export", labelled, "--out", tmp_path / "topk.qrels")
    model = tmp_path / "model"
    trained = ranksift("train", tmp_path / "labelled.csv", "--model", "FocusedNet", "--set", "k=3", "--out", model)
    assert trained.code == 0, trained.err
    ranksift("rank", model, features, "--out", tmp_path / "model.run")
    done = ranksift("evaluate", tmp_path / "topk.qrels", tmp_path / "model.run", "-m", "kNDCG@3")
    assert (done.code, done.err) == (0, "")
    assert rs.evaluate(tmp_path / "topk.qrels", tmp_path / "model.run", "kNDCG@3").mean_of("kNDCG@3") > 0.7
    assert "kNDCG@3" in done.out


def test_a_backup_is_restored(run: Command, labelled: Path, tmp_path: Path):
    assert run("backup", labelled, tmp_path / "backup.jsonl.gz").code == 0
    assert run("restore", tmp_path / "backup.jsonl.gz", tmp_path / "again").out.startswith("Restored 4 queries")
    for place in (labelled, tmp_path / "again"):
        run("export", place, "--what", "log", "--out", place / "log.jsonl")
    assert (labelled / "log.jsonl").read_bytes() == (tmp_path / "again" / "log.jsonl").read_bytes()
    (tmp_path / "torn.jsonl.gz").write_bytes((tmp_path / "backup.jsonl.gz").read_bytes()[:-20])
    done = run("restore", tmp_path / "torn.jsonl.gz", tmp_path / "torn")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert run("restore", tmp_path / "backup.jsonl.gz", labelled).code == 2  # there is one


def test_the_environment_names_the_project(
    run: Command, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    done = run("status", "-")
    assert (done.code, "RANKSIFT_LABEL_PROJECT names, but the variable is not set" in done.err) == (2, True)
    monkeypatch.setenv("RANKSIFT_LABEL_PROJECT", str(project))
    assert run("status", "-").out == run("status", project).out
    assert run("people", "-", "add", "Zoe").code == 0
    assert run("agreement", "-").code == run("agreement", project).code


def test_the_demo_plays_to_the_end(run: Command, tmp_path: Path):
    done = run("demo", "--no-serve", "--project", tmp_path / "demo")
    assert (done.code, done.err) == (0, "")
    values = [float(value) for value in re.findall(r"^(?:adjudicated|majority|mean|first) +([\d.]+)$", done.out, re.M)]
    assert len(values) == 4
    assert min(values) > 0.8
    judgments = int(re.search(r"(\d+) judgments through the JSON API", done.out)[1])
    with Store.open(tmp_path / "demo") as store:
        assert sum(1 for _ in store.entries()) == judgments
        assert {task.done for task in store.tasks() if task.purpose == "label"} == {True}
        assert {person.name for person in store.people()} == {"Ann", "Bob", "Eve", "Sam", "You"}
    assert run("demo", "--no-serve", "--project", tmp_path / "demo").code == 2  # it is there already
