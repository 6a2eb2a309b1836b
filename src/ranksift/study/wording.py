"""Results in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def joined(items: Iterable[object], most: int = 4) -> str:
    """Write an enumeration, of many items the first ones.

    >>> joined(["AP", "RR", "P@10"]), joined("abcdef")
    ('AP, RR and P@10', 'a, b, c and 3 more')
    """
    *first, last = map(str, items)
    if len(first) >= most:
        first, last = first[: most - 1], f"{len(first) - most + 2} more"
    return f"{', '.join(first)} and {last}" if first else last


def percent(share: float) -> str:
    """Write a share: 0 and 100 % mean none and all.

    >>> percent(0.1234), percent(0.99999), percent(0.0)
    ('12.3%', '>99.9%', '0%')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f}%"
    return "<0.1%" if share < 0.0005 else ">99.9%" if share > 0.9995 else f"{100 * share:.1f}%"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Write a number of things.

    >>> counted(1, "query", "queries"), counted(3, "topic")
    ('1 query', '3 topics')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def ranked(values: Mapping[str, float], written: str = "{:.3f}", *, largest_first: bool = True, most: int = 6) -> str:
    """Write values in their order, each with its name; those that are written alike stand together.

    >>> ranked({"AP": 0.5, "RR": 0.7}), ranked({"AP": 0.5, "RR": 0.7, "P@5": 0.5})
    ('RR 0.700, AP 0.500', 'RR 0.700; AP and P@5 0.500')
    """
    groups: dict[str, list[str]] = {}
    for name, value in sorted(values.items(), key=lambda item: item[1], reverse=largest_first):
        groups.setdefault(written.format(value), []).append(name)
    shown = [f"{joined(names)} {value}" for value, names in groups.items()]
    if len(shown) > most:
        shown = [*shown[: most - 1], "…", shown[-1]]
    return ("; " if len(groups) < len(values) else ", ").join(shown)
