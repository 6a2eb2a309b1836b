"""A labelling project as tables and as one page: how far it is, how far assessors agree, and what it costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ranksift import __version__
from ranksift.evaluation.table import Cell, Column, Table, Value
from ranksift.labelling import agreement as ag
from ranksift.labelling.agreement import Agreement, Between, Dispute, Estimate, Repeats
from ranksift.labelling.cost import Cost, Progress, costs, progress
from ranksift.labelling.proposals import FOLLOWED, JUDGMENTS, MINUTES, Effect, effect
from ranksift.report.charts import intervals, stacks
from ranksift.report.page import Block, Bullets, Figure, Grid, Heading, Paragraph, Section, Session, page

if TYPE_CHECKING:
    from ranksift.labelling.exports import Contents

#: Krippendorff's marks: what is reliable, and what allows tentative conclusions only.
RELIABLE, TENTATIVE = 0.8, 0.667

PAIRS, FOLLOWING, INFERRED, GRADES, FLAGS, VERIFIED = "pairs", "following", "inferred", "grades", "flags", "verified"

#: What kinds of judgments there are to agree about.
KINDS = {
    PAIRS: "pairs",
    FOLLOWING: "pairs, with those that follow by transitivity",
    INFERRED: "preferences inferred from grades",
    GRADES: "grades",
    FLAGS: "what is forbidden",
    VERIFIED: "verified pairs",
}

_TOOLS = {"pairs": "pairs", "grades": "grades"}
_MOST_DISPUTES = 25
_SHORT = {
    "overall": "agreement",
    "untied": "without ties",
    "kappa": "Cohen's κ",
    "kappa_linear": "κ, linear",
    "kappa_quadratic": "κ, quadratic",
    "fleiss": "Fleiss' κ",
    "alpha_nominal": "α nominal",
    "alpha_ordinal": "α ordinal",
    "alpha_interval": "α interval",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """What there is to say about the agreement of a project.

    Attributes
    ----------
    kinds
        Agreement by what it is about; kinds of which two assessors judged nothing in common are not there.
    people
        Agreement of every two people, by kind.
    repeats
        How often assessors were asked about a pair again.
    tools
        Pairs against preferences inferred from grades: with ties and without; None if one of them is missing.
    disputes
        What assessors disagree about.
    """

    kinds: Mapping[str, Agreement]
    people: Mapping[str, Sequence[Between]]
    repeats: Repeats
    tools: tuple[ag.Difference, ag.Difference] | None
    disputes: Sequence[Dispute]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "agreement": {
                name: {**found.to_dict(), "row_shares": _plain(found.matrix().tolist())}
                for name, found in self.kinds.items()
            },
            "people": {name: [_plain(one._asdict()) for one in rows] for name, rows in self.people.items()},
            "asked_again": self.repeats._asdict(),
            "pairs_less_grades": None
            if self.tools is None
            else {
                name: {"difference": one.difference.to_dict(), "chi_square": _plain(one.chi_square), "p": _plain(one.p)}
                for name, one in zip(("overall", "untied"), self.tools, strict=True)
            },
            "disputes": [
                {"query_id": one.query_id, "docs": list(one.docs), "said": dict(one.said)} for one in self.disputes
            ],
        }


def findings(contents: Contents, *, samples: int = 1000, seed: int = 0) -> Findings:
    """Everything about agreement, from the log of a project; tasks that were withdrawn do not count."""
    log = contents.standing
    grades = tuple(float(grade) for grade in range(len(contents.project.grades)))
    ratings = {
        PAIRS: (ag.pairwise(log), ag.PREFERENCES),
        FOLLOWING: (ag.pairwise(log, inferred=True), ag.PREFERENCES),
        INFERRED: (ag.from_grades(log), ag.PREFERENCES),
        GRADES: (ag.grades(log), grades),
        FLAGS: (ag.flags(log), (0.0, 1.0)),
        VERIFIED: (ag.verification(log), ag.PREFERENCES),
    }
    kinds = {
        name: ag.agreement_among(found, categories, samples=samples, seed=seed)
        for name, (found, categories) in ratings.items()
        if len(found)
    }
    people = {name: ag.between_people(*ratings[name]) for name in (PAIRS, GRADES, FLAGS) if name in kinds}
    tools = None
    if PAIRS in kinds and INFERRED in kinds:
        one, two = kinds[PAIRS], kinds[INFERRED]
        tools = (
            ag.difference(one, two, samples=samples, seed=seed),
            ag.difference(one, two, ties=False, samples=samples, seed=seed),
        )
    disputes = [*ag.disputes(ratings[PAIRS][0]), *ag.disputes(ratings[VERIFIED][0]), *ag.disputes(ratings[GRADES][0])]
    return Findings(kinds, people, ag.repeats(log), tools, list({(d.query_id, d.docs): d for d in disputes}.values()))


# -- tables ------------------------------------------------------------------------------------------------------------


def agreement_tables(found: Findings, *, symmetrised: bool = False) -> list[Table]:
    """All about agreement: a summary, the preference matrices, two people at a time, and the tools compared."""
    tables = [summary_table(found), detail_table(found)]
    for name in (PAIRS, INFERRED):
        if name in found.kinds:
            tables.append(matrix_table(name, found.kinds[name], symmetrised=symmetrised))
    tables += [people_table(name, rows) for name, rows in found.people.items() if len(rows) > 1]
    if found.tools:
        tables.append(tools_table(found.tools))
    return tables


def summary_table(found: Findings) -> Table:
    """A row for each kind of judgment, with intervals."""
    rows: list[list[Cell | Value]] = []
    for name, one in found.kinds.items():
        alpha = one.alpha_nominal if len(one.categories) < 3 else one.alpha_ordinal
        rows.append([name, one.units, one.queries, *map(_share, (one.overall, one.untied, alpha))])
    notes = [f"{name}: {KINDS[name]}." for name in found.kinds if KINDS[name] != name]
    notes.append(
        "In brackets: 95% intervals of a bootstrap over queries; no interval is given if there are too few queries."
    )
    asked = found.repeats.asked
    if asked:
        same = f"the same answer in {found.repeats.same / asked:.1%}"
        notes.append(f"Pairs that an assessor was asked about again: {asked}, with {same}.")
    columns = ["about", "units", "queries", "agreement", "without ties", "Krippendorff's α"]
    return Table(columns, rows, title="Agreement between assessors", notes=notes)


def detail_table(found: Findings) -> Table:
    """Every measure of every kind."""
    rows: list[list[Cell | Value]] = []
    for key, called in ag.ESTIMATES.items():
        cells: list[Cell | Value] = []
        for one in found.kinds.values():
            # Of two categories, distances say nothing new.
            plain = len(one.categories) < 3 and key.split("_")[-1] in ("linear", "quadratic", "ordinal", "interval")
            cells.append(None if plain else _known(one.estimates()[key].value))
        rows.append([called, *cells])
    return Table(["measure", *(Column(name, 3) for name in found.kinds)], rows, title="All measures")


def matrix_table(name: str, found: Agreement, *, symmetrised: bool = False) -> Table:
    """The paper's Tables 2 and 3: what another assessor says, given what one says."""
    shares = found.matrix(symmetrised=symmetrised)
    totals = found.counts.sum(axis=1).tolist()
    rows = [
        [row, *(None if math.isnan(share) else share for share in own), *([] if symmetrised else [total])]
        for row, own, total in zip(ag.PREFERENCE_NAMES, shares.tolist(), totals, strict=True)
    ]
    columns: list[Column | str] = [Column("one says", align="left"), *(Column(c, 4) for c in ag.PREFERENCE_NAMES)]
    if not symmetrised:
        columns.append(Column("pairs"))
    first = _FIRST + ("graded first." if name == INFERRED else "had on the left.")
    side = "Each assessor of a pair is taken as the first one in turn." if symmetrised else first
    return Table(columns, rows, title=f"What another assessor says: {KINDS[name]}", notes=[side])


