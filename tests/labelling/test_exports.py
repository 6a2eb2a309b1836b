"""Labels by hand-worked examples, and files that others read."""

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.labelling.exports import (
    RULES,
    Contents,
    examples,
    labelled,
    log_rows,
    position_labels,
    preferences,
    ranks,
    with_features,
    write_rows,
)
from ranksift.labelling.judgments import Judgment
from ranksift.labelling.plain_text import text_of, text_of_html
from ranksift.labelling.records import Item, Person, Project, Query, Task, Tool
from ranksift.labelling.task_state import task_state
from tests.labelling.logs import BEGIN, graded, log, prefer, task

PEOPLE = ("ann", "bob", "eve")


def judged(query: Query, made: Task, order: Sequence[str], flagged: Sequence[str] = (), tied: bool = False):
    """The log of an assessor who has this order in mind, best first; ``tied``: all of it is worth the same."""
    said: list[Judgment] = []
    docs = [item.doc_id for item in query.items]
    while (asked := task_state(made, docs, said).question) is not None:
        bad = tuple(doc for doc in asked.items if doc in flagged)
        if asked.right is None:
            said.append(graded(asked.left, None if bad else len(docs) - order.index(asked.left), forbidden=bool(bad)))
        elif bad:
            said.append(Judgment("prefer", asked.left, asked.right, forbidden=bad))
        else:
            better = order.index(asked.left) < order.index(asked.right)
            said.append(prefer(asked.left, "~" if tied else ">" if better else "<", asked.right))
    return said


class Made:
    """A project that is made task by task."""

    def __init__(self, k: int = 3, docs: str = "abcde", queries: Sequence[str] = ("q1",), forbidden_label: int = -1):
        self.project = Project("Made up", k=k, forbidden_label=forbidden_label)
        self.queries = {q: Query(q, f"What is {q}?", items=tuple(Item(d, f"Text {d}") for d in docs)) for q in queries}
        self.tasks: list[Task] = []
        self.entries = []
        self.people = [Person(i, name, "assessor") for i, name in enumerate(PEOPLE, 1)]
        self.clock = count()

    def add(self, person: str, said, *, query: str = "q1", tool: Tool = "pairs", purpose="label", **more) -> Task:
        """A task with a log: that of an order, or judgments."""
        made = replace(
            task(query, person, PEOPLE.index(person) + 1, tool=tool, purpose=purpose),
            k=self.project.k,
            created=BEGIN + timedelta(minutes=next(self.clock)),
        )
        if isinstance(said, str):
            said = judged(self.queries[query], made, said, **more)
        self.tasks.append(made)
        self.entries += log(query, person, said, tool=tool, purpose=purpose)
        return made

    @property
    def contents(self) -> Contents:
        """What the store would give."""
        return Contents(
            self.project, tuple(self.queries.values()), tuple(self.people), tuple(self.tasks), tuple(self.entries)
        )

    def labels(self, *rule, **more) -> dict[str, float]:
        """Of the first query."""
        return dict(labelled(self.contents, *rule, **more).labels["q1"])


def test_the_top_k_has_the_labels_of_the_paper():
    made = Made(k=3)
    made.add("ann", "dbeac")
    assert made.labels() == {"d": 3, "b": 2, "e": 1, "a": 0, "c": 0}
    assert made.labels() == rs.topk_labels(list("dbeac"), 3)


def test_a_forbidden_document_has_a_negative_label():
    made = Made(k=2, forbidden_label=-2)
    made.add("ann", "dbeac", flagged=["b", "c"])
    assert made.labels() == {"d": 2, "e": 1, "a": 0, "b": -2, "c": -2}


def test_fewer_documents_than_k_still_begin_at_k():
    made = Made(k=10, docs="ab")
    made.add("ann", "ba")
    assert made.labels() == {"b": 10, "a": 9}


