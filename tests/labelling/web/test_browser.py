"""End to end in a real browser: labelled by keyboard alone, cut off and continued, seen by the lead, evaluated."""

import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from ranksift.collection.qrels import read_qrels
from ranksift.evaluation.evaluate import evaluate
from ranksift.labelling.records import Item, NewTask, Query
from tests.labelling.web import browsing
from tests.labelling.web.conftest import Labelling, items, make

LABELS = "label-by-keyboard"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=browsing.chromium(), args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labelling]:
    made = make(tmp_path_factory.mktemp("web") / "project")
    with made.store:
        made.store.start_session(made.numbers["Lea"])  # else the server makes a new link
        yield made


@pytest.fixture(scope="module")
def server(project: Labelling) -> Iterator[browsing.Server]:
    made = browsing.Server(Path(project.store.place))
    made.start()
    yield made
    if made.process.poll() is None:
        made.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(1000 * browsing.PATIENCE)
    made = context.new_page()
    errors: list[str] = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("console", lambda message: errors.append(message.text) if _is_ours(message.text) else None)
    yield made
    context.close()
    assert not errors


def _is_ours(message: str) -> bool:
    """Whether a page of ours broke its own rules; documents have others, and break them all the time."""
    return "Content Security" in message and "'self'" in message


def assigned(
    project: Labelling,
    query_id: str,
    documents: tuple[Item, ...],
    tool: str = "pairs",
    who: str = "Ada",
    proposals: bool = False,
):
    """A new query as a task of somebody: its address."""
    project.store.add([Query(query_id, f"about {query_id}", items=documents)])
    task = NewTask(query_id, project.numbers[who], tool, k=3, seed=4, with_proposals=proposals)  # type: ignore[arg-type]
    return project.store.assign([task])[0].key


def opened(page: Page, server: browsing.Server, project: Labelling, key: str, who: str = "Ada") -> None:
    """The judging page of a task."""
    browsing.sign_in(page, server.url, project.tokens[who])
    page.goto(f"{server.url}/tasks/{key}")
    page.wait_for_selector("[data-ready]")


def titles(page: Page) -> tuple[str, str]:
    """Of the two documents that are shown."""
    return page.inner_text("#name-left"), page.inner_text("#name-right")


def saved(page: Page) -> None:
    """Wait until the server has everything."""
    browsing.until(
        page, "document.getElementById('saved').textContent === 'Saved' || !document.getElementById('done').hidden"
    )
    browsing.until(page, "!Object.keys(localStorage).some((key) => key.startsWith('ranksift:'))")


def better(page: Page) -> None:
    """Answer by keyboard: the title with the lower number is better."""
    left, right = titles(page)
    page.keyboard.press("ArrowLeft" if left < right else "ArrowRight")


