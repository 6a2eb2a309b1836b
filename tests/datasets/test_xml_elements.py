"""XML from strangers: read with lines, refused in one line."""

import pytest

import ranksift as rs
from ranksift.datasets.xml_elements import read_xml

BOMB = '<!DOCTYPE r [<!ENTITY a "ha">\n<!ENTITY b "&a;&a;&a;">]>\n<r>&b;</r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<r>&a;</r>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "x.xml:1: entity 'a' is not one of XML's own; write the text itself"),
        (OUTSIDE, "x.xml:1: entity 'a' is not one of XML's own; write the text itself"),
        ('<!DOCTYPE r SYSTEM "r.dtd">\n<r>\n&a;</r>', "x.xml:3: entity 'a' is not one of XML's own"),
        ("<r>\n&a;</r>", "x.xml:2: damaged XML (undefined entity); fetch the file again"),
        ("<r>\n<a>\n</r>", "x.xml:3: damaged XML (mismatched tag); fetch the file again"),
        ("<r>\n<a/>", "x.xml:2: damaged XML (no element found); fetch the file again"),
        ("<r/>\n<r/>", "x.xml:2: damaged XML (junk after document element); fetch the file again"),
        ("Q1,Good\n", "x.xml:1: damaged XML (syntax error); fetch the file again"),
        ("", "x.xml: the file is empty; fetch the file again"),
        (b"<r>\n\xff</r>", "x.xml:2: byte 0xff is not UTF-8; save the file as UTF-8"),
    ],
)
def test_what_is_refused(write, text, says):
    with pytest.raises(rs.InputError) as error:
        read_xml(write("x.xml", text))
    assert says in str(error.value)


def test_declared_elements_packed_files_and_references(write):
    text = '<!DOCTYPE r [<!ELEMENT r (a)>]>\n<r>\n<a n="&lt;1">x &#1740;\ny<![CDATA[<b>]]></a><a/></r>'
    root = read_xml(write("x.xml.gz", text))
    first, second = root.parts("a")
    assert (root.line, first.line, second.line) == (2, 3, 4)
    assert (first.attribute("n"), first.text(), second.text()) == ("<1", "x ی\ny<b>", "")
    assert list(root.all("a")) == [first, second]


def test_the_order_of_all_is_that_of_the_file(write):
    root = read_xml(write("x.xml", '<r><a n="1"><a n="2"/></a><b><a n="3"/></b></r>'))
    assert [a.attribute("n") for a in root.all("a")] == ["1", "2", "3"]


def test_what_an_element_does_not_have(write):
    root = read_xml(write("x.xml", "<r>\n<a>text<b/></a>\n<a/>\n</r>"))
    a = root.parts("a")[0]
    for call, says in [
        (lambda: a.attribute("id"), "x.xml:2: <a>: it has no id"),
        (lambda: a.parts("b"), "x.xml:2: <a>: text stands between its elements"),
        (lambda: root.parts("b"), "x.xml:2: <a>: not expected in <r>"),
        (lambda: root.part("a"), "x.xml:1: <r>: it has 2 <a>"),
        (lambda: root.part("b"), "x.xml:1: <r>: it has no <b>"),
        (a.text, "x.xml:2: <b>: not expected in the text of <a>"),
    ]:
        with pytest.raises(rs.InputError) as error:
            call()
        assert says in str(error.value)
