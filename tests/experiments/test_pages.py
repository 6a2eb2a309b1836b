"""Every page of results: that it is what the results in the repository make, and that they carry what it claims."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from experiments import experiment
from experiments.catalogue import EXPERIMENTS
from experiments.experiment import DOCS, Experiment, Page, rounded, written


@pytest.fixture(scope="module", params=EXPERIMENTS, ids=[one.name for one in EXPERIMENTS])
def one(request: pytest.FixtureRequest) -> Experiment:
    return request.param


@pytest.fixture(scope="module")
def page(one: Experiment) -> Page:
    return one.made_of(one.kept)


def test_documentation_shows_the_results_that_are_kept(one: Experiment, page: Page) -> None:
    for name, text in page.files.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name} is stale: python -m experiments --pages"


def test_results_carry_every_claim(page: Page) -> None:
    assert page.claims
    for claim in page.claims:
        assert claim.sentence
        assert claim.holds, f"{claim.place}: {claim.sentence}"


def test_page_shows_every_figure_and_states_its_command(one: Experiment, page: Page) -> None:
    text = page.files[one.page]
    assert set(re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)) == set(page.files) - {one.page}
    assert f"python -m experiments.{one.name}" in text
    text = re.sub(r"\{\w+(?:,|\.\.)[\w,.]+\}", "", text)  # the names of several files, in one
    assert not re.search(r"\bnan\b|\binf\b|(?<!=)\bNone\b(?! of| is)|−0\.0+\b(?!\d)|[{}]\w|Undefined", text)


def test_results_stand_in_their_file_as_they_are_written(one: Experiment) -> None:
    text = (one.folder / "results.json").read_text(encoding="utf-8")
    assert text == f"{written(rounded(json.loads(text)))}\n"


def test_absent_data_is_named_and_nothing_is_written(
    one: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not one.needs or one.long:
        pytest.skip("it needs no data to write its page")
    monkeypatch.setenv("RANKSIFT_DATA", str(tmp_path))
    monkeypatch.setattr(experiment, "DOCS", tmp_path / "docs")
    experiment.publish(one)
    assert capsys.readouterr().out.startswith(f"{one.name}: not measured, no {one.needs[0]}")
    assert not (tmp_path / "docs").exists()


# -- the machinery, on a page of its own -------------------------------------------------------------------------------

TEMPLATE = """\
# {{ r.name }}

{% claim r.ours > r.peer %}
Ours has {{ r.ours | number(2) }}, {{ (r.ours - r.peer) | percent }} more.
{% endclaim %}
{% claim r.count == 1000 %}
There are {{ r.count | thousands }}.
{% endclaim %}
"""
RESULTS: dict[str, Any] = {"name": "Small", "ours": 0.5, "peer": 0.25, "count": 1000}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    folder = tmp_path / "experiments" / "small"
    folder.mkdir(parents=True)
    (folder / "page.md").write_text(TEMPLATE, encoding="utf-8")
    monkeypatch.setattr(experiment, "ROOT", tmp_path)
    monkeypatch.setattr(experiment, "DOCS", tmp_path / "docs")
    return Experiment("small", "small.md")


def test_a_page_is_written_where_its_claims_hold(small: Experiment) -> None:
    small.keep(RESULTS)
    assert experiment.write(small) == []
    written_page = (experiment.DOCS / "small.md").read_text(encoding="utf-8")
    assert written_page == "# Small\n\nOurs has 0.50, 25.0 % more. There are 1,000.\n"


def test_a_claim_that_does_not_hold_is_named_and_the_page_stays(
    small: Experiment, capsys: pytest.CaptureFixture[str]
) -> None:
    small.keep(RESULTS)
    experiment.write(small)
    before = (experiment.DOCS / "small.md").read_bytes()
    capsys.readouterr()
    small.keep({"ours": 0.2})
    [wrong] = experiment.write(small)
    assert wrong.place == "page.md:3"
    assert capsys.readouterr().out == (
        "experiments/small/page.md:3: the results do not carry: Ours has 0.20, −5.0 % more.\n"
    )
    assert (experiment.DOCS / "small.md").read_bytes() == before


def test_a_number_that_is_not_there_is_an_error(small: Experiment) -> None:
    from jinja2 import UndefinedError

    small.keep({"name": "Small", "ours": 0.5})
    with pytest.raises(UndefinedError, match="peer"):
        small.made_of(small.kept)


def test_parts_are_kept_beside_each_other(small: Experiment) -> None:
    small.keep(RESULTS)
    small.keep({"ours": 1 / 3})
    assert small.kept == {**RESULTS, "ours": 0.333333333}
