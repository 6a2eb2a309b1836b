"""The study of measures beside the same procedures in plain loops, on the same topic sets, with the same numbers.

88 runs, 50 topics, 5 measures, 200 topic sets of each size, 1000 bootstrap samples, as a reader of the papers would
write it down: lists, loops, no library. It takes minutes; ``--quick`` takes a small collection.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import ranksift as rs
from benchmarks.evaluation import table

RUNS, TOPICS, MEASURES = 88, 50, ["AP", "RR", "P@10", "nDCG@20", "ERR@20"]
SETS, SAMPLES, FUZZINESS = 200, 1000, 0.01

Values = Sequence[Sequence[float]]  # runs × topics
Drawn = Sequence[Sequence[int]]  # samples × topics


# -- plain loops -------------------------------------------------------------------------------------------------------


def plain_stability(values: Values, sets: Drawn, fuzziness: float) -> tuple[float, float]:
    """Error rate and tie rate of topic sets of one size, counting trials."""
    runs = len(values)
    wins = [[0] * runs for _ in range(runs)]
    ties = 0
    for topics in sets:
        means = [sum(own[t] for t in topics) / len(topics) for own in values]
        for a in range(runs):
            for b in range(a + 1, runs):
                difference = means[a] - means[b]
                if difference > fuzziness:
                    wins[a][b] += 1
                elif difference < -fuzziness:
                    wins[b][a] += 1
                else:
                    ties += 1
    errors = sum(min(wins[a][b], wins[b][a]) for a in range(runs) for b in range(a + 1, runs))
    decisions = len(sets) * runs * (runs - 1) // 2
    return errors / decisions, ties / decisions


def plain_stability_of_topics(values: Values, sets: Drawn, fuzziness: float) -> tuple[float, float]:
    """Error rate and tie rate of topic sets of one size, counting topics."""
    runs, errors, ties = len(values), 0, 0
    for topics in sets:
        for a in range(runs):
            for b in range(a + 1, runs):
                above = sum(values[a][t] - values[b][t] > fuzziness for t in topics)
                below = sum(values[b][t] - values[a][t] > fuzziness for t in topics)
                errors += min(above, below)
                ties += len(topics) - above - below
    decisions = sum(map(len, sets)) * runs * (runs - 1) // 2
    return errors / decisions, ties / decisions


def student(differences: Sequence[float]) -> float:
    """Student's t of one sample."""
    n = len(differences)
    mean = sum(differences) / n
    variance = sum((z - mean) ** 2 for z in differences) / (n - 1)
    return mean / (variance / n) ** 0.5 if variance > 0 else 0.0 if mean == 0 else float("inf")


def plain_sensitivity(values: Values, drawn: Drawn) -> list[float]:
    """Sakai's achieved significance level of every pair."""
    levels = []
    for a in range(len(values)):
        for b in range(a + 1, len(values)):
            differences = [x - y for x, y in zip(values[a], values[b], strict=True)]
            mean = sum(differences) / len(differences)
            shifted = [z - mean for z in differences]
            observed = abs(student(differences))
            reached = sum(abs(student([shifted[t] for t in topics])) >= observed for topics in drawn)
            levels.append(reached / len(drawn))
    return levels


def plain_components(values: Values) -> tuple[float, float, float]:
    """Variance components of systems, topics and their interaction, from the mean squares."""
    runs, topics = len(values), len(values[0])
    mean = sum(map(sum, values)) / (runs * topics)
    of_runs = [sum(own) / topics for own in values]
    of_topics = [sum(own[t] for own in values) / runs for t in range(topics)]
    system = topics * sum((r - mean) ** 2 for r in of_runs) / (runs - 1)
    topic = runs * sum((t - mean) ** 2 for t in of_topics) / (topics - 1)
    rest = 0.0
    for own, r in zip(values, of_runs, strict=True):
        for value, t in zip(own, of_topics, strict=True):
            rest += (value - r - t + mean) ** 2
    rest /= (runs - 1) * (topics - 1)
    return (system - rest) / topics, (topic - rest) / runs, rest


def plain_phi(components: Sequence[float], topics: int) -> float:
    """Φ, negative components as 0."""
    system, topic, interaction = (max(0.0, c) for c in components)
    return system / (system + (topic + interaction) / topics)


def plain_reliability(values: Values, drawn: Drawn) -> tuple[float, tuple[float, float]]:
    """Φ and its 95 % interval."""
    n = len(values[0])
    resampled = []
    for topics in drawn:
        system, topic, interaction = plain_components([[own[t] for t in topics] for own in values])
        adjusted = (system - interaction / (n - 1), topic * n / (n - 1), interaction * n / (n - 1))
        resampled.append(plain_phi(adjusted, n))
    resampled.sort()

    def quantile(share: float) -> float:
        at = share * (len(resampled) - 1)
        below = min(int(at), len(resampled) - 2)
        return resampled[below] + (at - below) * (resampled[below + 1] - resampled[below])

    return plain_phi(plain_components(values), n), (quantile(0.025), quantile(0.975))


# -- side by side ------------------------------------------------------------------------------------------------------


