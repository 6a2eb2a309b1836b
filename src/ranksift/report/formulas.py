"""Formulas in a terminal: the LaTeX of the docstrings as one line of text."""

from __future__ import annotations

import re

_SYMBOLS = {
    r"\sum": "Σ", r"\prod": "Π", r"\ge": "≥", r"\le": "≤", r"\in": "∈", r"\notin": "∉", r"\exists": "∃", r"\cdot": "·",
    r"\dots": "…", r"\langle": "⟨", r"\rangle": "⟩", r"\kappa": "κ", r"\log": "log", r"\min": "min", r"\max": "max",
    r"\bar": "mean", r"\quad": "\n", r"\,": " ", r"\ ": " ", r"\left": "", r"\right": "",
    r"\exp": "exp", r"\beta": "β", r"\epsilon": "ε", r"\{": "{", r"\}": "}", r"\_": "_",
}  # fmt: skip
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)


def plain(latex: str) -> str:
    r"""Write a formula on one line.

    >>> print(plain(r"nDCG_f@k = \frac{DCG@k - W_{k,f}}{I_{k,f} - W_{k,f}}"))
    nDCG_f@k = (DCG@k - W_k,f)/(I_k,f - W_k,f)
    >>> print(plain(r"DCG@k = \sum_{i=1}^{k} \frac{g_i}{\log_2(i+1)}"))
    DCG@k = Σ_{i=1}^k g_i/log_2(i+1)
    """
    text = _written(_TOKEN.findall(" ".join(latex.split())))
    return re.sub(r" +", " ", text).replace(" \n ", "   ").strip()


def _written(tokens: list[str]) -> str:
    """Write all tokens, taking them off the list up to the end of the group."""
    out = ""
    while tokens:
        token = tokens.pop(0)
        if token == "}":
            break
        if token == "{":
            out += _written(tokens)
        elif token in ("_", "^"):
            out += token + _script(_argument(tokens))
        elif token == r"\frac":
            top, bottom = _argument(tokens), _argument(tokens)
            out += f"{_part(top)}/{_part(bottom)}"
        elif token == r"\text":
            out += _argument(tokens)
        else:
            out += _SYMBOLS.get(token, token)
    return out


def _argument(tokens: list[str]) -> str:
    while tokens and tokens[0].isspace():
        tokens.pop(0)
    token = tokens.pop(0)
    return _written(tokens) if token == "{" else _SYMBOLS.get(token, token)


def _script(text: str) -> str:
    """An index or exponent: in braces where its end could not be seen."""
    return text if re.fullmatch(r"[\w,]+", text) else f"{{{text}}}"


def _part(text: str) -> str:
    """One side of a fraction: in brackets where it is more than one word."""
    outside = text
    for brackets in (r"\([^()]*\)", r"\{[^{}]*\}"):
        outside = re.sub(brackets, "", outside)
    return f"({text})" if re.search(r"[ +/]|^-", outside) else text