_FIRST = "The row is the assessor who labels, the column the one who overlaps; A is what the first one "


def people_table(name: str, rows: Sequence[Between]) -> Table:
    """Agreement of every two people."""
    cells = [[b.first, b.second, b.units, b.overall, None if math.isnan(b.kappa) else b.kappa] for b in rows]
    columns: list[Column | str] = ["first", "second", "units"]
    columns += [Column("agreement", 1, "percent"), Column("Cohen's κ", 2)]
    return Table(columns, cells, title=f"Agreement of every two people: {KINDS[name]}")


def tools_table(tools: tuple[ag.Difference, ag.Difference]) -> Table:
    """Pairs against preferences inferred from grades."""
    rows = [
        [name, _points(one.difference), None if math.isnan(one.chi_square) else one.chi_square, _known(one.p)]
        for name, one in zip(("all pairs", "without ties"), tools, strict=True)
    ]
    columns: list[Column | str] = ["of", "pairs less grades", Column("χ²", 1), Column("p", style="p")]
    note = "χ² without continuity correction treats pairs as independent; the interval resamples queries."
    return Table(columns, rows, title="Agreement by tool", notes=[note])


def cost_table(rows: Iterable[Cost], title: str = "Cost per query") -> Table:
    """The paper's Table 1, with medians and intervals."""
    cells = []
    found = list(rows)
    named = any(one.person for one in found)
    ways = any(one.strategy for one in found)
    for one in found:
        cells.append(
            [
                _TOOLS.get(one.tool, one.tool),
                *([one.strategy] if ways else []),
                *([one.person] if named else []),
                one.tasks,
                _number(one.seconds, 2),
                _known(one.median_seconds.value),
                _number(one.per_query, 1),
                _number(one.minutes, 2),
                _known(one.median_minutes.value),
            ]
        )
    columns: list[Column | str] = ["tool", *(["strategy"] if ways else []), *(["assessor"] if named else [])]
    columns += ["finished", "seconds per judgment", Column("median", 2)]
    columns += ["judgments per query", "minutes per query", Column("median", 2)]
    notes = ["Active time: it excludes pauses, hidden pages and idle time, and includes undone and skipped judgments."]
    notes += [note for one in found if (note := _outliers(one))]
    return Table(columns, cells, title=title, notes=notes)