def collection(runs: int, topics: int, measures: Sequence[str]) -> rs.Scores:
    """Scores of systems of different quality on topics of different difficulty."""
    draw = np.random.default_rng(0)
    quality, difficulty = draw.normal(0.3, 0.06, (runs, 1, 1)), draw.normal(0.0, 0.15, (1, topics, 1))
    values = np.clip(quality + difficulty + draw.normal(0.0, 0.12, (runs, topics, len(measures))), 0.0, 1.0)
    names = [f"run{r}" for r in range(runs)], [f"q{q}" for q in range(topics)]
    return rs.Scores.from_array(values, runs=names[0], queries=names[1], measures=measures)


def report(quick: bool) -> str:
    """Measure, and give a Markdown table."""
    from ranksift import study

    runs, topics, sets, samples = (12, 12, 20, 50) if quick else (RUNS, TOPICS, SETS, SAMPLES)
    scores = collection(runs, topics, MEASURES)
    values = [scores.values[:, :, m].tolist() for m in range(len(MEASURES))]
    study.stability(scores, samples=1, sizes=[2])  # imports are not counted
    study.sensitivity(scores, samples=2)
    study.reliability(scores, samples=2)
    rows, all_ours, all_plain = [], 0.0, 0.0

    def row(name: str, ours: float, plain: float) -> None:
        rows.append([name, f"{plain:.1f}", f"{ours:.3f}", f"{plain / ours:.0f}x"])

    # The topic sets that stability draws, and the samples of sensitivity and of reliability's intervals.
    topic_sets = {
        size: np.argsort(np.random.default_rng([0, size]).random((sets, topics)), axis=1, kind="stable")[:, :size]
        for size in range(2, topics + 1)
    }
    drawn = np.random.default_rng(0).integers(0, topics, size=(samples, topics)).tolist()

    ours, stable = timed(lambda: study.stability(scores, sets, FUZZINESS))
    plain, rates = timed(
        lambda: [
            {size: plain_stability(own, drawn.tolist(), FUZZINESS) for size, drawn in topic_sets.items()}
            for own in values
        ]
    )
    for measure, expected in zip(MEASURES, rates, strict=True):
        for size, (error, tie) in expected.items():
            agree(
                f"{measure}, {size} topics",
                [stable.error_rate[measure][size], stable.tie_rate[measure][size]],
                [error, tie],
            )
    row(f"stability, {sets} topic sets of each size", ours, plain)
    all_ours, all_plain = all_ours + ours, all_plain + plain

    ours, sensitive = timed(lambda: study.sensitivity(scores, samples))
    plain, levels = timed(lambda: [plain_sensitivity(own, drawn) for own in values])
    for measure, expected in zip(MEASURES, levels, strict=True):
        agree(f"ASL of {measure}", sensitive.asl[measure], expected)
    row(f"sensitivity, {samples} samples", ours, plain)
    all_ours, all_plain = all_ours + ours, all_plain + plain

    ours, reliable = timed(lambda: study.reliability(scores, samples))
    plain, phis = timed(lambda: [plain_reliability(own, drawn) for own in values])
    for measure, (phi, interval) in zip(MEASURES, phis, strict=True):
        agree(f"Φ of {measure}", [reliable.phi[measure], *reliable.phi_interval[measure]], [phi, *interval])
    row(f"reliability, {samples} samples", ours, plain)
    all_ours, all_plain = all_ours + ours, all_plain + plain

    row("all three", all_ours, all_plain)
    title = f"study: {runs} runs, {topics} topics, {len(MEASURES)} measures, all {runs * (runs - 1) // 2} pairs"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    note = (
        f"The numbers are the same. Peak memory of the whole process: {peak:.0f} MB. The whole command, "
        f"`ranksift study --scores` with discrimination, agreement, the page, figures and tables, in a new process: "
        f"{whole_command(scores, sets, samples):.1f} s.\n"
    )
    return table(title, ["procedure", "plain loops, s", "ranksift, s", "ratio"], rows) + "\n" + note


def whole_command(scores: rs.Scores, sets: int, samples: int) -> float:
    """Seconds from a table of scores to the page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        scores.per_query().write_csv(path)
        options = ["--topic-sets", str(sets), "--samples", str(samples), "--out", f"{folder}/study"]
        command = [sys.executable, "-m", "ranksift", "study", "--scores", str(path), *options]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - start


def timed(job):  # type: ignore[no-untyped-def]
    """Seconds, and what the job gave."""
    start = time.perf_counter()
    found = job()
    return time.perf_counter() - start, found


def agree(what: str, ours: Sequence[float], plain: Sequence[float]) -> None:
    """Stop where the numbers differ: then the two do not do the same work."""
    if not np.allclose(ours, plain, rtol=0.0, atol=1e-9):
        raise RuntimeError(f"{what}: {ours}, plain loops have {plain}")


def main(quick: bool = False) -> None:
    """Measure and print."""
    print(report(quick))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="the study of measures beside plain loops")
    parser.add_argument("--quick", action="store_true", help="a small collection")
    main(parser.parse_args().quick)
