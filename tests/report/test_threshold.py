"""The page with the slider: its numbers against brute force, and the page itself in a browser without a network."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ranksift as rs
from ranksift.cutoffs import FixedCutoff, NormalizedCutoff
from ranksift.cutoffs.held_out import aggregate
from ranksift.cutoffs.summary import summarised
from ranksift.measures.names import parse_measure
from ranksift.report.threshold import has_page, threshold_page
from tests.labelling.web.browsing import chromium

EVIL = "</script><b>evil"


def lists(queries: int = 30, seed: int = 0) -> rs.Lists:
    draw = np.random.default_rng(seed)
    labels = draw.choice([-2.0, 0, 1, 2, np.nan], 8 * queries)
    scores = (np.nan_to_num(labels) + draw.normal(size=len(labels))).round(1)  # with ties
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for i, (label, score) in enumerate(zip(labels, scores, strict=True)):
        query, doc = f"q{i // 8}", EVIL if i == 0 else f"d{i}"
        run.setdefault(query, {})[doc] = score
        if not np.isnan(label):
            qrels.setdefault(query, {})[doc] = label
    return rs.Lists.from_run(rs.read_qrels(qrels), rs.read_run(run))


def made(given: rs.Lists, rule: rs.GlobalCutoff | None = None) -> str:
    fitted = (rs.GlobalCutoff("nDCG_f@5") if rule is None else rule).fit_lists(given)
    return threshold_page(summarised(fitted, given, samples=0), given, command="ranksift cutoff fit")


def stops_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="stops">(.*?)</script>', html)[1])


def test_every_stop_shows_and_hides_what_its_threshold_does():
    given = lists()
    html = made(given)
    data, stops = stops_of(html), stops_of(html)["stops"]
    assert stops[0]["threshold"].startswith("-∞")
    assert stops[-1]["threshold"].startswith("+∞")
    for stop in stops:
        word = stop["threshold"]
        threshold = {"-∞": -np.inf, "+∞": np.inf}.get(word[:2]) or float(word)
        kept = given.score >= threshold - 1e-9
        kinds = [given.gain < 0, ~given.judged, given.judged & (given.gain == 0), given.gain > 0]
        assert stop["shown"] == [int((kept & kind).sum()) for kind in kinds]
        value = aggregate(parse_measure("nDCG_f@5"), given, kept)
        assert stop["values"][0] == f"{value:.4f}"
        forbidden = aggregate(parse_measure("Fdocs@5"), given, kept)
        assert stop["values"][1] == f"{100 * forbidden:.1f}%"
        assert stop["values"][3] == str(len(given) - len(np.unique(given.query[kept])))
        shown, hidden = ([float(data["documents"][str(i)][2]) for i in side] for side in stop["near"])
        assert len(shown) == min(5, kept.sum())
        assert len(hidden) == min(5, (~kept).sum())
        assert all(score >= threshold - 1e-5 for score in shown)
        assert all(score < threshold for score in hidden)


def test_it_stands_at_the_cutoff_first():
    given = lists()
    rule = rs.GlobalCutoff("nDCG_f@5").fit_lists(given)
    data = stops_of(made(given))
    assert data["stops"][data["chosen"]]["threshold"] == f"{rule.threshold_:.6g}"
    between = FixedCutoff(0.123456).fit_lists(given)
    data = stops_of(threshold_page(summarised(between, given), given))
    assert sum(data["stops"][data["chosen"]]["shown"]) == int((given.score >= 0.123456).sum())


def test_many_documents_make_no_large_page():
    html = made(lists(queries=3000))
    assert len(stops_of(html)["stops"]) <= 201
    assert len(html) < 250_000


def test_names_of_documents_add_no_marks():
    html = made(lists(queries=3))
    assert "<b>evil" not in html
    assert EVIL in {name for name, *_ in stops_of(html)["documents"].values()}


def test_rules_without_a_threshold_for_all_queries_have_no_page():
    assert not has_page(NormalizedCutoff())
    assert has_page(rs.RiskCutoff())


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_keys_and_clicks_move_it_without_a_network(browser, tmp_path: Path, width, scheme):
    file = tmp_path / "page.html"
    file.write_text(made(lists()), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(file.as_uri())
    data = stops_of(file.read_text(encoding="utf-8"))
    stops, at = data["stops"], data["chosen"]

    def told() -> tuple[str, list[str], list[str]]:
        shown = [cell.replace(",", "") for cell in page.locator("[data-shown]").all_inner_texts()]
        return page.inner_text("#now"), page.locator("dd").all_inner_texts(), shown

    def expected(number: int) -> tuple[str, list[str], list[str]]:
        stop = stops[number]
        return stop["threshold"], stop["values"], [str(count) for count in stop["shown"]]

    assert told() == expected(at)
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    assert told() == expected(at + 1)
    page.keyboard.press("End")
    assert told() == expected(len(stops) - 1)
    assert page.locator("#kept li").count() == 0
    assert "forbidden" in page.get_attribute("#threshold", "aria-valuetext")
    page.click("#back")
    assert told() == expected(at)
    box = page.locator(".charts svg").nth(1).bounding_box()
    page.mouse.click(box["x"] + 44 / 336 * box["width"], box["y"] + box["height"] / 2)
    assert told() == expected(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults == []
    context.close()


def test_the_numbers_fit_a_phone(browser, tmp_path: Path):
    """Those of two columns break their lines, and no table has to be pushed aside."""
    file, given = tmp_path / "page.html", lists()
    rule = rs.GlobalCutoff("nDCG_f@5").fit_lists(given)
    file.write_text(threshold_page(summarised(rule, given), given, command="ranksift cutoff fit"), encoding="utf-8")
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(file.as_uri())
    grids = page.locator(".grid").evaluate_all("all => all.map(one => [one.scrollWidth, one.clientWidth])")
    assert grids
    assert all(wanted <= there for wanted, there in grids)
