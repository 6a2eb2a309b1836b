"""Forged files of cutoffs: is one refused with a line, or else a rule that keeps documents and can be saved again?

python -m tests.cutoffs.forged_cutoffs --cases 20000 --seed 0
"""

import json
import warnings
from functools import cache
from typing import Any

import numpy as np

from ranksift.cutoffs.cutoff import cutoff_of_json
from ranksift.cutoffs.rules import known_rules
from ranksift.errors import InputError
from tests.forged import check_line, command, mutated_bytes, mutated_json

SCORES, GROUPS = np.array([0.5, 0.5, 0.1, 0.9, 3.0, 0.0, 0.7]), np.array([0, 0, 1, 1, 1, 2, 3])


@cache
def genuine() -> list[dict[str, Any]]:
    """What files of every rule say, of some with other parameters too."""
    draw = np.random.default_rng(0)
    labels = draw.choice([-1, 0, 1], 300)
    scores = np.abs(labels + draw.normal(size=300))
    known = known_rules()
    rules = [kind() for kind in known.values()]
    rules += [known["global"](at_most="Empty<=0.5 GoodFiltered<=0.9")]
    rules += [known["normalized"](by=by) for by in ("zscore", "max", "rank", "softmax")]
    rules += [known["expected-gain"](features="shape"), known["expected-gain"](method="isotonic")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [rule.fit(scores, labels, np.arange(300) // 6).to_dict() for rule in rules]


def case(number: int, seed: int) -> str:
    """Read a forged file, and use the rule if it is taken."""
    draw = np.random.default_rng((seed, number))
    texts = genuine()
    whole = texts[int(draw.integers(len(texts)))]
    if draw.random() < 0.1:
        data = mutated_bytes(json.dumps(whole).encode(), draw)
    else:
        data = mutated_json(whole, draw).encode("utf-8", "surrogatepass")
    warnings.simplefilter("ignore")
    try:
        rule = cutoff_of_json(data, "forged.json")
    except InputError as error:
        check_line(error, "forged.json: ")
        return "refused"
    again = cutoff_of_json(rule.to_json().encode(), "again.json")
    assert again.to_json() == rule.to_json()
    try:
        kept = rule.keep(SCORES, GROUPS)
        assert kept.dtype == bool
        assert np.array_equal(kept, again.keep(SCORES, GROUPS))
        rule.check_scale(SCORES)
        rule.apply({"q": {"a": 0.5, "b": 0.25}}, any_scale=True)
    except InputError:
        return "read, and its use refused"
    return "read"


if __name__ == "__main__":
    command("tests.cutoffs.forged_cutoffs", __doc__)
