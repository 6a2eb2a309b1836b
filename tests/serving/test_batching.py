"""Requests are scored together, in order, and none of them waits for a batch to fill."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from ranksift.serving.batching import Batcher, QueueFull


class Gate:
    """A model that doubles numbers, and works only while its gate is open."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.open = threading.Event()
        self.begun = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append([*numbers])
        self.begun.set()
        assert self.open.wait(30)
        if -1 in numbers:
            raise ValueError("a bad one")
        return [2 * number for number in numbers]


async def _behind(gate: Gate, batcher: Batcher[int, int]) -> "asyncio.Task[int]":
    """A request that is being scored, so that whatever comes next waits."""
    first = asyncio.create_task(batcher.ask(0, 1))
    await asyncio.to_thread(gate.begun.wait, 30)
    return first


def run(scenario, **options):
    """Play something with a batcher, which is closed in the end."""

    async def played():
        gate = Gate()
        batcher: Batcher[int, int] = Batcher(gate, **options)
        try:
            return await scenario(gate, batcher)
        finally:
            gate.open.set()
            batcher.close()

    return asyncio.run(played())


def test_what_waits_is_scored_together_within_the_budget():
    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        rest = [asyncio.create_task(batcher.ask(n, size)) for n, size in ((1, 4), (2, 4), (3, 4), (4, 30), (5, 1))]
        await asyncio.sleep(0)
        gate.open.set()
        return await asyncio.gather(first, *rest), gate.batches

    answers, batches = run(scenario, budget=10)
    assert answers == [0, 2, 4, 6, 8, 10]
    assert batches == [[0], [1, 2], [3], [4], [5]]  # one that is larger than the budget comes alone


def test_a_lone_request_is_scored_at_once():
    async def scenario(gate, batcher):
        gate.open.set()
        # No timer runs in the loop, and none in the thread: the answer comes though time stands still.
        asyncio.get_running_loop().call_later = None
        return [await batcher.ask(n, 1) for n in (1, 2)], gate.batches

    assert run(scenario, budget=1000) == ([2, 4], [[1], [2]])


def test_one_bad_request_fails_alone():
    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        rest = [asyncio.create_task(batcher.ask(n, 1)) for n in (1, -1, 2)]
        await asyncio.sleep(0)
        gate.open.set()
        return await asyncio.gather(first, *rest, return_exceptions=True)

    first, one, bad, two = run(scenario, budget=10)
    assert (first, one, two) == (0, 2, 4)
    assert isinstance(bad, ValueError)


def test_who_stops_waiting_is_not_scored():
    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await batcher.ask(7, 3)
        assert batcher.waiting == 3
        gate.open.set()
        await first
        return await batcher.ask(1, 1), gate.batches, batcher.waiting

    assert run(scenario, budget=10) == (2, [[0], [1]], 0)


def test_a_full_queue_says_when_to_come_back():
    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        large = asyncio.create_task(batcher.ask(1, 100))  # an empty queue takes it
        await asyncio.sleep(0)
        with pytest.raises(QueueFull) as refused:
            await batcher.ask(2, 1)
        gate.open.set()
        return await first, await large, await batcher.ask(3, 1), refused.value.seconds

    first, large, later, seconds = run(scenario, budget=10, most_waiting=50)
    assert (first, large, later) == (0, 2, 6)
    assert 1 <= seconds <= 60


def test_closing_answers_what_waits_and_takes_no_more():
    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        second = asyncio.create_task(batcher.ask(1, 1))
        await asyncio.sleep(0)
        batcher.close(wait=False)
        with pytest.raises(RuntimeError, match="closed"):
            await batcher.ask(2, 1)
        gate.open.set()
        return await first, await second

    assert run(scenario, budget=10) == (0, 2)


def test_it_tells_of_its_batches():
    told = []

    async def scenario(gate, batcher):
        first = await _behind(gate, batcher)
        rest = [asyncio.create_task(batcher.ask(n, 4)) for n in (1, 2, 3)]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(first, *rest)

    run(scenario, budget=8, watch=lambda *numbers: told.append(numbers))
    assert told == [(1, 1, 12), (2, 8, 4), (1, 4, 0)]