def _outliers(one: Cost) -> str:
    kinds = [
        f"{n} {what}"
        for n, what in zip(one.outliers[:3], ("very slow", "very fast", "without a time"), strict=True)
        if n
    ]
    if not kinds:
        return ""
    who = ", ".join(word for word in (one.tool, one.strategy, one.person) if word)
    rest = one.outliers.seconds_without
    without = f"; without slow and fast ones the mean is {rest:.2f} s" if sum(one.outliers[:2]) and rest == rest else ""
    return f"{who}: of {one.judgments} judgments {' and '.join(kinds)}{without}."


def effect_table(found: Effect) -> Table:
    """Tasks with and without the assistant's proposals."""
    rows: list[list[Cell | Value]] = [
        [
            row.what,
            *(_number(x, 3) for x in (row.shown, row.hidden)),
            _number(row.difference, 3, signed=True),
            row.beyond_chance,
        ]
        for row in found.rows
    ]
    title = f"{found.shown} tasks with proposals, {found.hidden} without"
    return Table(["", "with", "without", "difference", "beyond chance"], rows, title=title)


# -- the page ----------------------------------------------------------------------------------------------------------


def expected(contents: Contents) -> dict[str, float]:
    """How many more judgments each open task needs, by its key."""
    from ranksift.labelling.task_state import task_state

    items = {query.query_id: [item.doc_id for item in query.items] for query in contents.queries}
    logs: dict[str, list[Any]] = {}
    for entry in sorted(contents.entries, key=lambda e: e.number):
        logs.setdefault(entry.task, []).append(entry.judgment)
    return {
        task.key: float(task_state(task, items[task.query_id], logs.get(task.key, [])).expected)
        for task in contents.tasks
        if task.active and not task.done and task.query_id in items
    }


