"use strict";

function made(tag, text, name = "") {
  const found = document.createElement(tag);
  found.textContent = text;
  found.className = name;
  return found;
}

function shapeOf(schema) {
  const found = made("pre", JSON.stringify(schema, null, 2));
  found.tabIndex = 0; // whoever has no mouse scrolls it, too
  return found;
}

function operation(method, path, what) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(made("span", method.toUpperCase(), "method"), made("code", path), ` ${what.summary}`);
  details.append(summary);
  const shape = what.requestBody?.content["application/json"].schema;
  if (shape) details.append(made("h2", "Body"), shapeOf(shape));
  for (const [status, answer] of Object.entries(what.responses)) {
    const own = status === "200" ? answer.content?.["application/json"]?.schema : undefined;
    details.append(made("p", `${status}: ${answer.description}`));
    if (own) details.append(shapeOf(own));
  }
  return details;
}

async function load() {
  const document_ = await (await fetch("openapi.json")).json();
  document.getElementById("about").textContent = document_.info.description;
  const rows = Object.entries(document_.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, what]) => operation(method, path, what)));
  document.getElementById("operations").replaceChildren(...rows);
}

load();
