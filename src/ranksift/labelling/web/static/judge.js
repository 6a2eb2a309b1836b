// The judging page: keys, the clock, and answers that are kept until the server has them.
"use strict";

(() => {
  // -- answers that the server does not have yet -----------------------------------------------------------------
  // Each lies under a key of its own, so that two windows cannot overwrite each other.
  const PREFIX = "ranksift";
  let memory = new Map(); // where the browser does not let pages keep anything
  const storage = {
    get(key) { try { return localStorage.getItem(key); } catch { return memory.get(key) ?? null; } },
    set(key, value) { try { localStorage.setItem(key, value); } catch { memory.set(key, value); } },
    remove(key) { memory.delete(key); try { localStorage.removeItem(key); } catch { /* it was in memory */ } },
    keys() {
      const found = [...memory.keys()];
      try { for (let i = 0; i < localStorage.length; i++) found.push(localStorage.key(i)); } catch { /* none */ }
      return found;
    },
  };

  function newId() {
    if (globalThis.crypto?.randomUUID) return crypto.randomUUID(); // not there over plain HTTP
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  class Kept {
    // With own ids it is about these alone: each window sends its own answers, as they follow from one another.
    constructor(site, person, task, own = null) { this.prefix = [PREFIX, site, person, task, ""].join(":"); this.own = own; }
    all() {
      const entries = storage.keys().filter((key) => key.startsWith(this.prefix)).map((key) => {
        try { return { key, ...JSON.parse(storage.get(key)) }; } catch { return null; }
      });
      return entries.filter((one) => one && (!this.own || this.own.has(one.body.client_id))).sort((a, b) => a.body.after - b.body.after);
    }
    add(body) { this.own?.add(body.client_id); storage.set(this.prefix + body.client_id, JSON.stringify({ body })); }
    remove(key) { storage.remove(key); }
    clear() { const gone = this.all(); gone.forEach((one) => storage.remove(one.key)); return gone.length; }
  }

  async function send(root, token, task, body, ahead) {
    // null: not reached, try again; else the status and what came.
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 20000);
    try {
      const response = await fetch(`${root}/api/v1/tasks/${task}/judgments${ahead ? "?ahead=true" : ""}`, {
        method: "POST", credentials: "same-origin", signal: stop.signal,
        headers: { "Content-Type": "application/json", "X-CSRF-Token": token }, body: JSON.stringify(body),
      });
      if (response.status >= 500 || response.status === 429) return null;
      return { status: response.status, data: await response.json() };
    } catch { return null; } finally { clearTimeout(timer); }
  }

  // What the queue has sent, the page of a task that was asked for meanwhile may not know: how long the log is.
  function sentEarlier(task, length = null) {
    const key = `${PREFIX}-sent:${task}`;
    try {
      if (length !== null) sessionStorage.setItem(key, String(length));
      return Number(sessionStorage.getItem(key) ?? 0);
    } catch { return 0; }
  }

  // -- the queue: what was left over from other tasks is sent ------------------------------------------------------
  const queue = document.querySelector("[data-unsaved]");
  if (queue) {
    const { unsaved: root, site, person, token } = queue.dataset;
    // Others are of somebody else, or of another project at this address: its server alone knows what to do with them.
    const left = () => storage.keys().filter((key) => key.startsWith([PREFIX, site, person, ""].join(":")));
    const tasks = [...new Set(left().map((key) => key.split(":")[3]))];
    const say = (text) => { const line = document.getElementById("unsaved"); line.textContent = text; line.hidden = !text; };
    (async () => {
      let refused = 0;
      for (const task of tasks) {
        const kept = new Kept(site, person, task);
        for (const { key, body } of kept.all()) {
          const answer = await send(root, token, task, body, false);
          if (answer === null) { say(`${left().length} of your answers could not be saved yet. They are kept in this browser.`); return; }
          if (answer.status === 409 || answer.status === 404 || answer.status === 422) { refused += kept.clear(); break; }
          if (answer.status < 300) { sentEarlier(task, body.after + 1); kept.remove(key); }
        }
      }
      if (refused) say(`${refused} answers from earlier no longer fit and were left out.`);
      else if (tasks.length && !left().length) say("Your answers from earlier are saved now.");
    })();
    return;
  }

  // -- the judging page ------------------------------------------------------------------------------------------
  const desk = document.getElementById("main");
  if (!desk?.dataset.known) return;
  const known = JSON.parse(desk.dataset.known);
  const { root, tool } = known;
  const token = desk.dataset.token;
  const task = known.state.task;
  // Those that were left over by a window that is gone, and from now on those of this one.
  const left = new Kept(known.site, known.person, task).all().map((one) => one.body.client_id);
  const kept = new Kept(known.site, known.person, task, new Set(left));
  const $ = (id) => document.getElementById(id);
  const button = (what) => document.querySelector(`[data-do="${what}"]`);
  const sides = tool === "pairs" ? ["left", "right"] : ["left"];

  let state = known.state; // what is shown
  let after = state.after; // entries of the log, with those on their way
  let earlier = []; // states before the last answers, for an undo without waiting
  let flags = new Set(); // sides
  let sending = false, halted = false, failures = 0, retry = 0;

  // -- frames: one per document, kept and only moved by their class, so that nothing loads twice --------------------
  const frames = new Map(); // document → frame, those used last at the end
  const MOST_FRAMES = 12;

  function frame(card) {
    let one = frames.get(card.id);
    if (one) frames.delete(card.id);
    else {
      one = document.createElement("iframe");
      one.setAttribute("sandbox", "allow-same-origin"); // no scripts, no forms, no windows
      one.title = card.title || "Document";
      one.className = "waiting-frame";
      one.tabIndex = -1;
      one.addEventListener("load", () => inside(one));
      one.src = `${root}/tasks/${task}/document?id=${encodeURIComponent(card.id)}`;
      $("panes").append(one);
    }
    frames.set(card.id, one);
    return one;
  }

  function inside(one) {
    // The document can run nothing itself; we listen from outside.
    const page = one.contentDocument;
    if (!page) return;
    one.dataset.loaded = "true";
    // Its elements can stand where methods are looked for: after <img name="addEventListener">, page.addEventListener is
    // that image. So methods are taken from their prototypes, here and wherever an element of a document comes in.
    const listen = (name, listener, options) => EventTarget.prototype.addEventListener.call(page, name, listener, options);
    listen("keydown", onKey);
    for (const name of ["click", "auxclick", "submit", "dragstart"]) {
      listen(name, (event) => { if ((name !== "click" || closest(event.target, "a, area, button, form, summary, label")) && !closest(event.target, "summary")) event.preventDefault(); }, true);
    }
    for (const name of ["pointermove", "pointerdown", "wheel", "scroll", "touchstart"]) listen(name, alive, { passive: true, capture: true });
  }

  function closest(node, selector) {
    try { return Element.prototype.closest.call(node, selector); } catch { return null; } // a document is no element
  }

  function place(cards, shown) {
    const used = new Map(Object.entries(cards).map(([side, card]) => [card.id, side]));
    Object.values(cards).forEach(frame);
    for (const [id, one] of frames) {
      const side = used.get(id);
      const name = side ? `${side}${flags.has(side) ? " flagged" : ""}` : "waiting-frame";
      if (one.className === name) continue;
      one.className = name;
      one.tabIndex = side ? 0 : -1;
      if (side && shown) try { one.contentWindow.scrollTo(0, 0); } catch { /* still loading */ }
      if (side) one.title = `${side === "left" ? (tool === "pairs" ? "Left document" : "Document") : "Right document"}`;
    }
    for (const [id, one] of frames) {
      if (frames.size <= MOST_FRAMES) break;
      if (!used.has(id)) { one.remove(); frames.delete(id); }
    }
  }

  function prefetch() {
    const next = Object.values(state.ahead ?? {}).map((one) => one.question).filter(Boolean).slice(0, 8);
    next.forEach((question) => Object.values(question).forEach(frame));
    if (state.question) Object.values(state.question).forEach(frame); // used last: these stay
    const now = new Set([...next, state.question].filter(Boolean).flatMap((question) => Object.values(question).map((card) => card.id)));
    for (const [id, one] of frames) {
      if (frames.size <= MOST_FRAMES) break;
      if (!now.has(id)) { one.remove(); frames.delete(id); }
    }
  }

  // -- what is shown ---------------------------------------------------------------------------------------------
  function show(announce = true) {
    const question = state.question;
    const done = state.done;
    $("question").hidden = done;
    $("done").hidden = !done;
    $("controls").hidden = done;
    $("waiting").hidden = done || Boolean(question);
    if (question) {
      for (const side of sides) {
        const card = question[side];
        const name = $(`name-${side}`);
        name.textContent = card.title;
        name.lang = card.language || "";
        $(`proposal-${side}`).hidden = !card.proposed || flags.size > 0;
        $(`mark-${side}`).hidden = !flags.has(side);
        $(`head-${side}`).classList.toggle("flagged", flags.has(side));
        button(`flag-${side}`)?.setAttribute("aria-pressed", String(flags.has(side)));
      }
      place(question, announce);
    }
    if (tool === "pairs") { // in one place, so that nothing moves
      button("send").hidden = flags.size === 0;
      button("tie").hidden = flags.size > 0;
    }
    progress();
    if (done) showDone();
    if (announce && question) {
      const titles = sides.map((side) => question[side].title).filter(Boolean).join(" and ");
      const proposed = sides.filter((side) => question[side].proposed).map((side) => tool === "pairs" ? side : "this document");
      say(`Next question${titles ? ": " + titles : ""}.${proposed.length ? ` A model proposes as forbidden: ${proposed.join(" and ")}.` : ""}`);
    }
  }

  function progress() {
    const { judgments, expected, done } = state;
    if (judgments === undefined) return;
    $("progress").value = done ? 100 : Math.round((100 * judgments) / Math.max(judgments + expected, 1));
    $("count").textContent = done ? `${judgments} judged` : `${judgments} judged, about ${Math.round(expected)} to go`;
  }

  function showDone() {
    const total = state.judgments ?? 0;
    $("done-line").textContent = `${total} judgment${total === 1 ? "" : "s"}. Thank you!`;
    const list = $("order");
    let rank = 1;
    list.replaceChildren(...(state.order ?? []).filter((group) => group.length).map((group) => {
      const line = document.createElement("li");
      line.value = rank; // as in the export: after two that are equal comes the third
      rank += group.length;
      group.forEach((card, index) => {
        const name = document.createElement("bdi");
        name.textContent = card.name;
        if (card.language) name.lang = card.language;
        line.append(...(index ? [" = ", name] : [name]));
      });
      return line;
    }));
    list.hidden = tool !== "pairs";
    const cycles = state.cycles ?? [];
    $("cycles").hidden = cycles.length === 0;
    $("cycles").textContent = cycles.length ? `Some answers contradict each other: ${[...cycles[0], cycles[0][0]].join(" > ")}. You can undo, or leave it.` : "";
    say("Done.");
  }

  function say(text) { $("live").textContent = text; }

  function notice(text, kind = "warn") {
    const line = $("message");
    line.textContent = text;
    line.className = `notice ${kind}`;
    line.hidden = !text;
  }

  function status() {
    const waiting = kept.all().length;
    const line = $("saved");
    const late = waiting > 0 && (failures > 0 || halted);
    line.classList.toggle("late", late);
    line.textContent = late ? `${halted ? "Signed out" : "Offline"}: ${waiting} not saved yet` : waiting ? "Saving …" : after ? "Saved" : "";
  }

  // -- answers ---------------------------------------------------------------------------------------------------
  function record(said, code) {
    if (halted || (said.kind !== "undo" && !state.question)) return;
    const note = $("note").value.trim();
    const body = { client_id: newId(), after, ...said, active_seconds: Math.round(clock.take() * 1000) / 1000 };
    if (note) body.note = note;
    kept.add(body);
    after += 1;
    $("note").value = "";
    toggleNote(false);
    notice("");
    const before = state;
    flags = new Set();
    if (said.kind === "undo") {
      state = earlier.pop() ?? { ...state, question: null, done: false, ahead: null };
    } else {
      earlier.push(before);
      const next = before.ahead?.[code];
      state = next && !next.done ? { ...next, ahead: null, can_undo: true } : { ...before, question: null, done: false, ahead: null };
    }
    show();
    measure();
    if (document.activeElement !== document.body) $("question").focus({ preventScroll: true });
    status();
    flush();
  }

  async function flush() {
    if (sending || halted) return;
    sending = true;
    clearTimeout(retry);
    let last = null;
    for (let entries = kept.all(); entries.length; entries = kept.all()) {
      const { key, body } = entries[0];
      const answer = await send(root, token, task, body, entries.length === 1);
      if (answer === null) {
        failures += 1;
        sending = false;
        retry = setTimeout(flush, Math.min(1000 * 2 ** Math.min(failures - 1, 4), 15000));
        status();
        return;
      }
      failures = 0;
      if (answer.status < 300) { kept.remove(key); last = answer.data.state; continue; }
      sending = false;
      return refused(answer);
    }
    sending = false;
    status();
    if (last) adopt(last);
  }

  function refused(answer) {
    if (answer.status === 401 || answer.status === 403) {
      halted = true;
      const left = kept.all().length;
      notice(`You are not signed in any more. ${left === 1 ? "Your last answer is" : `Your last ${left} answers are`} kept in this browser: open your personal link, come back to this page, and ${left === 1 ? "it is" : "they are"} saved.`, "bad");
    } else {
      const lost = kept.clear();
      const tail = lost > 1 ? ` ${lost} answers no longer fit and were left out.` : " Your last answer no longer fits and was left out.";
      if (answer.status === 409 && answer.data.state) {
        earlier = [];
        flags = new Set();
        adopt(answer.data.state, true);
        notice(answer.data.error.message + tail);
      } else {
        halted = answer.status === 404;
        notice(answer.status === 404 ? `This task has been withdrawn.${tail}` : `${answer.data?.error?.message ?? "That was refused."}${tail}`, "bad");
      }
    }
    status();
  }

  function adopt(view, forced = false) {
    // The server's word counts. What is on the screen stays where it is the same question.
    if (kept.all().length) return;
    const same = !forced && JSON.stringify(view.question) === JSON.stringify(state.question) && view.done === state.done;
    state = view;
    after = view.after;
    if (same) progress(); else { flags = new Set(); show(); }
    prefetch();
    status();
    if (state.done) $("done").focus({ preventScroll: true });
  }

  function answer(better) {
    const { left, right } = state.question;
    if (flags.size) {
      const fits = { left: ["right"], right: ["left"], tie: ["left,right"] }[better];
      const marked = sides.filter((side) => flags.has(side)).join();
      if (!fits.includes(marked)) { notice("That contradicts what you marked as forbidden. Enter sends the marks; b and n take them back."); return; }
      sendFlags();
      return;
    }
    record({ kind: "prefer", left: left.id, right: right.id, answer: better }, better);
  }

  function sendFlags() {
    if (!flags.size) return;
    const { left, right } = state.question;
    const marked = sides.filter((side) => flags.has(side));
    record({ kind: "prefer", left: left.id, right: right.id, forbidden: marked.map((side) => state.question[side].id) },
      `forbidden-${marked.length === 2 ? "both" : marked[0]}`);
  }

  function flag(side) {
    if (flags.has(side)) flags.delete(side); else flags.add(side);
    notice("");
    show(false);
    const name = document.querySelector(".pairs .tall")?.offsetParent ? { left: "upper", right: "lower" }[side] : side;
    say(flags.has(side) ? `The ${name} document is marked as forbidden. Enter sends.` : `The mark is taken back.`);
  }

  function grade(index) { record({ kind: "grade", left: state.question.left.id, grade: index }, "grade"); }
  function forbid() { record({ kind: "grade", left: state.question.left.id, forbidden: [state.question.left.id] }, "forbidden"); }

  function accept() {
    const proposed = sides.filter((side) => state.question[side].proposed);
    if (!proposed.length) return;
    if (tool === "grades") { forbid(); return; }
    flags = new Set(proposed);
    sendFlags();
  }

  function aside(kind) {
    const { left, right } = state.question;
    record({ kind, left: left.id, ...(right ? { right: right.id } : {}) }, kind);
  }

  function toggleNote(open) {
    $("note-box").hidden = !open;
    button("note").setAttribute("aria-expanded", String(open));
    if (open) $("note").focus();
    else if (document.activeElement === $("note")) $("question").focus({ preventScroll: true });
  }

  const actions = {
    left: () => answer("left"), right: () => answer("right"), tie: () => answer("tie"),
    "flag-left": () => flag("left"), "flag-right": () => flag("right"), send: sendFlags,
    forbidden: forbid, accept,
    skip: () => aside("skip"), cannot: () => aside("cannot"),
    undo: () => { if (state.can_undo || earlier.length) record({ kind: "undo" }, "undo"); else say("There is nothing to undo."); },
    note: () => toggleNote($("note-box").hidden), "note-done": () => toggleNote(false),
    pause: () => { clock.pause(true); $("paused").showModal(); },
    help: () => $("help").showModal(),
    close: () => document.querySelectorAll("dialog[open]").forEach((one) => one.close()),
    onward: () => $("onward")?.click(),
  };
  known.grades.forEach((_, index) => { actions[`grade-${index}`] = () => grade(index); });
  const free = new Set(["undo", "pause", "help", "close", "note-done", "onward"]); // possible without a question

  function act(what) {
    if (!actions[what] || (!state.question && !free.has(what)) || (halted && what !== "close")) return;
    if (what.startsWith("flag") || ["left", "right", "tie", "send"].includes(what) ? tool !== "pairs" : false) return;
    actions[what]();
  }

  const keys = tool === "pairs"
    ? { ArrowLeft: "left", ArrowRight: "right", "=": "tie", b: "flag-left", n: "flag-right", Enter: "send" }
    : { f: "forbidden", ...Object.fromEntries(known.grades.map((_, index) => [String(index + 1), `grade-${index}`])) };
  Object.assign(keys, { a: "accept", u: "undo", " ": "skip", c: "cannot", m: "note", p: "pause", g: "help", "?": "help" });
  // On other layouts the letter is where it would be on this one.
  const codes = { KeyA: "a", KeyB: "b", KeyN: "n", KeyF: "f", KeyU: "u", KeyC: "c", KeyM: "m", KeyP: "p", KeyG: "g" };

  // A grade goes by its place where the key writes another sign: ۱ in Persian, & in French.
  const digit = (event) => tool === "grades" && !event.shiftKey && /^[^0-9]$/u.test(event.key) ? /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1] : undefined;

  let pressed = 0; // when the key was pressed
  function onKey(event) {
    alive();
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const open = document.querySelector("dialog[open]");
    const letter = digit(event) ?? (/^[\x20-\x7e]$/.test(event.key) ? event.key.toLowerCase() : (codes[event.code] ?? event.key));
    if (open) {
      if (open.id === "paused" && letter === "p" || open.id === "help" && (letter === "g" || letter === "?")) { event.preventDefault(); open.close(); }
      return;
    }
    const target = event.target;
    if (target === $("note")) {
      if (event.key === "Escape" || (event.key === "Enter" && !event.shiftKey)) { event.preventDefault(); toggleNote(false); }
      return;
    }
    if ((event.key === "Enter" || event.key === " ") && event.currentTarget === document && closest(target, "button, a[href], summary")) return;
    const what = letter === "Enter" && state.done ? "onward" : keys[letter];
    if (!what) return;
    event.preventDefault();
    if (event.repeat) return;
    pressed = event.view === window ? event.timeStamp : performance.now(); // frames have clocks of their own
    act(what);
  }
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", (event) => {
    const one = closest(event.target, "[data-do]");
    if (!one) return;
    pressed = performance.now();
    act(one.dataset.do);
  });
  for (const one of document.querySelectorAll("dialog")) one.addEventListener("close", () => {
    // This comes late: somebody quick may have paused again by now, or be writing a note.
    clock.pause($("paused").open);
    if ($("note-box").hidden) $("question").focus({ preventScroll: true });
  });

  function measure() {
    // From the key to the picture of the next question with its documents; for whoever wants to know how quick it is.
    const start = pressed;
    const look = () => {
      const there = state.done || (state.question && Object.values(state.question).every((card) => frames.get(card.id)?.dataset.loaded));
      if (there) setTimeout(() => performance.measure("ranksift-answer", { start, end: performance.now() }), 0);
      else if (performance.now() - start < 30000) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }

  // -- the clock: only what is worked ----------------------------------------------------------------------------
  const clock = {
    seconds: 0, last: performance.now(), seen: performance.now(), paused: false,
    running() { return !this.paused && !document.hidden && document.hasFocus() && performance.now() - this.seen < known.idle * 1000 && !state.done; },
    tick() {
      const now = performance.now();
      const passed = (now - this.last) / 1000;
      if (this.running() && passed < 5) this.seconds += passed; // more is a machine that slept
      this.last = now;
      const shown = Math.floor(this.seconds);
      $("time").textContent = `${Math.floor(shown / 60)}:${String(shown % 60).padStart(2, "0")}`;
    },
    take() { this.tick(); const spent = this.seconds; this.seconds = 0; this.tick(); return spent; },
    pause(on) { this.tick(); this.paused = on; this.seen = performance.now(); },
  };
  let lastAlive = 0;
  function alive() {
    const now = performance.now();
    if (now - lastAlive < 200) { clock.seen = now; return; }
    lastAlive = now;
    clock.tick(); // with what was known until now
    clock.seen = now;
  }
  for (const name of ["pointermove", "pointerdown", "wheel", "touchstart", "keydown"]) document.addEventListener(name, alive, { passive: true, capture: true });
  for (const name of ["focus", "blur"]) window.addEventListener(name, () => clock.tick());
  document.addEventListener("visibilitychange", () => { clock.tick(); if (!document.hidden) flush(); });
  setInterval(() => clock.tick(), 500);

  window.addEventListener("online", () => { failures = 0; flush(); });
  window.addEventListener("beforeunload", (event) => { if (kept.all().length && failures > 0) event.preventDefault(); });

  // -- to begin with ---------------------------------------------------------------------------------------------
  const old = kept.all();
  if (old.length) {
    // From before a reload or a crash: they go first, and the page shows what follows from them.
    after = Math.max(after, ...old.map((one) => one.body.after + 1));
    state = { ...state, question: null, done: false };
    notice(`${old.length} answer${old.length === 1 ? "" : "s"} from before ${old.length === 1 ? "is" : "are"} being saved.`);
    show(false);
    flush().then(() => { if (!kept.all().length && !halted && $("message").textContent.endsWith("being saved.")) notice("Your answers from before are saved.", "good"); });
  } else if (sentEarlier(task) > state.after) {
    state = { ...state, question: null, done: false };
    show(false);
    fetch(`${root}/api/v1/tasks/${task}/question?ahead=true`, { credentials: "same-origin" })
      .then((response) => (response.ok ? response.json() : Promise.reject()))
      .then((view) => adopt(view, true))
      .catch(() => adopt(known.state, true)); // an answer to it is refused, and brings the new one
  } else { show(false); prefetch(); status(); }
  desk.dataset.ready = "true";
})();
