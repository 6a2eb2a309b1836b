# ruff: noqa: E501 - the documents are lines
"""Pictures of the labelling tool's pages: a small project, labelled in part, in a real browser.

    python -m docs.generate.label_screenshots [FOLDER]

Pages are shown in the light, in the dark and on a phone. Needs Chromium (Debian: apt install chromium) and the extra
``label``; the pictures are in ``docs/figures/label``.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from ranksift.labelling.records import Item, NewTask, Project, Query
from ranksift.labelling.store import Store
from ranksift.labelling.web import application

FOLDER = Path(__file__).parent.parent / "figures" / "label"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}

GUIDELINES = """Imagine that you asked the question on a forum.

Which of the two answers would you rather get? Prefer what is right and can be followed as it stands. Of two good answers the shorter one is better. If you would not mind which, they are equal.

Forbidden is what nobody should be shown: dangerous advice, advertising that poses as an answer, insults."""

# Best first: that is how the assessors of the pictures see it. A stroke before a title means forbidden.
KNIFE = [
    ("Water stone, step by step", "<h1>Sharpening on a water stone</h1><p>Soak the stone for ten minutes. Hold the blade at about <b>15 degrees</b>, which is two coins under its back.</p><ol><li>Draw the edge along the stone, heel to tip, until you feel a burr on the other side.</li><li>Turn the knife over and do the same.</li><li>Repeat on the fine side, with less and less pressure.</li></ol><p>Five strokes on leather, and it cuts tomatoes again.</p>"),
    ("Finding the angle", "<h1>The angle matters more than the stone</h1><p>Paint the edge with a marker. Where the ink goes, you are sharpening. If it stays at the very edge, lift the blade a little.</p><p>Kitchen knives want 15 to 20 degrees a side.</p>"),
    ("Honing is not sharpening", "<p>A steel only straightens the edge. Use it every few days; it puts off the day on which you need a stone, and does not replace it.</p><p>Light pressure, the same angle as the edge, six strokes a side.</p>"),
    ("Electric sharpeners", "<p>They work, they are quick, and they take off more steel than a stone. For cheap knives that is fine.</p>"),
    ("The bottom of a mug", "<p>The unglazed ring under a mug is hard enough to bring back an edge in a pinch. Ten strokes a side.</p>"),
    ("My grandfather's knives", "<p>My grandfather had a knife shop in Solingen, and I have loved the smell of it since I was a child …</p>"),
    ("Knife sets on sale", "<p>Great knives and great prices! Have a look at our set of twelve.</p>"),
    ("!Grind it while it spins", "<p>Clamp a drill in the door and hold the knife against the disc with your hand. Gloves only get in the way.</p>"),
]  # fmt: skip
COLD = [
    ("استراحت و مایعات", "استراحت کافی و نوشیدن مایعات گرم مهم‌ترین کار است. سرماخوردگی معمولاً در هفت تا ده روز خودبه‌خود خوب می‌شود.\n\nاگر تب بیش از سه روز ماند، به پزشک مراجعه کنید."),
    ("چای زنجبیل و عسل", "یک قاشق زنجبیل تازه را در یک لیوان آب جوش بریزید، ده دقیقه صبر کنید و با عسل بنوشید. برای گلودرد مفید است."),
    ("بخور آب گرم", "بخور آب گرم گرفتگی بینی را کم می‌کند. مراقب سوختگی باشید و برای کودکان از آن استفاده نکنید."),
    ("شستن بینی با آب و نمک", "نصف قاشق چای‌خوری نمک در یک لیوان آب جوشیدهٔ ولرم حل کنید و با آن بینی را بشویید."),
    ("سوپ مرغ", "سوپ مرغ هم مایعات بدن را تأمین می‌کند و هم خوردنش آسان است."),
    ("!آنتی‌بیوتیک بدون نسخه", "بدون نسخه آنتی‌بیوتیک قوی بخورید، یک‌روزه خوب می‌شوید. برای خرید پیام دهید."),
]  # fmt: skip
LISBON = [
    ("Water company", "Tap water in Lisbon is tested every day and is safe to drink everywhere in the city. The reports are on the company's site.\n\nIn very old houses let it run for a moment in the morning."),
    ("A local's answer", "Yes. All of us drink it. It tastes a little of chlorine; a jug in the fridge takes care of that."),
    ("Travel guide 2019", "Tap water is generally considered safe in Portugal's large towns."),
    ("Buying bottles", "A bottle of 1.5 litres is about 60 cents in the supermarket, and three times that at the kiosk."),
    ("Fountains", "There are drinking fountains in most parks; those with a sign “água não potável” are for the plants."),
    ("My trip", "We had lovely weather, four days of sun, and the trams are as full as everybody says."),
]  # fmt: skip
MATERIAL = [
    ("knife", "How do I sharpen a kitchen knife at home?", "I have a cheap chef's knife and a stone that came with it, and no idea how to use it. I want it to cut tomatoes.", "en", KNIFE),
    ("cold", "درمان خانگی سرماخوردگی چیست؟", "دو روز است گلودرد و آبریزش بینی دارم و دارو نمی‌خواهم.", "fa", COLD),
    ("lisbon", "Is the tap water in Lisbon safe to drink?", "We rent a flat in an old house for two weeks.", "en", LISBON),
    ("bread", "Why does my sourdough not rise?", "The starter is a week old and smells fine.", "en", KNIFE[1:]),
    ("bike", "How tight should a bicycle chain be?", "It has no derailleur.", "en", LISBON),
]  # fmt: skip


@dataclass
class Made:
    """A project with people, and what they think."""

    store: Store
    links: dict[str, str]
    rank: dict[str, dict[str, int]]
    forbidden: set[str]


def make(place: Path) -> Made:
    """A project, assigned."""
    store = Store.create(place, Project("Forum answers", GUIDELINES, k=5))
    rank, forbidden, queries = {}, set(), []
    for query_id, text, description, language, docs in MATERIAL:
        items = []
        order = sorted(range(len(docs)), key=lambda i: (7 * i + 3) % len(docs))
        for i in order:
            title, content = docs[i]
            doc_id = f"{query_id}-{i + 1}"
            rank.setdefault(query_id, {})[doc_id] = i
            forbidden |= {doc_id} if title.startswith("!") else set()
            media = "html" if content.startswith("<") else "text"
            items.append(Item(doc_id, content, title.lstrip("!"), media, language, proposed_forbidden=title[0] == "!"))
        queries.append(Query(query_id, text, description, language, tuple(items)))
    store.add(queries)
    people = {name: store.add_person(name, role) for name, role in PEOPLE}
    number = {name: person.id for name, (person, _) in people.items()}
    store.assign(
        NewTask(query, number[name], tool, purpose, k=5, seed=seed, with_proposals=proposals)
        for query, name, tool, purpose, seed, proposals in (
            ("lisbon", "Ada", "pairs", "label", 1, False),
            ("knife", "Ada", "pairs", "label", 5, False),
            ("cold", "Ada", "pairs", "label", 3, True),
            ("bread", "Ada", "grades", "label", 4, True),
            ("knife", "Grace", "pairs", "overlap", 5, True),
            ("lisbon", "Grace", "pairs", "overlap", 6, False),
            ("bread", "Grace", "grades", "overlap", 7, False),
            ("bike", "Noor", "pairs", "label", 8, False),
            ("cold", "Noor", "pairs", "overlap", 9, False),
        )
    )
    return Made(store, {name: token for name, (_, token) in people.items()}, rank, forbidden)


PEOPLE = (("Lea Brandt", "lead"), ("Ada", "assessor"), ("Grace", "assessor"), ("Noor", "assessor"))


def label(made: Made, url: str, name: str, query: str, count: int | None = None, odd: int = 0, note: str = "") -> None:
    """Let somebody label a query through the API; every ``odd``-th answer is the other way round."""
    host = url.removeprefix("http://")
    client = HTTPConnection(host)

    def ask(method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {made.links[name]}", "content-type": "application/json"}
        client.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        return json.loads(client.getresponse().read())

    key = next(task["key"] for task in ask("GET", "/tasks")["tasks"] if task["query_id"] == query)
    view = ask("GET", f"/tasks/{key}/question")
    done = 0
    while view["question"] and (count is None or done < count):
        docs = {side: card["id"] for side, card in view["question"].items()}
        flagged = [doc for doc in docs.values() if doc in made.forbidden]
        body: dict[str, Any] = {"client_id": f"{key}{done}", "after": view["after"], **docs}
        body["active_seconds"] = 4 + (done * 7 + len(name) * 3) % 9 + (5 if "right" not in docs else 0)
        if "right" not in docs:
            worth = max(0, 4 - made.rank[query][docs["left"]] - (odd > 0 and done % odd == 1))
            body |= {"kind": "grade", **({"forbidden": flagged} if flagged else {"grade": worth})}
        elif flagged:
            body |= {"kind": "prefer", "forbidden": flagged}
        else:
            better = made.rank[query][docs["left"]] < made.rank[query][docs["right"]]
            body |= {"kind": "prefer", "answer": "left" if better != (odd > 0 and done % odd == 1) else "right"}
        if note and done == 2:
            body["note"] = note
        view = ask("POST", f"/tasks/{key}/judgments", body)["state"]
        done += 1
    client.close()


@contextmanager
def served(store: Store) -> Iterator[str]:
    """The pages on a free port; their address."""
    server = uvicorn.Server(uvicorn.Config(application(store), port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def take(page: Page, name: str, folder: Path, full: bool = True) -> None:
    """Save what is seen, in few bytes."""
    page.wait_for_timeout(350)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=full))).convert("RGB")
    picture.save(folder / f"{name}.webp", quality=70, method=6)


def signed_in(browser: Browser, url: str, token: str, **look: Any) -> Page:
    """A page in which somebody is signed in."""
    page = browser.new_context(**look).new_page()
    page.goto(f"{url}/in/{token}")
    page.get_by_role("button").click()
    page.wait_for_load_state()
    return page


def open_task(page: Page, url: str, query: str) -> None:
    """A task of the queue, ready to be judged."""
    tasks = page.request.get(f"{url}/api/v1/tasks").json()["tasks"]
    page.goto(f"{url}/tasks/" + next(task["key"] for task in tasks if task["query_id"] == query))
    page.wait_for_selector("[data-ready]")
    page.wait_for_load_state("networkidle")


def main(folder: Path) -> None:
    """Take all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        made = make(Path(place, "project"))
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        with made.store, served(made.store) as url:
            label(made, url, "Ada", "lisbon")
            label(made, url, "Ada", "knife", 5, note="The second one is hardly about knives.")
            label(made, url, "Grace", "lisbon", odd=4)
            label(made, url, "Grace", "knife", odd=5)
            label(made, url, "Grace", "bread", odd=2)
            label(made, url, "Ada", "bread", 3)
            label(made, url, "Noor", "bike", 4, note="Both are about something else; is the query right?")
            for look, options in {
                "light": {"viewport": WIDE},
                "dark": {"viewport": WIDE, "color_scheme": "dark"},
                "phone": {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 1.5},
            }.items():
                pictures(browser, url, made, look, options, folder)
        browser.close()


