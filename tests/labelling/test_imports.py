"""Queries and documents from files: what comes in, and what is refused, with the line."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

import ranksift as rs
from ranksift.labelling.imports import collect, is_run, read_topics
from ranksift.labelling.records import Item, Query

TOPICS = """
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international criminal
activity.

<narr> Narrative:
A relevant document must name the organization.

</top>
<top>
<num> Number:  051
<dom> Domain:  Finance
<title> Topic:  Airbus Subsidies
</top>
"""


@pytest.fixture
def table(tmp_path: Path):
    """Write rows as a table; the path."""

    def write(rows: list[dict], name: str = "data.jsonl") -> Path:
        path = tmp_path / name
        if name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        elif name.endswith(".parquet"):
            pl.DataFrame(rows).write_parquet(path)
        else:
            with path.open("w", newline="") as file:
                writer = csv.DictWriter(file, list(rows[0]))
                writer.writeheader()
                writer.writerows(rows)
        return path

    return write


ROWS = [
    {
        "query_id": "q1",
        "query": "A dentist?",
        "doc_id": "d1",
        "doc": "Try Hanna,\nshe is good.",
        "title": "Re: dentist",
    },
    {"query_id": "q1", "query": "A dentist?", "doc_id": "d2", "doc": "No idea", "title": ""},
    {"query_id": "q2", "query": "یک نانوایی؟", "doc_id": "d1", "doc": "نان", "title": ""},
]


@pytest.mark.parametrize("name", ["data.jsonl", "data.csv", "data.parquet"])
def test_a_table_of_queries_and_documents(table, name: str):
    assert collect([table(ROWS, name)], language="fa").queries == (
        Query("q1", "A dentist?", language="fa", items=(
            Item("d1", "Try Hanna,\nshe is good.", "Re: dentist", language="fa"),
            Item("d2", "No idea", language="fa"),
        )),
        Query("q2", "یک نانوایی؟", language="fa", items=(Item("d1", "نان", language="fa"),)),
    )  # fmt: skip


def test_what_a_table_may_say_besides(table):
    rows = [
        {**ROWS[0], "description": "For a child.", "language": "en-GB", "media": "text/html", "prior": 0.5},
        {**ROWS[1], "media": "text", "language": "", "description": ""},
    ]
    (query,) = collect([table(rows)]).queries
    assert query.description == "For a child."
    assert [(item.media, item.language, item.prior) for item in query.items] == [
        ("html", "en-GB", 0.5), ("text", "", None)
    ]  # fmt: skip


def test_a_column_called_html_is_html(table):
    row = {"query_id": "q", "query": "Q", "doc_id": "d", "html": "<b>x</b>"}
    assert collect([table([row])]).queries[0].items == (Item("d", "<b>x</b>", media="html"),)


def test_some_documents_may_be_text_and_others_html(table):
    common = {"query_id": "q", "query": "Q"}
    rows = [{**common, "doc_id": "d", "doc": "1 < 2"}, {**common, "doc_id": "e", "html": "<b>x</b>"}]
    assert collect([table(rows)]).queries[0].items == (Item("d", "1 < 2"), Item("e", "<b>x</b>", media="html"))
    with pytest.raises(rs.InputError, match=r"data.jsonl:3: the text of the document is missing"):
        collect([table([*rows, {**common, "doc_id": "f"}])])


def test_a_deeper_pool_adds_what_is_new_and_a_table_has_no_row_twice(table, tmp_path: Path):
    known = collect([table(ROWS)]).queries
    with pytest.raises(rs.InputError, match=r"data.jsonl:2: document 'd2' of query 'q1' is already in the project"):
        collect([table([{**ROWS[1], "doc_id": "new"}, ROWS[1]])], known=known)
    (tmp_path / "pool.txt").write_text("q1 0 d1 0\nq1 0 d3 0\nq2 0 d1 0\n")
    texts = table([{"doc_id": "d3", "doc": "three"}], "texts.jsonl")
    found = collect(pools=[tmp_path / "pool.txt"], texts=[texts], known=known)
    assert [(query.query_id, [item.doc_id for item in query.items]) for query in found.queries] == [("q1", ["d3"])]
    assert found.notes == ("2 documents of the pool are in the project already",)


def test_the_text_of_a_query_may_stand_in_one_row(table):
    found = collect([table([ROWS[0], {**ROWS[1], "query": ""}, {**ROWS[1], "doc_id": "d3", "query": None}])])
    assert [len(query.items) for query in found.queries] == [3]


def test_an_export_of_examples_is_taken(tmp_path: Path):
    forum = rs.datasets.synthetic_forum(5).examples
    forum.save(tmp_path / "forum.jsonl")
    queries = collect([tmp_path / "forum.jsonl"]).queries
    assert [query.query_id for query in queries] == [*forum.query_ids]
    assert [item.content for query in queries for item in query.items] == [*forum.texts.docs]


BAD = [
    ({"query_id": ""}, "the query id is empty"),
    ({"doc_id": None}, "the document id is missing"),
    ({"doc": "  "}, "the text of the document is empty"),
    ({"doc": 7}, "the text of the document is a int"),
    ({"doc": "a\0b"}, "NUL"),
    ({"query_id": "q7", "query": " "}, "query 'q7' has no text"),
    ({"query": 5}, "the text of the query is a int"),
    ({"query": "Another?"}, "query 'q1' had another text before"),
    ({"doc_id": "d1"}, "document 'd1' of query 'q1' occurs twice here"),
    ({"media": "pdf"}, "'pdf' is not a kind of document; write text or html"),
    ({"language": 'fa" onload="x'}, "is not a language"),
    ({"title": ["a"]}, "the title is a list"),
    ({"prior": "high"}, "prior"),
]


@pytest.mark.parametrize(("wrong", "said"), BAD, ids=[said for _, said in BAD])
def test_a_bad_row_is_refused_with_its_line(table, wrong: dict, said: str):
    path = table([{**ROWS[0], "prior": 1}, {**ROWS[1], "prior": 2, **wrong}])
    with pytest.raises(rs.InputError) as error:
        collect([path])
    assert error.value.line == 2
    assert str(error.value).startswith(f"{path}:2: ")
    assert said in str(error.value)
    assert "; " in str(error.value)  # and what to do


def test_a_damaged_line_is_named(tmp_path: Path):
    (tmp_path / "data.jsonl").write_text(json.dumps(ROWS[0]) + "\n\n{broken\n")
    with pytest.raises(rs.InputError, match=r"data\.jsonl:3: not JSON"):
        collect([tmp_path / "data.jsonl"])
    (tmp_path / "data.csv").write_text("query_id,query,doc_id,doc\nq1,Q,d1,D\nq1,Q,d2\n")
    with pytest.raises(rs.InputError, match=r"data\.csv:3: "):
        collect([tmp_path / "data.csv"])


@pytest.mark.parametrize("row", ["q1;Q;d1;D", 'q1;Q;d1;"He said ""no"""', "q1;Q;d1;One, two"])
def test_another_separator_is_named_whatever_the_rows_hold(tmp_path: Path, row: str):
    """As spreadsheets write it where a comma stands in numbers."""
    (tmp_path / "data.csv").write_text(f"query_id;query;doc_id;doc\n{row}\n")
    with pytest.raises(
        rs.InputError, match=r"data\.csv:1: one column only, .*: its separator is not the one .*; separate columns by"
    ):
        collect([tmp_path / "data.csv"])


