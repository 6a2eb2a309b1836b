"""Figures as files."""

import re

import pytest

from ranksift.report.figures import svg_of


def drawn(last: float) -> str:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([0.0, 1.0, last], [0.1, 0.2, 0.1], "o-")
    return svg_of(figure)


def test_the_last_bit_of_a_number_changes_no_byte():
    assert drawn(3.0) == drawn(3.0 * (1 - 2**-52))
    assert drawn(3.0) != drawn(3.1)


def test_names_inside_a_figure_lead_to_what_it_defines():
    svg = drawn(3.0)
    defined = re.findall(r'\bid="([^"]+)"', svg)
    assert len(defined) == len(set(defined))
    assert set(re.findall(r"#([pm][^\")]+)", svg)) <= set(defined)


def test_two_figures_on_one_page_do_not_share_clips():
    clips = [set(re.findall(r'<clipPath id="([^"]+)"', drawn(x))) for x in (3.0, 3.1)]
    assert clips[0]
    assert not clips[0] & clips[1]
