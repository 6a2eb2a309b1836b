"""Every system scored, with its lists ended elsewhere, and what follows for the paper's questions."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import ranksift as rs
from experiments.truncation.cuts import QUANTILES
from experiments.truncation.nil_share import SHARES, best_at, best_by_chance, tau
from experiments.truncation.places import by_top_score, dealt, luck, perfect, telling_apart
from experiments.truncation.printed import NIL_QUESTIONS, QUESTIONS
from experiments.truncation.setting import CORRECT, MEASURES, MODIFIED, ORIGINAL, OWN_DEPTH, PLAIN, Q, Setting
from experiments.truncation.wikiqa import RANKERS, Floats, Questions

PAPERS_SHARE = NIL_QUESTIONS / QUESTIONS
#: Answers added to every question that has one, so that there are about as many as in the paper.
UNFOUND = 24
DEALS, SAMPLES, SEED = 1000, 1000, 0
#: The cuts whose lengths are dealt out at random in the table.
DEALT = (50, 80, 90, 94, 98)


def measure(data: Path) -> dict[str, Any]:
    """All numbers of the page and of its figures."""
    test, dev = Questions(data, "test"), Questions(data, "dev")
    setting, unlimited = Setting(test, dev, limit=5), Setting(test, dev, limit=None)
    on_dev, richer = Setting(dev, dev, limit=5), Setting(with_more_answers(test), dev, limit=5)
    return {
        "questions": questions(setting, unlimited),
        "systems": systems(setting),
        "same where NIL is last": same_where_nil_is_last(setting),
        "perfect": {r: by_measure(perfect(setting, r, MODIFIED, m) for m in MEASURES) for r in RANKERS},
        "telling apart": {r: telling_apart(setting, r) for r in RANKERS},
        "fifths": [{"no answer": nil, "right": right} for nil, right in by_top_score(setting, "CNN-Cnt")],
        "dealt": {
            f"{r} q{q}": max(luck(setting, f"{r} q{q}", MODIFIED, m, DEALS, SEED) for m in MEASURES)
            for r in RANKERS
            for q in DEALT
        },
        "best": best(setting, on_dev, unlimited),
        "orders": orders(setting, unlimited, richer),
        "by share": by_share(setting),
    }


def by_measure(values: Iterable[float]) -> dict[str, float]:
    """Numbers by the names of the paper's measures."""
    return dict(zip(MEASURES, map(float, values), strict=True))


def with_more_answers(questions: Questions) -> Questions:
    """The same questions, where those with an answer have many more that no system finds."""
    labels = questions.qrels.to_dict()
    for of in labels.values():
        if max(of.values()) > 0:
            of |= {f"unfound {i}": 1 for i in range(UNFOUND)}
    return questions.judged_by(labels)


def questions(setting: Setting, unlimited: Setting) -> dict[str, Any]:
    """The collection, and the lists that systems make of it."""
    found, of = setting.found, setting.questions
    lengths = {when: found.lengths(when) for when in ("before", "after")}
    return {
        "count": len(of.ids),
        "without": int(of.nil.sum()),
        "nil": of.nil.mean(),
        "sentences": [of.candidates.min(), of.candidates.mean(), of.candidates.max()],
        "short": (of.candidates < 5).mean(),
        "answers": of.answers[~of.nil].mean(),
        "answerable": int(found.answerable.sum()),
        "systems": [len(setting.names), len(unlimited.names)],
        "lists": found.ended.size,
        "ended": found.ended.mean(),
        "lengths": {when: [counts.get(n, 0) for n in range(6)] for when, counts in lengths.items()},
        "quantiles": [QUANTILES[0], QUANTILES[-1]],
    }


def systems(setting: Setting) -> dict[str, dict[str, Any]]:
    """Each system's lists and scores."""
    found, alone = setting.found, setting.found.on_answerable()
    answerable = [alone.scores.mean_of(original) for original, _ in alone.pairs]
    told: dict[str, dict[str, Any]] = {}
    for i, (name, system) in enumerate(setting.systems.items()):
        told[name] = {
            "ranker": system.ranker,
            "family": system.family,
            "shown": setting.shown[i],
            "empty": setting.empty[i],
            "ended": found.truncated[name],
            "nil accuracy": found.nil_accuracy[name],
            "c@1": setting.mean(PLAIN, CORRECT, name),
            "Q": setting.mean(ORIGINAL, Q, name),
            "answerable": by_measure(mean[name] for mean in answerable),
        }
        for kind in (PLAIN, ORIGINAL, MODIFIED):
            told[name][kind] = by_measure(setting.mean(kind, m, name) for m in MEASURES)
        if system.family in ("all", "score"):
            told[name]["at random"] = by_measure(dealt(setting, name, MODIFIED, m) for m in MEASURES)
    return told


