"""A study of measures as files: one page to read, figures and tables to use."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift import __version__
from ranksift.evaluation.compare import higher_is_better
from ranksift.evaluation.csv_cells import safe_frame
from ranksift.evaluation.table import Table
from ranksift.files import shortened_name
from ranksift.parameters import function, instance, path, takes, text
from ranksift.report.figures import pdf_of, svg_of
from ranksift.report.page import Block, Bullets, Files, Grid, Heading, Image, Paragraph, Section, Session, page
from ranksift.report.study_folder import PAGE, check_folder, write_files
from ranksift.study.survey import OF_SCORES, QUESTIONS, Part, Survey
from ranksift.study.wording import counted, joined

if TYPE_CHECKING:
    import polars as pl

# Of a table on the page, and of the one that it begins with; the files have all.
_MOST_ROWS = 100
_MOST_RUNS = 20

# What each section asks.
_ASKED = {**QUESTIONS, "consistency": "Does each measure put the same runs in the same order on both?"}

# What is repeated on sets of queries.
_ON_SETS = ("query_types", *OF_SCORES, "consistency")

# What a procedure asks of measures, in a word.
_QUALITIES = {
    "boundedness": "bounded",
    "stability": "stable",
    "sensitivity": "sensitive",
    "reliability": "reliable",
    "discrimination": "discriminating",
}

_TITLES = {
    "boundedness": "Boundedness",
    "stability": "Stability",
    "sensitivity": "Sensitivity",
    "reliability": "Reliability",
    "discrimination": "Discrimination",
    "agreement": "Agreement",
    "query_types": "Types of queries",
    "truncation": "Truncation",
    "penalty_sweep": "Penalty of forbidden documents",
    "consistency": "Consistency",
}


@takes(survey=instance(Survey), folder=path(), title=text(), command=text(), progress=function())
def write_study(
    survey: Survey,
    folder: str | Path,
    *,
    title: str = "What are these measures worth?",
    command: str = "",
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> list[Path]:
    """Write a study into a folder: ``index.html``, figures as SVG and PDF, tables as CSV and LaTeX.

    All files appear together or not at all. The same study gives the same bytes. Files of an earlier study are replaced
    or removed if they have not been changed. A folder is refused if such a file was changed, or if a file that no study
    wrote has the name of a file to be written.

    Parameters
    ----------
    survey
        What :func:`ranksift.study.survey` returns.
    folder
        The folder of the study; it is created if it does not exist.
    title, command
        The title of the page, and the command that made it.
    progress
        Wraps the parts of the study as they are drawn.

    Returns
    -------
    list of Path
        The files, the page last.
    """
    about = {"ranksift": __version__, "command": command, "settings": dict(survey.settings)}
    check_folder(folder)
    return write_files(Path(folder), about, _files(survey, title, command, progress))


def _files(
    survey: Survey, title: str, command: str, progress: Callable[[Iterable[Any]], Iterable[Any]]
) -> dict[str, bytes]:
    """Names and contents, the page last."""
    files: dict[str, bytes] = {}

    def add(name: str, content: str | bytes) -> str:
        first, ending = name.rsplit(".", 1)
        first = shortened_name(first)
        name = f"{first}.{ending}"
        free = next(n for n in chain([name], (f"{first}-{i}.{ending}" for i in count(2))) if n not in files)
        files[free] = _encoded(content) if isinstance(content, str) else content
        return free

    for side in survey.sides:
        add(f"{_of(side)}scores.csv", _csv(side.scores.per_query()))
    add("overview.csv", _csv(_overview(survey)))
    add("overview.tex", survey.table().latex(label="tab:overview") + "\n")
    parts = [(_of(side), part) for side in survey.sides for part in side.parts]
    parts += [("", part) for part in survey.across]
    blocks = {id(part): list(_blocks(part, of, add)) for of, part in progress(parts)}
    return {**files, PAGE: _encoded(_page(survey, blocks, title, command))}


def _of(side: Survey) -> str:
    """What the names of a collection's files begin with if there are two."""
    word = re.sub(r"[\W_]+", "-", side.name).strip("-").lower()
    return f"{word[:50]}-" if word else ""


def _csv(frame: pl.DataFrame) -> str:
    return safe_frame(frame).write_csv()


def _encoded(text: str) -> bytes:
    """As UTF-8; names of files may contain invalid characters."""
    return text.encode("utf-8", "backslashreplace")


def _overview(survey: Survey) -> pl.DataFrame:
    import polars as pl

    table = survey.table()
    return pl.DataFrame({c.name: [row[j].value for row in table.rows] for j, c in enumerate(table.columns)})


