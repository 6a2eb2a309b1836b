"""One self-contained HTML page: paragraphs, sessions of the command line, tables, charts. Nothing is fetched."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape as escape_marks
from typing import Protocol
from urllib.parse import quote

from ranksift.errors import on_one_line
from ranksift.evaluation.table import Table

# The characters of a line of a terminal for which a phone has room.
_NARROW = 36


def escape(text: str, quote: bool = True) -> str:
    r"""Text as HTML, line by line; names in it can neither add marks of their own nor turn the direction of writing.

    >>> print(escape("<b>\u202e"))
    &lt;b&gt;\u202e
    """
    return escape_marks("\n".join(map(on_one_line, text.split("\n"))), quote)


@dataclass(frozen=True)
class Paragraph:
    """Words; ``code`` in backticks."""

    text: str

    def html(self) -> str:
        """As HTML."""
        pieces = escape(self.text, quote=False).split("`")
        return f"<p>{''.join(f'<code>{p}</code>' if i % 2 else p for i, p in enumerate(pieces))}</p>"


@dataclass(frozen=True)
class Session:
    """A command and what it printed."""

    command: str
    output: str
    code: int = 0

    def html(self) -> str:
        """As HTML."""
        ending = f'\n<b class="code">exit code {self.code}</b>' if self.code else ""
        prompt = f'<b class="prompt">$ {escape(self.command, quote=False)}</b>'
        printed = "\n".join(map(_printed, self.output.rstrip().split("\n")))
        return f'<pre tabindex="0">{prompt}\n{printed}{ending}</pre>'


def _printed(line: str) -> str:
    """A line of a terminal: a sentence may be broken, a row of a table, whose columns stand apart, may not."""
    escaped = escape(line, quote=False)
    return f'<span class="sentence">{escaped}</span>' if len(line) > _NARROW and "  " not in line else escaped


@dataclass(frozen=True)
class Figure:
    """A chart with its caption."""

    svg: str
    caption: str

    def html(self) -> str:
        """As HTML."""
        return f"<figure>{self.svg}<figcaption>{escape(self.caption, quote=False)}</figcaption></figure>"


@dataclass(frozen=True)
class Image:
    """A drawing with its caption; it keeps its own colours, and its names to itself."""

    svg: str
    caption: str

    def html(self) -> str:
        """As HTML."""
        data = b64encode(self.svg.encode()).decode()
        words = escape(self.caption, quote=True)
        return (
            f'<figure class="drawing"><img src="data:image/svg+xml;base64,{data}" alt="{words}">'
            f"<figcaption>{words}</figcaption></figure>"
        )


@dataclass(frozen=True)
class Heading:
    """The beginning of a part of a section."""

    text: str

    def html(self) -> str:
        """As HTML."""
        return f"<h3>{escape(self.text)}</h3>"


@dataclass(frozen=True)
class Bullets:
    """Sentences, each on its own."""

    items: Sequence[str]

    def html(self) -> str:
        """As HTML."""
        return f"<ul>{''.join(f'<li>{escape(item, quote=False)}</li>' for item in self.items)}</ul>"


@dataclass(frozen=True)
class Grid:
    """A table of results; where it is wider than the page, it can be moved sideways."""

    table: Table

    def html(self) -> str:
        """As HTML."""
        return f'<div class="grid" tabindex="0">{self.table.html()}</div>'


@dataclass(frozen=True)
class Files:
    """Links to files beside the page."""

    names: Sequence[str]

    def html(self) -> str:
        """As HTML."""
        links = (f'<a href="{quote(name)}">{escape(name)}</a>' for name in self.names)
        return f'<p class="files">{" ".join(links)}</p>'


class Block(Protocol):
    """A piece of a page."""

    def html(self) -> str:
        """As HTML."""
        ...


@dataclass
class Section:
    """A chapter of the page."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def html(self, number: int) -> str:
        """As HTML."""
        title = f"<h2><span>{number}</span>{escape(self.title)}</h2>"
        return f'<section id="part-{number}">{title}{"".join(b.html() for b in self.blocks)}</section>'


def page(title: str, lead: str, sections: Sequence[Section], footer: str = "", *, answer: Sequence[Block] = ()) -> str:
    """The page as HTML; the answer comes before the table of contents.

    >>> html = page("Title", "What it is about.", [Section("One", [Paragraph("Use `ranksift`.")])])
    >>> html.startswith("<!doctype html>"), "<code>ranksift</code>" in html
    (True, True)
    """
    links = "".join(f'<li><a href="#part-{i}">{escape(s.title)}</a></li>' for i, s in enumerate(sections, 1))
    parts = "".join(s.html(i) for i, s in enumerate(sections, 1))
    first = "".join(block.html() for block in answer)
    head = f"<title>{escape(title)}</title><style>{_STYLE}</style>"
    body = f"<header><h1>{escape(title)}</h1>{Paragraph(lead).html()}{first}<nav><ol>{links}</ol></nav></header>"
    end = f"<footer>{Paragraph(footer).html()}</footer>" if footer else ""
    return f"{_START}<head>{_META}{head}</head><body><main>{body}{parts}{end}</main></body></html>\n"


