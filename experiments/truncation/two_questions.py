"""Whether there is an answer, and then which: Liu et al.'s other way, and the Q-measure."""

from __future__ import annotations

import numpy as np

from experiments.markdown import best_bold, bullets, number, paragraph, percent, says, table
from experiments.truncation.cuts import in_one_piece
from experiments.truncation.lists import SHOWN
from experiments.truncation.setting import MEASURES, ORIGINAL, Q, Setting


def two_questions(setting: Setting) -> str:
    """Section: nil accuracy, means over answerable questions alone, and Q with NIL."""
    found = setting.found
    alone = found.on_answerable()
    names = [*(f"CNN-Cnt {cut}" for cut in SHOWN), "nothing"]
    columns = [[found.nil_accuracy[name] for name in names]]
    columns += [[alone.scores.mean_of(original)[name] for name in names] for original, _ in alone.pairs]
    columns.append([setting.mean(ORIGINAL, Q, name) for name in names])
    cells = best_bold(columns, 3)
    rows = [[in_one_piece(name.removeprefix("CNN-Cnt ")), *row] for name, row in zip(names, cells, strict=True)]
    head = [in_one_piece("CNN-Cnt"), "nil accuracy", *MEASURES, "Q, all questions"]
    return f"""
## Whether, and then which

Liu et al. mention another way for collections with few questions without an answer: first how often a system is right
about *whether* there is one, and then the usual measures on the {int(found.answerable.sum())} questions that have an
answer, alone. A list says that there is none if nothing precedes its NIL. The last column is Sakai's Q-measure
of all questions, which they name as an earlier approach: NIL is a list of one right answer where there is no
other.

{table(head, rows)}

{_in_words(setting)}
"""


def always_no_is_best(setting: Setting) -> bool:
    """Whether no system is right more often about whether there is an answer than one that always denies it."""
    return max(setting.found.nil_accuracy.values()) == setting.found.nil_accuracy["nothing"]


def stopping_never_pays(setting: Setting) -> bool:
    """Whether on questions with an answer a system that never stops is the best by every original measure."""
    alone = setting.found.on_answerable()
    means = [alone.scores.mean_of(original) for original, _ in alone.pairs]
    return all(max(mean, key=lambda name: mean[name]).endswith(" all") for mean in means)


def _in_words(setting: Setting) -> str:
    accuracy = setting.found.nil_accuracy
    cut = [name for name, system in setting.systems.items() if system.family == "score"]
    best = max(cut, key=lambda name: accuracy[name])
    q = setting.means(ORIGINAL, Q)
    hedge = setting.names[int(np.argmax(q))]
    return bullets(
        paragraph(
            says(
                always_no_is_best(setting),
                "**About whether there is an answer no system is right more often than the one that always denies it** "
                f"({percent(accuracy['nothing'])}); the best cut by score is {best} ({percent(accuracy[best])}).",
            ),
            "On this collection the first of the two questions is the hard one.",
        ),
        says(
            stopping_never_pays(setting),
            "**On questions with an answer alone it never pays to stop**: by all four measures the best system is one "
            "that is never cut. So the two numbers pull in opposite directions, and have to be weighed against "
            "each other; the "
            "modified measures do so in one.",
        ),
        says(
            hedge.endswith("NIL@1"),
            f"**Q also rewards hedging**: the best is {hedge} with {number(float(q.max()), 3)}, where NIL alone has "
            f"{number(setting.mean(ORIGINAL, Q, 'nothing'), 3)}.",
        ),
    )
