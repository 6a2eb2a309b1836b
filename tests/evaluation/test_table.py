"""Tables: what is shown is the same in every format, and names from outside cannot break any of them."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from ranksift.evaluation.table import Cell, Column, Table

HOSTILE = "a|b_c_ *d* <i>&lt; 50% $x$ {y} #1 \\z ^~ `q` [l](m)\n\x1b[31mred"


@pytest.mark.parametrize(
    ("column", "value", "written"),
    [
        (Column("x"), 0.12345, "0.1235"),
        (Column("x"), 3, "3"),
        (Column("x"), np.int64(3), "3"),
        (Column("x"), np.float64(0.5), "0.5000"),
        (Column("x"), None, "-"),
        (Column("x"), True, "yes"),
        (Column("x"), np.False_, "no"),
        (Column("x"), -0.00001, "0.0000"),
        (Column("x"), float("inf"), "inf"),
        (Column("x", digits=None), 0.5, "0.5"),
        (Column("x", digits=None), -2.0, "-2"),
        (Column("x", digits=2, signed=True), 0.5, "+0.50"),
        (Column("x", digits=2, signed=True), -0.5, "-0.50"),
        (Column("x", digits=2, signed=True), 0.001, "0.00"),
        (Column("x", signed=True), 3, "+3"),
        (Column("x", digits=1, style="percent"), 0.1234, "12.3%"),
        (Column("x", digits=1, style="percent", signed=True), 0.1234, "+12.3%"),
        (Column("p", style="p"), 0.0, "<0.0001"),
        (Column("p", style="p"), 0.0001, "0.0001"),
        (Column("p", style="p"), 1.0, "1.0000"),
    ],
)
def test_values_are_written_once_for_all_formats(column, value, written):
    assert column.written(value) == written


def test_numbers_line_up_to_the_right_and_words_to_the_left():
    table = Table(["run", "rank", Column("AP", digits=2)], [["bm25", 1, 0.5], ["a", 10, -0.25]], title="T", notes=["n"])
    assert table.text().splitlines() == [
        "T",
        "run   rank     AP",
        "----  ----  -----",
        "bm25     1   0.50",
        "a       10  -0.25",
        "n",
    ]


def test_numbers_line_up_although_letters_follow():
    table = Table([Column("AP", digits=2)], [[Cell(0.5, "bc")], [-0.25], [Cell(0.75, "c")]])
    assert table.text().splitlines() == ["AP", "--------", " 0.50 bc", "-0.25", " 0.75 c"]


def test_wide_and_combining_characters_take_their_width():
    lines = Table(["x", "y"], [["日本", "z"], ["e\u0301", "z"], ["می\u200cکن", "z"]]).text().splitlines()
    assert lines[1:] == ["----  -", "日本  z", "e\u0301     z", "می\u200cکن  z"]


def test_a_table_without_rows_shows_its_columns():
    table = Table(["run", "AP"], [])
    assert table.text().splitlines() == ["run  AP", "---  --"]
    assert table.markdown().splitlines() == ["| run | AP  |", "|:----|:----|"]


def test_head_says_what_it_leaves_out():
    table = Table(["x"], [[i] for i in range(12)], notes=["all"])
    assert table.head(10).notes == ("and 2 more rows", "all")
    assert len(table.head(10).rows) == 10
    assert table.head(11).notes[0] == "and 1 more row"
    assert table.head(12) is table


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="a row of 1 cells in a table of 2 columns"):
        Table(["x", "y"], [[1]])


def test_hostile_names_stay_in_one_line_of_plain_text():
    lines = Table(["name", "n"], [[HOSTILE, 1]]).text().splitlines()
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)
    assert "\\n\\x1b[31mred" in lines[2]


def test_hostile_names_stay_in_one_markdown_cell():
    line = Table(["name", "n"], [[HOSTILE, 1]]).markdown().splitlines()[-1]
    cells = re.split(r"(?<!\\)\|", line)
    assert len(cells) == 4
    assert "\\*d\\* &lt;i&gt;&amp;lt; 50% \\$x\\$ {y}" in cells[1]
    assert "\\`q\\` \\[l\\](m)" in cells[1]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("nDCG_f@10", "nDCG_f@10"),
        ("my_long_run", "my_long_run"),
        ("_x_", "\\_x\\_"),
        ("a__b", "a\\_\\_b"),
        ("R&D", "R&D"),
    ],
)
def test_markdown_escapes_underscores_only_where_they_would_act(name, shown):
    assert Table([name], []).markdown().splitlines()[0] == f"| {shown} |"


def test_markdown_raises_letters_and_makes_the_best_bold():
    table = Table(["run", Column("AP", digits=2)], [["a", Cell(0.5, "bc", bold=True)]], title="T", notes=["n"])
    assert table.markdown().splitlines() == [
        "**T**",
        "",
        "| run | AP                     |",
        "|:----|-----------------------:|",
        "| a   | **0.50** <sup>bc</sup> |",
        "",
        "n",
    ]


def test_latex_is_a_booktabs_table_with_letters_in_their_own_column():
    rows = [["my_run", Cell(0.5, "b", bold=True), 3], ["other", -0.25, None]]
    table = Table(["run", Column("nDCG_f@10", digits=2), "n"], rows, title="50% more", notes=["p <= 0.05"])
    assert table.latex(label="tab:x").splitlines() == [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{50\% more}",
        r"\label{tab:x}",
        r"\begin{tabular}{lr@{\,}lr}",
        r"\toprule",
        r"run & \multicolumn{2}{c}{nDCG\_f@10} & n \\",
        r"\midrule",
        r"my\_run & \textbf{0.50} & \textsuperscript{b} & 3 \\",
        r"other & $-$0.25 &  & - \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip{\footnotesize p $\leq$ 0.05}",
        r"\end{table}",
    ]


def test_latex_escapes_every_special_character():
    line = Table(["name", "n"], [[HOSTILE, 1]]).latex().splitlines()[-4]
    bare = re.sub(r"\\text\w+\{\}|\\[{}&%$#_]", "", line.removesuffix(r" & 1 \\"))
    assert not re.search(r"[\\{}&%$#_~^<>|]", bare)


def test_latex_has_a_command_for_the_letters_of_the_studies():
    written = Table(["Φ", "Eρ²"], [["α", "τ, σ²"]]).latex()
    assert written.isascii()
    assert r"$\Phi$ & E$\rho$$^2$" in written


def test_huge_numbers_are_not_written_out():
    assert Column("x").written(1.5e99) == "1.5e+99"
    assert Column("x", digits=1).written(-123456789012.25) == "-123456789012.2"


@pytest.mark.parametrize(("name", "shown"), [("--x", "-{}-x"), ("[x]", "{[}x]"), ("*x", "{*}x"), ("x*", "x*")])
def test_latex_takes_nothing_for_a_command_of_its_own(name, shown):
    assert Table(["x"], [[name]]).latex().splitlines()[7] == rf"{shown} \\"


def test_rich_shows_the_same_without_reading_markup_in_names():
    out = io.StringIO()
    table = Table(
        ["run", Column("AP", digits=2)], [["[bold]x[/]", Cell(0.5, "a", bold=True)]], title="[T]", notes=["[n]"]
    )
    Console(file=out, width=80, force_terminal=False).print(table)
    shown = out.getvalue()
    assert all(word in shown for word in ("[bold]x[/]", "0.50 a", "[T]", "[n]", "run", "AP"))


def test_rich_makes_only_the_number_bold():
    cell = next(iter(Table([Column("AP", digits=2)], [[Cell(0.5, "ab", bold=True)]]).rich().columns[0].cells))
    assert cell.plain == "0.50 ab"
    assert {(s.style, cell.plain[s.start : s.end].strip()) for s in cell.spans} == {("bold", "0.50"), ("dim", "ab")}


def test_notebooks_show_markdown():
    table = Table(["x"], [[1]])
    assert table._repr_markdown_() == table.markdown()
