"use strict";

const at = (id) => document.getElementById(id);
let models = [];

// What stands in the box for each kind of request: first an example, then what was written there.
const drafts = { texts: at("items").value, scores: "0.91\n0.20\n0.75", "scores,rank_scores": "0.91, 3\n0.20, 9\n0.75, 1" };
let shownKind = "texts";

function headers() {
  const token = at("token").value;
  return { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
}

async function ask(path, options = {}) {
  const answer = await fetch(path, { headers: headers(), ...options });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status}: ${body.error.message}`);
  return body;
}

function say(text, problem = false) {
  at("said").textContent = text;
  at("said").className = problem ? "problem" : "";
}

function chosen() {
  return models.find((model) => model.id === at("model").value);
}

// What a model reads, in a word; features are those of one model.
function kindOf(model) {
  return model.reads.join() === "features" ? `features of ${model.id}` : model.reads.join();
}

function show() {
  const model = chosen();
  if (!model) return;
  const kind = kindOf(model);
  const both = kind === "texts,features";
  at("of-texts").hidden = kind !== "texts";
  at("send").disabled = both;
  at("keeps").textContent = `Version ${model.version}; keeps ${model.keeps}.`
    + (both ? " It reads features beside the texts: ask it through the API." : "");
  at("items-label").textContent = {
    scores: "Scores, one per line",
    "scores,rank_scores": "The score that is cut on, a comma, and the score that ranks, one document per line",
  }[kind] ?? (model.features.length && !both
    ? `Features of a document on each line, with commas between: ${model.features.join(", ")}`
    : "Documents, one per line");
  if (kind !== shownKind) {
    drafts[shownKind] = at("items").value;
    drafts[kind] ??= [0, 1].map((row) => model.features.map(() => row).join(", ")).join("\n");
    at("items").value = drafts[kind];
    shownKind = kind;
  }
}

// The numbers of a line; nothing between two commas is a missing one.
function numbers(line) {
  return line.split(",").map((part) => {
    const number = part.trim() ? Number(part) : null;
    if (Number.isNaN(number)) throw new Error(`${part.trim()} is not a number`);
    return number;
  });
}

async function load() {
  try {
    models = (await ask("v1/models")).data;
    at("model").replaceChildren(...models.map((model) => new Option(`${model.id} (${model.kind})`, model.id)));
    say("");
    show();
  } catch (error) {
    say(error.message, true);
  }
}

function row(text, score, dropped) {
  const made = document.createElement("li");
  const number = document.createElement("span");
  number.className = "score";
  number.textContent = score;
  made.append(number, text);
  if (dropped) made.className = "dropped";
  return made;
}

async function send(event) {
  event.preventDefault();
  const model = chosen();
  const lines = at("items").value.split("\n").filter((line) => line.trim());
  at("results").replaceChildren();
  say("");
  if (!model) {
    await load();
    return;
  }
  const began = performance.now();
  try {
    const rows = [];
    if (model.kind === "cutoff") {
      const columns = lines.map(numbers);
      const asked = { scores: columns.map((row) => row[0]) };
      if (model.reads.includes("rank_scores")) asked.rank_scores = columns.map((row) => row[1] ?? null);
      const found = await ask("v1/filter", { method: "POST", body: JSON.stringify({ model: model.id, ...asked }) });
      found.kept.forEach((i) => rows.push(row(`document ${i}`, lines[i], false)));
      found.dropped.forEach((i) => rows.push(row(`document ${i}`, lines[i], true)));
    } else {
      const asked = model.reads.includes("texts")
        ? { query: at("query").value, documents: lines }
        : { features: lines.map(numbers) };
      const found = await ask("v1/rerank", {
        method: "POST", body: JSON.stringify({ model: model.id, return_dropped: true, ...asked }),
      });
      found.results.forEach((one) => rows.push(row(lines[one.index], one.relevance_score.toFixed(4), false)));
      found.dropped.forEach((one) => rows.push(row(lines[one.index], one.relevance_score.toFixed(4), true)));
    }
    const kept = rows.filter((one) => !one.className).length;
    const took = Math.round(performance.now() - began);
    say(`${kept} of ${rows.length} are shown${kept ? "" : ": an empty answer is an answer"}; ${took} ms.`);
    at("results").replaceChildren(...rows);
  } catch (error) {
    say(error.message, true);
  }
}

at("form").addEventListener("submit", send);
at("model").addEventListener("change", show);
at("token").addEventListener("change", load);
load();
