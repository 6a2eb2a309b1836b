"use strict";

const at = (id) => document.getElementById(id);
let models = [];

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

function show() {
  const model = chosen();
  if (!model) return;
  const texts = model.reads.includes("texts");
  at("of-texts").hidden = !texts;
  at("keeps").textContent = `Version ${model.version}; keeps ${model.keeps}.`;
  at("items-label").textContent = texts
    ? "Documents, one a line"
    : model.kind === "cutoff"
      ? "Scores, one a line"
      : `Features of a document on each line, with commas between: ${model.features.join(", ")}`;
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
  if (!model) {
    await load();
    return;
  }
  const began = performance.now();
  try {
    const rows = [];
    if (model.kind === "cutoff") {
      const found = await ask("v1/filter", {
        method: "POST", body: JSON.stringify({ model: model.id, scores: lines.map(Number) }),
      });
      found.kept.forEach((i) => rows.push(row(`document ${i}`, lines[i], false)));
      found.dropped.forEach((i) => rows.push(row(`document ${i}`, lines[i], true)));
    } else {
      const asked = model.reads.includes("texts")
        ? { query: at("query").value, documents: lines }
        : { features: lines.map((line) => line.split(",").map((part) => (part.trim() ? Number(part) : null))) };
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