def test_a_query_is_labelled_by_keyboard_alone(page, server, project, tmp_path):
    key, began = assigned(project, LABELS, items(8, "k")), time.monotonic()
    browsing.sign_in(page, server.url, project.tokens["Ada"])
    for _ in range(40):  # to the task, as somebody without a mouse
        page.keyboard.press("Tab")
        if (
            page.evaluate("document.activeElement.href?.includes('/tasks/') && document.activeElement.href")
            == f"{server.url}/tasks/{key}"
        ):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-ready]")

    first = titles(page)
    page.keyboard.press("ArrowLeft")
    assert titles(page) != first  # at once, before the server has answered
    page.keyboard.press("u")
    assert titles(page) == first
    saved(page)
    assert [one.kind for one in project.store.log(key)] == ["prefer", "undo"]

    page.keyboard.press(" ")
    assert titles(page) != first
    page.keyboard.press("p")
    assert page.get_by_role("dialog").is_visible()
    shown = titles(page)
    page.keyboard.press("ArrowLeft")
    assert titles(page) == shown
    page.keyboard.press("p")
    assert not page.get_by_role("dialog").is_visible()
    page.keyboard.press("g")
    assert "Guidelines and keys" in page.get_by_role("dialog").inner_text()
    page.keyboard.press("Escape")

    page.keyboard.press("m")
    page.keyboard.type("left = right n b u")
    page.keyboard.press("Escape")
    better(page)
    saved(page)

    # Cut off: the server dies, two answers are given, and another one takes its place.
    browsing.until(page, "performance.getEntriesByName('ranksift-answer').length > 2")
    before = len(project.store.log(key))
    server.kill()
    better(page)
    browsing.until(page, "document.getElementById('saved').textContent.startsWith('Offline: 1')")
    if page.is_visible("#name-left") and not page.is_visible("#waiting"):
        better(page)
        browsing.until(page, "document.getElementById('saved').textContent.startsWith('Offline: 2')")
    server.start()
    saved(page)
    assert len(project.store.log(key)) == before + 2

    while not page.is_visible("#done"):
        if page.is_visible("#waiting"):
            page.wait_for_timeout(20)
            continue
        better(page)
        saved(page)
    assert [line.strip() for line in page.locator("#order li").all_inner_texts()] == ["Title 0", "Title 1", "Title 2"]
    saved(page)
    entries = list(project.store.entries(LABELS))
    assert [entry.note for entry in entries if entry.note] == ["left = right n b u"]
    assert 0 < sum(entry.active_seconds for entry in entries) < time.monotonic() - began
    assert project.store.task(key).done

    # The lead sees it, and the export evaluates.
    lead = page.context.browser.new_context(accept_downloads=True).new_page()
    lead.set_default_timeout(1000 * browsing.PATIENCE)
    browsing.sign_in(lead, server.url, project.tokens["Lea"])
    row = lead.get_by_role("row").filter(has_text=f"about {LABELS}")
    browsing.until(lead, lambda: "1 / 1" in row.inner_text())  # the page keeps itself up to date
    lead.get_by_role("link", name="Exports").click()
    with lead.expect_download() as download:
        lead.get_by_role("link", name="qrels.txt").click()
    file = tmp_path / "qrels.txt"
    download.value.save_as(file)
    lead.context.close()
    labels = read_qrels(str(file))
    run = {LABELS: {f"k{i}": float(-i) for i in range(8)}}
    assert evaluate({LABELS: labels.to_dict()[LABELS]}, run, ["kNDCG@3"]).mean_of("kNDCG@3") == 1.0


def test_enter_leads_on_to_the_next_task(page, server, project):
    first, second = (assigned(project, query, items(2, query), who="Bob") for query in ("first", "second"))
    opened(page, server, project, first, "Bob")
    page.keyboard.press("Enter")  # there is no mark to send, and the task is not done
    better(page)
    page.wait_for_selector("#done:not([hidden])")
    onward = page.get_attribute("#onward", "href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}{onward}")
    page.wait_for_selector("[data-ready]")
    assert (len(project.store.log(first)), project.store.log(second)) == (1, [])


def test_the_end_of_a_task_names_documents_and_their_ranks(page, server, project):
    documents = (Item("e0", "The first text."), Item("e1", "Another text."), Item("e2", "The third text."))
    key = assigned(project, "untitled", documents)
    opened(page, server, project, key)
    while not page.is_visible("#done"):
        left, right = ((page.get_attribute(f"iframe.{side}", "src") or "")[-2:] for side in ("left", "right"))
        page.keyboard.press("ArrowRight" if left == "e2" else "ArrowLeft" if right == "e2" else "=")
        saved(page)
    ranked = page.locator("#order li").evaluate_all("all => all.map((one) => [one.value, one.textContent])")
    assert [rank for rank, _ in ranked] == [1, 3]
    assert {*ranked[0][1].split(" = ")} == {"The first text.", "Another text."}
    assert ranked[1][1] == "The third text."


def test_an_answer_whose_receipt_is_lost_is_saved_once(page, server, project):
    key = assigned(project, "receipt", items(5, "r"))
    opened(page, server, project, key)

    def lose(route):
        route.fetch()  # the server has it, and the page does not know
        route.abort()

    page.route("**/judgments*", lose, times=2)
    page.keyboard.press("=")
    saved(page)
    assert len(project.store.log(key)) == 1


def test_an_answer_outlives_a_reload_and_another_page(page, server, project):
    key = assigned(project, "reload", items(6, "w"))
    opened(page, server, project, key)
    page.route("**/judgments*", lambda route: route.abort())
    better(page)
    browsing.until(page, "document.getElementById('saved').textContent.startsWith('Offline: 1')")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector("#message:not([hidden])")
    assert not project.store.log(key)
    page.goto("about:blank")  # the page of the task is closed, and cannot send again
    page.unroute("**/judgments*")
    page.goto(server.url)
    browsing.until(page, "document.getElementById('unsaved').textContent.includes('saved now')")
    assert len(project.store.log(key)) == 1


