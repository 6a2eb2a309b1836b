"""The page to try the service with, and that of the API, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ranksift as rs
from tests.labelling.web.browsing import PATIENCE, axe, chromium
from tests.serving.running import Server

pytest.importorskip("playwright", reason="needs playwright")

from playwright.sync_api import Page, expect, sync_playwright

TWO = ([0.9, 0.2, 0.7, 0.1], [1, -1, 2, -1], ["q", "q", "r", "r"])


@pytest.fixture(scope="module")
def server(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    two = tmp_path_factory.mktemp("cutoffs") / "two.json"
    rs.GlobalCutoff("nDCG_f@3").fit(*TWO, rank_scores=[1.0, 2.0, 3.0, 4.0]).save(two)
    names = [models / name for name in ("text", "features", "stacked", "cutoff.json")]
    with Server(*names, two, "--token", "key-1") as made:
        yield made


@pytest.fixture(params=["desktop", "phone", "dark"], scope="module")
def page(request: pytest.FixtureRequest, server: Server) -> Iterator[Page]:
    size = {"width": 390, "height": 760} if request.param == "phone" else {"width": 1200, "height": 800}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        scheme = "dark" if request.param == "dark" else "light"
        opened = browser.new_page(viewport=size, color_scheme=scheme)
        opened.set_default_timeout(1000 * PATIENCE)
        expect.set_options(timeout=1000 * PATIENCE)
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        yield opened
        browser.close()
    assert faults == []


def _tried(page: Page, model: str, lines: str = "") -> str:
    page.select_option("#model", model)
    if lines:
        page.fill("#items", lines)
    page.click("#send")
    expect(page.locator("#said")).to_contain_text("are shown")
    return page.inner_text("#said")


def test_every_model_can_be_tried(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/")
    expect(page.locator("#said")).to_contain_text("401")
    page.fill("#token", "key-1")
    page.press("#token", "Tab")
    expect(page.locator("#keeps")).to_contain_text("Version")
    page.fill("#query", "w100 w110")
    assert _tried(page, "text", "w100 w101 w2\nw1").startswith("1 of 2 are shown")
    assert page.locator("li.dropped").inner_text().endswith("w1")
    assert "0 of 1 are shown: an empty answer" in _tried(page, "text", "w1")
    assert "of 3 are shown" in _tried(page, "cutoff")  # with the example that the page brings
    assert "2 of 2 are shown" in _tried(page, "cutoff", "0.9\n0.8")
    assert "of 3 are shown" in _tried(page, "two")
    assert "of 2 are shown" in _tried(page, "features")
    page.select_option("#model", "text")
    assert page.input_value("#items") == "w1"  # what was written there
    page.select_option("#model", "stacked")
    assert page.is_disabled("#send")
    page.select_option("#model", "cutoff")
    page.fill("#items", "a lot")
    page.click("#send")
    expect(page.locator("#said")).to_have_text("a lot is not a number")


def test_the_api_is_shown(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/docs")
    expect(page.locator("summary")).to_have_count(8)
    page.locator("summary").first.click()
    assert "relevance_score" in page.inner_text("details[open]")


def test_nothing_is_wider_than_the_screen_and_all_can_be_read(page: Page, server: Server) -> None:
    for path in ("/", "/docs"):
        page.goto(f"{server.url}{path}")
        page.wait_for_load_state("networkidle")
        for one in page.locator("details").all():
            one.evaluate("one => one.open = true")
        width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0
        page.evaluate(axe())
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
