"""What the documentation shows runs, and what is made from the code is complete and fresh."""

import re
import tomllib
from pathlib import Path

import pytest

from docs.generate import catalogue, figure, prompts, readings
from docs.generate.docstrings import as_markdown
from docs.generate.session import BlockError, Session, collection, run_blocks
from ranksift.learning import losses
from ranksift.measures.measure import CATALOGUE
from ranksift.report.catalogue import entries

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if re.search(r"```(console|pycon)", p.read_text()))


@pytest.mark.parametrize("page", PAGES)
def test_everything_that_a_page_shows_runs(page):
    shown = run_blocks((DOCS / page).read_text())
    assert shown.count("\n$ ") + shown.count("\n>>> ") > 0
    assert "Traceback" not in shown


def test_the_readme_shows_what_python_prints():
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```pycon\n(.*?)```", text, re.S)[1]
    asked = "\n".join(line for line in block.splitlines() if line.startswith((">>>", "...")))
    with collection() as folder:
        assert Session(folder).python(asked) == block


def test_the_readme_names_every_measure_and_only_those():
    table = (ROOT / "README.md").read_text().partition("## Measures")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)(?:\(…\))?`", "\n".join(x for x in table.splitlines() if x.startswith("|"))))
    assert set(CATALOGUE) - named <= {"UBQ_over", "UBQ_under"}
    assert named <= set(CATALOGUE)


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def extras_of(page: str) -> dict[str, str]:
    """The table of extras on a page: what each is said to bring."""
    table = (ROOT / page).read_text().partition("| extra |")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", table, re.M))


def test_every_extra_is_explained_to_those_who_need_it():
    users = extras_of("README.md")
    assert users == extras_of("docs/index.md")
    assert [*users, *extras_of("CONTRIBUTING.md")] == [*EXTRAS]
    for extra, brings in users.items():
        said = brings.replace("everything in `trees`", users["trees"]).lower()
        named = [re.split(r"[\[>=]", part)[0] for part in EXTRAS[extra] if not part.startswith("ranksift[")]
        assert [name for name in named if name not in said] == []


def test_only_extras_that_exist_are_asked_for():
    files = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "src").rglob("*.py"), ROOT / "pyproject.toml"]
    asked = {(f.name, name) for f in files for some in _asked(f) for name in some.split(",")}
    assert {pair for pair in asked if pair[1] not in EXTRAS} == set()
    assert {name for _, name in asked} >= {"report", "trees", "learn"}


def _asked(file: Path) -> list[str]:
    """The extras that a file tells to install."""
    return re.findall(r"(?:\branksift|'\.)\[([a-z,]+)\]", file.read_text())


def test_links_of_the_readme_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_the_reference_has_every_loss():
    page = (DOCS / "api.md").read_text()
    listed = re.search(r"members: \[(bce[^\]]+)\]", page)[1].split(", ")
    assert listed == [*losses.LOSSES, "loss_of"]


def test_docstrings_become_markdown():
    found = as_markdown("Of :math:`g_i`, see :class:`~ranksift.Gains`.\n\n    .. math:: \\frac{1}\n        {2}\n\nMore")
    assert found == "Of \\(g_i\\), see `Gains`.\n\n    \\[\\frac{1} {2}\\]\n\nMore"


def test_what_the_button_hides_is_prompts_and_output():
    """The lines of a block as pygments marks them: what is left without the marked ones is what one types."""
    block = (
        '<pre><code><span class="gp">$ </span>ls<span class="se">\\</span>\n<span class="gp">&gt; </span>-a\n'
        '<span class="go">one</span>\n\ntwo\n<span class="gp">$ </span>pwd\n<span class="go">/</span>\n</code></pre>'
    )
    marked = prompts.marked(block)
    left = re.sub(r'<span class="g[op]">(<span class="go">[^<]*</span>\n|[^<]*)</span>', "", marked)
    assert re.sub("<[^>]*>", "", left) == "ls\\\n-a\npwd\n"
    assert re.sub("<[^>]*>", "", marked) == re.sub("<[^>]*>", "", block)
    assert prompts.marked("<code>plain\n</code>") == "<code>plain\n</code>"
    assert "[data-md-copying] :is(.gp, .go) { display: none; }" in (DOCS / "style.css").read_text()


def test_the_figure_is_that_of_the_code():
    assert figure.TARGET.read_text() == figure.main()


def test_the_catalogue_has_every_measure_with_every_parameter():
    page = catalogue.page(readings.links())
    for entry in entries():
        section = page.partition(f"### {entry.name} {{")[2].partition("\n### ")[0]
        assert entry.latex in section
        assert ">>> " in section
        for parameter in entry.parameters:
            assert f"| `{parameter}` |" in section, (entry.name, parameter)


def test_the_catalogue_tells_parameters_once():
    assert "---------- " not in catalogue.page({})
    assert not any("Parameters" in text for name in CATALOGUE for text in catalogue.paragraphs(name))


def test_examples_of_the_catalogue_run():
    assert run_blocks(catalogue.page({})).count("\n>>> ") >= len(CATALOGUE)


def test_readings_are_of_measures_that_exist_and_of_all_from_the_papers():
    named = {measure for reading in readings.readings() for measure in reading.measures}
    assert named <= set(CATALOGUE)
    ours = {name for name, cls in CATALOGUE.items() if cls.family != "classic"}
    assert ours - named == {"Empty"}


def test_headings_of_readings_are_shown_without_the_list_of_measures():
    assert "measures=" not in readings.without_measures(readings.PAGE.read_text())


def test_a_command_that_fails_stops_the_build_unless_its_exit_code_is_shown(tmp_path):
    session = Session(tmp_path)
    assert session.shell(["$ false", '$ echo "exit code $?"']) == '$ false\n$ echo "exit code $?"\nexit code 1\n'
    with pytest.raises(BlockError, match="exit code 1"):
        session.shell(["$ false"])
    with pytest.raises(BlockError, match="ZeroDivisionError"):
        session.python(">>> 1 / 0")
    with pytest.raises(BlockError, match="not a command"):
        session.shell(["0.5341"])
