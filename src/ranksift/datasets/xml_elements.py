"""XML of collections: elements that know the line on which they begin."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from ranksift.errors import InputError
from ranksift.files import display_name, read_text

FETCH_AGAIN = "fetch the file again"


@dataclass(eq=False)
class Element:
    """An element of a file.

    Attributes
    ----------
    source, line
        Where it begins.
    tag, attributes, children
        What it is, and what is in it.
    pieces
        Its own text, without that of its children.
    """

    source: str
    line: int
    tag: str
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def wrong(self, what: str) -> InputError:
        """Make the error that names this element."""
        return InputError(f"<{self.tag}>: {what}", source=self.source, line=self.line, remedy=FETCH_AGAIN)

    def attribute(self, name: str) -> str:
        """The value of an attribute that must be there."""
        value = self.attributes.get(name)
        if value is None:
            raise self.wrong(f"it has no {name}")
        return value

    def parts(self, *tags: str) -> list[Element]:
        """The elements in this one, which has no text of its own; others than these are refused."""
        if "".join(self.pieces).strip():
            raise self.wrong("text stands between its elements")
        for child in self.children:
            if child.tag not in tags:
                raise child.wrong(f"not expected in <{self.tag}>")
        return self.children

    def part(self, tag: str) -> Element:
        """The one element of this tag in this one."""
        found = [child for child in self.children if child.tag == tag]
        if len(found) != 1:
            raise self.wrong(f"it has {len(found) or 'no'} <{tag}>")
        return found[0]

    def text(self) -> str:
        """The text of an element that has nothing else in it."""
        if self.children:
            raise self.children[0].wrong(f"not expected in the text of <{self.tag}>")
        return "".join(self.pieces)

    def all(self, tag: str) -> Iterator[Element]:
        """Every element of this tag, however deep, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if element.tag == tag:
                yield element
            waiting.extend(reversed(element.children))


def read_xml(source: str | os.PathLike[str]) -> Element:
    r"""Read a file of elements.

    Whatever declares an entity, or needs one that it does not declare, is refused: entities of a few lines can fill
    the memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "answers.xml"
    ...     _ = file.write_text("<root>\n<answer id='1'>yes &amp; no</answer>\n</root>")
    ...     [(answer.line, answer.attribute("id"), answer.text()) for answer in read_xml(file).parts("answer")]
    [(2, '1', 'yes & no')]
    """
    name = display_name(source)
    above = Element(name, 1, "", {})
    open_elements = [above]
    parser = expat.ParserCreate("utf-8")  # read_text makes sure of it, whatever the first line says
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(name, parser.CurrentLineNumber, tag, attributes)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def refuse(entity: str, *_: object) -> NoReturn:
        what = f"entity {entity[:40]!r} is not one of XML's own"
        raise InputError(what, source=name, line=parser.CurrentLineNumber, remedy="write the text itself")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = lambda text: open_elements[-1].pieces.append(text)
    parser.EntityDeclHandler = refuse
    parser.SkippedEntityHandler = refuse
    try:
        parser.Parse(read_text(source, if_empty=FETCH_AGAIN), True)
    except expat.ExpatError as error:
        what = f"damaged XML ({expat.ErrorString(error.code)})"
        raise InputError(what, source=name, line=error.lineno, remedy=FETCH_AGAIN) from None
    return above.children[0]