def labelling_page(contents: Contents, *, command: str = "", samples: int = 1000, seed: int = 0) -> str:
    """A project as one page of HTML that needs nothing else."""
    found = findings(contents, samples=samples, seed=seed)
    far = progress(contents.entries, contents.tasks, expected(contents))
    spent = costs(contents.entries, contents.tasks, samples=samples, seed=seed)
    proposed = {q.query_id: {i.doc_id for i in q.items if i.proposed_forbidden} for q in contents.queries}
    assisted = effect(contents.entries, contents.tasks, proposed, samples=samples, seed=seed)
    said = [
        how_far(contents, far),
        *how_alike(found),
        *what_cost(spent),
        *(assistant(assisted) if assisted else []),
    ]
    glance = Section(
        "At a glance", [Bullets(said), Heading("What to do next"), Bullets(next_steps(contents, found, far))]
    )
    sections = [
        glance,
        Section("How far", list(_far(contents))),
        Section("Agreement", list(_agreement(found))),
        Section("Cost", list(_cost(contents, spent, samples, seed))),
    ]
    if assisted:
        blocks: list[Block] = [Bullets(assistant(assisted)), Grid(effect_table(assisted))]
        sections.append(Section("What the assistant did", blocks))
    if found.disputes:
        sections.append(Section("Disagreements", list(_disputes(contents, found))))
    sections.append(Section("How this was made", list(_made(command, samples, seed))))
    title = contents.project.title or "Labelling"
    lead = (
        f"{_counted(len(contents.queries), 'query', 'queries')}, "
        f"{_counted(sum(len(q.items) for q in contents.queries), 'document')}, "
        f"the top {contents.project.k} of each: {_done(far)}."
    )
    return page(title, lead, sections, f"Made by RankSift {__version__}.")


def _done(far: Progress) -> str:
    if not far.tasks:
        return "nothing is assigned yet"
    return f"{far.done} of {_counted(far.tasks, 'task')} are done ({far.done / far.tasks:.0%})"


def how_far(contents: Contents, far: Progress) -> str:
    """One sentence."""
    if not far.tasks:
        return "Nothing has been assigned yet."
    rest = "." if far.done == far.tasks else f": about {far.expected:.0f} judgments are left{_time(far)}."
    return f"{_done(far).capitalize()}, with {_counted(far.judgments, 'judgment')}{rest}"


def _time(far: Progress) -> str:
    if math.isnan(far.minutes):
        return ""
    spent = f"{far.minutes:.0f} minutes" if far.minutes < 120 else f"{far.minutes / 60:.1f} hours"
    due = f", due on {far.finished:%-d %B %Y} at the pace of the last week of work" if far.finished else ""
    return f", {spent} of work{due}"


def how_alike(found: Findings) -> list[str]:
    """A sentence for each kind of judgment, and one for the tools."""
    lines = []
    for name in (PAIRS, INFERRED, GRADES, FLAGS, VERIFIED):
        if name in found.kinds:
            one = found.kinds[name]
            alpha = one.alpha_nominal if name == FLAGS else one.alpha_ordinal
            untied = "" if math.isnan(one.untied.value) else f", {one.untied.value:.1%} where both have a preference"
            level = "" if math.isnan(alpha.value) else f"; Krippendorff's α is {_share(alpha)}, {_verdict(alpha)}"
            lines.append(
                f"About {KINDS[name]} assessors agree in {one.overall.value:.1%} of {one.units} cases{untied}{level}."
            )
    if found.tools:
        apart = found.tools[0].difference
        which, sign = ("more", 1) if apart.value > 0 else ("less", -1)
        sure = "" if apart.low > 0 or apart.high < 0 else ", which chance alone could explain"
        ends = sorted((sign * apart.low, sign * apart.high))
        by = _number(Estimate(*(100 * x for x in (sign * apart.value, *ends))), 1)
        lines.append(f"With pairs they agree {which} often than with grades, by {by} percentage points{sure}.")
    return lines or ["No two assessors have judged the same documents, so agreement is not known."]


def _verdict(alpha: Estimate) -> str:
    if alpha.value >= RELIABLE:
        return "which counts as reliable"
    return "enough for tentative conclusions" if alpha.value >= TENTATIVE else "too low for reliable conclusions"


def what_cost(spent: Sequence[Cost]) -> list[str]:
    """A sentence for each tool."""
    return [
        f"With {_TOOLS.get(one.tool, one.tool)} a query takes {one.per_query.value:.1f} judgments"
        + ("" if math.isnan(one.minutes.value) else f" and {one.minutes.value:.1f} minutes")
        + ("" if math.isnan(one.seconds.value) else f", {one.seconds.value:.1f} s per judgment")
        + "."
        for one in spent
        if one.tasks
    ]


