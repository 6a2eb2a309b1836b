"""LETOR's examples: what is accepted, what is refused and in which line, what is written."""

import gzip
import io
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection.readers.letor import is_letor

nan = math.nan

CLEAN = """\
2 qid:a 1:0.5 2:-1.25 3:0 #docid = GX1 inc = 1
0 qid:a 1:1 2:2 3:3 #docid = GX2 inc = 1
1 qid:b 1:1e-05 2:7 3:8 #docid = GX3
"""
FEATURES = [[0.5, -1.25, 0], [1, 2, 3], [1e-5, 7, 8]]

VARIANTS = {
    "clean": CLEAN,
    "no final newline": CLEAN[:-1],
    "CRLF": CLEAN.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + CLEAN,
    "tabs": CLEAN.replace(" 1:", "\t1:").replace(" #", "\t#"),
    "many blanks": CLEAN.replace(" 2:", " \t  2:"),
    "blanks at the edges": "".join(f"  {line} \t\n" for line in CLEAN.splitlines()),
    "blank lines": "\n \n" + CLEAN.replace("\n", "\n\n\t\n"),
    "comment lines": "# 1 qid:z 1:2\n" + CLEAN.replace("\n", "\n  # 1 2 # 3\n") + "# end",
    "zeros left out": CLEAN.replace(" 3:0 ", " "),
    "another order of indices": CLEAN.replace("1:1 2:2 3:3", "3:3 1:1 2:2"),
    "labels as floats": CLEAN.replace("2 qid", "2.0 qid").replace("1 qid", "+1.000 qid"),
    "docid=": CLEAN.replace("#docid = ", "# DOCID="),
    "long comment": "#" + "x" * 1000 + "\n" + CLEAN,
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_many_shapes(write, small_blocks, variant):
    examples = rs.read_examples(write("a.txt", VARIANTS[variant]))
    assert examples.query_ids == ("a", "b")
    assert examples.offsets.tolist() == [0, 2, 3]
    assert examples.labels.tolist() == [2, 0, 1]
    assert examples.features.tolist() == FEATURES
    assert examples.docs == ("GX1", "GX2", "GX3")
    assert examples.feature_names == ("1", "2", "3")
    assert examples.row.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["a.txt.gz", "a.letor.zst", "a.svm", "a.dat", "train", "a.csv", "a.tsv.gz"])
def test_suffix_and_content(write, name):
    path = write(name, CLEAN)
    assert is_letor(path)
    assert rs.read_examples(path).features.tolist() == FEATURES
    assert rs.read_examples(str(path)).name == str(path)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.jsonl", "absent.csv"])
def test_tables_are_something_else(write, name):
    assert not is_letor(write(name, "query_id,label,qid: x\n") if name != "absent.csv" else name)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CLEAN.encode())))
    examples = rs.read_examples("-")
    assert examples.features.tolist() == FEATURES
    assert examples.name == "<stdin>"


def read(write, text, **options):
    return rs.read_examples(write("a.txt", text), **options)


def test_documents_without_a_name_are_counted_in_their_query(write, small_blocks):
    examples = read(write, "1 qid:b 1:1\n1 qid:a 1:2\n1 qid:b 1:3 # docid = x\n1 qid:b 1:4 # doc 7\n")
    assert examples.query_ids == ("b", "a")
    assert examples.docs == ("d1", "x", "d3", "d1")


def test_queries_in_pieces_are_brought_together(write, small_blocks):
    examples = read(write, "".join(f"{i} qid:{'xyz'[i % 3]} 1:{i}\n" for i in range(7)))
    assert examples.query_ids == ("x", "y", "z")
    assert examples.labels.tolist() == [0, 3, 6, 1, 4, 2, 5]
    assert examples.features[:, 0].tolist() == examples.row.tolist() == [0, 3, 6, 1, 4, 2, 5]


def test_a_query_may_be_any_word(write):
    queries = ["-1", "1e3", "qid:7", "C#", "日本", "a" * 300, "NULL", "00", "0"]
    examples = read(write, "".join(f"1 qid:{query} 1:1\n" for query in queries))
    assert examples.query_ids == tuple(queries)


