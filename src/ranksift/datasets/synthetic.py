"""A synthetic collection with forbidden documents, and systems that treat them differently.

Spam is made to look relevant: a ranker that uses relevance alone puts it on top. Some queries have no good
answer at all, and some pools are smaller than any list, as happens to answers of one question. So this small world has
everything that goes wrong with the usual measures. It is for demonstrations, tests and benchmarks, not for conclusions
about real systems.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ranksift.collection._engine.grouping import Part, by_rank, group
from ranksift.collection._engine.ids import Ids, Ints
from ranksift.collection.qrels import Qrels
from ranksift.collection.ragged import Floats
from ranksift.collection.run import Run
from ranksift.errors import InputError
from ranksift.files import PADDING
from ranksift.parameters import at_most, instance, integer, number, path, some, takes, text

#: The label of spam.
FORBIDDEN = -2

_LABELS = np.array([FORBIDDEN, 0, 1, 2, 3])
_APPEAL = np.array([1.9, 0.0, 1.0, 1.7, 2.4])  # how relevant a document of each label looks
_UNJUDGED_APPEAL = -0.4
_SHARE_OF_GRADES = np.array([0.52, 0.26, 0.15, 0.07])  # of the labels 0 to 3 among what is not spam

# A step that 32 bits hold exactly: other tools, which read scores as floats, see the same ties.
_SCORE_STEP = 1 / 256


@dataclass(frozen=True)
class System:
    """How a synthetic system ranks and filters.

    Attributes
    ----------
    noise
        Standard deviation of its scores around what a document looks like; 0 for one that knows the labels.
    fooled
        How much of the appeal of spam it falls for.
    tolerance
        How spammy a document may look before it is dropped: documents that are not spam look like a standard
        normal variable, spam like one around 3.
    """

    noise: float
    fooled: float = 1.0
    tolerance: float = np.inf


#: The systems, by name.
SYSTEMS: Mapping[str, System] = {
    "unfiltered": System(noise=0.8),
    "filtered": System(noise=0.8, tolerance=1.9),
    "overfiltered": System(noise=0.8, tolerance=-0.3),
    "weak": System(noise=1.3, fooled=-0.2),
    "perfect": System(noise=0.0, tolerance=0.0),
}


# What a synthetic collection may be made of; which of them go together is found out later.
_WORLD = {
    "queries": at_most(1_000_000, integer()),
    "depth": at_most(1_000_000, integer()),
    "judged": number(),
    "forbidden": number(),
    "seed": integer(0),
}


@takes(**_WORLD, systems=some(text(), "a list of names"))
def synthetic_collection(
    queries: int = 50,
    *,
    depth: int = 30,
    judged: float = 12,
    forbidden: float = 0.25,
    systems: Iterable[str] = tuple(SYSTEMS),
    seed: int = 0,
) -> tuple[Qrels, dict[str, Run]]:
    """Make judgments and runs; the same arguments give the same collection.

    Parameters
    ----------
    queries
        How many.
    depth
        Documents of each query; the runs rank them all, unless they filter.
    judged
        Mean number of judged documents of a query, at most ``depth``.
    forbidden
        Mean share of spam among the judged documents; it differs from query to query, and in one query of
        ten nothing is relevant.
    systems
        Names from :data:`SYSTEMS`. ``unfiltered``, ``filtered`` and ``overfiltered`` are one ranker with
        three filters; ``weak`` ranks worse, but is not fooled by spam; ``perfect`` shows all relevant documents, best
        first, and nothing else.
    seed
        The seed of the random number generator.

    Examples
    --------
    >>> qrels, runs = synthetic_collection(queries=20, seed=1)
    >>> len(qrels.query_ids), list(runs)
    (20, ['unfiltered', 'filtered', 'overfiltered', 'weak', 'perfect'])
    >>> bool((qrels.labels < 0).any()), len(runs["unfiltered"]) > len(runs["filtered"])
    (True, True)
    """
    wanted = list(systems)
    for name in wanted:
        if name not in SYSTEMS:
            raise InputError(f"system {name!r} is unknown", remedy=f"there are: {', '.join(SYSTEMS)}")
    world = _world(queries, depth, judged, forbidden, seed)
    known = np.flatnonzero(world.grade >= 0)
    part = Part.of(
        world.ids.take(world.query[known]), world.docs.take(known), _LABELS[world.grade[known]].astype(np.float64)
    )
    qrels = Qrels(group([part]), whole=True, name="synthetic")
    runs = {}
    for name in wanted:
        system = SYSTEMS[name]
        # Systems that differ in the filter only are one ranker, noise included.
        ranker = [(s.noise, s.fooled) for s in SYSTEMS.values()].index((system.noise, system.fooled))
        score, kept = _ranking(system, world.grade, world.spammy, np.random.default_rng(world.streams[ranker]))
        runs[name] = world.run(name, np.flatnonzero(kept), score)
    return qrels, runs


@takes(**_WORLD)
def synthetic_safety(
    queries: int = 50, *, depth: int = 30, judged: float = 12, forbidden: float = 0.25, seed: int = 0
) -> Run:
    """How safe every document of :func:`synthetic_collection` looks to a spam classifier; higher is safer.

    The filters of that collection's systems use these scores. They say nothing about relevance: they are scores to cut
    on, in addition to those that rank.

    >>> len(synthetic_safety(queries=2, depth=5, judged=3))
    10
    """
    world = _world(queries, depth, judged, forbidden, seed)
    looks = -world.spammy.astype(np.float64)
    return world.run("safety", np.arange(len(looks)), np.round(looks / _SCORE_STEP) * _SCORE_STEP)


@dataclass(frozen=True)
class _World:
    """Documents of all queries, with hidden truth."""

    ids: Ids
    docs: Ids
    query: Ints
    grade: NDArray[np.int8]
    spammy: NDArray[np.float32]
    streams: list[np.random.SeedSequence]

    def run(self, name: str, rows: Ints, score: Floats) -> Run:
        """Some of the documents, scored."""
        part = Part.of(self.ids.take(self.query[rows]), self.docs.take(rows), score[rows])
        return Run(by_rank(group([part])), name)


def _world(queries: int, depth: int, judged: float, forbidden: float, seed: int) -> _World:
    if queries < 1 or depth < 1 or not 1 <= judged <= depth or not 0 <= forbidden <= 1:
        raise InputError(
            f"no collection of {queries} queries with {judged} of {depth} documents judged, {forbidden:g} of them spam",
            remedy="ask for at least 1 query and 1 judged document, at most all of them, and a share from 0 to 1",
        )
    # Each part of the world has its own stream of random numbers, so that the choice of systems changes nothing else.
    streams = np.random.SeedSequence(seed).spawn(2 + len(SYSTEMS))
    world, looks = map(np.random.default_rng, streams[:2])
    grade = _labels(world, queries, depth, judged, forbidden)
    docs = _document_ids(world, queries * depth)
    ids = Ids.from_strings(f"q{i:0{len(str(queries))}d}" for i in range(1, queries + 1))
    spammy = looks.standard_normal(len(grade), dtype=np.float32) + 3.0 * (grade == 0)
    return _World(ids, docs, np.repeat(np.arange(queries), depth), grade, spammy, streams[2:])


@takes(qrels=instance(Qrels), runs=instance(Mapping), folder=path())
def write_collection(qrels: Qrels, runs: Mapping[str, Run], folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Write ``qrels.txt`` and one ``NAME.run`` per run as TREC files; their paths, the judgments' under ``"qrels"``."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cannot be made ({reason})", source=str(target), remedy="name another folder") from None
    paths = {"qrels": target / "qrels.txt"}
    qrels.save(paths["qrels"])
    for name, run in runs.items():
        paths[name] = target / f"{name}.run"
        run.save(paths[name])
    return paths


def _labels(random: np.random.Generator, queries: int, depth: int, judged: float, forbidden: float) -> NDArray[np.int8]:
    """For each document the index of its label, -1 if it is not judged."""
    pool = np.clip(random.gamma(2.0, judged / 2.0, queries).round(), 1, depth)
    # Spam comes in clusters: a few queries attract most of it.
    spam = (
        random.beta(0.6, 0.6 * (1 - forbidden) / forbidden, queries)
        if 0 < forbidden < 1
        else np.full(queries, forbidden)
    )
    hopeless = random.random(queries) < 0.1
    draw = random.random((queries, depth), dtype=np.float32)
    grades = np.searchsorted(np.cumsum(_SHARE_OF_GRADES)[:-1], random.random((queries, depth), dtype=np.float32)) + 1
    grades = np.where(hopeless[:, None], 1, grades)
    label = np.where(draw < spam[:, None], 0, grades)
    # The judged documents come first here; their ids are drawn at random, so this does not show.
    return np.where(np.arange(depth) < pool[:, None], label, -1).astype(np.int8).ravel()


def _ranking(
    system: System, grade: NDArray[np.int8], spammy: NDArray[np.float32], random: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """A system's score of every document, and which it shows."""
    if system.noise == 0.0:
        return np.maximum(grade, 0).astype(np.float64), grade >= 2
    appeal = np.append(_APPEAL, _UNJUDGED_APPEAL)  # so that index -1 is an unjudged document
    appeal[0] *= system.fooled
    score = 10.0 + appeal[grade] + system.noise * random.standard_normal(len(grade), dtype=np.float32)
    return np.round(score / _SCORE_STEP) * _SCORE_STEP, spammy <= system.tolerance


def _document_ids(random: np.random.Generator, count: int) -> Ids:
    """Distinct ids of equal length, in random order."""
    digits = max(5, len(str(count - 1)))
    number: Ints = random.permutation(count)
    width = digits + 1
    letters = np.empty((count, width), dtype=np.uint8)
    letters[:, 0] = ord("d")
    for place in range(digits, 0, -1):
        number, digit = np.divmod(number, 10)
        letters[:, place] = digit + ord("0")
    buffer = np.concatenate((letters.ravel(), np.zeros(PADDING, dtype=np.uint8)))
    return Ids(buffer, np.arange(count) * width, np.full(count, width))
