"""The page on properties of measures: the documentation shows what is found now."""

import re

import pytest

from experiments import markdown, properties, publish
from experiments.properties import page
from ranksift.study.properties import PROPERTIES, Properties
from ranksift.study.properties import properties as search


@pytest.fixture(scope="module")
def found() -> Properties:
    return search()


@pytest.fixture(scope="module")
def shown() -> str:
    return (publish.DOCS / "properties.md").read_text(encoding="utf-8")


def words(text: str) -> str:
    """Without the ends of lines, which differ, and the lines that fold a table away."""
    return " ".join(re.sub(r"</?details[^>]*>|<summary>.*</summary>", "", text).split())


@pytest.mark.parametrize("section", [page.in_short, page.meaning, page.all_measures, page.examples])
def test_documentation_shows_what_is_found_now(shown: str, found: Properties, section) -> None:
    text = markdown.page(section(found), fold=True)
    assert words(text) in words(shown), "the page is stale: run python -m experiments.properties"


def test_every_measure_has_a_row(shown: str, found: Properties) -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (?:yes|graded|binary|no|–) \|", shown, re.M)
    assert len(rows) == len(set(rows))
    assert {row.split("(")[0].split("@")[0] for row in rows} == {
        name.split("(")[0].split("@")[0] for name in found.found
    }


def test_the_findings_are_the_tables(found: Properties) -> None:
    """What the prose says without a number of its own."""
    text = page.in_short(found)
    assert "**No measure has all seven**" in text
    assert "**No score that uses gains is invariant to a shift" in text
    assert "`Q` is not top-weighted where grades differ" in text
    assert page.having(found, ["boundedness", "convergence", "top-weightedness"]) == ["nDCG_f", "nDCG_f@10"]
    assert all(found.holds(f"{name}@10", "monotonicity") == "no" for name in ("nDCG", "nDCG_org", "nDCG_min", "nDCG_f"))
    impossible = ["boundedness", "monotonicity", "convergence", "localization", "realizability"]
    assert page.having(found, impossible, "binary") == []


def test_more_documents_are_told(found: Properties) -> None:
    fewer = search("Q nDCG", documents=4)
    some = Properties(type(found.found)({m: found.found[m] for m in fewer.found}), found.documents, found.lists)
    said = words(page.tried(some, [fewer]))
    assert said.endswith("With up to four documents, 1,025 lists, what differs is top-weightedness of `Q`.")
    assert "nothing in the table differs" in page.tried(some, [some])


def test_the_page_needs_no_data_and_names_its_command(shown: str) -> None:
    assert properties.NEEDS == ()
    assert "python -m experiments.properties" in shown
    assert all(f"| {name} |" in shown for name in PROPERTIES)
