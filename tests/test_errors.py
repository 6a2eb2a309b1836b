"""Errors: one line, of a length that can be read."""

import pytest

import ranksift as rs
from ranksift import InputError
from ranksift.cli.output import note
from ranksift.evaluation.table import Table
from ranksift.plotting import shown as shown_in_a_picture
from ranksift.report.charts import dumbbells
from ranksift.report.page import Bullets, Files, Heading, Image, Paragraph, Section, Session, page


def test_what_is_quoted_at_length_is_shortened():
    said = str(
        InputError(f"label {'x' * 100_000!r} is not a number", source="qrels.txt", line=3, remedy="give a number")
    )
    assert said.startswith("qrels.txt:3: label 'xxx")
    assert said.endswith("is not a number; give a number")
    assert len(said) < 1300


def test_what_is_not_too_long_stays_whole():
    assert str(InputError("x" * 1000, remedy="y")) == f"{'x' * 1000}; y"


def test_a_line_stays_a_line_when_it_is_shortened():
    assert "\n" not in str(InputError("a\nb" * 10_000))


@pytest.mark.parametrize("values", ["x", None, [["a"]], object(), [[1.0], [1.0, 2.0]]])
def test_scores_of_nonsense(values):
    with pytest.raises(InputError):
        rs.Scores.from_array(values, runs=["a"], queries=["q"], measures=["AP"])


@pytest.mark.parametrize("names", [{"runs": 5}, {"queries": None}, {"measures": 3}])
def test_scores_with_names_that_are_none(names):
    with pytest.raises(InputError, match="are not lists of names"):
        rs.Scores.from_array([[[1.0]]], **{"runs": ["a"], "queries": ["q"], "measures": ["AP"], **names})


@pytest.mark.parametrize("order", [5, None, [["a"], ["b"]], [{}]])
def test_an_order_that_is_none(order):
    with pytest.raises(InputError, match="order"):
        rs.topk_labels(order, 2)


ACTING = ["\u202e", "\u2066", "\u200b", "\u200f", "\ufeff", "\x1b", "\x00", "\x85", "\x9b", "\u2028", "\ud800"]


@pytest.mark.parametrize("character", ACTING)
def test_characters_that_act_are_shown_instead(character: str):
    name, seen = f"a{character}b", f"a{ascii(character)[1:-1]}b"
    table = Table([name], [[name]], title=name, notes=[name])
    html = page(name, name, [Section(name, [Paragraph(name), Session(name, name), Bullets([name]), Heading(name)])])
    for shown in (table.text(), table.html(), html, dumbbells([(name, 0.1, 0.2)], (name, name))):
        assert seen in shown
        assert character not in shown
    assert seen.replace("\\", "\\\\") in table.markdown()
    assert character not in table.markdown() + table.latex()
    assert shown_in_a_picture(name) in (seen, "a b")


@pytest.mark.parametrize("name", ["שלום", "سلام", "e\u0301", "日本語", "می\u200cکند", "क्\u200dष"])
def test_letters_of_other_scripts_stay(name: str):
    assert name in Paragraph(name).html()
    assert name in Table([name], []).html()
    assert shown_in_a_picture(name) == name


@pytest.mark.parametrize("name", ["a\u200cb", "\u200cمی", "می\u200c", "می\u200c کند", "می\u200c\u200cکند", "1\u200d2"])
def test_joiners_that_join_nothing_are_shown(name: str):
    shown = Table([name], [[name]]).text()
    assert "\\u200" in shown
    assert not {"\u200c", "\u200d"} & {*shown}


def test_a_session_keeps_its_lines():
    assert "one\ntwo" in Session("command", "one\ntwo\n").html()


def test_a_name_adds_nothing_to_a_page():
    name = "\"><script>alert(1)</script><img onerror='x'>"
    drawn = dumbbells([(name, 0.1, 0.2)], (name, name))
    html = page(name, name, [Section(name, [Paragraph(name), Image("<svg/>", name), Files([name]), Heading(name)])])
    for shown in (html, drawn, Table([name], [[name]], title=name).html()):
        assert "<script" not in shown
        assert "<img onerror" not in shown
    assert f'alt="{name}' not in html


def test_a_long_note_is_shortened(capsys):
    note(f"{'x' * 100_000}; rename it")
    said = capsys.readouterr().err
    assert len(said) < 1300
    assert said.endswith("; rename it\n")