@pytest.mark.parametrize("column", ["query_id", "doc_id", "doc"])
def test_a_column_that_is_missing_is_named(table, column: str):
    path = table([{name: value for name, value in ROWS[1].items() if name != column}])
    with pytest.raises(
        rs.InputError, match=f"name it {column.replace('doc', 'doc_text') if column == 'doc' else column}"
    ):
        collect([path])


def test_a_table_without_texts_of_queries_needs_topics(table, tmp_path: Path):
    path = table([{"query_id": "51", "doc_id": "d", "doc": "D"}])
    with pytest.raises(rs.InputError, match=r"data\.jsonl:1: query '51' has no text; .*--queries"):
        collect([path])
    (tmp_path / "topics.txt").write_text(TOPICS)
    found = collect([path], topics=tmp_path / "topics.txt")
    assert [(query.query_id, query.text) for query in found.queries] == [("51", "Airbus Subsidies")]
    assert found.notes == ("1 topic ('301') without a document: left out",)


def test_further_documents_of_a_query_that_the_project_has(table):
    known = [Query("q1", "A dentist?", "For a child")]
    row = {"query_id": "q1", "doc_id": "d9", "doc": "D"}
    assert collect([table([row])], known=known).queries == (
        Query("q1", "A dentist?", "For a child", items=(Item("d9", "D"),)),
    )
    with pytest.raises(rs.InputError, match=":1: query 'q1' had another text before"):
        collect([table([{**row, "query": "A vet?"}])], known=known)


# -- topics ------------------------------------------------------------------------------------------------------------