def test_missing_values(write, small_blocks):
    examples = read(write, "1 qid:a 1:NULL 2:0.5 3:nan\nNULL qid:a 1:3 2:NaN\nnan qid:a 3:NA\n")
    np.testing.assert_array_equal(examples.features, [[nan, 0.5, nan], [3, nan, 0], [0, 0, nan]])
    np.testing.assert_array_equal(examples.labels, [1, nan, nan])
    assert examples.judged.tolist() == [True, False, False]


def test_sparse_lines(write, small_blocks):
    examples = read(write, "1 qid:a 5:2\n-1.5 qid:a\n0 qid:b 2:1 4:3\n")
    assert examples.features.tolist() == [[0, 0, 0, 0, 2], [0, 0, 0, 0, 0], [0, 1, 0, 3, 0]]
    assert examples.labels.tolist() == [1, -1.5, 0]


def test_indices_from_zero(write, small_blocks):
    examples = read(write, "1 qid:a 1:2\n0 qid:a 0:7\n")
    assert examples.feature_names == ("0", "1")
    assert examples.features.tolist() == [[0, 2], [7, 0]]


def test_features_by_their_index(write, small_blocks):
    text = "1 qid:a 1:10 2:20 3:30\n0 qid:a 1:11 2:21 3:31\n1 qid:b 2:22\n"
    assert read(write, text, features=[3, 1]).features.tolist() == [[30, 10], [31, 11], [0, 0]]
    assert read(write, text, features=range(1, 5)).features.tolist() == [
        [10, 20, 30, 0],
        [11, 21, 31, 0],
        [0, 22, 0, 0],
    ]
    assert read(write, text, features=("3",)).feature_names == ("3",)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["bm25"], "a.txt: there is no feature 'bm25'; name features by their index: 1, 2, …"),
        ([-1], "there is no feature '-1'"),
        (["01"], "there is no feature '01'"),
        ([9999999], "there is no feature '9999999'"),
        ([1, 1], "feature '1' is named twice; name every feature once"),
        (46, "features 46 are not a list; name them one by one"),
        ("1", "features '1' are not a list"),
    ],
)
def test_features_that_cannot_be(write, features, message):
    with pytest.raises(rs.InputError) as caught:
        read(write, CLEAN, features=features)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "value",
    ["12345678901234567890", "0.1234567890123456789012", "-1.7976931348623157e+308", "5e-324", ".5", "1.", "+3"],
)
def test_numbers_are_read_to_the_nearest(write, value):
    label = value if abs(float(value)) < 2**53 else "0.1234567890123456789012"
    examples = read(write, f"{label} qid:a 1:{value} 2:{value} 3:1\n")
    assert examples.features.tolist() == [[float(value), float(value), 1]]
    assert examples.labels.tolist() == [float(label)]


FAULTS = {
    "1": "no 'qid:' after the label; write each line as: label qid:QUERY 1:VALUE 2:VALUE … # comment (a table",
    "1 1:0.5 2:0.5": "no 'qid:' after the label",
    "1 # qid:7 1:0.5": "no 'qid:' after the label",
    "1,qid:7,0.5": "no 'qid:' after the label",
    "1 QID:7 1:0.5": "no 'qid:' after the label",
    "1 qid:7 qid:8 1:0.5": "'qid:8' is not a feature; write features as index:value, with a number as index",
    "1 qid: 1:0.5": "no query after 'qid:'",
    "9007199254740993 qid:7 1:0.5": "label 9.0072e+15 is too large to be kept exactly; use labels below 9e15",
    "x qid:7 1:0.5": "label 'x' is not a number; write the label as a decimal number",
    "inf qid:7 1:0.5": "label 'inf' is not finite; give every document a finite label",
    "1 qid:7 1:x": "value 'x' is not a number",
    "1 qid:7 1:0.5#docid": "value '0.5#docid' is not a number",
    "1 qid:7 1:-inf": "value '-inf' is not finite",
    "1 qid:7 1:1e999": "value '1e999' is too large",
    "1 qid:7 1:1:2": "value '1:2' is not a number",
    "1 qid:7 1:": "feature 1 has no value; write NULL, or leave it out where it is 0",
    "1 qid:7 1: 0.5": "feature 1 has no value",
    "1 qid:7 :0.5": "':0.5' is not a feature",
    "1 qid:7 0.5": "'0.5' is not a feature",
    "1 qid:7 12": "'12' is not a feature",
    "1 qid:7 bm25:3": "'bm25:3' is not a feature",
    "1 qid:7 -1:3": "'-1:3' is not a feature",
    "1 qid:7 1.5:3": "'1.5:3' is not a feature",
    "1 qid:7 123456789:3": "'123456789:3': the index is larger than 1048576; number features from 1",
    "1 qid:7 5000000:3": "feature 5000000: the index is larger than 1048576; number features from 1",
    "1 qid:7 1:3 1:3": "feature 1 occurs twice in this line; remove one of them",
    "1 qid:7 2:3 1:4 2:3": "feature 2 occurs twice in this line",
    "1 qid:7 1:3 01:4": "feature 1 occurs twice in this line",
    "1 qid:7 1:3\0": "control character 0x00 in the text; is this a text file? save it as UTF-8 text",
    "1 qid:7 1:3 # \udcff": "byte 0xff is not UTF-8; save the file as UTF-8",
}


