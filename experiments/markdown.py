"""Numbers, sentences and tables of a page."""

import textwrap
from collections.abc import Iterable, Sequence

#: A table of more cells than this is dense.
DENSE = 80

_WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """A number with a true minus, and no sign before zero."""
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def percent(share: float, digits: int = 1) -> str:
    """A share in percent."""
    return f"{number(100 * share, digits)} %"


def probability(p: float) -> str:
    """A p-value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def between(values: Iterable[float], digits: int = 3, sign: bool = False) -> str:
    """The range of some numbers."""
    ordered = sorted(values)
    low, high = number(ordered[0], digits, sign), number(ordered[-1], digits, sign)
    return low if low == high else f"{low} to {high}"


def word(count: int) -> str:
    """A count, in letters where it is small."""
    return _WORDS[count] if count < len(_WORDS) else str(count)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first ``words`` columns stand to the left, numbers to the right."""
    lines = [head, ["---"] * words + ["--:"] * (len(head) - words), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def best_bold(columns: Sequence[Sequence[float]], digits: int = 4) -> list[list[str]]:
    """Columns of numbers as rows of cells, the highest of each column in bold."""
    written = []
    for column in columns:
        cells = [number(value, digits) for value in column]
        top = number(max(column), digits)
        written.append([f"**{cell}**" if cell == top and len(cells) > 1 else cell for cell in cells])
    return [list(row) for row in zip(*written, strict=True)]


def filled(text: str, *, fold: bool = False) -> str:
    """A page with its paragraphs and lists filled to an even width.

    ``fold`` hides dense tables until a reader opens them.
    """
    blocks = (_filled(block) for block in text.strip().split("\n\n") if block.strip())
    return "\n\n".join(map(_folded, blocks) if fold else blocks) + "\n"


def _folded(block: str) -> str:
    """A table of many cells behind a line that opens it; anything else as it is."""
    rows = block.split("\n")[2:]
    if not block.startswith("|") or len(rows) * (block.partition("\n")[0].count("|") - 1) <= DENSE:
        return block
    opening = f'<details markdown="1">\n<summary>Show the table ({len(rows)} rows)</summary>'
    return f"{opening}\n\n{block}\n\n</details>"


def _filled(block: str) -> str:
    if block.startswith(("|", "#", "!", "```", "<")):
        return block
    items = [item for item in ("\n" + block).split("\n- ") if item.strip()]
    if not block.startswith("- "):
        return _wrapped(block, "")
    return "\n".join(_wrapped(item, "- ") for item in items)


def _wrapped(text: str, mark: str) -> str:
    return textwrap.fill(
        " ".join(text.split()),
        width=118,
        initial_indent=mark,
        subsequent_indent=" " * len(mark),
        break_long_words=False,
        break_on_hyphens=False,
    )
