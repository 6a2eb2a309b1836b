"""Networks fitted on a GPU: ``python -m experiments.text.fits FOLDER`` keeps what they say of folds they have not seen.

It needs NumPy, PyTorch, tokenizers, safetensors, the data (``RANKSIFT_DATA``) and, for the peer, sentence-transformers.
Several processes share the GPU, as a network this small does not fill it. Everything else is done from the files that
it writes, without a GPU: ``python -m experiments.text.trials FOLDER``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import data_folder
from experiments.text.settings import (
    COLLECTIONS,
    GAINS,
    MAX_LENGTH,
    PEER,
    SETUPS,
    Task,
    collection,
    options_of,
    tasks,
)
from ranksift.collection.examples import Examples, together
from ranksift.collection.gains import Gains

Outputs = NDArray[np.float32]


def _file(name: str) -> str:
    return f"{name.replace(' ', '-')}.npz"


def kept_outputs(folder: Path, name: str) -> dict[str, Outputs]:
    """What was fitted before, by the keys of its tasks."""
    place = folder / _file(name)
    return dict(np.load(place)) if place.is_file() else {}


def parts(task: Task, folder: Path) -> tuple[Examples, Examples]:
    """What a task's network learns from, and the documents of the two folds that it does not see."""
    data = collection(task.data, folder)
    unseen = np.isin(data.fold, task.unseen)
    train = data.examples.of_queries(np.flatnonzero(~unseen))
    setup = SETUPS[task.data].get(task.name)
    if setup is not None and setup.more and data.more is not None:
        train = together([train, data.more])
    return train, data.examples.of_queries(np.flatnonzero(unseen))


def outputs_of(task: Task, folder: Path, encoder: str) -> Outputs:
    """The scores of documents that the network has not seen, and behind them its outputs."""
    train, unseen = parts(task, folder)
    if task.name == PEER:
        return _of_the_peer(task, train, unseen, encoder)
    from ranksift.learning.text.ranker import TextRanker

    model = TextRanker(encoder=encoder, **options_of(task)).fit(train)
    return np.column_stack([model.scored(unseen), model.outputs(unseen)]).astype(np.float32)


def _of_the_peer(task: Task, train: Examples, unseen: Examples, encoder: str) -> Outputs:
    """A CrossEncoder with the binary cross entropy, three passes, as its documentation has it; without a list."""
    import torch
    from sentence_transformers import CrossEncoder
    from torch.utils.data import DataLoader

    torch.manual_seed(task.seed)
    known = train.judged_only()
    model = CrossEncoder(encoder, num_labels=1, max_length=MAX_LENGTH[task.data])
    good = Gains.of(GAINS)(known.labels) > 0
    pairs = _pairs(known)
    # Its own trainer needs a library of data sets: this is the loop that it had before, with the same loss and rates.
    order = [*zip(pairs, good.astype(float).tolist(), strict=True)]
    draw = torch.Generator().manual_seed(task.seed)
    batches = DataLoader(order, batch_size=64, shuffle=True, generator=draw, collate_fn=list)  # type: ignore[arg-type]
    steps, done = 3 * len(batches), 0
    network = model.model.float().train()
    adam = torch.optim.AdamW(network.parameters(), lr=6e-5, weight_decay=0.01)
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(3):
        for batch in batches:
            texts, labels = zip(*batch, strict=True)
            tokens = model.tokenizer(
                [list(text) for text in texts],
                padding=True,
                truncation="longest_first",
                max_length=MAX_LENGTH[task.data],
                return_tensors="pt",
            ).to(model.device)
            for group in adam.param_groups:
                group["lr"] = 6e-5 * min((done + 1) / (0.1 * steps), (steps - done) / (0.9 * steps))
            with torch.autocast(str(model.device.type), torch.bfloat16, enabled=model.device.type == "cuda"):
                logits = network(**tokens).logits[:, 0]
            loss(logits.float(), torch.tensor(labels, device=logits.device)).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            adam.step()
            adam.zero_grad()
            done += 1
    network.eval()
    scores = model.predict([list(pair) for pair in _pairs(unseen)], batch_size=256, activation_fn=torch.nn.Identity())
    return np.asarray(scores, dtype=np.float32)[:, None].repeat(2, axis=1)


def _pairs(examples: Examples) -> list[tuple[str, str]]:
    assert examples.texts is not None
    query = np.repeat(np.arange(len(examples.query_ids)), examples.lengths).tolist()
    return [(examples.texts.queries[q], doc) for q, doc in zip(query, examples.texts.docs, strict=True)]


def _work(number: int, processes: int, todo: list[Task], folder: Path, encoder: str, found: Any) -> None:
    import torch

    torch.set_num_threads(1)
    for task in todo[number::processes]:
        try:
            found.put((task, outputs_of(task, folder, encoder)))
        except Exception:
            traceback.print_exc()
            found.put((task, None))


def _done(
    todo: list[Task], folder: Path, encoder: str, processes: int, seconds: float
) -> Iterator[tuple[Task, Outputs]]:
    context, began = get_context("spawn"), time.monotonic()
    found = context.Queue()
    workers = [
        context.Process(target=_work, args=(n, processes, todo, folder, encoder, found), daemon=True)
        for n in range(processes)
    ]
    for worker in workers:
        worker.start()
    left = len(todo)
    while left and time.monotonic() - began < seconds:
        try:
            task, outputs = found.get(timeout=2)
        except Empty:
            continue
        left -= 1
        if outputs is not None:
            yield task, outputs
        if left % 50 == 0:
            print(f"{left} left after {time.monotonic() - began:.0f} s", flush=True)
    for worker in workers:
        worker.terminate()
    if left:
        print(f"{left} of {len(todo)} are missing", flush=True)


def main() -> None:
    """Fit all networks that are not in the folder yet, and write a file for each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the files to write")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--processes", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=1e9, help="the time after which nothing more is waited for")
    parser.add_argument("--only", default="", help="parts of the keys of tasks, as in 'PerCQA|bce|0,|mse|'")
    options = parser.parse_args()
    kept = {name: kept_outputs(options.folder, name) for name in COLLECTIONS}
    wanted = options.only.split(",")
    todo = [
        task
        for task in tasks()
        if task.key not in kept[task.data] and any(part in f"{task.data}|{task.key}" for part in wanted)
    ]
    for task, outputs in _done(todo, data_folder(), options.encoder, options.processes, options.seconds):
        kept[task.data][task.key] = outputs
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, own in kept.items():
        if own:
            np.savez_compressed(options.folder / _file(name), **own)  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(main())
