"""What proposals did: an assessor who follows them is found out, one who does not is not."""

import numpy as np
import pytest

from ranksift.labelling.proposals import FLAGS_AGREE, FOLLOWED, JUDGMENTS, MINUTES, OTHERS, PAIRS_AGREE, effect
from tests.labelling.logs import log, prefer, task


def project(follows: float, queries: int = 40):
    """Two assessors flag documents by their own lights, or because that is proposed."""
    random = np.random.default_rng(1)
    entries, tasks, proposed = [], [], {}
    for q in range(queries):
        query, shown = f"q{q:02}", q % 2 == 0
        bad = random.random(10) < 0.3
        named = {f"d{i}" for i in range(10) if (bad[i] if random.random() < 0.6 else random.random() < 0.3)}
        proposed[query] = named or {"d0"}
        for number, person in enumerate(("ann", "bob")):
            said = []
            for i in range(10):
                flag = bool(bad[i]) if random.random() < 0.9 else not bad[i]
                if shown and f"d{i}" in proposed[query] and random.random() < follows:
                    flag = True
                forbidden = (f"d{i}",) if flag else ()
                said.append(prefer(f"d{i}", ">", f"e{i}", forbidden=forbidden))
            said = said[: 8 if shown else 10]
            entries += log(query, person, said, seconds=3.0, proposed=dict.fromkeys(proposed[query], shown))
            tasks.append(task(query, person, number, with_proposals=shown))
    return entries, tasks, proposed


def test_who_follows_proposals_is_found_out() -> None:
    found = effect(*project(follows=0.8))
    assert found is not None
    assert (found.shown, found.hidden) == (40, 40)
    assert found.biased
    assert found[FOLLOWED].difference.low > 0.05
    assert not found[OTHERS].beyond_chance


def test_who_does_not_follow_them_is_not_accused() -> None:
    found = effect(*project(follows=0.0))
    assert found is not None
    assert not found.biased
    assert found[FOLLOWED].difference.low < 0 < found[FOLLOWED].difference.high


def test_what_was_saved_is_what_finished_tasks_took() -> None:
    found = effect(*project(follows=0.0))
    assert found is not None
    assert (found[JUDGMENTS].shown.value, found[JUDGMENTS].hidden.value) == (8, 10)
    assert found[MINUTES].difference.value == pytest.approx(-2 * 3 / 60)
    assert found[JUDGMENTS].beyond_chance


def test_queries_without_a_proposal_are_in_neither_half() -> None:
    entries, tasks, proposed = project(follows=0.0)
    found = effect(entries, tasks, proposed)
    for query in ("r1", "r2"):  # quickly done, and nobody flags anything
        entries += log(query, "ann", [prefer("d1", ">", "d2")], seconds=3.0)
        tasks.append(task(query, "ann", 1, with_proposals=query == "r1"))
    assert effect(entries, tasks, {**proposed, "r1": ()}) == found


def test_shares_are_plain_counts() -> None:
    entries, tasks, proposed = project(follows=0.3)
    found = effect(entries, tasks, proposed)
    assert found is not None
    shown = {t.key for t in tasks if t.with_proposals}
    seen = flags = same = both = 0
    by = {}
    for e in entries:
        for doc in e.judgment.question.items:
            if e.task in shown:
                by.setdefault((e.query_id, doc), []).append(doc in e.judgment.forbidden)
                if doc in proposed[e.query_id]:
                    seen, flags = seen + 1, flags + (doc in e.judgment.forbidden)
    for said in by.values():
        both, same = both + 1, same + (said[0] == said[1])
    assert found[FOLLOWED].shown.value == pytest.approx(flags / seen)
    assert found[FLAGS_AGREE].shown.value == pytest.approx(same / both)
    assert found[PAIRS_AGREE].shown.value == 1
    assert found.to_dict()["rows"][0]["what"] == FOLLOWED


def test_nothing_to_compare_is_none() -> None:
    entries, tasks, proposed = project(follows=0.0)
    kept = [t for t in tasks if t.with_proposals]
    assert effect(entries, kept, proposed) is None
    assert effect([], tasks, proposed) is None