def good(rows: int) -> str:
    return "".join(f"{i % 3} qid:{i // 4} 1:{i / 7:.4f} 2:{i} # docid = d{i}\n" for i in range(rows))


@pytest.mark.parametrize("place", [0, 3, 9])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_line_of_a_fault(write, small_blocks, fault, place):
    lines = good(9).splitlines()
    lines.insert(place, fault)
    path = write("a.txt", "\n".join(lines).encode("utf-8", "surrogateescape"))
    with pytest.raises(rs.InputError) as caught:
        rs.read_examples(path)
    assert str(caught.value).startswith(f"{path}:{place + 1}: {FAULTS[fault]}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty; write each line as: label qid:QUERY"),
        ("\n \n", "no example in this file"),
        ("# nothing\n", "no example in this file"),
        ("1 qid:a\n0 qid:a\n", "no document has a feature"),
        ("query_id,label,bm25\n1,0,0.5\n", ":1: no 'qid:' after the label"),
    ],
)
def test_files_without_examples(write, text, message):
    with pytest.raises(rs.InputError) as caught:
        read(write, text)
    assert message in str(caught.value)


def test_a_file_that_is_not_there():
    with pytest.raises(rs.InputError, match=r"^absent\.txt: no such file; check the path$"):
        rs.read_examples("absent.txt")


def test_memory_that_does_not_suffice(write, monkeypatch):
    zeros = np.zeros

    def no_memory(shape, *more, **others):
        if isinstance(shape, tuple):
            raise MemoryError
        return zeros(shape, *more, **others)

    path = write("a.txt", CLEAN)
    monkeypatch.setattr("ranksift.collection.readers.letor.np.zeros", no_memory)
    with pytest.raises(rs.InputError, match="3 documents × 3 features do not fit into memory"):
        rs.read_examples(path)


# -- against a plain loop, and against scikit-learn ----------------------------------------------------------------


def by_loop(text: str):
    """The same, as one would write it down."""
    rows = []
    for line in text.splitlines():
        tokens = line.partition(" #")[0].split()
        if not tokens or tokens[0].startswith("#"):
            continue
        pairs = {int(i): float(v) for i, v in (token.split(":") for token in tokens[2:])}
        rows.append((tokens[1][4:], float(tokens[0]), pairs))
    largest = max(i for *_, pairs in rows for i in pairs)
    return [(query, label, [pairs.get(i, 0.0) for i in range(1, largest + 1)]) for query, label, pairs in rows]


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-1000, 1000, places=6).map(str),
)
labels = numbers.filter(lambda word: abs(float(word)) < 2**53)