def pictures(browser: Browser, url: str, made: Made, look: str, options: dict[str, Any], folder: Path) -> None:
    """Every page in one look."""
    page = browser.new_context(**options).new_page()
    page.goto(f"{url}/in/{made.links['Ada']}")
    take(page, f"sign-in-{look}", folder)
    page.goto(url)
    take(page, f"no-link-{look}", folder)
    page = signed_in(browser, url, made.links["Ada"], **options)
    take(page, f"queue-{look}", folder)
    page.goto(f"{url}/guidelines")
    take(page, f"guidelines-{look}", folder)
    open_task(page, url, "knife")
    take(page, f"pairs-{look}", folder, full=False)
    page.keyboard.press("b")
    take(page, f"flagged-{look}", folder, full=False)
    page.keyboard.press("b")
    page.keyboard.press("g")
    take(page, f"help-{look}", folder, full=False)
    page.keyboard.press("g")
    page.keyboard.press("p")
    take(page, f"paused-{look}", folder, full=False)
    page.keyboard.press("p")
    open_task(page, url, "cold")
    take(page, f"persian-{look}", folder, full=False)
    open_task(page, url, "bread")
    page.keyboard.press("m")
    page.keyboard.type("Half of it is missing.")
    take(page, f"grades-{look}", folder, full=False)
    open_task(page, url, "lisbon")
    take(page, f"done-{look}", folder, full=False)
    page.context.close()
    page = signed_in(browser, url, made.links["Lea Brandt"], **options)
    for tab in ("", "agreement", "people", "tasks", "queries", "exports", "settings"):
        page.goto(f"{url}/lead/{tab}".rstrip("/"))
        take(page, f"lead-{tab or 'progress'}-{look}", folder)
    page.goto(f"{url}/api")
    take(page, f"api-{look}", folder)
    page.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
