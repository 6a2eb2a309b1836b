"""Which threshold? One page with a slider, which shows what every threshold shows and hides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranksift import __version__
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Ints
from ranksift.cutoffs.baselines import FixedCutoff
from ranksift.cutoffs.cutoff import Cutoff, in_words
from ranksift.cutoffs.risk import RiskCutoff
from ranksift.cutoffs.summary import Summary
from ranksift.cutoffs.threshold import GlobalCutoff, one_measure
from ranksift.cutoffs.tradeoff import Tradeoff, with_costs
from ranksift.measures.filtering import Empty, Fdocs, GoodFiltered
from ranksift.measures.measure import Measure
from ranksift.report.charts import Plane
from ranksift.report.page import Bullets, Grid, Section, Session, escape, page

# Thresholds of the slider: more could not be told apart on a screen.
_STOPS = 200

# Documents on either side of a threshold that are named.
_NEAR = 5

#: Kinds of documents, from worst to best, with the page's colour of each.
_KINDS = {"forbidden": "bad", "unjudged": "rest", "harmless": "second", "relevant": "good"}


def has_page(rule: Cutoff) -> bool:
    """Whether a rule has one threshold for all queries, on the scores themselves."""
    return isinstance(rule, GlobalCutoff | RiskCutoff | FixedCutoff)


def threshold_page(summary: Summary, lists: Lists, *, command: str = "") -> str:
    """The page as HTML.

    Parameters
    ----------
    summary
        What :func:`ranksift.cutoffs.summary.summarised` returns.
    lists
        What the rule was fitted on.
    command
        What made it.

    Examples
    --------
    >>> from ranksift.cutoffs.summary import summarised
    >>> lists = Lists.from_arrays([0.9, 0.4, 0.7, 0.2], [1, -1, 2, -1], ["q", "q", "r", "r"])
    >>> html = threshold_page(summarised(GlobalCutoff("nDCG_f@3").fit_lists(lists), lists, folds=2), lists)
    >>> '<input type="range"' in html, "<h1>It is not clear whether the cutoff is worth it" in html
    (True, True)
    """
    sections = [
        Section("The numbers", [Grid(summary.table())]),
        Section("What to know", [Bullets([_READING, *(f"{note}." for note in summary.notes)])]),
    ]
    if command:
        sections.append(Section("How this was made", [Session(command, "")]))
    answer = [Dial.of(summary, lists)]
    return page(summary.headline, summary.verdict, sections, f"Written by RankSift {__version__}.", answer=answer)


_READING = (
    "The slider shows values on the documents that the cutoff was fitted on. On other queries, the best threshold does "
    "a little worse than here; the numbers say by how much."
)


@dataclass(frozen=True)
class Dial:
    """The slider, the two curves that it moves along, and what it shows and hides.

    Attributes
    ----------
    tradeoff
        Its stops, from everything shown to nothing shown.
    chosen
        The number of the stop at which it stands first.
    measure, harm, hidden
        What the threshold was chosen by; forbidden documents shown, and good ones hidden.
    shown
        For each kind of documents, how many each stop shows.
    near
        At each stop, the last documents that it shows and the first that it hides, by their numbers in ``documents``.
    documents
        Id, query, score and kind of those.
    """

    tradeoff: Tradeoff
    chosen: int
    queries: int
    measure: Measure
    harm: Measure
    hidden: Measure
    shown: dict[str, Ints]
    near: list[tuple[list[int], list[int]]]
    documents: dict[int, tuple[str, str, str, str]]

    @classmethod
    def of(cls, summary: Summary, lists: Lists) -> Dial:
        """The dial of a rule with one threshold."""
        measure = one_measure(summary.measure)
        every = with_costs(measure, summary.limits.measures)
        whole = Tradeoff.of(lists, every)
        order = np.argsort(-lists.score, kind="stable")
        falling = -lists.score[order]
        entered = np.searchsorted(falling, -whole.thresholds, side="right")
        assert summary.threshold is not None
        kept = int(np.count_nonzero(lists.score >= summary.threshold))
        chosen = int(np.searchsorted(entered, kept))
        some = np.sort(whole._some(_STOPS, [chosen]))[::-1]  # from the left: everything shown
        kinds = _kinds(lists)[order]
        shown = {kind: np.append(0, np.cumsum(kinds == i))[entered[some]] for i, kind in enumerate(_KINDS)}
        near = []
        for n in entered[some].tolist():
            near.append((list(range(max(n - _NEAR, 0), n)), list(range(n, min(n + _NEAR, len(order))))))
        wanted = np.unique(np.array([i for sides in near for side in sides for i in side], dtype=np.int64))
        at = order[wanted]
        columns = zip(
            wanted.tolist(), lists.ids(at), lists.query[at], lists.score[at].tolist(), kinds[wanted], strict=True
        )
        words = list(_KINDS)
        documents = {i: (str(d), str(lists.names[q]), f"{s:.6g}", words[k]) for i, d, q, s, k in columns}
        tradeoff = Tradeoff(whole.thresholds[some], {name: values[some] for name, values in whole.values.items()})
        harm, hidden = (next(m for m in every if isinstance(m, kind)) for kind in (Fdocs, GoodFiltered))
        first = int(np.flatnonzero(some == chosen)[0])
        return cls(tradeoff, first, len(lists), measure, harm, hidden, shown, near, documents)

    def html(self) -> str:
        """As HTML; without a program in the browser it shows the chosen threshold."""
        harm, hidden = (100 * self.tradeoff[m] for m in (self.harm, self.hidden))
        value, stops = self.tradeoff[self.measure], len(self.tradeoff)
        where = "in the lists" if self.harm.k is None else f"in the top {self.harm.k}"
        curve = Plane(
            (0.0, 100.0), (0.0, float(harm.max()) or 1.0), ("good documents hidden (%)", f"forbidden {where} (%)")
        )
        level = Plane((0.0, stops - 1.0), (float(value.min()), float(value.max())), ("", str(self.measure)))
        level = level.roomier()
        best, ends = self.chosen, (f"everything shown: {value[0]:.4f}", f"nothing shown: {value[-1]:.4f}")
        first = curve.svg(
            [curve.line(hidden, harm, "line-bad"), curve.ring(hidden[best], harm[best])],
            f"Forbidden documents {where} against good documents hidden, for every threshold. "
            f"With the cutoff {harm[best]:.1f}% and {hidden[best]:.1f}%, with everything shown {harm[0]:.1f}% and 0%.",
        )
        x = np.arange(stops, dtype=np.float64)
        second = level.svg(
            [level.line(x, value, "line-second"), level.ring(x[best], value[best]), *level.below(*ends)],
            f"{self.measure} for every threshold: {ends[0]}, the cutoff: {value[best]:.4f}, {ends[1]}.",
        )
        data = {
            "stops": [
                {
                    "threshold": in_words(t),
                    "values": [value for _, value in self._values(i)],
                    "shown": [int(self.shown[kind][i]) for kind in _KINDS],
                    "at": [round(float(v), 1) for v in (*curve.at(hidden[i], harm[i]), *level.at(x[i], value[i]))],
                    "near": self.near[i],
                }
                for i, t in enumerate(self.tradeoff.thresholds.tolist())
            ],
            "of": [int(self.shown[kind][0]) for kind in _KINDS],
            "documents": self.documents,
            "chosen": best,
        }
        rows = "".join(
            f'<tr><th scope="row">{kind}</th><td class="num" data-shown></td><td class="num" data-hidden></td>'
            f'<td class="share"><span class="bar"><i class="{style}"></i></span></td></tr>'
            for kind, style in _KINDS.items()
        )
        values = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{written}</dd></div>" for name, written in self._values(best)
        )
        now = in_words(float(self.tradeoff.thresholds[best]))
        return (
            f'<style>{_STYLE}</style><div class="dial" id="dial"><div class="charts"><figure>{first}</figure>'
            f"<figure>{second}</figure></div>"
            f'<label for="threshold">Threshold <output id="now" for="threshold">{escape(now)}</output></label>'
            f'<input type="range" id="threshold" min="0" max="{stops - 1}" value="{best}" step="1" '
            f'aria-valuetext="{escape(now)}">'
            '<p class="ends"><span>everything shown</span>'
            '<button type="button" id="back">back to the cutoff</button><span>nothing shown</span></p>'
            f'<dl class="values">{values}</dl>'
            '<div class="grid" tabindex="0"><table><thead><tr><th>documents</th><th class="num">shown</th>'
            '<th class="num">hidden</th><th>share shown</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
            '<div class="near"><div><h3>Just shown</h3><ol id="kept"></ol></div>'
            '<div><h3>Just hidden</h3><ol id="dropped"></ol></div></div>'
            "<noscript><p>The slider needs JavaScript, which this page brings and your browser does not run.</p>"
            "</noscript>"
            f'<script type="application/json" id="stops">{_as_json(data)}</script><script>{_SCRIPT}</script></div>'
        )

    def _values(self, stop: int) -> Iterator[tuple[str, str]]:
        """What a stop comes to, in words."""
        for name, values in self.tradeoff.values.items():
            value = float(values[stop])
            if name == str(self.harm):
                yield (
                    "forbidden " + ("in the lists" if self.harm.k is None else f"in the top {self.harm.k}"),
                    _percent(value),
                )
            elif name == str(self.hidden):
                yield "good documents hidden", _percent(value)
            elif name == str(Empty()):
                yield f"queries left empty, of {self.queries:,}", f"{round(value * self.queries):,}"
            else:
                yield name, f"{value:.4f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _kinds(lists: Lists) -> Ints:
    """The number of each document's kind in :data:`_KINDS`."""
    return np.select([~lists.judged, lists.gain < 0, lists.gain == 0], [1, 0, 2], 3)


