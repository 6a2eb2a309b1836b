"""The words of a document, without the markup of HTML: what models read."""

from __future__ import annotations

from html.parser import HTMLParser

from ranksift.labelling.records import Item

_UNREAD = frozenset({"script", "style", "template", "noscript", "head"})
_INLINE = frozenset(
    "a abbr b bdi bdo cite code em font i mark q s small span strong sub sup u wbr".split()  # noqa: SIM905
)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unread: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNREAD:
            self._unread.append(tag)
        elif tag == "body":
            self._unread.clear()  # a head need not be closed
        if tag not in _INLINE:
            self.pieces.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unread:
            del self._unread[self._unread.index(tag) :]
        if tag not in _INLINE:
            self.pieces.append(" ")

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.pieces.append(data)


def text_of_html(html: str) -> str:
    """The text of HTML, with runs of blanks collapsed.

    Examples
    --------
    >>> text_of_html("<head><title>T</title></head><p>One <b>bo</b>ld</p><script>x()</script><p>&amp; two")
    'One bold & two'
    """
    words = _Words()
    words.feed(html)
    words.close()
    return " ".join("".join(words.pieces).split())


def text_of(item: Item) -> str:
    """The title and the text of a document, as a model reads them.

    Examples
    --------
    >>> text_of(Item("d1", "<p>Open daily.", title="Bakery", media="html"))
    'Bakery. Open daily.'
    """
    text = text_of_html(item.content) if item.media == "html" else item.content
    if item.title and not text.startswith(item.title):
        return f"{item.title.rstrip('.')}. {text}"
    return text or item.title or "(empty)"
