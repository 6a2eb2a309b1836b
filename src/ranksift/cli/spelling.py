"""Options instead of the Python parameters that messages of the library name."""

from __future__ import annotations

import re

_SWITCH = re.compile(r"\b(allow_empty|any_scale|skip_bad_rows)=True\b")
_CHOICE = re.compile(r"\b(on_duplicate|queries|sampler|unjudged)='(\w+)'(?: \(or '(\w+)'\))?")
#: Not the gains of one measure, which both spell in the same way: ``nDCG_f(gains={-2: -10})``.
_MAPPING = re.compile(r"(?<![(\w])(?<!, )(gains|labels|columns)=\{([^{}]+)\}")


def as_options(message: str) -> str:
    """A message of the library, in the words of the command line.

    >>> as_options("use unjudged='drop', or allow_empty=True")
    'use --unjudged drop, or --allow-empty'
    >>> as_options("write gains={0: -1}; or labels={'good': 2, 'bad': -1}")
    'write --gains="0=-1"; or --labels="good=2,bad=-1"'
    """
    message = _SWITCH.sub(lambda found: _option(found[1]), message)
    message = _CHOICE.sub(
        lambda found: f"{_option(found[1])} {found[2]}" + (f" (or {found[3]})" if found[3] else ""), message
    )
    return _MAPPING.sub(lambda found: f'{_option(found[1])}="{_pairs(found[2])}"', message)


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _pairs(text: str) -> str:
    """``'good': 2, 'bad': -1`` as ``good=2,bad=-1``."""
    return ",".join(re.sub(r"\s*:\s*", "=", pair.strip().replace("'", "")) for pair in text.split(","))
