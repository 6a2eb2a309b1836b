"""The notebook of the documentation runs, and each of its results shows itself as a table."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


@pytest.mark.filterwarnings("ignore::ranksift.RankSiftWarning")
def test_every_cell_runs_and_shows_something():
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] for cell in cells)  # made anew by who opens it
    names: dict[str, object] = {}
    tables = 0
    for cell in cells:
        code = ast.parse("".join(cell["source"]))
        last = code.body.pop()
        exec(compile(code, NOTEBOOK.name, "exec"), names)
        assert isinstance(last, ast.Expr)
        shown = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
        tables += "<table" in getattr(shown, "_repr_html_", str)()
    assert tables == len(cells) - 2  # scores["AP"] is numbers, and what is printed is text
