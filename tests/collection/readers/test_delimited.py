"""CSV and TSV: quotation marks, line ends, faults and their lines; against Python's own reader."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs

CLEAN = "query_id,doc_id,score\nq1,d1,3.5\nq1,d2,2\nq2,d1,-1e-05\n"
FOUND = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -1e-5}}

VARIANTS = {
    "clean": CLEAN,
    "no final newline": CLEAN[:-1],
    "CRLF": CLEAN.replace("\n", "\r\n"),
    "CRLF, no final newline": CLEAN.replace("\n", "\r\n")[:-2],
    "byte order mark": "\ufeff" + CLEAN,
    "blank lines": "\n\r\n" + CLEAN.replace("\n", "\n\n") + "\n",
    "blanks around numbers": CLEAN.replace(",2\n", ", 2\t\n"),
    "all quoted": "".join(",".join(f'"{f}"' for f in line.split(",")) + "\n" for line in CLEAN.splitlines()),
    "all quoted, CRLF": "".join(",".join(f'"{f}"' for f in line.split(",")) + "\r\n" for line in CLEAN.splitlines()),
    "one quoted": CLEAN.replace("q1,d2", '"q1",d2'),
    "quoted end": CLEAN[:-7] + '"-1e-05"',
    "other columns": "".join(f"n{i},{line},text é\n" for i, line in enumerate(CLEAN.splitlines())),
    "other columns, quoted": (
        'n,query_id,doc_id,text,score\n1,q1,d1,"a, ""b""\nc",3.5\n2,q1,d2,,2\n3,q2,d1,"",-1e-05\n'
    ),
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "tsv.zst"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_shapes(write, small_blocks, variant, suffix):
    text = VARIANTS[variant]
    if suffix.startswith("tsv"):
        text = text.replace(",", "\t").replace("2\t\n", "2\n")
    assert rs.read_run(write(f"a.{suffix}", text)).to_dict() == FOUND


def test_ids_are_kept_as_they_are_written(write):
    ids = ["007", "1.0", "1e5", "+1", "a b", "é", "日本", "#x", "'q'", "NULL", "nan", "x" * 300, "\x7f"]
    text = "qid,docno,label\n" + "".join(f"{q},{d},1\n" for q in ids for d in ids)
    assert rs.read_qrels(write("a.csv", text)).to_dict() == {q: dict.fromkeys(ids, 1) for q in ids}


def test_labels_are_kept_as_they_are_written(write):
    qrels = rs.read_qrels(write("a.csv", "qid,docno,label\nq,a,-2\nq,b,03\nq,c,+1\n"))
    assert qrels.to_dict() == {"q": {"a": -2, "b": 3, "c": 1}}
    assert qrels.whole
    qrels = rs.read_qrels(write("a.csv", 'qid,docno,label\nq,a,"0.1"\nq,b,0.30000000000000004\n'))
    assert qrels.to_dict() == {"q": {"a": 0.1, "b": 0.1 + 0.2}}


FAULTS = {
    "q9,d9": "2 fields where the header has 3; give every line as many fields as the header",
    "q9,d9,1,": "4 fields where the header has 3",
    "q9": "1 field where the header has 3",
    "q9,,1": "the document id is missing; give every query and document an id",
    ",d9,1": "the query id is missing",
    '"",d9,1': "the query id is missing",
    "q9,d9,": "the score is missing; give every document a score",
    "q9,d9,abc": "score 'abc' is not a number; write the score as a decimal number",
    "q9,d9,True": "score 'True' is not a number",
    "q9,d9,nan": "score 'nan' is not finite",
    "q9,d9,-inf": "score '-inf' is not finite",
    "q9,d9,1e999": "score '1e999' is too large",
    "q9, d9,1": "a blank at the edge of document id ' d9'; remove it, or write the id in \"…\"",
    "q9 ,d9,1": "a blank at the edge of query id 'q9 '",
    "q0,d1,2": "document 'd1' is listed twice for query 'q0', with scores 0.1 and 2",
    'q"9,d9,1': 'a quotation mark inside a field; write it twice, and the field in "…"',
    '"q9"x,d9,1': 'a quoted field has no closing quotation mark; end it with ", then a separator',
    'q9,"d9,1': "a quoted field has no closing quotation mark",
    'q9,"d9""",1,1': "4 fields where the header has 3",
}


def rows(n: int) -> str:
    return "".join(f"q{i // 3},d{i},{i / 10}\n" for i in range(n))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_error_names_the_line(write, small_blocks, fault, quoted, ending):
    before = rows(30).replace("q3,d9,0.9", '"q\n3","d""9",0.9') if quoted else rows(30)
    text = "query_id,doc_id,score\n\n" + before + fault + "\n" + rows(40)[len(rows(30)) :]
    path = write("a.csv", text.replace("\n", ending))
    with pytest.raises(rs.InputError) as error:
        rs.read_run(path)
    assert str(error.value).startswith(f"{path}:{33 + quoted}: {FAULTS[fault]}")


