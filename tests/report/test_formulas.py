"""Formulas as text."""

import pytest

from ranksift.measures.measure import CATALOGUE
from ranksift.report.catalogue import entry
from ranksift.report.formulas import plain


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{a}{b}", "a/b"),
        (r"\frac{a + b}{c}", "(a + b)/c"),
        (r"\frac{-a}{f(x + 1)}", "(-a)/f(x + 1)"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"x_{k,f}^{i-1}", "x_k,f^{i-1}"),
        (r"\max\{0, g_i\} \ge 1 \quad (0 \text{ where } I = W)", "max{0, g_i} ≥ 1   (0 where I = W)"),
        (r"\unknown x", r"\unknown x"),
        ("", ""),
    ],
)
def test_plain(latex: str, text: str):
    assert plain(latex) == text


@pytest.mark.parametrize("name", CATALOGUE)
def test_brackets_of_the_catalogue_match(name: str):
    formula = entry(CATALOGUE[name]).formula
    for left, right in ("()", "{}", "[]", "⟨⟩"):
        assert formula.count(left) == formula.count(right), formula
