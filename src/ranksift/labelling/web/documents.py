"""Documents of strangers as pages of frames that can run nothing and fetch nothing.

Three walls, each of which would do alone: the frame is a sandbox without scripts, forms and new windows; the policy in
the header lets nothing be fetched; and the elements that act without either, such as ``<link rel="preconnect">``, lose
their names before they are sent.
"""

from __future__ import annotations

import re
from html import escape
from unicodedata import bidirectional

from ranksift.labelling.records import Item

#: Only inline styles and images inside the document. The sandbox counts where the document is opened by itself, too.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox allow-same-origin"
)

# Up to the end tag, of which the rest stays as that of another element.
_SCRIPTS = re.compile(r"<script\b.*?</script", re.IGNORECASE | re.DOTALL)
_END_OF_SCRIPT = re.compile("</script", re.IGNORECASE)
_ACTING = re.compile(
    r"<(?=/?(?:script|link|meta|base|iframe|frame|frameset|object|embed|applet|portal|fencedframe|noscript|plaintext|"
    r"template|title)(?![a-z0-9-]))(/?)",
    re.IGNORECASE,
)
_ATTRIBUTE = r"<html\b[^>]*\s{}\s*="
_HAS_DIRECTION = re.compile(_ATTRIBUTE.format("dir"), re.IGNORECASE)
_HAS_LANGUAGE = re.compile(_ATTRIBUTE.format("lang"), re.IGNORECASE)
_STYLED = re.compile(r"<style\b|\sstyle\s*=|\sbgcolor\s*=|<font\b", re.IGNORECASE)
_MARKUP = re.compile(r"<style\b.*?(?:</style|\Z)|<[^>]*>?|&#?\w+;", re.IGNORECASE | re.DOTALL)
_BEGINNING = 50_000  # where a letter is, if there is any
_OPENING = 4096  # where the <html> of a document is, if it has one


def page(item: Item, language: str = "") -> str:
    """The page of a document.

    Parameters
    ----------
    item
        The document.
    language
        That of the query, for documents that have none.

    Examples
    --------
    >>> from ranksift.labelling import Item
    >>> "<script" in page(Item("d", "<p>Hello<script>alert(1)</script>", media="html"))
    False
    """
    lang = item.language or language
    if item.media == "text":
        body, kind, own_lang, own_direction = f"<pre>{escape(item.content)}</pre>", "text", False, False
    else:
        body = inert(item.content)
        opening = body[:_OPENING]
        own_lang = not item.language and bool(_HAS_LANGUAGE.search(opening))
        own_direction = bool(_HAS_DIRECTION.search(opening))
        kind = "styled" if _STYLED.search(body) else "plain"
    attributes = "" if own_lang or not lang else f' lang="{escape(lang)}"'
    attributes += "" if own_direction else f' dir="{direction(item.content if item.media == "text" else body)}"'
    name = escape(item.title or item.doc_id)
    return (
        f'<!doctype html><html{attributes} data-kind="{kind}"><head><meta charset="utf-8"><title>{name}</title>'
        f'<meta name="viewport" content="width=device-width"><base target="_blank"><style>{_STYLE}</style></head><body>'
        f"{body}"
    )


def direction(content: str) -> str:
    """The direction of the first letter that has one.

    Browsers could find it (``dir="auto"``), but Chromium does so again with every element that arrives: a large
    document would take minutes.

    >>> direction("<p>1. سلام"), direction("<p>1. hello"), direction("...")
    ('rtl', 'ltr', 'ltr')
    """
    for character in _MARKUP.sub(" ", content[:_BEGINNING]):
        kind = bidirectional(character)
        if kind in ("R", "AL", "L"):
            return "ltr" if kind == "L" else "rtl"
    return "ltr"


def inert(html: str) -> str:
    """HTML without scripts, and with harmless names for elements that act by themselves.

    The names go last and wherever they stand, so that nothing that is put together from pieces escapes.

    >>> inert('<link rel=preconnect href=//evil><ME<script></script>TA http-equiv=refresh>')
    '<x-link rel=preconnect href=//evil><ME</x-s>TA http-equiv=refresh>'
    """
    html = html.replace("\0", "")
    end = 0
    for end_tag in _END_OF_SCRIPT.finditer(html):
        end = end_tag.end()
    # What is never closed is shown. Only before the last end tag is each search sure to find one, and so linear.
    return _ACTING.sub(r"<\1x-", _SCRIPTS.sub("</x-s", html[:end]) + html[end:])


_STYLE = """
:root{color-scheme:light;background:#fff;color:#1b1f27;font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","Vazirmatn",Tahoma,sans-serif}
body{margin:0;padding:16px 18px 40px;overflow-wrap:break-word}
pre{margin:0;font:inherit;white-space:pre-wrap;unicode-bidi:plaintext;overflow-wrap:anywhere}
p,li,h1,h2,h3,h4,td,th,blockquote{unicode-bidi:plaintext;text-align:start}
h1{font-size:1.35em;line-height:1.3;margin:.2em 0 .6em}h2{font-size:1.15em}
img,table,video,svg{max-width:100%}body>:first-child{margin-top:0}
input,button,select,textarea{pointer-events:none}
x-title,x-template{display:none}
@media(prefers-color-scheme:dark){:root:not([data-kind=styled]){color-scheme:dark;background:#171a21;color:#e3e6ec}
:root:not([data-kind=styled]) a{color:#9db8ff}}
""".replace("\n", "")