def same_where_nil_is_last(setting: Setting) -> bool:
    """Whether RR is RR' in every list that says NIL at its end."""
    said = setting.found.before == setting.found.after + 1
    one, two = (setting.by_question(kind, "RR")[said] for kind in (ORIGINAL, MODIFIED))
    return bool(np.array_equal(one, two))


def best(setting: Setting, on_dev: Setting, unlimited: Setting) -> dict[str, Any]:
    """The best system that does not hedge, by each measure, and how sure that is."""
    rows = {}
    for kind, m in [*((kind, m) for m in MEASURES for kind in (ORIGINAL, MODIFIED)), (PLAIN, CORRECT)]:
        chance = best_by_chance(setting, kind, m, SAMPLES, SEED)
        rows["c@1" if m == CORRECT else f"{m}′" if kind == MODIFIED else m] = {
            "name": setting.names[setting.best(kind, m, setting.honest)],
            "score": setting.means(kind, m)[setting.best(kind, m, setting.honest)],
            "empty": np.quantile(setting.empty[chance], [0.05, 0.95]),
            "silence": (chance == setting.names.index("nothing")).mean(),
            "on dev": (chosen := on_dev.names[on_dev.best(kind, m, on_dev.honest)]),
            "its score": setting.mean(kind, m, chosen),
            "unlimited": unlimited.names[unlimited.best(kind, m, unlimited.honest)],
        }
    return {
        "rows": rows,
        "of all": by_kind(setting),
        "against silence": against_silence(setting, rows["nDCG′"]["on dev"], "nDCG"),
        "left empty": left_empty(setting, setting.best(MODIFIED, "nDCG", setting.honest)),
    }


def by_kind(setting: Setting) -> dict[str, str]:
    """The best of all systems by each original measure, those that hedge too."""
    return {m: setting.names[setting.best(ORIGINAL, m)] for m in MEASURES}


def against_silence(setting: Setting, name: str, measure: str) -> dict[str, float]:
    """A system's difference to no answer at all, and the p-value of a paired t-test."""
    found = rs.compare(setting.found.scores, baseline="nothing", test="t", correction="none")
    i, m = found.pairs.index((name, "nothing")), setting.found.scores.column(dict(setting.pairs)[measure])
    return {"gain": float(found.difference[i, m]), "p": float(found.p[i, m])}


def left_empty(setting: Setting, system: int) -> dict[str, float]:
    """Of questions without an answer and with one, the share to which a system shows nothing."""
    empty, nil = setting.lengths[system] == 0, setting.questions.nil
    return {"without": empty[nil].mean(), "with": empty[~nil].mean()}


def orders(setting: Setting, unlimited: Setting, richer: Setting) -> dict[str, dict[str, float]]:
    """Kendall's tau between the orders by the original and by the modified measures."""
    here = float(setting.questions.nil.mean())
    told = {
        "lists of five, no hedging": taus(setting, here, False),
        "lists of five, all systems": taus(setting, here, True),
        "whole lists, no hedging": taus(unlimited, here, False),
        "whole lists, all systems": taus(unlimited, here, True),
        "10 %, no hedging": taus(setting, PAPERS_SHARE, False),
        "10 %, all systems": taus(setting, PAPERS_SHARE, True),
        "10 %, more answers": taus(richer, PAPERS_SHARE, False),
    }
    own = tau(richer, "nDCG", PAPERS_SHARE, richer.honest, original=OWN_DEPTH)
    return {**{name: by_measure(values) for name, values in told.items()}, "own depth": {"nDCG": own}}


def taus(setting: Setting, share: float, hedging: bool) -> list[float]:
    """Kendall's tau by each measure, of all systems or of those that do not hedge."""
    among = setting.honest | hedging
    return [tau(setting, m, share, among) for m in MEASURES]


def by_share(setting: Setting) -> dict[str, Any]:
    """Tau, and the best cut's share of empty lists, for each share of questions without an answer."""
    honest = setting.honest
    empty: dict[str, Floats] = {
        m: np.array([setting.empty[best_at(setting, MODIFIED, m, float(s), honest)] for s in SHARES]) for m in MEASURES
    }
    return {
        "shares": SHARES,
        "tau": {m: [tau(setting, m, float(s), honest) for s in SHARES] for m in MEASURES},
        "empty": empty,
        # From which share on the best cut has empty lists, and from which on only these.
        "first": by_measure(SHARES[np.argmax(empty[m] > 0.05)] for m in MEASURES),
        "last": by_measure(SHARES[np.argmax(empty[m] == 1)] for m in MEASURES),
    }