def test_ties_have_the_label_of_their_first_place():
    assert position_labels([("a", "b"), ("c",)], "d", k=3) == {"a": 3, "b": 3, "c": 1, "d": 0}
    assert position_labels([("a",), ("b", "c", "d")], "", k=2) == {"a": 2, "b": 1, "c": 1, "d": 1}
    made = Made(k=2, docs="abc")
    made.add("ann", "abc", tied=True)
    assert made.labels() == {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize("rule", RULES)
def test_what_is_outside_of_the_top_that_was_asked_for_has_label_0(rule):
    made = Made(k=2)
    made.add("ann", "dbeac")
    made.project = replace(made.project, k=4)  # later: nobody knows which of e, a, c is the third
    assert made.labels(rule) == {"d": 4, "b": 3, "e": 0, "a": 0, "c": 0}
    note = "1 query (q1) with fewer than 4 documents in order: the others have label 0"
    assert labelled(made.contents, rule).notes == (note,)
    assert [row["doc_id"] for row in labelled(made.contents, rule).order()] == ["d", "b"]


def test_when_a_document_of_the_top_turns_out_forbidden_nobody_of_the_rest_moves_up():
    made = Made(k=2)
    made.add("ann", "dbeac")
    made.add("bob", [prefer("d", ">", "b", forbidden=("d",))], purpose="adjudicate")
    assert made.labels() == {"b": 2, "e": 0, "a": 0, "c": 0, "d": -1}


def test_documents_that_nobody_could_judge_are_left_out_and_counted():
    made = Made(k=2)
    said = [Judgment("cannot", "a", doc) for doc in "bcde"]  # a page that does not load, first by the prior
    rest = [prefer("e", ">", "d"), prefer("d", ">", "c"), prefer("c", ">", "b")]
    made.add("ann", [*said, *rest])
    assert made.labels() == {"e": 2, "d": 1, "c": 0, "b": 0}
    note = "1 document (q1 a) could not be judged by anyone: left out"
    assert labelled(made.contents).notes == (note,)
    assert labelled(made.contents, assessor="ann").notes == (note.replace("anyone", "ann"),)
    found = examples(made.contents, labelled(made.contents))
    assert [*found.docs] == [*"abcde"]
    assert np.isnan(found.labels[0])
    # Another one could judge it, and says that it is the best.
    made.add("bob", "aedcb", purpose="overlap")
    assert made.labels() == {"a": 2, "e": 1, "d": 0, "c": 0, "b": 0}
    assert "1 document (q1 a) could not be judged by ann: left out" in labelled(made.contents, assessor="ann").notes
    assert not any("could not be judged" in note for note in labelled(made.contents).notes)


@pytest.mark.parametrize("rule", RULES)
def test_documents_that_nobody_could_grade_are_left_out(rule):
    made = Made(docs="abc")
    made.add("ann", [graded("a", 4), Judgment("cannot", "b"), graded("c", 1)], tool="grades")
    assert made.labels(rule) == {"a": 4, "c": 1}
    assert labelled(made.contents, rule).notes == ("1 document (q1 b) could not be judged by anyone: left out",)
    made.add("bob", [Judgment("cannot", "a"), graded("b", 3), graded("c", 1)], tool="grades", purpose="overlap")
    assert made.labels(rule) == ({"a": 4, "c": 1} if rule == "first" else {"a": 4, "b": 3, "c": 1})


def test_grades_are_labels():
    made = Made(docs="abc")
    made.add("ann", [graded("a", 4), graded("b", 0), graded("c", None, forbidden=True)], tool="grades")
    assert made.labels() == {"a": 4, "b": 0, "c": -1}


def test_what_is_not_finished_is_left_out_and_said():
    made = Made(queries=("q1", "q2"))
    made.add("ann", "abcde")
    made.add("bob", [prefer("a", ">", "b")], query="q2")
    found = labelled(made.contents)
    assert [*found.labels] == ["q1"]
    assert found.notes == ("1 query (q2) of 2 not finished with pairs: left out",)


def test_nothing_finished_is_an_error():
    made = Made()
    made.add("ann", [prefer("a", ">", "b")])
    with pytest.raises(rs.InputError, match="no query is finished"):
        labelled(made.contents).qrels()


def test_undone_judgments_do_not_count_and_are_said():
    made = Made(k=1, docs="ab")
    made.add("ann", [prefer("a", ">", "b"), Judgment("undo"), prefer("a", "<", "b")])
    assert made.labels() == {"b": 1, "a": 0}
    assert "1 judgment undone: in the log only" in labelled(made.contents).notes
    assert [row["answer"] for row in preferences(made.contents)] == ["right"]
    assert [(row["kind"], row["counts"]) for row in log_rows(made.contents)] == [
        ("prefer", False), ("undo", False), ("prefer", True)
    ]  # fmt: skip


def test_what_a_retired_assessor_finished_counts_and_is_said():
    made = Made()
    made.add("ann", "abcde")
    made.people[0] = replace(made.people[0], active=False)
    found = labelled(made.contents)
    assert found.labels["q1"]["a"] == 3
    assert "1 assessor (ann) retired: what they finished counts" in found.notes


def test_documents_that_came_later_open_a_finished_query_again():
    made = Made(k=2, docs="ab")
    made.add("ann", "ab")
    assert made.labels() == {"a": 2, "b": 1}
    made.queries["q1"] = replace(made.queries["q1"], items=(*made.queries["q1"].items, Item("new", "New")))
    assert labelled(made.contents).labels == {}


def test_what_was_withdrawn_and_retired_is_said():
    made = Made(queries=("q1", "q2", "q3"))
    for query in made.queries:
        made.add("ann", "abcde", query=query)
    made.tasks[1] = replace(made.tasks[1], active=False)
    made.queries["q3"] = replace(made.queries["q3"], active=False)
    found = labelled(made.contents)
    assert [*found.labels] == ["q1", "q3"]
    assert set(found.notes) == {
        "1 query (q2) of 2 not finished with pairs: left out",
        "1 query (q3) retired: what was finished before counts",
        "1 task withdrawn: in the log, but not in the labels",
    }


# -- several assessors -------------------------------------------------------------------------------------------------


@pytest.fixture
def three() -> Made:
    """Three assessors: the majority says a > b > c; the first one says b > a > c."""
    made = Made(k=3, docs="abc")
    for person, order in (("ann", "bac"), ("bob", "abc"), ("eve", "acb")):
        made.add(person, order, purpose="label" if person == "ann" else "overlap")
    return made


def test_the_first(three: Made):
    assert three.labels("first") == {"b": 3, "a": 2, "c": 1}


def test_the_first_of_tasks_that_were_given_at_once_is_who_labels():
    """Their keys are drawn, and must not decide."""
    made = Made(docs="abc")
    made.add("ann", "cba", purpose="overlap")
    made.add("bob", "abc")
    made.tasks = [replace(one, created=BEGIN) for one in made.tasks]
    assert made.labels("first") == {"a": 3, "b": 2, "c": 1}


def test_one_assessor(three: Made):
    assert three.labels(assessor="eve") == {"a": 3, "c": 2, "b": 1}
    with pytest.raises(rs.InputError, match="no assessor is called 'zoe'; choose among ann, bob, eve"):
        three.labels(assessor="zoe")


def test_the_majority(three: Made):
    assert three.labels("majority") == {"a": 3, "b": 2, "c": 1}


def test_the_mean(three: Made):
    # a: 2, 3, 3; b: 3, 2, 1; c: 1, 1, 2
    assert three.labels("mean") == pytest.approx({"a": 8 / 3, "b": 2, "c": 4 / 3})


def test_what_is_settled_stands_against_the_majority(three: Made):
    three.add("bob", [prefer("c", ">", "a")], purpose="adjudicate")
    # c beats a now: a and c win one and lose one, as b does, so that the score is equal, and c stands before a.
    found = three.labels("adjudicated")
    assert found["c"] > found["a"]
    assert three.labels("majority") == {"a": 3, "b": 2, "c": 1}


def test_what_is_settled_about_flags_stands():
    made = Made(k=2, docs="abc")
    made.add("ann", "abc", flagged=["a"])
    made.add("bob", "abc", flagged=["a"], purpose="overlap")
    assert made.labels()["a"] == -1
    made.add("eve", [prefer("a", ">", "b")], purpose="adjudicate")
    assert made.labels()["a"] > made.labels()["b"] > 0


def test_a_verified_pair_is_a_vote():
    made = Made(k=3, docs="abc")
    made.add("ann", "abc")
    made.add("bob", [prefer("a", "<", "b")], purpose="verify")
    assert made.labels() == {"a": 3, "b": 3, "c": 1}  # one says so, the other so: tied


def test_half_of_the_assessors_forbid():
    made = Made(k=2, docs="abc")
    made.add("ann", "abc", flagged=["a"])
    made.add("bob", "abc", purpose="overlap")
    for rule in ("majority", "mean", "adjudicated"):
        assert made.labels(rule)["a"] == -1
    made.add("eve", "abc", purpose="overlap")
    assert made.labels("majority")["a"] == 2
    assert made.labels("mean")["a"] == 2.0


def test_the_most_frequent_grade_and_the_lower_of_two():
    made = Made(docs="ab")
    made.add("ann", [graded("a", 3), graded("b", 4)], tool="grades")
    made.add("bob", [graded("a", 1), graded("b", 2)], tool="grades", purpose="overlap")
    assert made.labels("majority") == {"a": 1, "b": 2}
    assert made.labels("mean") == {"a": 2, "b": 3}
    made.add("eve", [graded("a", 3), graded("b", 4)], tool="grades", purpose="overlap")
    assert made.labels("majority") == {"a": 3, "b": 4}
    assert made.labels("first") == {"a": 3, "b": 4}
    made.add("eve", [graded("a", 0)], tool="grades", purpose="adjudicate")
    assert made.labels() == {"a": 0, "b": 4}


def test_a_lead_grades_what_all_others_had_flagged():
    made = Made(docs="ab")
    made.add("ann", [graded("a", None, forbidden=True), graded("b", 4)], tool="grades")
    assert made.labels() == {"a": -1, "b": 4}
    made.add("eve", [graded("a", 2)], tool="grades", purpose="adjudicate")
    assert made.labels() == {"a": 2, "b": 4}
    assert made.labels("majority") == {"a": -1, "b": 4}


def test_the_order_of_one_assessor_is_no_other_by_any_rule():
    draw = np.random.default_rng(3)
    docs = "abcdefghij"
    for _ in range(20):
        made = Made(k=4, docs=docs)
        order = "".join(draw.permutation(list(docs)).tolist())
        made.add("ann", order, flagged=draw.choice(list(docs), 3, replace=False).tolist())
        first = made.labels("first")
        assert first == made.labels("majority") == made.labels("mean") == made.labels("adjudicated")


def test_both_tools_are_not_mixed():
    made = Made(docs="ab", k=1)
    made.add("ann", "ab")
    made.add("bob", [graded("a", 0), graded("b", 4)], tool="grades")
    assert made.labels() == {"a": 1, "b": 0}
    assert made.labels(tool="grades") == {"a": 0, "b": 4}
    assert labelled(made.contents).notes == ("what was labelled with grades is left out; --tool includes it",)


def test_a_rule_that_is_none():
    with pytest.raises(
        rs.InputError, match="no rule is called 'median'; choose among adjudicated, majority, mean, first"
    ):
        labelled(Made().contents, "median")


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_qrels_are_read_again(tmp_path: Path):
    made = Made(k=2)
    made.add("ann", "dbeac", flagged=["c"])
    labelled(made.contents).qrels().save(tmp_path / "topk.qrels")
    assert (tmp_path / "topk.qrels").read_text().splitlines()[0].split() == ["q1", "0", "d", "2"]
    assert rs.read_qrels(tmp_path / "topk.qrels").to_dict() == {"q1": made.labels()}


def test_the_order_has_all_tied_documents():
    assert ranks({"a": 2, "b": 5, "c": 2, "d": 1}) == {"b": 1, "a": 2, "c": 2, "d": 4}
    made = Made(k=2, docs="abcd")
    made.add("ann", [graded("a", 3), graded("b", 3), graded("c", 3), graded("d", None, forbidden=True)], tool="grades")
    assert [(row["rank"], row["doc_id"]) for row in labelled(made.contents).order()] == [(1, "a"), (1, "b"), (1, "c")]
    made = Made(k=2, docs="abcd")
    made.add("ann", "cbad")
    assert [(row["rank"], row["doc_id"], row["label"]) for row in labelled(made.contents).order()] == [
        (1, "c", 2), (2, "b", 1)
    ]  # fmt: skip


def test_preferences_say_who_said_what(tmp_path: Path):
    made = Made(docs="abc")
    made.add("ann", [prefer("a", ">", "b"), Judgment("skip", "a", "c"), Judgment("prefer", "c", "a", forbidden=("c",))])
    write_rows(preferences(made.contents), tmp_path / "p.csv")
    with (tmp_path / "p.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(r["query_id"], r["left"], r["right"], r["answer"], r["left_forbidden"], r["assessor"]) for r in rows] == [
        ("q1", "a", "b", "left", "false", "ann"),
        ("q1", "c", "a", "", "true", "ann"),
    ]


def test_the_log_has_everything(tmp_path: Path):
    made = Made(docs="ab")
    made.add("ann", [prefer("a", ">", "b"), Judgment("undo"), Judgment("cannot", "a", "b")])
    made.entries[0] = replace(made.entries[0], note="=1+1 «شک»", proposed=("a",))
    write_rows(log_rows(made.contents), tmp_path / "log.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["kind"] for row in rows] == ["prefer", "undo", "cannot"]
    assert rows[0]["note"] == "=1+1 «شک»"
    assert rows[0]["proposed"] == ["a"]
    assert rows[0]["created"] == BEGIN.isoformat()
    write_rows(log_rows(made.contents), tmp_path / "log.csv")
    with (tmp_path / "log.csv").open() as file:
        first = next(csv.DictReader(file))
    assert first["note"] == "'=1+1 «شک»"  # a spreadsheet computes nothing
    assert json.loads(first["proposed"]) == ["a"]


def test_rows_need_a_known_format(tmp_path: Path):
    with pytest.raises(rs.InputError, match=r"rows are not written as \.xlsx; name it \.jsonl, \.csv or \.tsv"):
        write_rows([{"a": 1}], tmp_path / "log.xlsx")
    assert not [*tmp_path.iterdir()]


def test_examples_are_texts_with_labels(tmp_path: Path):
    made = Made(k=1, docs="ab", queries=("q1", "q2"))
    made.queries["q1"] = replace(
        made.queries["q1"], items=(Item("a", "<p>Open <b>daily</b>", "Bakery", media="html"), Item("b", "No"))
    )
    made.add("ann", "ba")
    found = examples(made.contents, labelled(made.contents))
    found.save(tmp_path / "labelled.jsonl")
    again = rs.read_examples(tmp_path / "labelled.jsonl")
    assert again.query_ids == ("q1",)  # the other one is not finished
    assert again.texts.docs == ("Bakery. Open daily", "No")
    assert dict(zip(again.docs, again.labels.tolist(), strict=True)) == {"a": 0, "b": 1}


def test_html_is_read_without_its_markup():
    html = "<html><head><title>T</title><style>p {}</style></head><body><h1>One</h1><p>t<i>w</i>o<br>three<script>x"
    assert text_of_html(html) == "One two three"
    assert text_of(Item("d", "a < b", "Title")) == "Title. a < b"


def test_features_are_joined_by_query_and_document(tmp_path: Path):
    made = Made(k=2, docs="abc", queries=("q1", "q2"))
    made.add("ann", "cab")
    found = labelled(made.contents)
    file = tmp_path / "features.csv"
    file.write_text("query_id,doc_id,bm25\nq1,b,0.5\nq1,c,1.5\nq1,x,2\nq2,a,1\n")
    joined, notes = with_features(found, file)
    assert joined.query_ids == ("q1",)
    assert joined.docs == ("b", "c", "x")
    assert joined.labels.tolist()[:2] == [0, 2]
    assert np.isnan(joined.labels[2])
    assert notes == ["1 labelled document (a) without features: left out"]
    letor = tmp_path / "features.txt"
    letor.write_text("0 qid:q1 1:0.5 #docid = b\n0 qid:q1 1:1.5 #docid = c\n")
    assert with_features(found, letor)[0].labels.tolist() == [0, 2]
    file.write_text("query_id,doc_id,bm25\nq9,b,0.5\n")
    with pytest.raises(rs.InputError, match="has none of the labelled documents"):
        with_features(found, file)


def test_a_top_k_trains_focusednet_and_is_evaluated(tmp_path: Path):
    draw = np.random.default_rng(0)
    queries = [f"q{i}" for i in range(30)]
    made = Made(k=5, docs="abcdefghijkl", queries=queries)
    lines = []
    for query in queries:
        worth = dict(zip("abcdefghijkl", draw.normal(size=12).tolist(), strict=True))
        made.add("ann", "".join(sorted(worth, key=lambda doc: -worth[doc])), query=query)
        lines += [
            f"{query},{doc},{value + draw.normal(0, 0.3):.3f},{draw.normal():.3f}" for doc, value in worth.items()
        ]
    (tmp_path / "features.csv").write_text("query_id,doc_id,good,noise\n" + "\n".join(lines) + "\n")
    found = labelled(made.contents)
    joined, _ = with_features(found, tmp_path / "features.csv")
    training, test = joined.split(0.7, seed=0)
    model = rs.learning.FocusedNet(k=5).fit(training)
    worth_it = rs.evaluate(test.qrels(), model.rank(test), "kNDCG@5").mean_of("kNDCG@5")
    by_chance = rs.evaluate(test.qrels(), test.run(draw.random(len(test))), "kNDCG@5").mean_of("kNDCG@5")
    assert worth_it > 0.8 > by_chance