def test_topics_of_trec(tmp_path: Path):
    path = tmp_path / "topics.txt"
    path.write_text(TOPICS)
    first, second = read_topics(path)
    assert first == Query(
        "301",
        "International Organized Crime",
        "Identify organizations that participate in international criminal\nactivity.\n\n"
        "A relevant document must name the organization.",
    )
    assert (second.query_id, second.text, second.description) == ("051", "Airbus Subsidies", "")


WEB = Path(__file__).resolve().parents[3] / "shared" / "data" / "trec_web_qrels"


@pytest.mark.skipif(not WEB.is_dir(), reason="the data of the Web track is not here")
@pytest.mark.parametrize(
    ("year", "first", "text"),
    [(2010, "51", "horse hooves"), (2012, "151", "403b"), (2014, "251", "identifying spider bites")],
)
def test_topics_of_the_web_track(year: int, first: str, text: str):
    topics = read_topics(WEB / f"topics.web{year}.txt")
    assert len(topics) == 50
    assert (topics[0].query_id, topics[0].text) == (first, text)
    judged = rs.read_qrels(WEB / f"qrels.web{year}.adhoc.txt")
    assert {*judged.query_ids} <= {topic.query_id for topic in topics}


TOPIC_FILES = [
    ("queries.tsv", "19335\tanthropological definition of environment\n", "19335"),
    ("queries.tsv", "query_id\tquery\n7\twhat is this\n", "7"),
    ("queries.jsonl", '{"_id": "b1", "text": "what is this"}\n', "b1"),
    ("topics.txt", "# of the Web track\n1:obama family tree\n", "1"),
    ("covid.xml", '<topics><topic number="1"><query>covid</query><narrative>N</narrative></topic></topics>', "1"),
    ("deep.xml", '<topics>\n<topic id="9">whole <![CDATA[& text]]></topic></topics>', "9"),
    ("number.xml", "<topics><topic><number> 4 </number><title>T</title></topic></topics>", "4"),
]


@pytest.mark.parametrize(("name", "text", "number"), TOPIC_FILES)
def test_topics_of_other_collections(tmp_path: Path, name: str, text: str, number: str):
    (tmp_path / name).write_text(text)
    (topic,) = read_topics(tmp_path / name)
    assert topic.query_id == number
    assert topic.text


BAD_TOPICS = [
    ("<top>\n<num> 1\n<title> a\n</top>\n<top>\n<num> 1\n<title> b\n</top>", 5, "topic '1' occurs twice here"),
    ("<top>\n<num> 1\n<title> a\n</top>\n\n<top>\n<num> 2\n</top>", 6, "topic '2' has no text"),
    ("<top>\n<title> a\n</top>", 1, "has no number"),
    ("<topics>\n<topic><query>a</query></topic></topics>", 2, "has no number"),
    ("<topics>\n<topic number='1'>\n</topic></topics>", 2, "has no text"),
    ("<topics>\n<topic number='1'><query>a</topic></topics>", 2, "damaged XML"),
    ("<!DOCTYPE t [<!ENTITY a 'b'>]>\n<t><topic number='1'>&a;</topic></t>", 1, "entity"),
    ("1:first\nno number here\n", 2, "this is not a topic"),
]


@pytest.mark.parametrize(("text", "line", "said"), BAD_TOPICS, ids=[said for _, _, said in BAD_TOPICS])
def test_bad_topics_are_refused_with_their_line(tmp_path: Path, text: str, line: int, said: str):
    path = tmp_path / "topics.txt"
    path.write_text(text)
    with pytest.raises(rs.InputError) as error:
        read_topics(path)
    assert (error.value.line, said in str(error.value)) == (line, True), str(error.value)


def test_no_topic_at_all(tmp_path: Path):
    (tmp_path / "topics.xml").write_text("<topics></topics>")
    with pytest.raises(rs.InputError, match="no topic in it"):
        read_topics(tmp_path / "topics.xml")


# -- pools -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def pool(tmp_path: Path, table):
    """A small collection: topics, judgments, two runs, texts."""
    (tmp_path / "topics.tsv").write_text("query_id\tquery\n51\tfirst\n52\tsecond\n")
    (tmp_path / "qrels.txt").write_text("51 0 a 1\n51 0 b 0\n52 0 c -2\n")
    (tmp_path / "one.run").write_text("51 Q0 b 1 3.0 x\n51 Q0 d 2 2.0 x\n51 Q0 a 3 1.0 x\n")
    (tmp_path / "two.run").write_text("51 Q0 e 1 9.0 y\n52 Q0 c 1 9.0 y\n")
    table([{"doc_id": doc, "text": f"Text of {doc}", "title": doc.upper()} for doc in "abcde"], "texts.jsonl")
    return tmp_path