def test_not_utf8(write, small_blocks):
    with pytest.raises(rs.InputError, match=r"a.csv:5: byte 0xe9 is not UTF-8"):
        rs.read_run(write("a.csv", CLEAN.encode() + "q3,dé,1\n".encode("latin-1")))
    with pytest.raises(rs.InputError, match=r"a.csv:1: the header cannot be read"):
        rs.read_run(write("a.csv", "qid,é\n".encode("latin-1")))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("q1,d1,1\nq1,d2,1\n", "a.csv:1: no column for the query among 'q1', 'd1', '1'; name it query_id"),
        ("\n\nqid;docno;score\n", "a.csv:3: one column only, 'qid;docno;score': its separator"),
        ('"qid,docno,score\nq,d,1\n', "a.csv:1: the header cannot be read"),
        ("\n\n\n", "a.csv:3: no column for the query among no columns at all"),
        ("x" * 70_000 + "\nq", "a.csv:1: a header of more than 64 kB"),
        ("", "a.csv: the file is empty"),
        ("query_id,doc_id,score,score\nq,d,1,2\n", "a.csv:1: two columns are called 'score'"),
    ],
)
def test_headers(write, text, complaint):
    with pytest.raises(rs.InputError, match=complaint):
        rs.read_run(write("a.csv", text))


@pytest.mark.parametrize(
    "text", ["qid,docno,score", "qid,docno,score\n", "qid,docno,score\r\n\r\n", '"qid","docno","score"\n']
)
def test_header_alone_is_an_empty_run_and_no_qrels(write, text):
    path = write("a.csv", text)
    assert len(rs.read_run(path)) == 0
    with pytest.raises(rs.InputError, match=r"a.csv: no judgment in it; give at least one row"):
        rs.read_qrels(path)


def test_tsv_with_and_without_a_header(write):
    beir = write("test.tsv", "query-id\tcorpus-id\tscore\n1\tMED-10\t2\n1\tMED-14\t0\n")
    assert rs.read_qrels(beir).to_dict() == {"1": {"MED-10": 2, "MED-14": 0}}
    marco = write("qrels.dev.tsv", "300674\t0\t7067032\t1\n125705\t0\t7067056\t1\n")
    assert rs.read_qrels(marco).to_dict() == {"300674": {"7067032": 1}, "125705": {"7067056": 1}}
    assert rs.read_qrels(write("a.tsv.gz", marco.read_bytes())).to_dict() == rs.read_qrels(marco).to_dict()
    with pytest.raises(rs.InputError, match=r"b.tsv:1: no column for the document among 'qid', 'pid', 'label'"):
        rs.read_qrels(write("b.tsv", "qid\tpid\tlabel\n1\t2\t3\n"))


@pytest.mark.parametrize(("policy", "kept"), [("first", {"a": 1.0, "b": 5.0}), ("best", {"a": 3.0, "b": 5.0})])
@pytest.mark.parametrize("mark", ["", '"'])
def test_duplicates_can_be_resolved(write, small_blocks, policy, kept, mark):
    text = f"qid,did,score\nq,{mark}a{mark},1\nq,b,5\nz,a,9\nq,a,3\nq,a,2\nq,b,4\n"
    assert rs.read_run(write("a.csv", text), on_duplicate=policy).to_dict() == {"q": kept, "z": {"a": 9.0}}


fields = st.text(st.sampled_from('ab1,"\n\r\t é'), min_size=1, max_size=6)


@settings(max_examples=300)
@given(
    st.dictionaries(st.tuples(fields, fields), st.integers(-3, 3), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([",", "\t"]),
)
def test_reads_what_python_writes(tmp_path_factory, table, ending, separator):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator=ending, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["query_id", "doc_id", "score"])
    writer.writerows([q, d, v] for (q, d), v in table.items())
    path = tmp_path_factory.mktemp("csv") / ("a.csv" if separator == "," else "a.tsv")
    path.write_bytes(file.getvalue().encode())
    found = rs.read_run(path).to_dict()
    assert {(q, d): v for q, docs in found.items() for d, v in docs.items()} == table


@settings(max_examples=400)
@given(st.text(st.sampled_from('ab1,,""\n\n\r'), max_size=30))
def test_never_differs_from_a_strict_reader(tmp_path_factory, text):
    """What is accepted, Python's reader in its strict mode reads in the same way."""
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(b"qid,did,score\n" + text.encode())
    try:
        found = rs.read_run(path, on_duplicate="first").to_dict()
    except rs.InputError:
        return
    wanted: dict = {}
    for query, doc, score in filter(None, csv.reader(io.StringIO(text, newline=""), strict=True)):
        wanted.setdefault(query, {}).setdefault(doc, float(score))
    assert found == wanted
