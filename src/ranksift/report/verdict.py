"""The verdict on filters as one page, which begins with the answer."""

from __future__ import annotations

from ranksift import __version__
from ranksift.report.charts import dumbbells, lines
from ranksift.report.page import Block, Bullets, Figure, Grid, Paragraph, Section, Session, page
from ranksift.study.verdict import FilterVerdict, Verdict, headline
from ranksift.study.wording import counted


def verdict_page(found: Verdict, *, command: str = "") -> str:
    """The page as HTML.

    Parameters
    ----------
    found
        What :func:`ranksift.verdict` returns.
    command
        What made it.

    Examples
    --------
    >>> from ranksift import verdict
    >>> qrels = {"q": {"good": 1, "bad": -9}, "r": {"fine": 1, "spam": -9}}
    >>> full = {"q": {"bad": 2, "good": 1}, "r": {"fine": 2, "spam": 1}}
    >>> html = verdict_page(verdict(qrels, full, {"filter": {"q": {"good": 1}, "r": {"fine": 2}}}))
    >>> "<h1>Whether filter is worth it" in html
    True
    """
    one = len(found.filters) == 1
    sections = [
        *([] if one else [Section("All filters", [Grid(found.table())])]),
        *(Section("What it did" if one else each.run, _about(found, each, one)) for each in found.filters),
    ]
    if found.notes:
        sections.append(Section("What to know", [Bullets([f"{note}." for note in found.notes])]))
    if command:
        sections.append(Section("How this was made", [Session(command, "")]))
    first = found.filters[0]
    title = headline(first) if one else _of_several(found)
    best = max(found.filters, key=lambda each: each.after)
    lead = f"{found.change(first)}." if one else f"{best.run} has the highest {found.measure}: {best.after:.4f}."
    answer = [*_charts(found), Bullets(found.why(first) if one else found.sentences())]
    return page(title, lead, sections, f"Written by RankSift {__version__}.", answer=answer)


def _of_several(found: Verdict) -> str:
    good = sum(each.outcome == "worth it" for each in found.filters)
    return f"{good} of {counted(len(found.filters), 'filter')} of {found.base} {'is' if good == 1 else 'are'} worth it"


def _charts(found: Verdict) -> list[Block]:
    out: list[Block] = []
    rows = [(each.run, each.before, each.after) for each in found.filters]
    if all(0.0 <= value <= 1.0 for _, *values in rows for value in values):
        out.append(Figure(dumbbells(rows, ("before", "after")), f"Mean {found.measure} before and after filtering."))
    x, differences = found.curves
    at = found.filters[0].break_even
    if len(x) and at is not None:
        penalties = "penalty of forbidden documents" if found.unit == "penalty" else "multiple of the penalties"
        chart = lines(
            [(each.run, values.tolist()) for each, values in zip(found.filters, differences, strict=True)],
            x.tolist(),
            marked=at.yours,
            names=(penalties, "yours"),
        )
        out.append(Figure(chart, f"What filtering changes in {found.measure}, by penalty: above 0 it pays."))
    return out


def _about(found: Verdict, each: FilterVerdict, one: bool) -> list[Block]:
    words: list[Block] = [] if one else [Paragraph(found.sentence(each)), Bullets(found.why(each))]
    return [*words, Grid(found.removals(each)), Grid(found.effects(each, most=10))]