def assistant(found: Effect) -> list[str]:
    """What the proposals saved, and whether they biased anyone."""
    lines = []
    for what, unit in ((JUDGMENTS, "judgments"), (MINUTES, "minutes")):
        row = found[what]
        if math.isnan(row.difference.value):
            continue
        saved = -row.difference.value
        sure = "" if row.beyond_chance else ", which chance alone could explain"
        verb = "saved" if saved >= 0 else "cost"
        lines.append(f"Proposals {verb} {abs(saved):.1f} {unit} per query{sure}.")
    row = found[FOLLOWED]
    if not math.isnan(row.difference.value):
        ends = f"{row.shown.value:.1%} of proposed documents are flagged where the proposal is shown, "
        ends += f"{row.hidden.value:.1%} where it is not"
        lines.append(
            f"Proposals bias assessors: {ends}."
            if found.biased
            else f"No bias can be seen: {ends} ({_points(row.difference)} points)."
        )
    return lines


def next_steps(contents: Contents, found: Findings, far: Progress) -> list[str]:
    """What the lead might do now."""
    steps = []
    active = [task for task in contents.tasks if task.active]
    open_tasks = Counter(task.person for task in active if not task.done)
    names = {person.id: person.name for person in contents.people}
    gone = {person.id for person in contents.people if not person.active}
    if not active:
        steps.append("Assign queries to assessors.")
    covered = {task.query_id for task in contents.tasks if task.active or task.done}
    bare = sum(query.query_id not in covered for query in contents.queries)
    if active and bare:
        steps.append(f"Assign {_counted(bare, 'query', 'queries')} that no assessor has.")
    if open_tasks:
        person, most = open_tasks.most_common(1)[0]
        few = min(open_tasks.values())
        steps.append(
            f"Wait for {_counted(sum(open_tasks.values()), 'open task')} of {_counted(len(open_tasks), 'assessor')}"
            + (f"; {names.get(person, person)} has {most} of them, others as few as {few}." if most > few + 1 else ".")
        )
    left = sum(open_tasks[person] for person in gone)
    if left:
        steps.append(f"Hand over {_counted(left, 'open task')} of people who have left.")
    if not found.kinds and active:
        steps.append("Give some queries to a second assessor: otherwise agreement cannot be measured.")
    low = [name for name in (PAIRS, GRADES, FLAGS) if name in found.kinds and _is_low(found.kinds[name], name)]
    if low:
        about = " and ".join(KINDS[one] for one in low)
        steps.append(f"Talk through the disagreements about {about}, and sharpen the guidelines there.")
    if found.disputes:
        steps.append(f"Settle {_counted(len(found.disputes), 'disagreement')}, the furthest apart first (below).")
    if active and not open_tasks and not bare:
        steps.append("Everything is labelled: export the labels, evaluate with them, train on them.")
    return steps


def _is_low(one: Agreement, name: str) -> bool:
    alpha = one.alpha_nominal if name == FLAGS else one.alpha_ordinal
    return alpha.value < TENTATIVE


def _far(contents: Contents) -> Iterator[Block]:
    names = {person.id: person.name for person in contents.people}
    rows = []
    for person in sorted({task.person for task in contents.tasks if task.active}, key=lambda p: names.get(p, str(p))):
        own = [task for task in contents.tasks if task.active and task.person == person]
        begun = sum(not task.done and task.judgments > 0 for task in own)
        rows.append((names.get(person, str(person)), len(own), sum(task.done for task in own), begun))
    if rows:
        bars = [(_short(n), [d / t, b / t, (t - d - b) / t]) for n, t, d, b in rows]
        figure = stacks(bars, ["done", "begun", "not begun"], ["good", "warn", "rest"])
        yield Figure(figure, "The share of each assessor's tasks that is done.")
        yield Grid(Table(["assessor", "tasks", "done", "begun"], [list(row) for row in rows]))
    else:
        yield Paragraph("No one has a task.")


