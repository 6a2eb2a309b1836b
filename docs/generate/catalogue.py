"""The catalogue of measures as a page, from the classes themselves: their docstrings, fields and examples."""

import inspect
import re
from collections.abc import Iterator, Mapping

from ranksift.measures.measure import CATALOGUE
from ranksift.measures.names import ALIASES
from ranksift.report.catalogue import Entry, entries

FAMILIES = {
    "cumulative": (
        "Cumulative gain",
        "Gains of the documents in the list, discounted by rank. They differ in how negative gains act and in what the "
        "sum is divided by. `nDCG_f` is the one for lists that may leave documents out.",
    ),
    "filtering": (
        "Filtering",
        "What a filter let through and what it took away, and how far the other measures can be trusted here.",
    ),
    "truncation": (
        "Truncated lists",
        "Measures for lists that end on purpose: stopping in time is rewarded, and an empty list is the right "
        "answer to "
        "a question that has none.",
    ),
    "bounds": (
        "Between random and perfect",
        "A value relative to a random and to a perfect ranking of the judged documents, so "
        "that easy queries do not make systems look good.",
    ),
    "topk": (
        "An ordered top k as ground truth",
        "For judgments that say which document comes first, second, …, k-th. "
        "[`topk_labels`](api.md#ranksift.measures.topk.topk_labels) turns such an order into labels.",
    ),
    "classic": ("Classic", "The classic measures, with the same values as in trec_eval if it has them."),
}

PARAMETERS = {
    "k": "Only the first k ranks count; written `@k`.",
    "gains": 'The gains of labels: `"linear"`, `"exp"` (2^label − 1), or exceptions such as `{-2: -10}`. '
    "Default: the `gains` of the evaluation.",
    "base": "The base b of Järvelin and Kekäläinen's discount: gains are divided by the logarithm to that base of "
    "their rank, those above rank b by nothing. Default: all by log2(rank + 1).",
    "nil": 'The document id that says "there is no answer", such as `"NIL"`.',
    "average": '`"micro"`: one ratio over all queries together; `"macro"`: the mean of the shares of each query.',
    "good": '`"nonnegative"`: documents of gain ≥ 0; `"positive"`: of gain > 0.',
    "limit": "The longest list that the task allows: one that reaches it without NIL did not end on purpose.",
    "scale": '`"max"` divides gains by the largest one of the collection, for labels above 1.',
    "p": "Persistence: the probability that the user continues to the next rank, between 0 and 1.",
    "expected": '`"exact"`, or `"paper"`: the approximation that Karmaker and Feng 2022 print.',
    "upper": '`"k"`, as in Karmaker and Feng 2022, or `"attainable"`: min(k, relevant documents).',
    "measure": "The measure inside.",
    "rel": "The smallest label of a relevant document.",
    "over": '`"query"`: gains are divided by the largest of each query, not of the collection, as in trec_eval.',
    "recall": "The share of the relevant documents that the list must have found, from 0 to 1; also written `@0.5`.",
    "beta": "In SetF, how much more recall counts than precision; in Q, the weight of cumulated gain relative to "
    "precision (0 is average precision).",
    "residual": "`True` gives the residual instead of the value.",
    "max_grade": 'The largest possible label: a number, or `"query"` for the largest label of each query. '
    "Default: the largest of the collection.",
}

AGGREGATION = {
    "mean": "mean over queries",
    "micro": "ratio of sums: all queries' numerators over all their denominators",
    "sum": "sum over queries",
    "geometric": "geometric mean over queries",
}

HEAD = """\
# The measures

This page lists every measure with its formula, parameters, source and an example. It is generated from the code: each
entry is the docstring of the class that computes the measure, and each example was run when the page was built.
`ranksift measures` shows the same catalogue in a terminal.

In the formulas \\(g_i\\) is the gain of the document at rank \\(i\\) and \\(l_i\\) its label; a document of negative
gain is *forbidden*. \\(I_k\\) and \\(W_k\\) are the highest and the lowest DCG@k of all orders of the judged documents,
\\(I_{k,f}\\) and \\(W_{k,f}\\) those of all *sublists*, which may leave documents out. The page about
[readings](readings.md#papers) lists the papers.

A measure is written `name(parameter=value)@k`. In Python the same name is a value:
`ranksift.nDCG_f(gains={-2: -10}) @ 20`.

"""


def page(choices: Mapping[str, str]) -> str:
    """The page as Markdown; ``choices`` are titles and places of readings, by the name of a measure."""
    parts = [HEAD, *overview()]
    for family, (title, about) in FAMILIES.items():
        parts += [f"## {title} {{ #{family} }}\n\n{about}\n\n"]
        parts += [section(e, choices.get(e.name, "")) for e in entries() if e.family == family]
    return "".join(parts)


def overview() -> Iterator[str]:
    """A table of all measures."""
    yield "| family | measures |\n|---|---|\n"
    for family, (title, _) in FAMILIES.items():
        names = (f"[`{e.name}`](#{anchor(e.name)})" for e in entries() if e.family == family)
        yield f"| [{title}](#{family}) | {' '.join(names)} |\n"
    yield "\n"


def section(e: Entry, choices: str) -> str:
    """One measure."""
    summary, *prose = paragraphs(e.name)
    parts = [f"### {e.name} {{ #{anchor(e.name)} }}", f"`{e.usage}` — {summary}", f"\\[{e.latex}\\]", *prose]
    table = list(parameters(e))
    if table:
        parts.append("| parameter | default | meaning |\n|---|---|---|\n" + "\n".join(table))
    statements = "\n".join(line for line in e.example.splitlines() if line.startswith((">>> ", "... ")))
    parts += [f"```pycon\n{statements}\n```", "\n".join(facts(e, choices))]
    return "\n\n".join(parts) + "\n\n"


def paragraphs(name: str) -> list[str]:
    """The prose of a docstring, as Markdown."""
    body = inspect.cleandoc(CATALOGUE[name].__doc__ or "").partition("Examples\n--------\n")[0]
    body = body.partition("Parameters\n----------\n")[0]  # they are a table of their own
    found = [" ".join(p.split()) for p in re.split(r"\n\s*\n", body.strip()) if not p.startswith(".. math::")]
    return [re.sub(r"``([^`]+)``", r"`\1`", re.sub(r":\w+:`~?([^`]+)`", r"`\1`", p)) for p in found]


def parameters(e: Entry) -> Iterator[str]:
    """Rows of the table of parameters."""
    for name in sorted(e.parameters, key=lambda name: name != "k"):
        yield f"| `{name}` | {default(e, name)} | {PARAMETERS[name]} |"


def default(e: Entry, parameter: str) -> str:
    """A default in words."""
    value = e.parameters[parameter]
    if parameter == "k" and CATALOGUE[e.name].needs_k:
        return "required"
    if value == "None":
        return "none"
    return "`{}`".format(value.replace("'", '"') or "DCG@10")


def facts(e: Entry, choices: str) -> Iterator[str]:
    """Where the measure comes from and how it is used."""
    yield f"Source: {e.paper}.  "
    yield f"Over all queries: {AGGREGATION[e.aggregation]}; {'higher' if e.higher_is_better else 'lower'} is better.  "
    others = sorted(alias for alias, (name, implied) in ALIASES.items() if name == e.name and set(implied) <= {"alias"})
    if others:
        yield f"Also written: {', '.join(f'`{alias}`' for alias in others)}.  "
    if choices:
        yield f"Readings: {choices}.  "


def anchor(name: str) -> str:
    """The place of a measure in the page."""
    return name.lower()
