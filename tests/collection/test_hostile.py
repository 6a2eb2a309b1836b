"""Hostile bytes: nothing but a number that is right or an error of one line comes out."""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import ranksift as rs
from ranksift.collection._engine import lines
from tests.collection import plain

KINDS = {"run": (rs.read_run, plain.RUN), "qrels": (rs.read_qrels, plain.QRELS)}
DAMAGED = 60  # files of a format

blanks = st.sampled_from([" ", " ", " ", "\t", "  ", "\v", "\f", "\r", "\u00a0", "\0"])
numbers = st.one_of(
    st.integers(-5, 5).map(str),
    st.floats(-100, 100).map(repr),
    st.sampled_from(
        [
            "1e3",
            "1E-02",
            "+5",
            ".5",
            "5.",
            "-",
            "abc",
            "nan",
            "inf",
            "1e999",
            "1_0",
            "0x1",
            "9007199254740993",
            "٣",
            "1,5",
            "",
        ]
    ),
)
words = st.sampled_from(
    [
        "q1",
        "q2",
        "Q0",
        "d1",
        "d2",
        "d3",
        "#",
        "#x",
        "é",
        "日本語の文書",
        "x" * 9,
        "y" * 17,
        "\ufeff",
        "\x7f",
        "\u2028",
        "\x85",
    ]
)


@st.composite
def texts(draw, count, number):
    """Files that are nearly right."""
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        row = [draw(words) for _ in range(count)]
        row[number] = draw(numbers)
        if draw(st.integers(0, 9)) == 0:
            row = row[: draw(st.integers(0, count))] * draw(st.integers(1, 2))
        rows.append("".join(word + draw(blanks) if i < len(row) - 1 else word for i, word in enumerate(row)))
    ending = draw(st.sampled_from(["\n", "\n", "\r\n", "\n\n", " \n", "\r"]))
    text = (
        draw(st.sampled_from(["", "", "\ufeff", "# c\n", " "]))
        + ending.join(rows)
        + draw(st.sampled_from(["", ending]))
    )
    return text.encode()


def assert_same(path, data, read, kind):
    path.write_bytes(data)
    try:
        wanted = plain.read(data, kind)
    except plain.Refused:
        with pytest.raises(rs.InputError) as error:
            read(path)
        assert "\n" not in str(error.value)
        return
    found = read(path)
    if kind == plain.QRELS:
        assert found.to_dict() == wanted
    else:
        assert {q: list(docs.items()) for q, docs in found.to_dict().items()} == plain.ranked(wanted)
    assert list(found.query_ids) == list(wanted)


@pytest.mark.parametrize("what", KINDS)
@settings(max_examples=400)
@given(data=st.data(), block=st.sampled_from([3, 32, 1 << 20]))
def test_equals_a_plain_reader(tmp_path_factory, what, data, block):
    read, kind = KINDS[what]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "_LOOKAHEAD", 5)
        patch.setattr(lines, "_SERIAL", 0 if block == 32 else 1 << 22)
        assert_same(tmp_path_factory.mktemp("trec") / "a.txt", data.draw(texts(*kind)), read, kind)


@pytest.mark.parametrize("what", KINDS)
@settings(max_examples=300)
@given(data=st.binary(max_size=80))
@example(data=b"\xef\xbb\xbf")
@example(data=b"\xff\xfe")
@example(data=b"\xef\xbb\xbf\xef\xbb\xbfq Q0 d 1 1 t")
@example(data=b"q 0 d 1\r\n\r\n\r")
@example(data=b"\n")
def test_bytes_equal_a_plain_reader(tmp_path_factory, what, data):
    read, kind = KINDS[what]
    assert_same(tmp_path_factory.mktemp("trec") / "a.txt", data, read, kind)


def seeds(tmp_path):
    """A good file of every format, to be damaged."""
    run = rs.read_run({f"q{q}": {f"d{d}é" if d == 3 else f"d,{d}": d / 7 for d in range(6)} for q in range(3)})
    for suffix in ("run", "run.gz", "run.zst", "csv", "csv.gz", "tsv", "tsv.zst", "jsonl", "jsonl.gz", "parquet"):
        run.save(tmp_path / f"seed.{suffix}")
        yield suffix, (tmp_path / f"seed.{suffix}").read_bytes()


FRAGMENTS = [
    b"",
    b" ",
    b"\n",
    b"\r",
    b",",
    b'"',
    b"\t",
    b"{",
    b"}",
    b"[",
    b"\\u",
    b"#",
    b"e",
    b"nan",
    b"null",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"9" * 30,
    b"-",
    b"PAR1",
]


def damaged(rng: random.Random, data: bytes) -> bytes:
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(60))
    for _ in range(rng.randint(1, 4)):
        at, upto = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        how = rng.randrange(5)
        if how == 0:
            data = data[:at] + rng.choice(FRAGMENTS) + data[at:]
        elif how == 1:
            data = data[:at] + data[at + rng.randint(1, 4) :]
        elif how == 2:
            data = data[:at] + rng.randbytes(rng.randint(1, 4)) + data[at + 1 :]
        elif how == 3:
            data = data[:upto] + data[at:upto] + data[upto:]
        else:
            data = data[: max(at, 1)]
    return data


def outcome(read, path, policy):
    """The error that came out, or the rows."""
    try:
        return read(path, on_duplicate=policy).to_dict()
    except rs.InputError as error:
        return str(error)


@pytest.mark.parametrize("block", [16, 1 << 20])
def test_damaged_files_give_one_line_or_sound_rows(tmp_path, monkeypatch, block):
    monkeypatch.setattr(lines, "_BLOCK", block)
    for suffix, good in seeds(tmp_path):
        path = tmp_path / f"a.{suffix}"
        rng = random.Random(f"{suffix} {block}")
        refused = 0
        for _ in range(DAMAGED):
            path.write_bytes(damaged(rng, good))
            for read in (rs.read_run, rs.read_qrels):
                found = outcome(read, path, rng.choice(["error", "first", "best"]))
                if isinstance(found, str):
                    refused += 1
                    assert "\n" not in found
                    assert str(path) in found
                else:
                    assert all(q and docs and all(docs) for q, docs in found.items())
                    assert all(abs(v) < float("inf") for docs in found.values() for v in docs.values())
        assert refused > 0, suffix