def test_a_page_that_is_older_than_what_the_queue_has_sent(page, server, project):
    """It was on its way while the queue still sent: it asks where the task stands before it shows anything."""
    key = assigned(project, "older", items(6, "y"))
    browsing.sign_in(page, server.url, project.tokens["Ada"])
    old = page.request.get(f"{server.url}/tasks/{key}").text()
    first = project.store.task(key)
    page.goto(f"{server.url}/tasks/{key}")
    page.route("**/judgments*", lambda route: route.abort())
    better(page)
    browsing.until(page, "document.getElementById('saved').textContent.startsWith('Offline: 1')")
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("about:blank")
    page.unroute("**/judgments*")
    page.goto(server.url)
    browsing.until(page, "document.getElementById('unsaved').textContent.includes('saved now')")
    page.route(f"**/tasks/{key}", lambda route: route.fulfill(body=old, content_type="text/html"))
    page.goto(f"{server.url}/tasks/{key}")
    browsing.until(page, "document.getElementById('count').textContent.startsWith('1 judged')")
    better(page)
    saved(page)
    assert page.is_hidden("#message")
    assert (first.judgments, len(project.store.log(key))) == (0, 2)


def test_two_windows_on_one_task(page, server, project):
    key = assigned(project, "windows", items(6, "v"))
    opened(page, server, project, key)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("[data-ready]")
    better(other)
    saved(other)
    after = titles(other)
    page.bring_to_front()
    better(page)
    page.wait_for_selector("#message:not([hidden])")
    assert "was continued elsewhere" in page.inner_text("#message")
    assert titles(page) == after
    assert len(project.store.log(key)) == 1


def test_two_windows_without_a_network(page, server, project):
    """Each sends what follows from its own answers: one of them has it all saved, and the other one is told."""
    key = assigned(project, "apart", items(8, "o"))
    opened(page, server, project, key)
    other = page.context.new_page()
    other.goto(page.url)
    other.wait_for_selector("[data-ready]")
    page.context.set_offline(True)
    for window, count in ((page, 2), (other, 1)):
        for _ in range(count):
            better(window)
        browsing.until(window, f"document.getElementById('saved').textContent.startsWith('Offline: {count} ')")
    page.context.set_offline(False)
    for window in (page, other):
        saved(window)
    told = [window.inner_text("#message") for window in (page, other)]
    lost = 2 * ("2 answers no longer fit" in told[0]) + ("Your last answer no longer fits" in told[1])
    assert sum(map(bool, told)) == 1
    assert (len(project.store.log(key)), lost) in ((2, 1), (1, 2))


def test_forbidden_documents(page, server, project):
    documents = tuple(
        Item(one.doc_id, one.content, one.title, proposed_forbidden=one.doc_id == "f2") for one in items(4, "f")
    )
    key = assigned(project, "flags", documents, proposals=True)
    opened(page, server, project, key)
    while "Title 2" in titles(page):
        page.keyboard.press(" ")
        saved(page)
    shown = titles(page)
    page.keyboard.press("b")
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.get_attribute('[data-do="flag-left"]', "aria-pressed") == "true"
    page.keyboard.press("ArrowLeft")  # the forbidden one cannot be better
    assert "contradicts" in page.inner_text("#message")
    page.keyboard.press("Enter")
    saved(page)
    (flagged,) = (
        entry.judgment.forbidden for entry in project.store.entries("flags") if entry.judgment.kind == "prefer"
    )
    assert [f"Title {flagged[0][1:]}"] == [shown[0]]
    while "Title 2" not in titles(page):
        better(page)
        saved(page)
    assert page.locator(".proposal:visible").count() == 1
    page.keyboard.press("a")
    saved(page)
    last = list(project.store.entries("flags"))[-1]
    assert (last.judgment.forbidden, last.proposed) == (("f2",), ("f2",))


class Listener(ThreadingTCPServer):
    """Counts who connects."""

    daemon_threads = True

    def __init__(self) -> None:
        class Counted(BaseRequestHandler):
            def handle(self) -> None:
                assert isinstance(self.server, Listener)
                self.server.connected += 1  # as a preconnect does, which asks nothing
                if said := self.request.recv(200):
                    self.server.asked.append(said.split(b"\r\n")[0])

        super().__init__(("127.0.0.1", 0), Counted)
        self.connected, self.asked = 0, list[bytes]()


@pytest.fixture
def tracker() -> Iterator[Listener]:
    with Listener() as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


