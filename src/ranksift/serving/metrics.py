"""What the service counts, as Prometheus reads it.

Several workers count into files of a folder that they share (``PROMETHEUS_MULTIPROC_DIR``), and whichever of them is
asked answers for all. What is a share or a distance is computed of counts when it is asked for, so that it is one
number for all workers.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from ranksift.collection.ragged import Floats
from ranksift.serving.answers import Shown
from ranksift.serving.served import Served
from ranksift.serving.settings import SHARED

#: The bands of a model's scores: below the lowest score that its cutoff was fitted on, in the four quarters
#: of those, and above the highest.
BANDS = ("below", "first", "second", "third", "fourth", "above")
_EXPECTED = np.array([0.0, 0.25, 0.25, 0.25, 0.25, 0.0])

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)
_TOKENS = tuple(4**n for n in range(2, 11))


class Metrics:
    """The counts of a process."""

    def __init__(self) -> None:
        own = self._own = CollectorRegistry()
        made: dict[str, Any] = {"registry": own, "namespace": "ranksift"}
        several: dict[str, Any] = {**made, "multiprocess_mode": "livesum"}
        latest: dict[str, Any] = {**made, "multiprocess_mode": "livemax"}
        self.requests = Counter("requests", "Requests that were answered.", ["route", "status"], **made)
        self.seconds = Histogram(
            "request_seconds", "Time until a request was answered, in seconds.", ["route"], buckets=_SECONDS, **made
        )
        self.in_flight = Gauge("requests_in_flight", "Requests being answered now.", **several)
        self.waiting = Gauge("queue_tokens", "Tokens waiting to be scored.", ["model"], **several)
        self.batch_requests = Histogram(
            "batch_requests", "Requests that were scored in one call.", ["model"], buckets=_REQUESTS, **made
        )
        self.batch_tokens = Histogram(
            "batch_tokens", "Tokens that were scored in one call.", ["model"], buckets=_TOKENS, **made
        )
        self.shown = Counter("documents_shown", "Documents that the cutoff kept.", ["model"], **made)
        self.dropped = Counter("documents_dropped", "Documents that the cutoff dropped.", ["model"], **made)
        self.empty = Counter("empty_answers", "Answers in which no document was kept.", ["model"], **made)
        self.reloads = Counter("reloads", "New versions of models, loaded or refused.", ["model", "result"], **made)
        self.version = Gauge("model_version", "1 for the version that is being served.", ["model", "version"], **latest)
        self.bands = Counter(
            "scores",
            "Scores by their place among those that the cutoff was fitted on: below, in a quarter, or above.",
            ["model", "version", "band"],
            **made,
        )

    def served(self, one: Served, instead_of: Served | None = None) -> None:
        """Count a version as the one that is served."""
        if instead_of is not None:
            self.version.labels(one.name, instead_of.version).set(0)
        self.version.labels(one.name, one.version).set(1)

    def batch(self, model: str, requests: int, tokens: int, waiting: int) -> None:
        """Count a call of a model, and what waits for the next one."""
        self.waiting.labels(model).set(waiting)
        self.batch_requests.labels(model).observe(requests)
        self.batch_tokens.labels(model).observe(tokens)

    def list_shown(self, one: Served, shown: Shown) -> None:
        """Count what came of a list."""
        self.shown.labels(one.name).inc(shown.kept)
        self.dropped.labels(one.name).inc(shown.dropped)
        if not shown.kept:
            self.empty.labels(one.name).inc()
        edges = None if one.cutoff is None else one.cutoff.fitted_on_["scores"]
        if edges is not None:
            for band, count in zip(BANDS, counted(shown.scores, edges), strict=True):
                if count:
                    self.bands.labels(one.name, one.version, band).inc(count)

    def exposition(self) -> bytes:
        """All that was counted, by all workers."""
        registry = self._own
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        whole = CollectorRegistry()
        whole.register(_Derived(registry))
        return generate_latest(whole)


class _Derived(Collector):
    """What a registry has, and what follows from that."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        shown: defaultdict[str, float] = defaultdict(float)
        dropped: defaultdict[str, float] = defaultdict(float)
        bands: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
        for metric in self._registry.collect():
            for sample in metric.samples:
                if sample.name == "ranksift_documents_shown_total":
                    shown[sample.labels["model"]] += sample.value
                elif sample.name == "ranksift_documents_dropped_total":
                    dropped[sample.labels["model"]] += sample.value
                elif sample.name == "ranksift_scores_total":
                    key = sample.labels["model"], sample.labels["version"]
                    bands[key][sample.labels["band"]] = sample.value
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric
        share = GaugeMetricFamily(
            "ranksift_dropped_share", "Share of the documents that were dropped since the start.", labels=["model"]
        )
        for model, count in dropped.items():
            if count + shown[model]:
                share.add_metric([model], count / (count + shown[model]))
        yield share
        drift = GaugeMetricFamily(
            "ranksift_score_drift",
            "Share of the scores that lie elsewhere than the scores that the cutoff was fitted on, from 0 to 1.",
            labels=["model", "version"],
        )
        for key, counts in bands.items():
            drift.add_metric([*key], drift_of([counts.get(band, 0.0) for band in BANDS]))
        yield drift


def counted(scores: Floats, edges: list[float]) -> list[int]:
    """How many scores lie in each band; one on an edge counts as inside, and in the lower quarter.

    >>> counted(np.array([0.0, 1.0, 1.5, 5.0, 9.0]), [1.0, 2.0, 3.0, 4.0, 5.0])
    [1, 2, 0, 0, 1, 1]
    """
    place = np.searchsorted(edges, scores, side="left")
    place[scores == edges[0]] = 1
    found: list[int] = np.bincount(place, minlength=len(BANDS)).tolist()
    return found


def drift_of(counts: list[float]) -> float:
    """The share of the scores that lie elsewhere: the total variation distance from equal quarters.

    >>> drift_of([0, 5, 5, 5, 5, 0]), drift_of([0, 0, 0, 0, 0, 7])
    (0.0, 1.0)
    """
    total = sum(counts)
    return float(np.abs(np.array(counts) / total - _EXPECTED).sum() / 2) if total else 0.0
