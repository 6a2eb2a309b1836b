"""JSON lines."""

import pytest

import ranksift as rs
from ranksift.collection.readers import jsonl

GOOD = '{"query_id": "q1", "doc_id": "d1", "score": 3.5}\n{"query_id": "q1", "doc_id": "d2", "score": 2}\n'
FOUND = {"q1": {"d1": 3.5, "d2": 2.0}}


@pytest.fixture(params=[1, 100, 1 << 20], ids="chunk-{}".format, autouse=True)
def chunk(request, monkeypatch):
    monkeypatch.setattr(jsonl, "_CHUNK", request.param)


@pytest.mark.parametrize("suffix", ["jsonl", "ndjson", "jsonl.gz", "jsonl.zst"])
@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD[:-1],
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "# comment\n\n" + GOOD.replace("\n", "\n \n"),
        GOOD.replace('"query_id"', '"qid"').replace('"doc_id"', '"DocNo"'),
        GOOD.replace('"score": 2', '"score": 2, "text": "a, {\\"b\\"}", "more": [1, {}]'),
        GOOD.replace(
            '{"query_id": "q1", "doc_id": "d2", "score": 2}', '{"score": 2, "doc_id": "d2", "query_id": "q1"}'
        ),
        GOOD.replace("q1", "\\u00711"),
    ],
)
def test_shapes(write, text, suffix):
    assert rs.read_run(write(f"a.{suffix}", text)).to_dict() == FOUND


def test_values_are_kept(write):
    def qrels(first, second):
        text = f'{{"qid": 7, "docno": "007", "label": {first}}}\n{{"qid": "7", "docno": 7, "label": {second}}}\n'
        return rs.read_qrels(write("a.jsonl", text))

    assert qrels(-2, 1).to_dict() == {"7": {"007": -2, "7": 1}}
    assert qrels(-2, 1).whole
    assert qrels(0.1, "true").to_dict() == {"7": {"007": 0.1, "7": 1.0}}
    assert not qrels(0.1, "true").whole
    assert qrels("false", "true").to_dict() == {"7": {"007": 0, "7": 1}}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"query_id": "q2", "doc_id": "d1"}', "no 'score' in this object; write each line as: {\"query_id\""),
        ("{", r"not JSON \("),
        ("{} {}", r"not JSON \(Extra data\)"),
        ("[1, 2]", "not an object but a list"),
        ("3", "not an object but a int"),
        ("[" * 100_000, "not a flat object|not JSON"),
        ('{"query_id": "q2", "doc_id": "d1", "score": null}', "the score is missing"),
        ('{"query_id": "q2", "doc_id": "d1", "score": "1"}', "score '1' is not a number"),
        ('{"query_id": "q2", "doc_id": "d1", "score": [1]}', r"score \[1\] is not a number"),
        ('{"query_id": "q2", "doc_id": "d1", "score": NaN}', "score nan is not finite"),
        ('{"query_id": "q2", "doc_id": "d1", "score": -Infinity}', "score -inf is not finite"),
        ('{"query_id": "q2", "doc_id": "d1", "score": 1e999}', "score inf is not finite"),
        ('{"query_id": "q2", "doc_id": "d1", "score": ' + "9" * 400 + "}", "score of more than 40 digits is too large"),
        (
            '{"query_id": "q2", "doc_id": "d1", "score": ' + "9" * 5000 + "}",
            r"not JSON \(a number of too many digits\)",
        ),
        ('{"query_id": 1.5, "doc_id": "d1", "score": 1}', "query id 1.5 is a float; write ids as strings"),
        ('{"query_id": true, "doc_id": "d1", "score": 1}', "query id True is a bool"),
        ('{"query_id": "q2", "doc_id": null, "score": 1}', "the document id is missing"),
        ('{"query_id": "q2", "doc_id": "", "score": 1}', "the document id is empty"),
        ('{"query_id": "q2", "doc_id": {"a": 1}, "score": 1}', "document id {'a': 1} is a dict"),
        ('{"query_id": "q2", "doc_id": "\\ud800", "score": 1}', "document id .* is not valid text"),
        (
            '{"query_id": "q1", "doc_id": "d1", "score": 9}',
            "document 'd1' is listed twice for query 'q1', with scores 3.5 and 9",
        ),
    ],
)
def test_error_names_the_line(write, line, complaint):
    path = write("a.jsonl", "# comment\n" + GOOD + "\n" + line + "\n" + GOOD.replace("q1", "q9"))
    with pytest.raises(rs.InputError, match=rf"a.jsonl:5: ({complaint})"):
        rs.read_run(path)


def test_other_faults(write):
    with pytest.raises(rs.InputError, match=r"a.jsonl:2: no column for the document among 'qid', 'score'"):
        rs.read_run(write("a.jsonl", '\n{"qid": 1, "score": 2}\n'))
    with pytest.raises(rs.InputError, match=r"a.jsonl: the file is empty"):
        rs.read_run(write("a.jsonl", ""))
    with pytest.raises(rs.InputError, match=r"a.jsonl:3: byte 0xff is not UTF-8"):
        rs.read_run(write("a.jsonl", GOOD.encode() + b"\xff\n"))
    path = write("a.jsonl", "# nothing\n")
    assert len(rs.read_run(path)) == 0
    with pytest.raises(rs.InputError, match=r"a.jsonl: no judgment in it"):
        rs.read_qrels(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"query_id": "q1", "doc_id": "d1", "score": 1},{"query_id": "q1", "doc_id": "d2", "score": 1}\n',
        '{"query_id": "q1", "doc_id": "d1", "score": 1\n"x": 1}\n',
        '{"query_id": "q1", "doc_id": "d1", "score": 1, "x": [{}\n{}]}\n',
        '{"query_id": "q1", "doc_id": "d1", "score": 1, "x": [{}\n{}]}\n'
        '{"query_id": "q1", "doc_id": "d2", "score": 1} , {"query_id": "q1", "doc_id": "d3", "score": 1}\n',
    ],
)
def test_a_line_is_one_object(write, text):
    with pytest.raises(rs.InputError, match=r"a.jsonl:1: not JSON"):
        rs.read_run(write("a.jsonl", text))


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"query_id": "q2", "query_id": "q3", "doc_id": "d1", "score": 1}', "query_id"),
        ('{"query_id":"q2","doc_id":"d1","score":1,"query_id"\t :"q3"}', "query_id"),
        ('{"query_id":"q2","doc_id":"d1","score":1,"query\\u005fid":"q3"}', "query_id"),
        ('{"query_id":"q2","doc_id":"https://d1","score":1,"score":1}', "score"),
        ('{"query_id":"q2","doc_id":"d1","score":1,"x":"a","x":"b"}', "x"),
        ('{"query_id":"q2","doc_id":"d1","score":1,"more":{"x":1,"x":2}}', "x"),
    ],
)
def test_a_key_that_stands_twice(write, line, key):
    """Which of the two is meant nobody knows; Python takes the last in silence."""
    path = write("a.jsonl", f"{GOOD}# comment\n{line}\n{GOOD}")
    with pytest.raises(
        rs.InputError, match=rf"a.jsonl:4: the key '{key}' occurs twice in this object; give every key once"
    ):
        rs.read_run(path)


def test_colons_in_texts_and_objects_in_objects_are_no_keys(write):
    odd = r"""{"query_id": "q1", "doc_id": "d\": \"x\":", "score": 3.5, "more": {"score": {"score": 9}}}"""
    assert rs.read_run(write("a.jsonl", odd)).to_dict() == {"q1": {'d": "x":': 3.5}}
