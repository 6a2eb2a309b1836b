"""``ranksift demo``: the whole story on built-in data, in seconds, with a page to look at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ranksift import __version__
from ranksift.cli.output import write
from ranksift.errors import InputError

if TYPE_CHECKING:
    from ranksift.collection.qrels import Qrels
    from ranksift.collection.run import Run

#: What chapters write beside the collection and the page.
MADE = (
    "study",
    "safety.scores",
    "cutoff.json",
    "cut.trec",
    "reviews",
    "models",
    "lambdamart.trec",
    "limited.trec",
    "forum",
    "forum.jsonl",
    "labels",
    "labelled.jsonl",
    "texts.trec",
    "question.json",
)


def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder for the data and the page.")
    ] = Path("out/demo"),
    files: Annotated[
        bool, typer.Option("--files", help="Only write the judgments and the runs that the demo begins with.")
    ] = False,
) -> None:
    """Walk through every step on built-in data, and write a page with the results."""
    from ranksift.datasets.synthetic import synthetic_collection, write_collection

    qrels, runs = synthetic_collection()
    names = ["qrels.txt", *(f"{name}.run" for name in runs)]
    _refuse_to_overwrite(out, qrels, names if files else ["index.html", *MADE, *names])
    write_collection(qrels, runs, out)
    if files:
        write(f"Written to {out}: {', '.join(names)}\n")
        return
    _tell(qrels, runs, out)


def _tell(qrels: Qrels, runs: dict[str, Run], out: Path) -> None:
    from ranksift.cli.demo_stage import Stage
    from ranksift.cli.demo_story import CHAPTERS
    from ranksift.report.page import page

    stage = Stage(qrels, runs)
    write(f"RankSift ranks the good, filters the forbidden, and measures both.\nThe data is in {out}: cd {out}\n")
    with _told_with(out), chdir(out):
        for title, chapter in CHAPTERS:
            stage.open(title)
            chapter(stage)
        html = page(
            "Rank the good, filter the forbidden",
            "What changes when a system may refuse to show a document.",
            stage.sections,
            f"Made by `ranksift demo` of RankSift {__version__}. The data is synthetic, so it shows how the measures "
            "behave and says nothing about real systems. Every command above can be run in the folder of this page.",
            answer=stage.answer,
        )
        write(html, Path("index.html"))
    write(f"\nThe same with charts: {out / 'index.html'}\n")


@contextmanager
def _told_with(folder: Path) -> Iterator[None]:
    """Name the folder in an error: chapters name what is in it."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error), source=str(folder)) from None
    except OSError as error:
        what = f"cannot be written ({error.strerror or error})"
        raise InputError(what, source=str(folder), remedy="make room, or name another folder: --out") from None


def _refuse_to_overwrite(folder: Path, qrels: Qrels, names: list[str]) -> None:
    """Refuse a folder in which files that no demo made have the names of the demo's."""
    there = [name for name in names if (folder / name).exists()]
    if there and not _made_by_a_demo(folder, qrels):
        raise InputError(
            "already exists, and was not made by a demo",
            source=str(folder / there[0]),
            remedy="name another folder: --out",
        )


def _made_by_a_demo(folder: Path, qrels: Qrels) -> bool:
    """Whether the folder has the page of a demo, of any version, or at least the judgments that it begins with."""
    from ranksift.collection.qrels import read_qrels

    page = folder / "index.html"
    if page.is_file():
        return "ranksift demo" in page.read_text("utf-8", "replace")
    try:
        return read_qrels(folder / "qrels.txt") == qrels
    except InputError:
        return False