def hostile(port: int) -> str:
    """HTML that tries whatever reaches a tracker or runs."""
    there = f"http://127.0.0.1:{port}"
    return f"""<html><head><meta http-equiv="refresh" content="0;url={there}/meta"><base href="{there}/base/">
    <link rel="preconnect" href="{there}"><link rel="dns-prefetch" href="{there}">
    <link rel="stylesheet" href="{there}/css">
    <link rel="prefetch" href="{there}/prefetch"><link rel="icon" href="{there}/icon">
    <style>@import url({there}/import); @font-face{{font-family:x;src:url({there}/font)}}
    body{{background:url({there}/background);font-family:x}}</style>
    <script>parent.document.title='ran'</script><script src="{there}/js"></script></head>
    <body onload="parent.document.title='ran'" background="{there}/body">
    <img src="{there}/img" onerror="parent.document.title='ran'"><img srcset="{there}/srcset 1x">
    <svg><image href="{there}/svg"/>
    <script>parent.document.title='ran'</script></svg><video src="{there}/video" poster="{there}/poster"></video>
    <audio src="{there}/audio" autoplay></audio><iframe src="{there}/frame"></iframe>
    <object data="{there}/object"></object>
    <embed src="{there}/embed"><input type=image src="{there}/input" autofocus onfocus="parent.document.title='ran'">
    <a id=link href="{there}/link" ping="{there}/ping">link</a> <a id=top href="{there}/top" target=_top>top</a>
    <a id=js href="javascript:parent.document.title='ran'">js</a>
    <img src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' onload='parent.document.title=1'%3E%3Cimage
      href='{there}/svg-in-img'/%3E%3C/svg%3E"><img src="/tasks" onload="parent.document.title='ran'">
    <div style="background:url({there}/inline);cursor:url({there}/cursor),auto;list-style-image:url({there}/list);
      background-image:image-set('{there}/set' 1x)">styled</div>
    <svg onload="parent.document.title='ran'"><style>@import '{there}/svg-style';</style><use href="{there}/use#x"/>
    <feImage href="{there}/filter"/><animate attributeName=href values="javascript:parent.document.title='ran'"/>
    <foreignObject><iframe srcdoc="<script>parent.parent.document.title='ran'</script>"></iframe></foreignObject></svg>
    <details open ontoggle="parent.document.title='ran'"><summary>more</summary></details>
    <video><source src="{there}/source"><track default src="{there}/track"></video>
    <script type=speculationrules>{{"prefetch":[{{"urls":["{there}/speculation"]}}]}}</script>
    <form action="{there}/form"><input name=token><button id=button formaction="{there}/other">send</button></form>
    <p id=end>The end</p>"""


def test_a_hostile_document_neither_runs_nor_fetches(page, server, project, tracker):
    port = tracker.server_address[1]
    key = assigned(project, "hostile", (Item("h", hostile(port), "Hostile", "html"), Item("n", "n")), "grades")
    opened(page, server, project, key)
    title, address = page.title(), page.url
    frame = page.frame_locator("iframe.left")
    if page.inner_text("#name-left") != "Hostile":
        page.keyboard.press("3")
        saved(page)
    frame.locator("#end").wait_for()
    for name in ("link", "top", "js", "button"):
        frame.locator(f"#{name}").click(force=True)
        frame.locator(f"#{name}").click(button="middle", force=True)
    browsing.until(page, "document.querySelector('iframe.left').dataset.loaded")
    alone = page.context.new_page()  # opened by itself it can do no more
    alone.goto(f"{server.url}/tasks/{key}/document?id=h")
    assert tracker.connected == 0
    assert (page.title(), page.url) == (title, address)
    assert alone.title() == "Hostile"
    assert len(page.context.pages) == 2
    frame.locator("#end").click()  # the keys work where the focus is in the document
    before = len(project.store.log(key))
    page.keyboard.press("4")
    browsing.until(
        page, "!document.getElementById('done').hidden || document.getElementById('saved').textContent === 'Saved'"
    )
    saved(page)
    assert len(project.store.log(key)) == before + 1
    alone.evaluate(f"location = 'http://127.0.0.1:{port}/control'")
    browsing.until(page, lambda: tracker.asked)  # the listener does listen, and whatever was on its way has come
    assert {*tracker.asked} == {b"GET /control HTTP/1.1"}  # which is asked again, as nobody answers


