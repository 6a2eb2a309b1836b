"""TREC's qrels and runs: what is accepted, what is refused and in which line, what is written."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection._engine import lines
from tests.collection import plain

CLEAN = "q1 Q0 d1 1 3.5 tag\nq1 Q0 d2 2 2 tag\nq2 Q0 d1 1 -1e-05 tag\n"
FOUND = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -1e-5}}

VARIANTS = {
    "clean": CLEAN,
    "no final newline": CLEAN[:-1],
    "CRLF": CLEAN.replace("\n", "\r\n"),
    "CRLF, no final newline": CLEAN.replace("\n", "\r\n")[:-2],
    "byte order mark": "\ufeff" + CLEAN,
    "tabs": CLEAN.replace(" ", "\t"),
    "many blanks": CLEAN.replace(" ", " \t  "),
    "one odd line": CLEAN.replace("q1 Q0 d2", "q1  Q0 d2"),
    "blanks at the edges": "".join(f"  {line} \t\n" for line in CLEAN.splitlines()),
    "blank lines": "\n \n" + CLEAN.replace("\n", "\n\n\t\n"),
    "comments": "# a\n#b c d e f g\n" + CLEAN.replace("\n", "\n  # 1 2\n"),
    "comment without newline": CLEAN + "# end",
    "long comment": "#" + "x" * 1000 + "\n" + CLEAN,
    "form feed and vertical tab": CLEAN.replace(" ", "\f", 1).replace(" ", "\v", 1),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_run_in_many_shapes(write, small_blocks, variant):
    assert rs.read_run(write("a.run", VARIANTS[variant])).to_dict() == FOUND


@pytest.mark.parametrize("variant", VARIANTS)
def test_qrels_in_many_shapes(write, small_blocks, variant):
    text = VARIANTS[variant]
    for tail, label in [(" 1 3.5 tag", " 1"), (" 2 2 tag", " -2"), (" 1 -1e-05 tag", " 03")]:
        for blank in (" ", "\t", " \t  "):
            text = text.replace(tail.replace(" ", blank), label.replace(" ", blank))
    text = text.replace("\v1 3.5 tag", "\v1")
    qrels = rs.read_qrels(write("a.qrels", text))
    assert qrels.to_dict() == {"q1": {"d1": 1, "d2": -2}, "q2": {"d1": 3}}
    assert qrels.whole


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("variant", ["clean", "CRLF", "byte order mark", "no final newline"])
def test_compressed(write, variant, suffix):
    run = rs.read_run(write(f"bm25.run{suffix}", VARIANTS[variant]))
    assert run.to_dict() == FOUND
    assert run.name == "bm25"


def good(n: int) -> str:
    return "".join(f"q{i // 3} Q0 d{i} 1 {i / 7:.4f} t\n" for i in range(n))


FAULTS = {
    "q9 Q0 d9 1 2.0": "5 columns where 6 are expected; write each line as: query Q0 document rank score tag",
    "word": "1 column where 6 are expected",
    "q9 Q0 d9 1 abc t": "score 'abc' is not a number; write the score as a decimal number",
    "q9 Q0 d9 1 1,5 t": "score '1,5' is not a number",
    "q9 Q0 d9 1 0x1p3 t": "score '0x1p3' is not a number",
    "q9 Q0 d9 1 nan t": "score 'nan' is not finite; give every document a finite score",
    "q9 Q0 d9 1 -NaN t": "score '-NaN' is not finite",
    "q9 Q0 d9 1 inf t": "score 'inf' is not finite",
    "q9 Q0 d9 1 -Infinity t": "score '-Infinity' is not finite",
    "q9 Q0 d9 1 1e999 t": "score '1e999' is too large",
    "q9 Q0 d9 1 2.0 t\0": "control character 0x00 in the text; is this a text file",
    "q9 Q0 d9\x1b 1 2.0 t": "control character 0x1b",
    "q0 Q0 d1 1 2.0 t": "document 'd1' is listed twice for query 'q0', with scores 0.1429 and 2",
    "q0 Q0 d1 1 0.1429 t": "document 'd1' is listed twice for query 'q0' with the same score",
}


@pytest.mark.parametrize("blank", [" ", "\t", "  "])
@pytest.mark.parametrize("each", [1, 2, 7])
def test_a_run_may_say_more_behind_its_tag(write, small_blocks, blank, each):
    """As in trec_eval; in some lines or in all of them."""
    lines = good(60).splitlines()
    more = [line + " and more # of it" * (i % each == 0) for i, line in enumerate(lines)]
    text = "# comment\n" + "\n".join(more).replace(" ", blank) + "\n"
    assert rs.read_run(write("a.run", text)).to_dict() == rs.read_run(write("b.run", good(60))).to_dict()


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("before", [2, 40])
@pytest.mark.parametrize("fault", FAULTS)
def test_error_names_the_line(write, small_blocks, fault, before, ending):
    text = ("# comment\n\n" + good(before) + fault + "\n" + good(60)[len(good(before)) :]).replace("\n", ending)
    path = write("a.run", text)
    with pytest.raises(rs.InputError) as error:
        rs.read_run(path)
    assert str(error.value).startswith(f"{path}:{before + 3}: {FAULTS[fault]}")


def test_bytes_that_are_not_utf8_name_the_line(write, small_blocks):
    with pytest.raises(rs.InputError, match=r"a.run:41: byte 0xff is not UTF-8; save the file as UTF-8"):
        rs.read_run(write("a.run", good(40).encode() + b"q9 Q0 d\xff 1 1 t\n" + good(50)[len(good(40)) :].encode()))
    with pytest.raises(rs.InputError, match=r"a.run:41: byte 0xc3 is not UTF-8"):
        rs.read_run(write("a.run", good(40).encode() + b"q9 Q0 d 1 1 \xc3"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("q1 0 d1", "3 columns where 4 are expected; write each line as: query iteration document label"),
        ("q1 0 d1 1 1", "5 columns where 4"),
        ("q1 0 d1 x", "label 'x' is not a number"),
        ("q1 0 d1 inf", "label 'inf' is not finite"),
        ("q0 0 d0 1", "document 'd0' is listed twice for query 'q0' with the same label"),
        ("q0 0 d0 -1", "document 'd0' is listed twice for query 'q0', with labels 1 and -1"),
    ],
)
def test_error_in_qrels(write, small_blocks, line, complaint):
    with pytest.raises(rs.InputError, match=rf"a.qrels:31: {complaint}"):
        rs.read_qrels(write("a.qrels", "".join(f"q{i} 0 d{i} 1\n" for i in range(30)) + line + "\n"))


def test_earliest_fault_is_named(write, small_blocks):
    text = good(20) + "bad\n" + good(40)[len(good(20)) :] + "worse line\n"
    with pytest.raises(rs.InputError, match=r"a.run:21: 1 column "):
        rs.read_run(write("a.run", text))
    twice = good(20) + "q9 Q0 x 1 1 t\nq9 Q0 x 1 1 t\n" + good(1)
    with pytest.raises(rs.InputError, match=r"a.run:22: document 'x' is listed twice for query 'q9'"):
        rs.read_run(write("a.run", twice))


def test_labels_that_floats_cannot_hold_are_refused(write):
    assert rs.read_qrels(write("a.qrels", f"q 0 d {2**53 - 1}\n")).to_dict() == {"q": {"d": 2**53 - 1}}
    for label in (2**53, -(2**53) - 1, 10**30):
        with pytest.raises(rs.InputError, match="too large to be kept exactly"):
            rs.read_qrels(write("a.qrels", f"q 0 c 1\nq 0 d {label}\n"))


@pytest.mark.parametrize(("policy", "kept"), [("first", {"a": 1.0, "b": 5.0}), ("best", {"a": 3.0, "b": 5.0})])
def test_duplicates_can_be_resolved(write, small_blocks, policy, kept):
    text = "q Q0 a 1 1 t\nq Q0 b 1 5 t\nz Q0 a 1 9 t\nq Q0 a 1 3 t\nq Q0 a 1 2 t\nq Q0 b 1 4 t\n"
    assert rs.read_run(write("a.run", text), on_duplicate=policy).to_dict() == {"q": kept, "z": {"a": 9.0}}


def test_nothing_but_comments(write, small_blocks):
    path = write("a.txt", "# nothing retrieved\n\n   \n#\n")
    assert len(rs.read_run(path)) == 0
    with pytest.raises(rs.InputError, match="no judgment in this file; write each line as: query iteration"):
        rs.read_qrels(path)


def test_more_comments_than_a_block_holds(write, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 100)
    text = "# " + "x" * 1000 + "\n" + "\n" * 500 + CLEAN + "\n" * 500 + "#" * 1000
    assert rs.read_run(write("a.run", text)).to_dict() == FOUND


def test_ids_of_any_length_and_script(write, small_blocks):
    ids = ["d" * n for n in (1, 7, 8, 9, 15, 16, 17, 99, 100, 101)] + ["é", "日本語の文書", "🙂" * 10, "a#b", "\u00a0x"]
    run = {q: {d: float(i) for i, d in enumerate(reversed(ids))} for q in ids}
    text = "".join(f"{q} Q0 {d} 1 {s} t\n" for q, docs in run.items() for d, s in docs.items())
    found = rs.read_run(write("a.run", text))
    assert found.to_dict() == run
    assert list(found.query_ids) == ids


def test_line_of_twenty_megabytes(write, monkeypatch):
    monkeypatch.setattr(lines, "usable_cores", lambda: 2)
    with pytest.raises(rs.InputError, match=r"a.run:4: a line of more than 16 MB; is this a text file"):
        rs.read_run(write("a.run", CLEAN + "x" * (20 << 20) + "\n" + CLEAN))


def test_one_very_long_id_among_ties_takes_no_time(write):
    text = "".join(f"q1 Q0 d{i} 1 1.0 t\n" for i in range(2000)) + f"q1 Q0 {'x' * (3 << 20)} 1 1.0 t\n"
    run = rs.read_run(write("a.run", text))
    assert run.docs[0] == "x" * (3 << 20)
    assert run.docs[1] == "d999"


def test_shuffled_and_interleaved_rows(write, small_blocks):
    import random

    rows = [(f"q{q}", f"d{d}", (d * q) % 5 / 2) for q in range(6) for d in range(20)]
    random.Random(1).shuffle(rows)
    found = rs.read_run(write("a.run", "".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in rows)))
    wanted: dict = {}
    for q, d, s in rows:
        wanted.setdefault(q, {})[d] = s
    assert {q: list(docs.items()) for q, docs in found.to_dict().items()} == plain.ranked(wanted)
    assert list(found.query_ids) == list(wanted)


def test_real_runs_and_qrels_equal_a_plain_reading(data_dir):
    import gzip

    folder = data_dir / "dl_hard_runs"
    if not folder.is_dir():
        pytest.skip("no DL-Hard runs among the real data")
    judged = folder / "dl_hard-doc.qrels.gz"
    assert rs.read_qrels(judged).to_dict() == plain.read(gzip.decompress(judged.read_bytes()), plain.QRELS)
    path = folder / "doc" / "bm25.run.gz"
    found = {q: list(docs.items()) for q, docs in rs.read_run(path).to_dict().items()}
    assert found == plain.ranked(plain.read(gzip.decompress(path.read_bytes()), plain.RUN))


# -- writing ---------------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
scores = st.floats(allow_nan=False, allow_infinity=False)


def fits(name: str) -> bool:
    return not any(ord(c) <= 32 for c in name)


@settings(max_examples=200)
@given(run=st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=4), max_size=3), name=names)
def test_a_run_reads_back_equal_or_is_refused(tmp_path_factory, run, name):
    path = tmp_path_factory.mktemp("trec") / "a.run"
    holds = all(fits(q) and q[0] not in "#\ufeff" and all(map(fits, docs)) for q, docs in run.items())
    if not holds:
        with pytest.raises(rs.InputError, match=r"TREC's format cannot hold; save as \.csv, \.parquet or \.jsonl"):
            rs.read_run(run).save(path)
        assert not path.exists()
        return
    rs.read_run(run, name=name).save(path)
    assert rs.read_run(path).to_dict() == rs.read_run(run).to_dict() == run


@pytest.mark.parametrize(
    "labels", [{"d1": 2, "d2": -2, "d3": 2**53 - 1}, {"d1": 0.5, "d2": 1.0}, {"d1": 1.0, "d2": 0.1 + 0.2}]
)
def test_qrels_read_back_equal(tmp_path, labels):
    qrels = rs.read_qrels({"q1": labels, "q2": {"d1": 1}})
    qrels.save(tmp_path / "a.qrels")
    again = rs.read_qrels(tmp_path / "a.qrels")
    assert again == qrels
    assert again.whole == qrels.whole


@pytest.mark.parametrize(
    ("run", "named"),
    [
        ({"q 1": {"d": 1.0}}, "query id 'q 1' has white space"),
        ({"q1": {"ok": 2.0, "d\t2": 1.0}}, r"document id 'd\\t2' has white space"),
        ({"q1": {"d\x07": 1.0}}, r"document id 'd\\x07' has white space or control characters"),
        ({"#1": {"d": 1.0}}, "query id '#1' starts with '#'"),
    ],
)
def test_ids_that_do_not_fit_are_named(tmp_path, run, named):
    for table in (rs.read_run(run), rs.read_qrels(run)):
        with pytest.raises(rs.InputError, match=named):
            table.save(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("name", "tag"), [("BM25 + RM3", "BM25_+_RM3"), ("a\nb\x1b", "a_b_"), ("", "run"), ("日本", "日本")]
)
def test_tag_is_one_word(tmp_path, name, tag, monkeypatch):
    import io

    path = tmp_path / "a.run"
    rs.read_run({"q": {"d": 1.0}}, name=name).save(path)
    assert path.read_text().split() == ["q", "Q0", "d", "1", "1.0", tag]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert rs.read_run("-").name == tag


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_an_empty_run_is_written_as_a_comment(tmp_path, suffix):
    path = tmp_path / f"a.run{suffix}"
    rs.read_run({}, name="all\nfiltered").save(path)
    assert len(rs.read_run(path)) == 0
    if not suffix:
        assert path.read_text() == "# all_filtered: nothing retrieved\n"


@pytest.mark.parametrize("text", ["\n", " \n\t\n", "\r\n\r\n"])
def test_a_blank_file_is_no_empty_run(write, text):
    with pytest.raises(rs.InputError, match="the file is blank; a run that filters everything needs"):
        rs.read_run(write("a.run", text))