_START = '<!doctype html>\n<html lang="en">'
_META = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
_STYLE = """
:root{color-scheme:light dark;--paper:#fbfaf8;--card:#fff;--ink:#1d2329;--soft:#5b6670;--line:#e3e0da;--term:#20262d;
--term-ink:#dfe5ea;--good:#0f8a6c;--bad:#cf3b34;--warn:#d98a12;--rest:#9aa3ab;--first:#9aa3ab;--second:#1f6fb8;
--band:#0f8a6c1a;--inside:#fff}
@media (prefers-color-scheme:dark){:root{--paper:#14181c;--card:#1b2127;--ink:#e4e8ec;--soft:#9aa6b1;--line:#303941;
--term:#0d1114;--term-ink:#d5dce2;--good:#31b592;--bad:#ef6a62;--warn:#e7a53c;--rest:#6d7881;--first:#7d8992;
--second:#58a6ec;--band:#31b59222;--inside:#10161b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:17px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%}
main{max-width:46rem;margin:0 auto;padding:2rem 1.1rem 4rem}
h1{font-size:clamp(1.7rem,6vw,2.2rem);line-height:1.15;margin:0 0 .6rem;letter-spacing:-.02em}
h2{font-size:1.35rem;line-height:1.25;margin:3.2rem 0 .8rem;display:flex;gap:.7rem;align-items:baseline}
h2 span{color:var(--second);font-variant-numeric:tabular-nums;font-size:1rem;min-width:1.1rem}
h1+p{font-size:1.1rem;color:var(--soft);margin:0 0 .8rem}
nav ol{margin:0;padding-left:1.4rem;color:var(--soft)}
a{color:var(--second);text-decoration-thickness:1px;text-underline-offset:3px}
p{margin:.8rem 0}p,li,h1,h2,h3,figcaption{overflow-wrap:anywhere}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--line);padding:.1em .3em;
border-radius:4px;overflow-wrap:anywhere}
pre{background:var(--term);color:var(--term-ink);font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;
padding:1rem 1.1rem;border-radius:10px;overflow-x:auto;margin:1.1rem 0;white-space:pre}
pre b{font-weight:600}.sentence{white-space:pre-wrap}.prompt{color:#8cc8ff;white-space:pre-wrap}.code{color:#ff9d96}
figure{margin:1.4rem 0;background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1rem .8rem .9rem}
figcaption{color:var(--soft);font-size:.93rem;line-height:1.5;margin:.5rem .4rem 0}
footer{margin-top:4rem;border-top:1px solid var(--line);color:var(--soft);font-size:.93rem}
svg{display:block;width:100%;height:auto;font:13px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
svg text{fill:var(--ink)}svg .mark,svg .number{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
svg .grid{stroke:var(--line);stroke-width:1}svg .bond{stroke:var(--rest);stroke-width:2;opacity:.6}
svg .band{fill:var(--band)}svg .dot{opacity:.75}svg .beyond{fill:var(--bad);font-weight:600}
svg .good{fill:var(--good)}svg .bad{fill:var(--bad)}svg .warn{fill:var(--warn)}svg .rest{fill:var(--rest)}
svg .zero{stroke:var(--soft);stroke-width:1}svg .marked{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
svg .line{fill:none;stroke-width:2.2}svg .line-second{stroke:var(--second)}svg .line-good{stroke:var(--good)}
svg .line-warn{stroke:var(--warn)}svg .line-bad{stroke:var(--bad)}svg .line-rest{stroke:var(--rest)}
svg .first{fill:var(--first)}svg .second{fill:var(--second)}
svg .inside{font-size:12px;font-variant-numeric:tabular-nums;fill:var(--inside);font-weight:600}
svg .on-warn,svg .on-rest{fill:#1d2329}
h3{font-size:1.08rem;margin:2.2rem 0 .5rem}
ul{padding-left:1.2rem;margin:.8rem 0}li{margin:.3rem 0}
.drawing{background:#fff}.drawing img{display:block;max-width:100%;height:auto;margin:0 auto}
.drawing figcaption{color:#5b6670}
.grid{overflow-x:auto;margin:1.2rem 0}
@media screen and (min-width:52rem){.grid{width:max-content;min-width:100%;max-width:calc(50vw + 21rem)}
.grid .note{max-width:43rem}}
table{border-collapse:collapse;font-size:.88rem;line-height:1.4;font-variant-numeric:tabular-nums}
caption{text-align:left;color:var(--soft);padding:0 0 .5rem}
th,td{padding:.32rem .7rem;text-align:left;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;border-bottom-width:2px;white-space:normal;vertical-align:bottom}
@media (max-width:40rem){th,td{padding:.32rem .45rem}td:first-child,td:nth-child(2):last-child{white-space:normal}
svg{font-size:15.5px}svg .mark,svg .number,svg .inside{font-size:14.5px}}
th.num,td.num{text-align:right}td small{color:var(--soft)}
.note,.files{color:var(--soft);font-size:.88rem;line-height:1.5;margin:.5rem 0}
.files a{margin-right:.7rem;display:inline-block;max-width:100%;overflow-wrap:anywhere}
@media print{body{background:#fff;font-size:11pt}main{max-width:none;padding:0}pre{white-space:pre-wrap}
h2,h3{break-after:avoid}figure,tr{break-inside:avoid}nav,.files{display:none}.grid{overflow:visible}
table{font-size:8pt}td,th{padding:.2rem .35rem;white-space:normal}}
"""
