"""The page: the properties, a table of all measures, and the smallest counterexamples."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from experiments.markdown import bullets, page, paragraph, says, table, word
from ranksift.measures.measure import CATALOGUE
from ranksift.measures.names import parse_measure
from ranksift.study.properties import MOFFAT, PROPERTIES, SCALES, Properties, properties
from ranksift.study.wording import joined

NEEDS: tuple[str, ...] = ()

#: Moffat's own; the others are about gains.
SEVEN = tuple(name for name in PROPERTIES if name not in ("scale", "shift"))
#: What is tried beside the five documents of the page.
OTHERS = (4, 6)
#: Of which all counterexamples are shown.
SHOWN = ("nDCG@10", "nDCG_org@10", "nDCG_min@10", "nDCG_f@10", "Q")
FAMILIES = {
    "cumulative": "Cumulative gain",
    "filtering": "Filtering",
    "truncation": "Truncated lists",
    "bounds": "Between random and perfect",
    "topk": "An ordered top k",
    "classic": "Classic",
}


def files(data: Path) -> dict[str, str]:
    """The page."""
    found = properties()
    others = [properties(documents=documents) for documents in OTHERS]
    sections = OPENING, in_short(found), meaning(found), tried(found, others), all_measures(found), examples(found)
    return {"properties.md": page(*sections, fold=True)}


OPENING = f"""
# Which properties measures have

This page shows which formal properties each measure has. In “{MOFFAT.partition(": ")[2].replace(", 2013", "” (2013)")},
Moffat names seven properties that a measure may have or lack. Each of them is checked by search, for every measure of
RankSift: all lists of all queries with a few judged documents are scored, and if a property fails, the page shows a
list that violates it.

Two more are about gains: whether a score changes when all gains are multiplied, or all raised,
by the same number. This page is written by

```
python -m experiments.properties        # make experiments runs it too
```

and `ranksift study properties` does the same for any measures and gains, including your own.
"""


def in_short(found: Properties) -> str:
    """The findings, each from the table."""
    whole = [m for m in found.found if all(found.holds(m, name) == "yes" for name in SEVEN)]
    forbidden = having(found, ["boundedness", "convergence", "top-weightedness"])
    graded = having(found, ["boundedness", "convergence", "top-weightedness", "realizability"], "graded")
    seen = having(found, ["boundedness", "convergence", "top-weightedness", "realizability"])
    shifted = having(found, ["shift"])
    q = found.counterexample("Q", "top-weightedness")
    assert q is not None
    findings = bullets(
        says(
            not whole,
            "**No measure has all seven**, and none can. A list [1] scores 1 where there is nothing more to be found "
            "(realizability), so everywhere (localization), and so does [1, 0] (monotonicity); then [1, 1] would have "
            "to score more (convergence) than 1 (boundedness).",
        ),
        paragraph(
            "**With forbidden documents** bounded, convergent and top-weighted at once are "
            f"{names(forbidden)}{says(forbidden == seen, ', which also reach 1 in every query')}.",
            "Every other measure leaves [0, 1], or does not gain by some exchange of a document for a better one.",
        ),
        paragraph(
            f"With grades, but without forbidden documents, {names(graded)} have these three and realizability.",
        ),
        paragraph(
            "**`nDCG_min` is not bounded here**, although it lies between the worst and the best order: a list that "
            "leaves documents out is not an order of all of them "
            f"({found.counterexample('nDCG_min@10', 'boundedness')}).",
        ),
        paragraph(
            "**Measures that are normalised at every depth can fall at greater depth**: nDCG@k and the others of "
            "its kind are not "
            "monotonic, although no list loses anything by an additional irrelevant document at the same k.",
        ),
        paragraph(
            "**`Q` is not top-weighted where grades differ**, which takes five documents to see "
            f"({q}): a document that moves above a better one no longer has the gain of that above it, and its own "
            "blended ratio can fall by more than the better one's rises.",
        )
        if found.holds("Q", "top-weightedness") == "binary"
        else "",
        paragraph(
            says(
                not shifted,
                "**No score that uses gains is invariant to a shift of all gains**, so the position of 0 is a "
                "decision: it says which documents are worse than nothing.",
            )
        ),
    )
    return f"""
