"""Forged texts of trees: does one of them crash, abort or hang LightGBM, or give a score that is not finite?

python -m tests.learning.forged_trees --cases 20000 --seed 0
"""

import copy
import re
import warnings
from functools import cache

import numpy as np

from ranksift import Examples
from ranksift.learning import BoostedTrees, ExpectedGainRanker, LambdaMART, LambdaMARTf, RandomForests
from ranksift.learning.trees import TreeModel
from tests.forged import command

_SPELLINGS = [
    *("+{}", "0{}", "00{}", "{}_0", "0_{}", "{}e0", "{}e1", "{}.0", "{}.", ".{}", " {}", "{} ", "-{}", "--{}", "{}e-6"),
    *("0x{}", "{}L", "{}f", "\u0661", "\uff11", "nan", "inf", "-inf", "NaN", "infinity", "1e999", "-1e308", "1e-400"),
    *("", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296", "9223372036854775808", "9" * 400),
    *("1000000e-6", "0_5", "-0_1", "1e1", "0x1p3", "-0", "0", "1", "2", "-1", "-2", "7", "11", "12", "16", "1e300"),
    *("0." + "0" * 400 + "1", "1.7976931348623157e+308", "None", "?"),
]
_SEPARATORS = ["\x0b", "\x0c", "\t", "\r", "\r\n", "\n", "  ", "\u00a0", "\x00", "\x1c", "=", ",", "", "\n\n"]
_NUMBER = re.compile(r"(?<![\w.+-])-?[0-9][0-9.e+-]*")


@cache
def genuine() -> tuple[list[TreeModel], Examples]:
    """Models with trees of every kind, and documents to score, some with missing values."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(120, 3))
    labels = x[:, 0].round().clip(-1, 2)
    x[draw.random(x.shape) < 0.1] = np.nan
    examples = Examples.from_arrays(x, labels, np.repeat(np.arange(12), 10))
    few = {"trees": 3, "min_documents": 5}
    kinds = [
        LambdaMART(leaves=4, **few),
        LambdaMARTf(leaves=3, **few),
        RandomForests(leaves=4, **few),
        RandomForests(trees=2, min_documents=120),
        BoostedTrees("ordinal", leaves=3, **few),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = [kind.fit(examples) for kind in kinds]
        made.append(ExpectedGainRanker(options={"trees": 3}).fit(examples).models_[0])
    return made, examples


def resized(text: str) -> str:
    """The same text with the sizes that its trees have."""
    head, _, rest = text.partition("\n\n")
    body, end, tail = rest.partition("end of trees")
    sizes = " ".join(str(len(tree)) for tree in re.split("(?=Tree=)", body)[1:])
    return re.sub("tree_sizes=.*", f"tree_sizes={sizes}", head) + "\n\n" + body + end + tail


def mutated(text: str, draw: np.random.Generator) -> str:
    """A text after one to three changes; mostly with the right sizes, so that more than these are looked at."""
    for _ in range(1 + int(draw.integers(3))):
        text = _changed(text, draw)
    return resized(text) if draw.random() < 0.8 else text


def _changed(text: str, draw: np.random.Generator) -> str:
    end = max(text.find("end of trees"), 1)
    kind, at = int(draw.integers(9)), int(draw.integers(end))
    if kind <= 3:
        found = list(_NUMBER.finditer(text, 0, end))
        if not found:
            return text
        one, other = (found[int(n)] for n in draw.integers(len(found), size=2))
        if kind <= 1:
            spelt = _SPELLINGS[int(draw.integers(len(_SPELLINGS)))].format(one[0])
        else:
            spelt = other[0] if kind == 2 else str(int(draw.integers(-6, 9)))
        return text[: one.start()] + spelt + text[one.end() :]
    if kind == 4:
        return text[:at] + chr(int(draw.integers(256))) + text[at + int(draw.integers(2)) :]
    if kind == 5:
        spaces = [match.start() for match in re.finditer("[ \n=]", text[:end])] or [at]
        place = spaces[int(draw.integers(len(spaces)))]
        return text[:place] + _SEPARATORS[int(draw.integers(len(_SEPARATORS)))] + text[place + 1 :]
    if kind == 6 and draw.random() < 0.2:
        return text[:at]
    lines = text[:end].split("\n")
    one, other = (int(n) for n in draw.integers(len(lines), size=2))
    if kind == 6:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 7:
        lines.insert(other, lines[one])
    elif draw.random() < 0.5:
        del lines[one]
    else:  # the values of another line
        lines[one] = lines[one].partition("=")[0] + "=" + lines[other].partition("=")[2]
    return "\n".join(lines) + text[end:]


def case(number: int, seed: int) -> str:
    """Restore a model from a forged text, and score documents if it is taken."""
    draw = np.random.default_rng((seed, number))
    models, examples = genuine()
    whole = models[int(draw.integers(len(models)))]
    state = dict(whole._state())
    state["trees.txt"] = mutated(str(state["trees.txt"]), draw)
    model = copy.copy(whole)
    try:
        model._restore(state)
    except ValueError:
        return "refused"
    assert np.isfinite(model.score(examples)).all()
    return "read"


if __name__ == "__main__":
    command("tests.learning.forged_trees", __doc__)
