"""SemEval-2015 task 3: answers of a forum, their features and labels."""

from __future__ import annotations

import csv
import gzip
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from experiments.cutoffs.model import Floats, Ints

FOLDER = "semeval2015_task3_cqa"

#: Files of features that all three splits have.
FEATURES = (
    "context.simone",
    "heuristics.simone",
    "lexical.wei",
    "semantic.preslav.glovecomposes",
    "semantic.simone.lsa",
)
#: What does not answer the question (bad answers, dialogue, other languages) is forbidden: label −1.
LABELS: Mapping[str, float] = {"Good": 2, "Potential": 1}
FORBIDDEN = -1.0
GAINS: Mapping[float, float] = {FORBIDDEN: -10}


@dataclass(frozen=True, eq=False)
class Answers:
    """The answers of one split, question after question.

    Attributes
    ----------
    question
        Of each answer.
    label
        2, 1, or −1 for a forbidden one.
    features
        One row per answer.
    """

    question: tuple[str, ...]
    label: Floats
    features: Floats

    @classmethod
    def read(cls, data: Path, split: Literal["train", "dev", "test"]) -> Answers:
        """Read the files of features; the labels of the test split are in its XML file only."""
        folder = data / FOLDER
        ids: list[str] = []
        gold: dict[str, str] = {}
        columns = []
        for name in FEATURES:
            with gzip.open(folder / f"{name}.{split}.csv.gz", "rt", encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            first = 3 if head[1] == "cgold" else 1  # columns of labels come first, where there are any
            if first == 3:
                gold |= {row[0]: row[1] for row in rows}
            found = [row[0] for row in rows]
            if ids and found != ids:
                raise ValueError(f"{name}.{split}: answers are not those of the other files")
            ids = found
            columns.append(np.array([row[first:] for row in rows], dtype=np.float64))
        if split == "test":
            with gzip.open(folder / "CQA-QL-test.xml.gz", "rb") as xml:
                gold = {c.attrib["CID"]: c.attrib["CGOLD"] for c in ElementTree.parse(xml).iter("Comment")}
        label = np.array([LABELS.get(gold[i], FORBIDDEN) for i in ids])
        return cls(tuple(i.split("_")[0] for i in ids), label, np.hstack(columns))

    def __len__(self) -> int:
        return len(self.label)

    @cached_property
    def number(self) -> Ints:
        """The number of each answer's question, in order of appearance."""
        seen = {question: i for i, question in enumerate(dict.fromkeys(self.question))}
        return np.array([seen[question] for question in self.question])

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return int(self.number[-1]) + 1

    @property
    def forbidden(self) -> float:
        """The share of forbidden answers."""
        return float((self.label < 0).mean())