def ids(found) -> dict[str, list[str]]:
    """Documents by query."""
    return {query.query_id: [item.doc_id for item in query.items] for query in found.queries}


def test_topics_with_judgments_and_texts(pool: Path):
    found = collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt"], texts=[pool / "texts.jsonl"])
    assert ids(found) == {"51": ["a", "b"], "52": ["c"]}
    assert found.queries[0].text == "first"
    assert found.queries[0].items[0] == Item("a", "Text of a", "A")


def test_runs_are_taken_in_their_order_down_to_a_depth(pool: Path):
    texts = [pool / "texts.jsonl"]
    runs = [pool / "one.run", pool / "two.run"]
    assert ids(collect(topics=pool / "topics.tsv", pools=runs, texts=texts)) == {
        "51": ["b", "e", "d", "a"],
        "52": ["c"],
    }
    assert ids(collect(topics=pool / "topics.tsv", pools=runs, texts=texts, depth=1)) == {"51": ["b", "e"], "52": ["c"]}
    mixed = collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt", pool / "two.run"], texts=texts, depth=1)
    assert ids(mixed) == {"51": ["a", "e", "b"], "52": ["c"]}  # judgments have no depth


def test_a_document_without_a_text_is_refused_or_left_out(pool: Path, table):
    texts = table([{"doc_id": doc, "text": doc} for doc in "ac"], "few.jsonl")
    with pytest.raises(rs.InputError, match=r"few\.jsonl: no text of 1 document \('b'\) of the pool; add them; or"):
        collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt"], texts=[texts])
    found = collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt"], texts=[texts], skip_missing=True)
    assert ids(found) == {"51": ["a"], "52": ["c"]}
    assert found.notes == ("1 document ('b') of the pool without a text: left out",)
    none = table([{"doc_id": "z", "text": "z"}], "none.jsonl")
    with pytest.raises(rs.InputError, match="has none of the documents of the pool"):
        collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt"], texts=[none], skip_missing=True)


def test_a_query_without_a_text_is_refused_or_left_out(pool: Path):
    (pool / "one.tsv").write_text("query_id\tquery\n51\tfirst\n")
    given = {"pools": [pool / "qrels.txt"], "texts": [pool / "texts.jsonl"]}
    with pytest.raises(rs.InputError, match=r"no text of 1 query of the pool \('52'\); give their topics: --queries"):
        collect(topics=pool / "one.tsv", **given)
    assert ids(collect(topics=pool / "one.tsv", skip_missing=True, **given)) == {"51": ["a", "b"]}
    assert ids(collect(known=[Query("51", "f"), Query("52", "s")], **given)) == {"51": ["a", "b"], "52": ["c"]}


def test_a_text_that_is_there_twice_is_refused(pool: Path, table):
    texts = table([{"doc_id": doc, "text": doc} for doc in "aba"], "twice.jsonl")
    with pytest.raises(rs.InputError, match=r"twice\.jsonl:3: document 'a' occurs twice here"):
        collect(topics=pool / "topics.tsv", pools=[pool / "qrels.txt"], texts=[texts])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "nothing to label is given"),
        ({"pools": ["qrels.txt"]}, "a pool is given, but no texts; .*--texts"),
        ({"texts": ["texts.jsonl"]}, "nothing to label"),
        ({"data": ["qrels.txt"]}, r"qrels\.txt: not a table of queries and documents; .*--pool"),
        ({"pools": ["-"], "texts": ["texts.jsonl"]}, "standard input is not read here"),
        ({"data": ["texts.jsonl"]}, "no column for the query"),
        ({"data": ["texts.jsonl"], "depth": 3}, "a depth of 3 without runs"),
        ({"data": ["texts.jsonl"], "language": "not a tag"}, "is not a language"),
    ],
)
def test_what_does_not_fit_together_is_refused(pool: Path, given: dict, said: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(pool)
    with pytest.raises(rs.InputError, match=said):
        collect(**given)


KINDS = [
    ("x.txt", "1 0 d 1\n", False),
    ("x.txt", "# a comment\n1 Q0 d 1 2.5 tag\n", True),
    ("x.tsv", "1\t0\td\t1\n", False),
    ("x.tsv", "query-id\tcorpus-id\tscore\n1\td\t1\n", False),
    ("x.csv", "qid,docno,score\n1,d,1\n", True),
    ("x.csv", "qid,docno,label\n1,d,1\n", False),
]


@pytest.mark.parametrize(("name", "text", "run"), KINDS)
def test_runs_are_told_from_judgments(tmp_path: Path, name: str, text: str, run: bool):
    (tmp_path / name).write_text(text)
    assert is_run(tmp_path / name) is run
