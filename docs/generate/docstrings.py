"""Docstrings as Markdown: numpydoc's formulas and roles in the words of the pages."""

import re

_BLOCK = re.compile(r"^(?P<indent> *)\.\. math::(?P<body>.*(?:\n(?P=indent) +\S.*)*)", re.M)
_INLINE = re.compile(r":math:`(?P<body>[^`]+)`")
_ROLE = re.compile(r":\w+:`~?(?P<path>[^`]+)`")


def as_markdown(text: str) -> str:
    r"""A docstring whose formulas stand between the marks that pages have.

    >>> print(as_markdown("Gain of :math:`g_i`, see :class:`~ranksift.Gains`:\n\n.. math:: \\frac{1}\n    {2}"))
    Gain of \(g_i\), see `Gains`:
    <BLANKLINE>
    \[\frac{1} {2}\]
    """
    text = _BLOCK.sub(lambda found: f"{found['indent']}\\[{' '.join(found['body'].split())}\\]", text)
    text = _INLINE.sub(lambda found: f"\\({' '.join(found['body'].split())}\\)", text)
    return _ROLE.sub(lambda found: f"`{found['path'].removeprefix('ranksift.').rpartition('.')[2]}`", text)
