"""From data to results, and from results to a page whose every claim they carry.

An experiment is a package of this folder:

- ``measure.py``: ``measure(data)`` computes everything from the data, as numbers, texts, lists and dictionaries;
- ``results.json``: what that came to, which is kept in the repository;
- ``page.md``: the template of its page, filled with the results;
- ``figures.py``, where it has figures: ``figures(results)`` gives their names and contents;
- ``words.py``, where a template needs more than numbers: ``words(results)`` gives tables and the like by name.

``{% claim r.ours > r.peer %}Ours is better.{% endclaim %}`` is a sentence of a template with what it rests on. A page
is not written when its results do not carry one of its claims, and a test fails.
"""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from experiments import markdown
from ranksift.files import writing

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "experiments"

#: Digits that are kept of a result: more than any page shows.
DIGITS = 9
#: Characters of a line of results.
WIDTH = 118

Results = dict[str, Any]


class Claim(NamedTuple):
    """A sentence of a page, where its template says it, and whether the results carry it."""

    place: str
    sentence: str
    holds: bool


class Page(NamedTuple):
    """A page and its figures by the names of their files, and all that the page claims."""

    files: dict[str, str]
    claims: list[Claim]


@dataclass(frozen=True)
class Experiment:
    """A package of this folder, by its name, and the file that its page becomes."""

    name: str
    page: str
    #: Folders of the data that it reads.
    needs: tuple[str, ...] = ()
    #: Measured only where somebody asks for it by name: it takes hours, or an accelerator.
    long: bool = False
    #: Dense tables are hidden until a reader opens them.
    fold: bool = True

    @property
    def folder(self) -> Path:
        """Where its parts are."""
        return ROOT / "experiments" / self.name

    @property
    def kept(self) -> Results:
        """The results in the repository."""
        return dict(json.loads((self.folder / "results.json").read_text("utf-8")))

    def absent(self, data: Path) -> list[str]:
        """Folders of the data that are not there."""
        return [name for name in self.needs if not (data / name).is_dir()]

    def measured(self, data: Path) -> Results:
        """Everything computed again, with as many digits as are kept."""
        return dict(rounded(self._part("measure")(data)))

    def keep(self, found: Mapping[str, Any]) -> None:
        """Put results, or some of their parts, in the place of those in the repository."""
        file = self.folder / "results.json"
        before = self.kept if file.exists() else {}
        with writing(file) as out:
            out.write(f"{written({**before, **rounded(found)})}\n".encode())

    def made_of(self, results: Results) -> Page:
        """The page that results make, whether they carry it or not."""
        claims: list[Claim] = []
        environment = _environment(self.folder, claims)
        template = environment.get_template("page.md")
        told = self._part("words")(results) if self._has("words") else {}
        text = markdown.filled(template.render(r=results, **told), fold=self.fold)
        figures = self._part("figures")(results) if self._has("figures") else {}
        return Page({self.page: text, **figures}, claims)

    def _has(self, part: str) -> bool:
        return (self.folder / f"{part}.py").exists()

    def _part(self, part: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f"experiments.{self.name}.{part}"), part)
        return found


def rounded(found: Any) -> Any:
    """Results as a file has them: numbers of few digits, names as texts.

    >>> rounded({2012: (1 / 3, 2e-12, 2)})
    {'2012': [0.333333333, 2e-12, 2]}
    """
    if isinstance(found, Mapping):
        return {str(name): rounded(value) for name, value in found.items()}
    if isinstance(found, list | tuple):
        return [rounded(value) for value in found]
    if isinstance(found, bool | int | str) or found is None:
        return found
    if hasattr(found, "tolist"):  # of numpy
        return rounded(found.tolist())
    return float(f"{found:.{DIGITS}g}")


def written(found: Any, indent: str = "") -> str:
    """Results as JSON text: one line for whatever fits into it.

    >>> print(written({"a": [1, 2.5], "b": {"c": ["d" * 60, "e" * 60]}}))
    {
     "a": [1, 2.5],
     "b": {
      "c": [
       "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
       "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"
      ]
     }
    }
    """
    line = json.dumps(found, ensure_ascii=False, allow_nan=False)
    if len(line) <= WIDTH or not isinstance(found, dict | list):
        return line
    inner = indent + " "
    if isinstance(found, dict):
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {written(value, inner)}" for name, value in found.items()]
    elif all(isinstance(value, float | int) for value in found):
        return textwrap.fill(line, WIDTH, subsequent_indent=inner)
    else:
        parts = [written(value, inner) for value in found]
    first, last = "{}" if isinstance(found, dict) else "[]"
    return f"{first}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{last}"


class _Claims(Extension):
    """The tag ``claim``."""

    tags = {"claim"}  # noqa: RUF012 (jinja2 declares it so)

    def parse(self, parser: Parser) -> nodes.Node:
        """A condition, a sentence, and the end."""
        line = next(parser.stream).lineno
        holds = parser.parse_expression()
        sentence = parser.parse_statements(("name:endclaim",), drop_needle=True)
        place = nodes.Const(f"{parser.name}:{line}")
        return nodes.CallBlock(self.call_method("_recorded", [holds, place]), [], [], sentence).set_lineno(line)

    def _recorded(self, holds: object, place: str, caller: Callable[[], str]) -> str:
        sentence = caller()
        claims: list[Claim] = self.environment.globals["claims"]  # type: ignore[assignment]
        claims.append(Claim(place, " ".join(sentence.split()), bool(holds)))
        return sentence


def _environment(folder: Path, claims: list[Claim]) -> Environment:
    made = Environment(
        loader=FileSystemLoader(folder),
        extensions=[_Claims, "jinja2.ext.do"],
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"claims": claims, "table": markdown.table, "abs": abs, "min": min, "max": max, "sum": sum}
    made.globals |= {"zip": zip, "len": len, "round": round, "all": all, "any": any, "sorted": sorted}
    for write in (markdown.number, markdown.percent, markdown.probability, markdown.between, markdown.word):
        made.filters[write.__name__] = write
    made.filters["thousands"] = "{:,}".format
    return made


def data_folder() -> Path:
    """Where the real collections are: ``$RANKSIFT_DATA``, or shared/data beside the repository."""
    return Path(os.environ.get("RANKSIFT_DATA") or ROOT.parent / "shared" / "data")


def measure(experiment: Experiment) -> bool:
    """Measure and keep the results, or say what data is absent."""
    data = data_folder()
    if absent := experiment.absent(data):
        print(f"{experiment.name}: not measured, no {' and no '.join(absent)} (set RANKSIFT_DATA to their folder)")
        return False
    experiment.keep(experiment.measured(data))
    return True


def write(experiment: Experiment) -> list[Claim]:
    """Write the page and its figures from the results that are kept, unless they do not carry one of its claims."""
    page = experiment.made_of(experiment.kept)
    wrong = [claim for claim in page.claims if not claim.holds]
    for claim in wrong:
        print(f"experiments/{experiment.name}/{claim.place}: the results do not carry: {claim.sentence}")
    if not wrong:
        DOCS.mkdir(parents=True, exist_ok=True)
        for name, text in page.files.items():
            with writing(DOCS / name) as out:
                out.write(text.encode())
            print((DOCS / name).relative_to(ROOT) if DOCS.is_relative_to(ROOT) else DOCS / name)
    return wrong


def publish(experiment: Experiment) -> None:
    """Measure, unless that takes long, and write the page; exit 1 where its claims do not hold."""
    if not experiment.long and not measure(experiment):
        return
    if write(experiment):
        raise SystemExit(1)