def test_a_document_of_five_megabytes_is_shown(page, server, project):
    big = "<h1>Big</h1>" + f"<p>{'Lorem ipsum dolor sit amet, <b>consectetur</b> elit. ' * 5}</p>\n" * 19_000
    assert len(big) > 5_000_000
    key = assigned(project, "big", (Item("big", big, "Big", "html"), Item("small", "x", "Small")), "grades")
    page.set_default_timeout(3000 * browsing.PATIENCE)
    opened(page, server, project, key)
    if page.inner_text("#name-left") != "Big":
        page.keyboard.press("1")
    page.frame_locator("iframe.left").locator("p").last.wait_for(state="attached")
    page.keyboard.press("5")
    saved(page)
    assert {entry.judgment.grade for entry in project.store.entries("big")} >= {4}


def test_persian_is_shown_from_right_to_left(page, server, project):
    opened(page, server, project, project.task("Ada", "q2", "grades").key)
    while page.inner_text("#name-left") != "سلام":
        page.keyboard.press(" ")
        saved(page)
    frame = page.frame_locator("iframe.left")
    html = frame.locator("html")
    assert (html.get_attribute("lang"), html.evaluate("one => getComputedStyle(one).direction")) == ("fa", "rtl")
    assert page.locator("h1").evaluate("one => getComputedStyle(one).direction") == "rtl"


def test_grades_go_by_the_place_of_a_key_where_it_writes_another_sign(page, server, project):
    """As on Persian and French keyboards, and not where a number pad moves the cursor."""
    key = assigned(project, "digits", items(3, "g"), "grades")
    opened(page, server, project, key)

    def press(written: str, code: str, shift: str = "false") -> None:
        event = f"new KeyboardEvent('keydown', {{key: '{written}', code: '{code}', shiftKey: {shift}}})"
        page.evaluate(f"document.dispatchEvent({event})")

    press("End", "Numpad1")
    press("!", "Digit1", "true")
    press("۴", "Digit4")
    saved(page)
    press("é", "Digit2")
    saved(page)
    assert [entry.judgment.grade for entry in project.store.entries("digits")] == [3, 1]


def test_who_was_signed_out_keeps_the_last_answer(page, server, project):
    key = assigned(project, "left", items(5, "l"))
    opened(page, server, project, key)
    page.context.clear_cookies()
    better(page)
    page.wait_for_selector("#message:not([hidden])")
    assert "not signed in any more. Your last answer is kept" in page.inner_text("#message")
    assert page.inner_text("#saved") == "Signed out: 1 not saved yet"
    better(page)  # which nobody takes
    opened(page, server, project, key)
    saved(page)
    assert len(project.store.log(key)) == 1


@pytest.mark.parametrize(
    ("width", "height", "least"), [(390, 800, 200), (320, 568, 100), (667, 375, 150), (844, 390, 150)]
)
def test_documents_have_room_however_a_phone_is_held(page, server, project, width, height, least):
    page.set_viewport_size({"width": width, "height": height})
    opened(page, server, project, project.task("Bob").key, "Bob")
    for side in ("left", "right"):
        box = page.locator(f"iframe.{side}").bounding_box()
        assert box["height"] >= least
        assert box["width"] >= 290
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_query_can_be_read_one_key_away(page, server, project):
    words = "Which of the many ways into the city is cheap and still safe for a family late at night? " * 8
    project.store.add([Query("long", words, words, items=items(3, "q"))])
    (task,) = project.store.assign([NewTask("long", project.numbers["Ada"], "pairs")])
    page.set_viewport_size({"width": 667, "height": 375})
    opened(page, server, project, task.key)
    assert page.locator("h1").evaluate("one => one.scrollHeight > one.clientHeight")  # there is no room for all of it
    page.keyboard.press("g")
    shown = page.locator(".asked").evaluate("one => [one.textContent, one.scrollHeight - one.clientHeight]")
    assert shown == [words, 0]


def test_a_long_title_is_cut_off_at_its_own_end(page, server, project):
    title = "شستن بینی با آب و نمک " * 6
    key = assigned(project, "titles", tuple(Item(one, "x", title, language="fa") for one in ("t0", "t1")))
    page.set_viewport_size({"width": 390, "height": 800})
    opened(page, server, project, key)
    found = page.locator("#name-left").evaluate(
        "one => { const style = getComputedStyle(one);"
        " return [style.direction, style.textOverflow, one.scrollWidth > one.clientWidth && one.clientWidth > 0]; }"
    )
    assert found == ["rtl", "ellipsis", True]