def _blocks(part: Part, of: str, add: Callable[[str, str | bytes], str]) -> Iterator[Block]:
    """What the page shows of a part, with its files added."""
    yield Bullets(part.result.reading())
    table = part.result.table()
    yield Grid(table.head(_MOST_ROWS))
    names = [add(f"{of}{part.name}.tex", table.latex(label=f"tab:{of}{part.name}") + "\n")]
    for word, frame in part.result.frames().items():
        names.append(add(f"{of}{_name(part, word)}.csv", _csv(frame)))
    for picture in part.result.pictures():
        name = of + _name(part, picture.name)
        svg = svg_of(picture.figure)
        names += [add(f"{name}.svg", svg), add(f"{name}.pdf", pdf_of(picture.figure))]
        yield Image(svg, picture.caption)
    yield Files(names)


def _name(part: Part, word: str) -> str:
    return Part(part.procedure, part.result, word=f"{part.word} {word}").name


def _page(survey: Survey, blocks: dict[int, list[Block]], title: str, command: str) -> str:
    runs, queries, measures = survey.scores.values.shape
    size = survey.size if survey.against else f"{counted(runs, 'run')} and {counted(queries, 'topic')}"
    applied = {part.procedure for side in survey.sides for part in side.parts}
    asked = [word for procedure, word in _QUALITIES.items() if procedure in applied]
    lead = f"{counted(measures, 'measure')} studied on {size}"
    lead += f": how {joined(asked, most=9)} they are on this data." if asked else "."
    files = Files(["overview.csv", "overview.tex", *(f"{_of(side)}scores.csv" for side in survey.sides)])
    table = survey.table()
    if survey.has_glance:
        first = Section("At a glance", [Bullets(survey.reading()), Grid(table), files])
    else:
        first = Section("Files", [*map(Paragraph, table.notes), files])
    sections = [first, *_sections(survey, blocks), _made(survey, command)]
    return page(title, lead, sections, f"Made by RankSift {__version__}.", answer=[Grid(scores_of(survey))])


def scores_of(survey: Survey) -> Table:
    """What is studied: the scores of each run, the best run by the first measure first."""
    table = survey.scores.table()
    sign = -1 if higher_is_better(survey.scores.measures[0]) else 1
    best_first = np.argsort(sign * survey.scores.aggregate()[:, 0], kind="stable").tolist()
    what = f"Scores, by {table.columns[1].name}"
    return Table(table.columns, [table.rows[r] for r in best_first], title=what, notes=table.notes).head(_MOST_RUNS)


def _sections(survey: Survey, blocks: dict[int, list[Block]]) -> Iterator[Section]:
    """A section a procedure; what was repeated on sets of queries follows the types of queries."""
    sides = survey.sides
    for name in dict.fromkeys(_section_of(part) for side in sides for part in side.parts):
        section = Section(_TITLES[name], [Paragraph(_ASKED[name])])
        for side in sides:
            for part in side.parts:
                if _section_of(part) == name:
                    what = part.subject if part.procedure == name else f"{_TITLES[part.procedure]}: {part.subject}"
                    heading = ": ".join(
                        word for word in (side.name and f"On {side.name}", part.subject and what) if word
                    )
                    section.blocks += [*([Heading(heading)] if heading else []), *blocks[id(part)]]
        yield section
    if survey.across:
        compared = [block for part in survey.across for block in (Heading(part.subject), *blocks[id(part)])]
        yield Section(_TITLES["consistency"], [Paragraph(_ASKED["consistency"]), *compared])


def _section_of(part: Part) -> str:
    return "query_types" if part.word and part.procedure in _ON_SETS else part.procedure


def _made(survey: Survey, command: str) -> Section:
    """The last section: all that is needed to make the page again."""
    blocks: list[Block] = []
    if command:
        blocks += [Paragraph("The command, with any folder for `DIR`:"), Session(command, "")]
    for side in survey.sides:
        of = f" of {side.name}" if side.name else ""
        if of:
            blocks.append(Paragraph(f"The study{of}:"))
        blocks.append(Bullets([f"{name}: {value}" for name, value in side.settings.items()]))
        if side.skipped:
            blocks.append(Paragraph(f"Left out{of}:"))
            blocks.append(Bullets([f"{_TITLES[name]}: {why}" for name, why in side.skipped.items()]))
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "polars", "matplotlib"))
    python = ".".join(map(str, sys.version_info[:3]))
    blocks.append(Paragraph(f"Versions: ranksift {__version__}, Python {python}, {packages}."))
    for side in survey.sides:
        names = ", ".join(side.scores.runs)
        blocks.append(Paragraph(f"Runs{side.name and f' of {side.name}'}: {names}."))
    return Section("How this was made", blocks)