def _agreement(found: Findings) -> Iterator[Block]:
    if not found.kinds:
        yield Paragraph("No two assessors have judged the same documents.")
    for name, one in found.kinds.items():
        rows = [(_SHORT[key], *estimate) for key, estimate in one.estimates().items() if not math.isnan(estimate.value)]
        if len(one.categories) < 3:
            rows = [row for row in rows if row[0] in ("agreement", "Cohen's κ", "α nominal")]
        if rows and name in (PAIRS, INFERRED, GRADES, FLAGS):
            low = -0.5 if min(row[1] for row in rows) < 0 else 0.0
            caption = f"Agreement about {KINDS[name]}, with 95 % intervals of a bootstrap over queries."
            yield Figure(intervals(rows, low, 1.0), caption)
    for name in (PAIRS, INFERRED):
        if name in found.kinds:
            shares = found.kinds[name].matrix().tolist()
            bars = [(row, own) for row, own in zip(ag.PREFERENCE_NAMES, shares, strict=True) if not math.isnan(own[0])]
            figure = stacks(bars, [f"the other says {c}" for c in ag.PREFERENCE_NAMES], ["good", "rest", "bad"])
            yield Figure(figure, f"What another assessor says, given what one says (rows): {KINDS[name]}.")
    if found.kinds:
        for table in agreement_tables(found):
            yield Grid(table)


def _cost(contents: Contents, spent: Sequence[Cost], samples: int, seed: int) -> Iterator[Block]:
    if not spent:
        yield Paragraph("Nothing has been judged yet.")
        return
    by_way = costs(contents.entries, contents.tasks, by=("tool", "strategy"), samples=samples, seed=seed)
    yield Grid(cost_table(by_way, "By tool and strategy"))
    by_person = costs(contents.entries, contents.tasks, by=("tool", "person"), samples=samples, seed=seed)
    for tool in sorted({one.tool for one in by_person}):
        own = [one for one in by_person if one.tool == tool and not math.isnan(one.seconds.value)]
        if own:
            most = max(
                max(one.seconds.value, one.seconds.high if one.seconds.high == one.seconds.high else 0) for one in own
            )
            figure = intervals([(_short(one.person), *one.seconds) for one in own], 0.0, float(math.ceil(most / 5) * 5))
            yield Figure(figure, f"Seconds per judgment of each assessor with {_TOOLS.get(tool, tool)}.")
    yield Grid(cost_table(by_person, "By assessor"))


def _disputes(contents: Contents, found: Findings) -> Iterator[Block]:
    yield Paragraph("Documents that assessors judge differently: opposite preferences, and different grades.")
    rows = []
    for one in found.disputes:
        if len(one.docs) == 2:
            words = {1.0: "the first", 0.0: "a tie", -1.0: "the second"}
        else:
            words = {float(i): name for i, name in enumerate(contents.project.grades)}
        said = ", ".join(f"{name}: {words.get(value, value)}" for name, value in one.said.items())
        rows.append([one.query_id, " and ".join(one.docs), said])
    yield Grid(Table(["query", "documents", "what they say"], rows).head(_MOST_DISPUTES))


def _made(command: str, samples: int, seed: int) -> Iterator[Block]:
    if command:
        yield Session(command, "")
    yield Bullets(
        [
            f"Intervals hold 95 % of {samples} bootstrap samples of queries or tasks; seed {seed}.",
            "Agreement is that of tasks that label or overlap. Undone judgments never count.",
            "With more than two assessors, all pairs of them count; Fleiss' κ and Krippendorff's α take them together.",
            f"α of at least {RELIABLE} counts as reliable, below {TENTATIVE} as too low to rely on (Krippendorff).",
        ]
    )


# -- words and numbers -------------------------------------------------------------------------------------------------


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(value: Any) -> Any:
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _share(estimate: Estimate) -> str:
    return _number(estimate, 2)


def _points(estimate: Estimate) -> str:
    """A difference of shares in percentage points."""
    return _number(Estimate(*(100 * x for x in estimate)), 1, signed=True)


def _number(estimate: Estimate, digits: int, *, signed: bool = False) -> str:
    if math.isnan(estimate.value):
        return "-"
    sign = "+" if signed else ""
    value = f"{estimate.value:{sign}.{digits}f}"
    if math.isnan(estimate.low):
        return value
    return f"{value} ({estimate.low:{sign}.{digits}f} to {estimate.high:{sign}.{digits}f})"


def _counted(count: int, word: str, words: str = "") -> str:
    return f"{count} {word if count == 1 else words or word + 's'}"


def _short(name: str) -> str:
    """A name that fits beside a bar."""
    return name if len(name) <= 14 else f"{name[:13]}…"
