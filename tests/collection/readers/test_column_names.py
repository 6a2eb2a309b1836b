"""Columns are found under the names that people use."""

import pytest

import ranksift as rs
from ranksift.collection.readers.column_names import find_columns, is_header


@pytest.mark.parametrize(
    ("names", "noun", "found"),
    [
        (["query_id", "doc_id", "relevance", "iteration"], "label", (0, 1, 2)),  # ir_measures
        (["query_id", "doc_id", "score"], "score", (0, 1, 2)),
        (["qid", "docno", "label"], "label", (0, 1, 2)),  # PyTerrier
        (["qid", "docid", "docno", "rank", "score", "query"], "score", (0, 2, 4)),
        (["q_id", "doc_id", "score"], "score", (0, 1, 2)),  # ranx
        (["query-id", "corpus-id", "score"], "label", (0, 1, 2)),  # BEIR
        (["topic", "Q0", "document_id", "Rel"], "label", (0, 2, 3)),
        ([" Query ID ", "DOC-ID", "Judgment"], "label", (0, 1, 2)),
        (["", "did", "topic_id", "sim"], "score", (2, 1, 3)),
        (["query", "doc", "value"], "score", (0, 1, 2)),
        (["score", "label", "qid", "did"], "label", (2, 3, 1)),
        (["query_id", "doc_id", "label", 3, None], "label", (0, 1, 2)),
    ],
)
def test_names(names, noun, found):
    assert find_columns(names, noun) == found


def test_missing_column_lists_what_was_found_and_what_is_accepted():
    with pytest.raises(rs.InputError) as error:
        find_columns(["qid", "text", "score"], "score", source="a.csv", line=1)
    assert str(error.value) == (
        "a.csv:1: no column for the document among 'qid', 'text', 'score'; "
        "name it doc_id (or docno, docid, did, document_id, corpus_id, doc, document)"
    )
    with pytest.raises(rs.InputError, match=r"no column for the label among .*; name it label \(or relevance, rel"):
        find_columns(["qid", "docno", "x"], "label")
    with pytest.raises(rs.InputError, match="among no columns at all"):
        find_columns([], "score")
    with pytest.raises(rs.InputError, match="'c11', …;"):
        find_columns([f"c{i}" for i in range(100)], "score")


def test_two_columns_of_one_name():
    with pytest.raises(rs.InputError, match="two columns are called 'score'; rename one of them"):
        find_columns(["qid", "docno", "score", "Score"], "score")


@pytest.mark.parametrize(
    ("fields", "header"),
    [
        (["query-id", "corpus-id", "score"], True),
        (["qid", "pid", "label"], True),
        (["doc_id", "x", "y"], True),
        (["19335", "0", "1017759", "0"], False),  # MS MARCO
        (["topic", "0", "doc", "1"], False),
        (["q1", "Q0", "d1", "1", "2.5", "tag"], False),
        ([""], False),
    ],
)
def test_first_line_of_a_tsv(fields, header):
    assert is_header(fields) is header
