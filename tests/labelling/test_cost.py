"""What labelling costs: against plain loops, and what outliers do."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from ranksift.labelling.cost import costs, progress
from ranksift.labelling.judgments import Judgment
from tests.labelling.logs import BEGIN, graded, key, log, prefer, task

UNDO = Judgment("undo")


def pairs(count: int) -> list[Judgment]:
    return [prefer(f"a{i}", ">", f"b{i}") for i in range(count)]


def test_time_per_query_holds_all_time_and_judgments_only_what_counts() -> None:
    said = [*pairs(2), UNDO, Judgment("skip", "x", "y"), prefer("a9", "~", "b9"), Judgment("cannot", "x", "y")]
    (found,) = costs(log("q", "ann", said, seconds=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert (found.tasks, found.judgments, found.undone, found.skipped) == (1, 3, 1, 1)
    assert found.per_query.value == 3
    assert found.minutes.value == pytest.approx(21 / 60)
    assert found.seconds.value == pytest.approx(7)
    assert found.median_seconds.value == 5
    assert np.isnan(found.seconds.low)  # one query has no interval


def test_rows_are_by_tool_strategy_and_person() -> None:
    entries = [
        *log("q", "ann", pairs(3), seconds=2.0),
        *log("r", "ann", pairs(5), seconds=4.0),
        *log("q", "bob", pairs(4), seconds=6.0),
        *log("s", "bob", [graded("a", 1), graded("b", 0)], tool="grades", seconds=12.0),
        *log("s", "cyd", pairs(1), purpose="verify", seconds=99.0),
    ]
    tasks = [
        task("q", "ann", 1, strategy="heap"),
        task("r", "ann", 1, strategy="tournament"),
        task("q", "bob", 2, strategy="heap"),
        task("s", "bob", 2, tool="grades", strategy="grades"),
    ]
    by_tool = {one.tool: one for one in costs(entries, tasks)}
    assert by_tool["pairs"].per_query.value == pytest.approx((3 + 5 + 4) / 3)
    assert by_tool["pairs"].seconds.value == pytest.approx((6 + 20 + 24) / 12)
    assert by_tool["pairs"].median_minutes.value == pytest.approx(20 / 60)
    assert by_tool["grades"].seconds.value == 12
    by_strategy = {one.strategy: one.per_query.value for one in costs(entries, tasks, by=("strategy",))}
    assert by_strategy == {"heap": 3.5, "tournament": 5.0, "grades": 2.0}
    by_person = {(one.tool, one.person): one.judgments for one in costs(entries, tasks, by=("tool", "person"))}
    assert by_person == {("pairs", "ann"): 8, ("pairs", "bob"): 4, ("grades", "bob"): 2}
    assert costs(entries, purposes=("verify",))[0].seconds.value == 99


def test_unfinished_tasks_do_not_lower_what_a_query_costs() -> None:
    entries = [*log("q", "ann", pairs(10), seconds=2.0), *log("r", "ann", pairs(1), seconds=2.0)]
    (found,) = costs(entries, [task("q", "ann", 1), task("r", "ann", 1, done=False)])
    assert found.tasks == 1
    assert found.per_query.value == 10
    assert found.judgments == 11


def test_intervals_and_medians_are_those_of_a_plain_bootstrap() -> None:
    random = np.random.default_rng(1)
    logs = [random.lognormal(1.5, 0.7, random.integers(3, 9)).tolist() for _ in range(12)]
    entries = [e for i, own in enumerate(logs) for e in log(f"q{i:02}", "ann", pairs(len(own)), seconds=own)]
    (found,) = costs(entries, samples=200, seed=3)
    often = np.random.default_rng(3).multinomial(12, np.full(12, 1 / 12), size=200)
    values = {"seconds": [], "median_seconds": [], "per_query": [], "median_minutes": []}
    for row in often:
        drawn = [logs[i] for i in range(12) for _ in range(row[i])]
        every = [x for own in drawn for x in own]
        values["seconds"].append(np.mean(every))
        values["median_seconds"].append(np.median(every))
        values["per_query"].append(np.mean([len(own) for own in drawn]))
        values["median_minutes"].append(np.median([sum(own) / 60 for own in drawn]))
    for name, sampled in values.items():
        estimate = getattr(found, name)
        assert estimate[1:] == pytest.approx(np.quantile(sampled, [0.025, 0.975])), name
    assert found.median_seconds.value == pytest.approx(np.median([x for own in logs for x in own]))


def test_intervals_do_not_depend_on_the_keys_of_tasks() -> None:
    """A store draws them."""
    random = np.random.default_rng(5)
    entries = [e for i in range(9) for e in log(f"q{i}", "ann", pairs(4), seconds=random.lognormal(1, 1, 4).tolist())]
    renamed = [replace(e, task=f"{99 - int(e.query_id[1:])}") for e in entries]
    assert costs(entries) == costs(renamed)


def test_outliers_are_counted_by_kind_and_medians_withstand_them() -> None:
    random = np.random.default_rng(2)
    seconds = random.lognormal(1.5, 0.3, 60).tolist()
    (clean,) = costs(log("q", "ann", pairs(60), seconds=seconds))
    assert clean.outliers[:3] == (0, 0, 0)
    (found,) = costs(log("q", "ann", pairs(63), seconds=[*seconds, 4000.0, 0.01, 0.0]))
    assert found.outliers[:3] == (1, 1, 1)
    assert found.outliers.seconds_without == pytest.approx(np.mean(seconds))
    assert found.seconds.value > 10 * clean.seconds.value
    assert found.median_seconds.value == pytest.approx(clean.median_seconds.value, rel=0.1)


@pytest.mark.parametrize("seconds", [3.0, 5.0, 5.51])
def test_equal_times_are_not_unusual(seconds: float) -> None:
    (found,) = costs(log("q", "ann", pairs(30), seconds=seconds))
    assert found.outliers[:3] == (0, 0, 0)
    (found,) = costs(log("q", "ann", pairs(31), seconds=[seconds] * 30 + [900.0]))
    assert found.outliers[:3] == (1, 0, 0)


def test_judgments_without_time_have_no_time_per_judgment() -> None:
    (found,) = costs(log("q", "ann", pairs(3), seconds=0.0))
    assert np.isnan(found.seconds.value)
    assert found.per_query.value == 3
    assert found.to_dict()["seconds"]["value"] is None
    assert found.to_dict()["outliers"]["seconds_without"] is None


def test_progress_is_what_strategies_expect_at_the_pace_of_each_tool() -> None:
    entries = [
        *log("q", "ann", pairs(11), seconds=3.0),  # one each 10 s of the clock
        *log("r", "bob", [graded("a", 1)], tool="grades", seconds=15.0),
    ]
    tasks = [
        task("q", "ann", 1),
        task("r", "bob", 2, tool="grades", done=False),
        task("s", "ann", 1, done=False),
        task("t", "ann", 1, done=False, active=False),
    ]
    expected = {key("r", "bob", "grades"): 20.0, key("s", "ann"): 100.0, key("t", "ann"): 999.0}
    found = progress(entries, tasks, expected, now=BEGIN)
    assert (found.tasks, found.done, found.judgments, found.expected) == (3, 1, 12, 120.0)
    assert found.minutes == pytest.approx((20 * 15 + 100 * 3) / 60)
    # Twelve judgments in 100 s are eleven steps.
    assert found.finished is not None
    assert (found.finished - BEGIN).total_seconds() == pytest.approx(100 + 120 * 100 / 11)
    assert progress([], tasks, expected).finished is None
    assert progress(entries, tasks[:1], {}).finished is None


def test_pace_is_that_of_the_last_week() -> None:
    old = [replace(e, created=e.created - timedelta(days=100)) for e in log("p", "ann", pairs(50))]
    new = log("q", "ann", pairs(11))
    found = progress([*old, *new], [task("s", "ann", 1, done=False)], {key("s", "ann"): 10.0}, now=BEGIN)
    assert found.finished == BEGIN + timedelta(seconds=200)


def test_what_is_left_after_a_long_break_is_not_due_in_the_past() -> None:
    new = log("q", "ann", pairs(11))  # one each 10 s, and then nothing for a year
    open_task, left = [task("s", "ann", 1, done=False)], {key("s", "ann"): 10.0}
    later = BEGIN + timedelta(days=365)
    assert progress(new, open_task, left, now=later).finished == later + timedelta(seconds=100)
    soon = progress(new, open_task, left).finished
    assert soon is not None
    assert soon > datetime.now(UTC)


def test_no_date_is_forecast_that_no_calendar_has() -> None:
    slow = [replace(one, created=BEGIN + timedelta(days=6 * i)) for i, one in enumerate(log("q", "ann", pairs(2)))]
    found = progress(slow, [task("s", "ann", 1, done=False)], {key("s", "ann"): 2e6}, now=BEGIN)
    assert (found.expected, found.finished) == (2e6, None)