@st.composite
def files(draw):
    def line():
        indices = draw(st.lists(st.integers(1, 12), unique=True, max_size=8))
        tokens = [draw(labels), "qid:" + draw(st.sampled_from(["a", "bb", "7", "#x:"]))]
        tokens += [f"{i}:{draw(numbers)}" for i in indices]
        return draw(st.sampled_from([" ", "  ", "\t"])).join(tokens) + draw(
            st.sampled_from(["", " ", " # 3:4 #", "\r"])
        )

    lines = ["1 qid:z 1:1", *(line() for _ in range(draw(st.integers(0, 12))))]
    for at in draw(st.lists(st.integers(0, len(lines)), max_size=3)):
        lines.insert(at, draw(st.sampled_from(["", "# 1 qid:a 1:2", "  "])))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@settings(max_examples=150)
@given(files(), st.sampled_from([7, 64, 1 << 20]))
def test_equals_a_plain_loop(tmp_path_factory, text, block):
    from ranksift.collection._engine import lines

    path = tmp_path_factory.mktemp("letor") / "a.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "_LOOKAHEAD", 4)
        examples = rs.read_examples(path)
    expected = by_loop(text)
    found = np.argsort(examples.row)
    assert [examples.query_ids[i] for i in examples.query[found]] == [query for query, *_ in expected]
    assert examples.labels[found].tolist() == [label for _, label, _ in expected]
    assert examples.features[found].tolist() == [values for *_, values in expected]


@pytest.mark.parametrize("file", ["letor4_mq2008/S1.txt.gz", "mslr_web30k_fold1_5k/msn1.fold1.train.5k.txt.gz"])
def test_equals_scikit_learn(data_dir, file):
    from sklearn.datasets import load_svmlight_file

    with gzip.open(data_dir / file) as opened:
        features, labels, queries = load_svmlight_file(opened, query_id=True)
    examples = rs.read_examples(data_dir / file)
    assert np.array_equal(examples.features, features.toarray()[examples.row])
    assert np.array_equal(examples.labels, labels[examples.row])
    assert np.array_equal(np.array(examples.query_ids, dtype=int)[examples.query], queries[examples.row])


def test_real_documents_have_names(data_dir):
    examples = rs.read_examples(data_dir / "letor4_mq2008/S1.txt.gz")
    assert examples.docs[0] == "GX008-86-4444840"
    assert len(examples.qrels()) == len(examples)  # none is there twice for a query


# -- writing ---------------------------------------------------------------------------------------------------------


def test_what_is_written(tmp_path):
    examples = rs.Examples.from_arrays(
        [[0.5, 1], [nan, -2], [1e-7, 2.25]], [2, None, -1.5], ["a", "b", "a"], docs=["x", "y", "z"]
    )
    examples.save(tmp_path / "a.letor")
    assert (tmp_path / "a.letor").read_text() == (
        "2.0 qid:a 1:0.5 2:1.0 #docid = x\nNaN qid:b 1:NaN 2:-2.0 #docid = y\n-1.5 qid:a 1:1e-7 2:2.25 #docid = z\n"
    )


def test_names_are_written_only_where_there_are_any(tmp_path):
    rs.Examples.from_arrays([[1.0], [2.0]], [1, 0], ["a", "a"]).save(tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "1 qid:a 1:1\n0 qid:a 1:2\n"


def test_features_from_zero_stay_so(write, tmp_path):
    read(write, "1 qid:a 0:2 1:3\n").save(tmp_path / "b.txt")
    assert rs.read_examples(tmp_path / "b.txt").feature_names == ("0", "1")


def test_names_of_features_are_lost_with_a_note(tmp_path):
    examples = rs.Examples.from_arrays([[1.0, 2.0]], [1], ["a"], feature_names=["bm25", "length"])
    with pytest.warns(rs.RankSiftWarning, match="'bm25' becomes 1, …; save as .csv or .parquet") as caught:
        examples.save(tmp_path / "a.txt")
    assert caught[0].filename == __file__
    assert rs.read_examples(tmp_path / "a.txt").feature_names == ("1", "2")


@pytest.mark.parametrize(("query", "doc"), [("a b", "x"), ("a", "x\ny"), ("a", "\x01")])
def test_ids_that_would_not_be_read_back(tmp_path, query, doc):
    examples = rs.Examples.from_arrays([[1.0]], [1], [query], docs=[doc])
    with pytest.raises(rs.InputError, match=r"which LETOR's format cannot hold; save as \.csv"):
        examples.save(tmp_path / "a.txt")
    assert not list(tmp_path.iterdir())
