"""How soon the judging page answers a key: from the key to the picture of the next question, in a real browser.

    python -m benchmarks.labelling_pages [MILLISECONDS BETWEEN KEYS]

Fifty documents of 10 kB are ordered by keyboard; the page itself measures, until both documents are there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from ranksift.labelling.records import Item, NewTask, Query
from tests.labelling.web import browsing
from tests.labelling.web.conftest import make

TEXT = "<h1>Title</h1>" + "<p>Lorem ipsum dolor sit amet, consectetur elit.</p>" * 200


def keys(pause: float) -> list[float]:
    """Milliseconds of each key until the top 10 of 50 is known."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        made = make(Path(place, "project"))
        made.store.start_session(made.numbers["Lea"])  # else the server makes a new link
        made.store.add(
            [Query("fifty", "fifty", items=tuple(Item(f"d{i}", TEXT, f"{i:02}", "html") for i in range(50)))]
        )
        task = made.store.assign([NewTask("fifty", made.numbers["Ada"], "pairs")])[0].key
        server = browsing.Server(Path(place, "project"))
        server.start()
        browser = playwright.chromium.launch(executable_path=browsing.chromium(), args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        browsing.sign_in(page, server.url, made.tokens["Ada"])
        page.goto(f"{server.url}/tasks/{task}")
        page.wait_for_selector("[data-ready]")
        while not page.is_visible("#done"):
            if page.is_visible("#waiting"):
                page.wait_for_timeout(5)
                continue
            left, right = page.inner_text("#name-left"), page.inner_text("#name-right")
            page.keyboard.press("ArrowLeft" if left < right else "ArrowRight")
            page.wait_for_timeout(pause)
        page.wait_for_timeout(500)
        found: list[float] = page.evaluate("performance.getEntriesByName('ranksift-answer').map((one) => one.duration)")
        assert len(found) == len(made.store.log(task))
        browser.close()
        server.stop()
        made.store.close()
    return found


if __name__ == "__main__":
    pause = float(sys.argv[1]) if len(sys.argv) > 1 else 400.0
    times = np.array(keys(pause))
    p50, p95 = np.percentile(times, (50, 95))
    what = f"median {p50:.0f} ms, 95th percentile {p95:.0f} ms, longest {times.max():.0f} ms"
    print(f"{len(times)} keys, {pause:g} ms apart: {what}")
