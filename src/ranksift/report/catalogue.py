"""The catalogue of measures, from the classes themselves: as text, JSON and Markdown."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, asdict, dataclass, fields

from ranksift.measures.measure import CATALOGUE, Measure
from ranksift.measures.names import parse_measure
from ranksift.parameters import declared
from ranksift.report.formulas import plain

#: The families in the order in which people meet them.
FAMILIES = ("cumulative", "filtering", "truncation", "bounds", "topk", "classic")


@dataclass(frozen=True)
class Entry:
    """A measure in the catalogue.

    Attributes
    ----------
    usage
        How the measure is written: ``nDCG_f@k``, with ``[@k]`` where k is optional.
    formula, latex
        The formula as one line of text, and as LaTeX.
    description
        Further paragraphs.
    parameters
        The default of each parameter, as written.
    example
        An example session that can be run.
    meanings
        The meaning of each parameter.
    """

    family: str
    name: str
    usage: str
    summary: str
    formula: str
    latex: str
    description: str
    paper: str
    aggregation: str
    higher_is_better: bool
    parameters: dict[str, str]
    example: str
    meanings: dict[str, str]


def entry(measure: type[Measure]) -> Entry:
    """Read a measure's docstring and fields.

    >>> entry(CATALOGUE["nDCG_f"]).usage
    'nDCG_f[@k]'
    """
    body, _, example = inspect.cleandoc(measure.__doc__ or "").partition("Examples\n--------\n")
    body = body.partition("Parameters\n----------\n")[0]
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", body.strip())]
    latex = next((p.removeprefix(".. math::").strip() for p in paragraphs if p.startswith(".. math::")), "")
    prose = [
        re.sub(r":\w+:`~?([^`]+)`", r"\1", p).replace("``", "") for p in paragraphs if not p.startswith(".. math::")
    ]
    parameters = {f.name: "" if f.default is MISSING else repr(f.default) for f in fields(measure) if f.repr}
    usage = measure.__name__ + ("(measure)" if "measure" in parameters else "")
    if "k" in parameters:
        usage += "@k" if measure.needs_k else "[@k]"
    return Entry(
        family=measure.family,
        name=measure.__name__,
        usage=usage,
        summary=prose[0],
        formula=plain(latex),
        latex=latex,
        description="\n\n".join(prose[1:]),
        paper=measure.paper,
        aggregation=measure.aggregation,
        higher_is_better=measure.higher_is_better,
        parameters=parameters,
        meanings={name: spec.meaning for name, (spec, _) in declared(measure).items()},
        example=example.strip(),
    )


def entries(names: list[str] | None = None) -> list[Entry]:
    """The measures named (in any spelling), or all of them, family by family."""
    if not names:
        order = [*FAMILIES, *sorted({m.family for m in CATALOGUE.values()} - set(FAMILIES))]
        return [entry(m) for family in order for m in CATALOGUE.values() if m.family == family]
    return [entry(CATALOGUE[name] if name in CATALOGUE else type(parse_measure(name))) for name in names]


def as_json(shown: list[Entry]) -> list[dict[str, object]]:
    """A list of objects with the fields of :class:`Entry` as keys."""
    return [asdict(e) for e in shown]


def overview(shown: list[Entry]) -> str:
    """Three lines a measure: what it is, its formula, its paper."""
    width = max(len(e.usage) for e in shown)
    lines, family = [], ""
    for e in shown:
        if e.family != family:
            family = e.family
            lines += ["", family.upper()]
        indent = "\n" + " " * (width + 4)
        lines.append(f"  {e.usage:<{width}}  {e.summary}{indent}{e.formula}{indent}{e.paper}")
    return "\n".join([*lines, "", "One in full, with an example: ranksift measures nDCG_f"]).strip()


def in_full(e: Entry) -> str:
    """Everything about one measure."""
    how = {
        "mean": "the mean over queries",
        "micro": "the ratio of sums over queries",
        "sum": "the sum over queries",
        "geometric": "the geometric mean over queries",
    }
    better = "higher" if e.higher_is_better else "lower"
    parts = [
        f"{e.usage}  ({e.family})",
        e.summary,
        f"    {e.formula}",
        *([e.description] if e.description else []),
        f"Aggregate: {how[e.aggregation]}; {better} is better.",
        *(["\n".join(["Parameters:", *map("  {}".format, _parameters(e))])] if e.parameters else []),
        f"Paper: {e.paper}",
        "\n".join(f"    {line}" for line in e.example.splitlines()),
    ]
    return "\n\n".join(parts)


def _parameters(e: Entry) -> list[str]:
    """A line for each parameter, with its default and what it means."""
    named = {name: f"{name}={default}" if default else name for name, default in e.parameters.items()}
    width = max(map(len, named.values()))
    return [f"{shown:<{width}}  {e.meanings.get(name, '')}".rstrip() for name, shown in named.items()]


def markdown(shown: list[Entry]) -> str:
    """A table for each family."""
    blocks = []
    for family in dict.fromkeys(e.family for e in shown):
        rows = [
            f"| `{e.usage}` | {_cell(e.summary)} | ${_cell(e.latex)}$ | {_cell(e.paper)} |"
            for e in shown
            if e.family == family
        ]
        blocks.append(
            "\n".join([f"## {family}", "", "| measure | what it is | formula | paper |", "|---|---|---|---|", *rows])
        )
    return "\n\n".join(blocks)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
