"""Scores in words: what the command line's tests do not reach."""

import pytest

import ranksift as rs
from ranksift.report import scores as report


def scores(values, measures):
    runs = [f"r{i}" for i in range(len(values))]
    return rs.Scores.from_array([[row] for row in values], runs=runs, queries=["q"], measures=measures)


def bold(table):
    return [[cell.bold for cell in row[1:]] for row in table.rows]


def test_the_best_is_bold_in_the_right_direction():
    table = report.table(scores([[0.1, 0.1], [0.3, 0.3]], ["AP", "Fdocs@3"]))
    assert bold(table) == [[False, True], [True, False]]


def test_equal_values_and_counts_have_no_best():
    assert bold(report.table(scores([[0.5, 3], [0.5, 7]], ["AP", "NumRet"]))) == [[False, False], [False, False]]


def test_ties_share_the_honour():
    assert bold(report.table(scores([[0.5], [0.5], [0.1]], ["AP"]))) == [[True], [True], [False]]


def test_measures_that_are_only_names():
    found = scores([[0.25], [0.5]], ["my own"])
    assert "my own" in str(report.table(found))
    assert list(report.trec_lines(found))[2] == f"{'my own':<22}\tall\t0.2500\n"


def test_one_run_alone_has_measures_as_rows():
    assert [row[0].value for row in report.table(scores([[0.1, 0.2]], ["AP", "RR"])).rows] == ["AP", "RR"]


@pytest.mark.parametrize("per_query", [False, True])
def test_lines_are_lines(per_query: bool):
    found = rs.Scores.from_array([[[0.5]]], runs=["a\nb"], queries=["q\t1"], measures=["AP"])
    assert all(
        line.count("\t") == 2 and line.count("\n") == 1 for line in report.trec_lines(found, per_query=per_query)
    )