def _as_json(data: Any) -> str:
    """JSON in which no name can end the script that it stands in."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


_STYLE = """
.dial label{display:flex;justify-content:space-between;gap:1rem;font-weight:600;margin-top:1.1rem;flex-wrap:wrap}
.dial output{font-variant-numeric:tabular-nums}
.dial input[type=range]{width:100%;height:2.2rem;margin:.2rem 0 0;accent-color:var(--second);cursor:pointer}
.ends{display:flex;justify-content:space-between;align-items:baseline;gap:.6rem;margin:0;color:var(--soft);
font-size:.88rem}
.ends button{font:inherit;color:var(--second);background:none;border:1px solid var(--line);border-radius:8px;
padding:.35rem .8rem;cursor:pointer}
.charts{display:grid;gap:1rem;grid-template-columns:1fr}.charts figure{margin:0}
.charts svg{cursor:crosshair}
.values{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.2rem,1fr));gap:.6rem;margin:1.1rem 0}
.values div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.5rem .7rem}
.values dt{color:var(--soft);font-size:.8rem;overflow-wrap:anywhere}
.values dd{margin:0;font-size:1.15rem;font-weight:600;font-variant-numeric:tabular-nums}
.dial table{width:100%}.dial tbody th{border-bottom-width:1px;font-weight:400}
.share{width:45%}.bar{display:block;background:var(--line);border-radius:3px;height:.8rem}
.bar i{display:block;height:100%;border-radius:3px;width:0}
.bar .good{background:var(--good)}.bar .bad{background:var(--bad)}.bar .rest{background:var(--rest)}
.bar .second{background:var(--second)}
.near{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:0 1.4rem;margin-bottom:1.4rem}
.near h3{margin:1rem 0 .3rem}.near ol{list-style:none;margin:0;padding:0;font-size:.9rem;min-height:9.2rem}
.near li{display:flex;gap:.6rem;justify-content:space-between;border-bottom:1px solid var(--line);padding:.15rem 0;
margin:0}
.near .forbidden{color:var(--bad);font-weight:600}.near .relevant{color:var(--good);font-weight:600}
svg .here{fill:var(--ink);stroke:var(--card);stroke-width:2}svg .ring{fill:none;stroke:var(--ink);stroke-width:1.5}
@media (max-width:40rem){.charts svg{font-size:13px}.charts svg .mark,.charts svg .number{font-size:12px}}
@media (min-width:46rem){.charts{grid-template-columns:1fr 1fr}}
@media print{.ends,.dial input{display:none}}
"""

_SCRIPT = """
(function () {
  "use strict";
  var data = JSON.parse(document.getElementById("stops").textContent), dial = document.getElementById("dial");
  var slider = document.getElementById("threshold"), now = document.getElementById("now");
  var rows = dial.querySelectorAll("tbody tr"), dots = dial.querySelectorAll(".here");
  var values = dial.querySelectorAll("dd");
  function list(id, numbers) {
    var at = document.getElementById(id);
    at.textContent = "";
    numbers.forEach(function (number) {
      var item = document.createElement("li"), found = data.documents[number];
      [found[0] + " (" + found[1] + ")", found[3] + " " + found[2]].forEach(function (words, i) {
        var part = document.createElement("span");
        part.textContent = words;
        if (i) part.className = found[3];
        item.appendChild(part);
      });
      at.appendChild(item);
    });
  }
  function show() {
    var stop = data.stops[slider.value], hidden = 0, all = 0;
    now.textContent = stop.threshold;
    dots.forEach(function (dot, i) {
      dot.setAttribute("cx", stop.at[2 * i]);
      dot.setAttribute("cy", stop.at[2 * i + 1]);
    });
    values.forEach(function (cell, i) { cell.textContent = stop.values[i]; });
    rows.forEach(function (row, i) {
      var of = data.of[i], there = stop.shown[i];
      row.querySelector("[data-shown]").textContent = there.toLocaleString("en");
      row.querySelector("[data-hidden]").textContent = (of - there).toLocaleString("en");
      row.querySelector("i").style.width = (of ? 100 * there / of : 0) + "%";
      hidden += of - there;
      all += of;
    });
    list("kept", stop.near[0].slice().reverse());
    list("dropped", stop.near[1]);
    slider.setAttribute("aria-valuetext", stop.threshold + ": hides " + hidden + " of " + all + " documents, " +
      (data.of[0] - stop.shown[0]) + " of " + data.of[0] + " forbidden and " +
      (data.of[3] - stop.shown[3]) + " of " + data.of[3] + " relevant ones");
  }
  dial.querySelectorAll("svg").forEach(function (chart, i) {
    function move(event) {
      var box = chart.getBoundingClientRect(), scale = chart.viewBox.baseVal.width / box.width;
      var x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale, least = Infinity, at = 0;
      data.stops.forEach(function (stop, number) {
        var dx = stop.at[2 * i] - x, dy = i ? 0 : stop.at[1] - y, far = dx * dx + dy * dy;
        if (far < least) { least = far; at = number; }
      });
      slider.value = at;
      show();
    }
    chart.addEventListener("pointerdown", move);
    chart.addEventListener("pointermove", function (event) { if (event.buttons) move(event); });
  });
  document.getElementById("back").addEventListener("click", function () { slider.value = data.chosen; show(); });
  slider.addEventListener("input", show);
  show();
})();
"""
