"""Charts: well-formed, told in words, nothing outside of the picture."""

import re
import xml.etree.ElementTree as ET

import pytest

from ranksift.report import charts
from ranksift.report.page import Figure, Paragraph, Section, Session, page

CHARTS = {
    "dumbbells": charts.dumbbells([("a<b", 0.0, 1.0), ("c&d", 1.0, 0.25)], ("x", "y")),
    "stacks": charts.stacks([("a<b", [0.5, 0.25, 0.0, 0.25])], ["w", "x", "y", "z"], ["good", "bad", "warn", "rest"]),
    "intervals": charts.intervals([("a<b", 0.5, 0.25, 1.0), ("c", 2.0, -1.0, 3.0), ("d", 0.0, float("nan"), 0.1)]),
    "strips": charts.strips([("a<b", [0.0, 0.5, 1.0, -2.5, 9.0, -9.0, 7.0])], -3, 3),
}


@pytest.mark.parametrize("name", CHARTS)
def test_well_formed_and_inside(name: str):
    svg = ET.fromstring(CHARTS[name])
    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    for node in svg.iter():
        for x in ("x", "x1", "x2", "cx"):
            assert 0 <= float(node.attrib.get(x, 0)) <= width
        for y in ("y", "y1", "y2", "cy"):
            assert 0 <= float(node.attrib.get(y, 0)) <= height
    assert "a<b" in svg.attrib["aria-label"]


def test_what_does_not_fit_is_counted():
    assert "1 beyond" in CHARTS["strips"]
    assert "2 beyond" in CHARTS["strips"]
    assert "4 of 7 outside of 0 to 1, from -9.00 to 9.00" in CHARTS["strips"]
    assert CHARTS["strips"].count('class="good dot"') == 3


def test_a_long_name_keeps_its_ends_and_is_told_whole():
    name = "bm25 <without> what is spam"
    svg = ET.fromstring(charts.dumbbells([(name, 0.5, 0.7), ("bm25", 0.5, 0.6)], ("x", "y")))
    drawn = {"".join(node.itertext()) for node in svg.iter() if node.get("class") == "name"}
    assert {f"{name}bm25 <w…s spam", "bm25"} <= drawn
    assert [node.text for node in svg.iter("title")] == [name]
    assert f"{name}: x 0.50, y 0.70" in svg.attrib["aria-label"]


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.7, 0.05), (0.02, 0.03)])
def test_a_number_near_0_does_not_cover_the_name(values):
    svg = ET.fromstring(charts.dumbbells([("overfiltered", *values)], ("x", "y")))
    (name,) = (node for node in svg.iter() if node.get("class") == "name" and node.text == "overfiltered")
    numbers = [node for node in svg.iter() if node.get("class") == "number"]
    assert len(numbers) == 2
    for number in numbers:
        width = {"end": 32, "middle": 16, "start": 0}[number.get("text-anchor")]  # four characters on a phone
        beside = float(number.get("y")) == float(name.get("y"))
        assert not beside or float(number.get("x")) - width >= float(name.get("x"))


def test_an_interval_that_is_not_known_is_not_drawn():
    assert CHARTS["intervals"].count('class="bond"') == 2
    assert "a<b 0.50 (0.25 to 1.00); c 2.00 (-1.00 to 3.00); d 0.00" in CHARTS["intervals"].replace("&lt;", "<")
    x1, x2 = map(
        float, re.search(r'class="bond" x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', CHARTS["intervals"]).groups()
    )
    at = float(re.search(r'class="second" cx="([\d.]+)"', CHARTS["intervals"]).group(1))
    assert (at - x1) * 2 == pytest.approx(x2 - at, abs=0.3)


def test_lengths_are_in_proportion():
    widths = [
        float(w) for w in re.findall(r'<rect class="\w+" x="[\d.]+" y="[\d.]+" width="([\d.]+)"', CHARTS["stacks"])
    ]
    assert widths == pytest.approx([2 * widths[1], widths[1], widths[1]], abs=0.2)


def test_sentences_of_a_session_may_be_broken_and_rows_may_not():
    sentence = "A letter: significantly better than <that> run."
    row = "perfect           0.8200  0.8200    0.0000    0.0000"
    html = Session("ranksift compare", f"{row}\n{sentence}\nshort\n").html()
    broken = '<span class="sentence">A letter: significantly better than &lt;that&gt; run.</span>'
    assert html.endswith(f"</b>\n{row}\n{broken}\nshort</pre>")


def test_page_escapes_what_it_is_given():
    session = Session('ranksift <x> "y"', "<script>1</script> & more\n", code=1)
    blocks = [Paragraph("<b> `<i>` & co"), session, Figure(CHARTS["stacks"], "<caption>")]
    html = page("<title>", "<lead>", [Section("<section>", blocks)], "<footer>")
    for word in ("script", "b", "i", "caption", "section", "lead", "footer"):
        assert f"&lt;{word}&gt;" in html
    assert "<script" not in html
    assert "exit code 1" in html