def test_time_counts_only_while_somebody_works(page, server, project):
    key = assigned(project, "clock", items(4, "c"))
    opened(page, server, project, key)
    page.clock.install()
    page.reload()
    page.wait_for_selector("[data-ready]")
    page.clock.pause_at(
        datetime.now(UTC) + timedelta(hours=1)
    )  # from here on, however slow the machine, no time passes
    page.keyboard.press("=")  # whatever time there was until now
    browsing.until(page, lambda: len(list(project.store.entries("clock"))) == 1)
    saved(page)
    for _ in range(100):
        page.clock.run_for(1000)
    page.keyboard.press("=")
    browsing.until(page, lambda: len(list(project.store.entries("clock"))) == 2)
    assert 55 <= list(project.store.entries("clock"))[1].active_seconds <= 65  # of 100: the rest was idle
    saved(page)
    page.clock.run_for(3000)
    page.keyboard.press("p")
    clock = page.inner_text("#time")
    for _ in range(30):
        page.clock.run_for(1000)
    assert page.inner_text("#time") == clock
    page.keyboard.press("p")
    page.clock.run_for(2000)
    page.keyboard.press("=")
    browsing.until(page, lambda: len(list(project.store.entries("clock"))) == 3)
    assert 4 <= list(project.store.entries("clock"))[2].active_seconds <= 6  # of 35: the rest was paused


@pytest.mark.parametrize("size", [{"width": 1200, "height": 800}, {"width": 390, "height": 800}], ids=["wide", "phone"])
def test_axe_finds_nothing(browser, server, project, size):
    source = browsing.axe()
    context = browser.new_context(viewport=size)
    context.set_default_timeout(1000 * browsing.PATIENCE)
    page = context.new_page()
    found = []
    page.goto(f"{server.url}/in/{project.tokens['Bob']}")
    found += browsing.violations(page, source)
    for path in ("/", "/in/nothing", "/api"):
        page.goto(server.url + path)
        found += browsing.violations(page, source)
    browsing.sign_in(page, server.url, project.tokens["Bob"])
    for path in ("/", "/guidelines", "/nothing", f"/tasks/{project.task('Bob').key}"):
        page.goto(server.url + path)
        found += browsing.violations(page, source)
    page.wait_for_selector("[data-ready]")
    for before, after in (("b", "b"), ("m", "Escape"), ("g", "g"), ("p", "p")):
        page.keyboard.press(before)
        found += browsing.violations(page, source)
        page.keyboard.press(after)
    browsing.sign_in(page, server.url, project.tokens["Ada"])
    page.goto(f"{server.url}/tasks/{project.task('Ada', 'q2', 'grades').key}")
    page.wait_for_selector("[data-ready]")
    found += browsing.violations(page, source)
    done = [task.key for task in project.store.tasks(person=project.numbers["Ada"]) if task.done]
    for key in done[:1]:
        page.goto(f"{server.url}/tasks/{key}")
        page.wait_for_selector("#done:not([hidden])")
        found += browsing.violations(page, source)
    browsing.sign_in(page, server.url, project.tokens["Lea"])
    for tab in ("", "/agreement", "/people", "/tasks", "/queries", "/exports", "/settings"):
        page.goto(f"{server.url}/lead{tab}")
        found += browsing.violations(page, source)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
            f"/lead{tab} is wider than the screen"
        )
    context.close()
    assert found == []


def test_a_lead_retires_somebody_after_a_question(page, server, project):
    person, _ = project.store.add_person("Zed", "assessor")
    browsing.sign_in(page, server.url, project.tokens["Lea"])
    page.goto(f"{server.url}/lead/people")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Retire Zed").click()
    page.wait_for_selector("tr.retired:has-text('Zed')")
    assert not next(one for one in project.store.people() if one.id == person.id).active


def test_the_link_of_the_lead_is_printed_until_somebody_has_signed_in(tmp_path):
    made = make(tmp_path / "project")
    with made.store:
        server = browsing.Server(tmp_path / "project", "--root-path", "/label/")
        server.start()
        try:
            assert re.search(rf"Sign in as Lea .*: {re.escape(server.url)}/label/in/\S+", server.printed)
        finally:
            assert server.stop() == 130  # as everything that is interrupted
        made.store.start_session(made.numbers["Lea"])
        server.start()
        assert server.printed.count("Sign in as Lea") == 1
        assert server.stop() == 130  # as everything that is interrupted
