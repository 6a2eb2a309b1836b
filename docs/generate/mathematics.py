"""Formulas as MathML, which browsers draw by themselves: no script, nothing from the network."""

import re
from html import unescape

from latex2mathml.converter import convert

_WORD = re.compile(r"(?P<keep>\\text\{[^}]*\}|\\[A-Za-z]+)|[A-Za-z]{2,}")
_SPAN = re.compile(r'<(?P<tag>span|div) class="arithmatex">(?P<body>.*?)</(?P=tag)>', re.S)


def draw(html: str) -> str:
    """A page with its formulas drawn."""
    return _SPAN.sub(_formula, html)


def _formula(match: re.Match[str]) -> str:
    body = unescape(match["body"]).strip()
    block = body.startswith(r"\[")
    latex = upright(" ".join(body[2:-2].split()))
    mathml = convert(latex, display="block" if block else "inline")
    return f'<div class="formula">{mathml}</div>' if block else mathml


def upright(latex: str) -> str:
    r"""Names of several letters upright, as one word and not as a product of letters.

    >>> print(upright(r"nDCG_{min} = \frac{x}{W_k} \text{ where it is}"))
    \mathrm{nDCG}_{\mathrm{min}} = \frac{x}{W_k} \text{ where it is}
    """
    return _WORD.sub(lambda word: word["keep"] or rf"\mathrm{{{word[0]}}}", latex)