**In short**

{findings}
"""


def having(found: Properties, wanted: Iterable[str], least: str = "yes") -> list[str]:
    """Measures that have some properties, on these labels or more."""
    levels = ["no", *SCALES]
    return [
        measure
        for measure in found.found
        if all(levels.index(found.holds(measure, name) or "no") >= levels.index(least) for name in wanted)
    ]


def names(measures: Iterable[str]) -> str:
    """Measures as they are written on the page."""
    return joined([f"`{measure.replace('@10', '@k')}`" for measure in measures], most=20)


def meaning(found: Properties) -> str:
    """Section: what is asked."""
    rows = [[name, sentence] for name, sentence in PROPERTIES.items()]
    return f"""
## The properties

{table(["property", "holds where"], rows, words=2)}

- Every query has one to {word(found.documents)} judged documents, and every list some of them, or none, in some order:
  {found.lists:,} lists that differ in their labels.
- Labels are 0 and 1 at first, then 0 to 2, then −1 to 2, where −1 is a forbidden document. Gains are the labels.
- A list of three documents is looked at with k = 3, and “one rank deeper” is four documents with k = 4, as in
Moffat's paper. A measure without k looks at the list that there is.
- For a cost, such as `Fdocs`, a lower score is a better one, and 0 is the best.
- A score counts as one by convention where the measure can tell no two lists of the query apart, and is not what the
  same list has in another query.
"""


def tried(found: Properties, others: Iterable[Properties]) -> str:
    """What other numbers of documents would change in the table."""
    sentences = []
    for other in others:
        changed = [
            f"{name} of {names([measure])}"
            for measure in found.found
            for name in PROPERTIES
            if found.holds(measure, name) != other.holds(measure, name)
        ]
        what = f"what differs is {joined(changed, most=9)}" if changed else "nothing in the table differs"
        sentences.append(f"With up to {word(other.documents)} documents, {other.lists:,} lists, {what}.")
    return f"""
A property that holds in all lists that were tried may still fail in others. {" ".join(sentences)}
"""


def all_measures(found: Properties) -> str:
    """Section: the table."""
    parts = []
    for family, title in FAMILIES.items():
        rows = [
            [f"`{shown}`", *(found.holds(measure, name) or "–" for name in PROPERTIES)]
            for measure, shown in of_family(found, family)
        ]
        parts.append(table([title, *PROPERTIES], rows, words=1 + len(PROPERTIES)))
    tables = "\n\n".join(parts)
    return f"""
## All measures

*yes*: in all lists; *graded*: not with forbidden documents; *binary*: not with grades; *no*: not with labels 0 and 1;
*–*: gains do not count. If a measure is listed only with @k, the result is the same without it.

{tables}
"""


def of_family(found: Properties, family: str) -> list[tuple[str, str]]:
    """Measures of a family, and how they are written; one row where whole list and top k have the same words."""
    rows = []
    for measure in found.found:
        parsed = parse_measure(measure)
        if CATALOGUE[type(parsed).__name__].family != family:
            continue
        deep = str(parsed @ 10) if parsed.takes("k") and parsed.k is None else ""
        if deep and all(found.holds(measure, name) == found.holds(deep, name) for name in PROPERTIES):
            continue
        rows.append((measure, measure.replace("@10", "@k")))
    return rows


def examples(found: Properties) -> str:
    """Section: counterexamples."""
    rows = [
        [f"`{measure.replace('@10', '@k')}`", name, str(found.counterexample(measure, name))]
        for measure in SHOWN
        for name in PROPERTIES
        if found.counterexample(measure, name)
    ]
    return f"""
## Where they fail

The smallest lists that contradict a property, for a few measures; lists and judgments are written as labels, the best
rank first. `ranksift study properties --counterexamples` prints all.

{table(["measure", "property", "counterexample"], rows, words=3)}
"""
