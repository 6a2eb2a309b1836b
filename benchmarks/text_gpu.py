"""Cross-encoders on a GPU: training packed, beside the loops that people use today; random weights, so speed only.

    PYTHONPATH=src python -m benchmarks.text_gpu --seconds 6

A network of DistilBERT's size reads pairs whose lengths are lognormal, about 62 tokens on average, 256 at most. Peers
pad each batch to its longest pair; ours goes through :func:`ranksift.learning.text.fit` as it is used: batches are
drawn, packed and copied while the GPU works, and the gradient is clipped. Useful operations are those of the layers'
weights on tokens that are not padding, three times (forward, and twice backward). Each row is on its own: one that
fails says why, and the next one goes on.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file

from ranksift.collection.examples import Examples, read_examples
from ranksift.learning.text import scoring, training
from ranksift.learning.text.encoder import VARLEN, Architecture, PackedEncoder, encoder_of, find_encoder
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.ranker import TextRanker
from ranksift.learning.text.tokens import Cut, Tokenizer, Tokens
from ranksift.learning.text.training import TextLists, Training, fit

# Weights of DistilBERT's layers: an operation is a product and a sum.
OF_A_TOKEN = 2 * 42.5e6
DOCUMENTS = 4


class Sizes(NamedTuple):
    """Of a network."""

    hidden: int
    layers: int
    heads: int
    inner: int


USUAL, TINY = Sizes(768, 6, 12, 3072), Sizes(32, 1, 2, 64)


class Rate(NamedTuple):
    """What was done in how many seconds."""

    pairs: int
    tokens: float
    seconds: float

    @property
    def of_pairs(self) -> float:
        return self.pairs / self.seconds


class Data:
    """Pairs of random tokens, and labels that depend on one of them."""

    def __init__(self, count: int) -> None:
        draw = np.random.default_rng(0)
        self.lengths = np.clip(draw.lognormal(4.0, 0.6, count).astype(int), 8, 256)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.ids = draw.integers(1000, 30000, self.offsets[-1]).astype(np.int32)
        # One token tells the label, nine times of ten.
        self.good = draw.random(count) < 0.5
        self.ids[self.offsets[:-1] + 3] = 500 + (self.good ^ (draw.random(count) < 0.1))
        tokens = Tokens(self.ids, self.offsets, self.lengths, Cut(count, 0, 0, 0, 0))
        begins = np.arange(0, count + 1, DOCUMENTS)
        self.lists = TextLists(tokens, begins, np.where(self.good, 1.0, -1.0))

    def __len__(self) -> int:
        return len(self.lengths)


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="per row, without warming up")
    parser.add_argument("--pairs", type=int, default=12288)
    parser.add_argument("--only", default="", help="rows whose name has one of these words, with commas between")
    parser.add_argument("--autotune", action="store_true", help="let the compiler try several products of matrices")
    parser.add_argument("--encoder", default="", help="a folder with a tokenizer, for texts; default: the extra's")
    parser.add_argument("--tiny", action="store_true", help="a tiny network on the processor: does it run at all?")
    options = parser.parse_args()
    options.encoder = options.encoder or str(find_encoder())
    if options.autotune:
        torch._inductor.config.max_autotune_gemm = True
    device = torch.device("cpu" if options.tiny else "cuda")
    data = Data(options.pairs)
    print(f"torch {torch.__version__}, {_name(device)}, mean length {data.lengths.mean():.1f}", flush=True)
    print("attention:", "by groups" if VARLEN is None else f"{VARLEN.__module__}.{VARLEN.__name__}", flush=True)
    rates: dict[str, Rate] = {}
    for name, row in _rows(options, data, device).items():
        if options.only and not any(word in name for word in options.only.split(",")):
            continue
        began = time.perf_counter()
        try:
            found = row()
            if isinstance(found, Rate):
                rates[name] = found
            print(_told(name, found, rates, time.perf_counter() - began), flush=True)
        except Exception as error:
            print(f"{name:46s} failed: {type(error).__name__}: {str(error)[:300]}", flush=True)
            traceback.print_exc(limit=-4, file=sys.stdout)
        gc.collect()
        if device.type == "cuda":
            torch.cuda.empty_cache()


def _rows(options: argparse.Namespace, data: Data, device: torch.device) -> dict[str, Callable[[], Any]]:
    seconds, sizes = options.seconds, TINY if options.tiny else USUAL

    def loop(size: int, **how: bool) -> Callable[[], Any]:
        return lambda: padded_training(data, device, sizes, seconds, size, **how)

    def ours(size: int, steps: str) -> Callable[[], Any]:
        return lambda: packed_training(data, device, sizes, seconds, size, steps)

    return {
        "products of matrices alone, bf16": lambda: products(device),
        "scores: packed bf16 beside padded fp32": lambda: differences(data, device, sizes),
        "loop fp32, 32 pairs, random order": loop(32),
        "loop tf32, 32 pairs, random order": loop(32, tf32=True),
        "loop bf16, 32 pairs, random order": loop(32, tf32=True, bf16=True),
        "loop bf16, 256 pairs, random order": loop(256, tf32=True, bf16=True, fused=True),
        "loop bf16, 256 pairs, by length": loop(256, tf32=True, bf16=True, fused=True, sort=True),
        "loop bf16, 256 pairs, by length, compiled": loop(
            256, tf32=True, bf16=True, fused=True, sort=True, compiled=True
        ),
        "ours, 256 pairs, plain": ours(256, "plain"),
        "ours, 256 pairs, captured": ours(256, "captured"),
        "ours, 256 pairs, compiled": ours(256, "compiled"),
        "ours, 256 pairs, compiled+captured": ours(256, "compiled+captured"),
        "ours, 1024 pairs, compiled": ours(1024, "compiled"),
        "ours, 1024 pairs, compiled+captured": ours(1024, "compiled+captured"),
        "ours, 32 pairs, compiled+captured": ours(32, "compiled+captured"),
        "scoring, loop bf16, 256 pairs, random order": lambda: padded_scoring(data, device, sizes, seconds, False),
        "scoring, loop bf16, 256 pairs, by length": lambda: padded_scoring(data, device, sizes, seconds, True),
        "scoring, ours, plain": lambda: packed_scoring(data, device, sizes, seconds, False),
        "scoring, ours, compiled": lambda: packed_scoring(data, device, sizes, seconds, True),
        "loss of a second epoch": lambda: losses(data, device, sizes),
        "from a file to a saved model": lambda: from_a_file(
            options.encoder, device, sizes, 100 if options.tiny else 100_000
        ),
    }


def _told(name: str, found: Any, rates: dict[str, Rate], took: float) -> str:
    if not isinstance(found, Rate):
        return f"{name:46s} {found}  ({took:.0f} s)"
    times = 1 if name.startswith("scoring") else 3
    speed = found.tokens / found.seconds
    said = f"{name:46s} {found.of_pairs:8.0f} pairs/s {speed:10.0f} tokens/s"
    if torch.cuda.is_available():  # a tiny network has other sizes
        said += f" {speed * times * OF_A_TOKEN / 1e12:6.1f} useful TFLOP/s"
    kind = "scoring, loop" if name.startswith("scoring") else "loop"
    loops = {other: rate for other, rate in rates.items() if other.startswith(kind)}
    if "ours" in name and loops:
        first, best = next(iter(loops.values())), max(rate.of_pairs for rate in loops.values())
        said += f"  {found.of_pairs / first.of_pairs:5.1f}x the first loop, {found.of_pairs / best:4.1f}x the best"
    return f"{said}  ({took:.0f} s)"


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else "processor"


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


# -- the loops of peers ------------------------------------------------------------------------------------------------


def _published(sizes: Sizes) -> dict[str, int]:
    return {"dim": sizes.hidden, "n_layers": sizes.layers, "n_heads": sizes.heads, "hidden_dim": sizes.inner}


def _reference(device: torch.device, sizes: Sizes, dropout: float = 0.1, seed: int = 0) -> Any:
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    torch.manual_seed(seed)
    config = DistilBertConfig(num_labels=1, dropout=dropout, attention_dropout=dropout, **_published(sizes))
    return DistilBertForSequenceClassification(config).to(device)


def _rectangles(data: Data, rows: Iterable[np.ndarray]) -> Iterator[tuple[torch.Tensor, ...]]:
    """Batches padded to their longest pair."""
    for chosen in rows:
        mask = np.arange(data.lengths[chosen].max()) < data.lengths[chosen, None]
        ids = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = np.concatenate([data.ids[data.offsets[i] : data.offsets[i + 1]] for i in chosen])
        parts = (ids, mask.astype(np.int64), data.good[chosen].astype(np.float32))
        yield tuple(torch.from_numpy(part) for part in parts)


def _in_order(data: Data, size: int, sort: bool, seed: int | tuple[int, ...] = 1) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    order = np.argsort(data.lengths, kind="stable") if sort else draw.permutation(len(data))
    batches = order[: len(order) // size * size].reshape(-1, size)
    return [*batches[draw.permutation(len(batches))]]


def padded_training(
    data: Data,
    device: torch.device,
    sizes: Sizes,
    seconds: float,
    size: int,
    *,
    bf16: bool = False,
    tf32: bool = False,
    sort: bool = False,
    compiled: bool = False,
    fused: bool = False,
) -> Rate:
    """A plain loop of transformers' own model, its batches ready and pinned beforehand."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    model = _reference(device, sizes).train()
    call = torch.compile(model, dynamic=True) if compiled else model
    adam = torch.optim.AdamW(model.parameters(), lr=2e-5, fused=fused)
    ready = [*_rectangles(data, _in_order(data, size, sort))]
    if device.type == "cuda":
        ready = [tuple(part.pin_memory() for part in batch) for batch in ready]

    def step(batch: tuple[torch.Tensor, ...]) -> None:
        ids, mask, good = (part.to(device, non_blocking=True) for part in batch)
        with torch.autocast(device.type, torch.bfloat16, enabled=bf16 and device.type == "cuda"):
            scores = call(input_ids=ids, attention_mask=mask).logits[:, 0]
        torch.nn.functional.binary_cross_entropy_with_logits(scores.float(), good).backward()
        adam.step()
        adam.zero_grad(set_to_none=True)

    for batch in ready[:8]:
        step(batch)
    return _timed(step, ready, device, seconds, lambda batch: (len(batch[0]), int(batch[1].sum())))


def _timed(
    step: Callable[[Any], Any],
    batches: list[Any],
    device: torch.device,
    seconds: float,
    size: Callable[[Any], tuple[int, int]],
) -> Rate:
    """Repeat for so many seconds. The GPU is waited for now and then, so that the clock sees it."""
    _wait(device)
    began, pairs, tokens, n = time.perf_counter(), 0, 0, 0
    while time.perf_counter() - began < seconds:
        batch = batches[n % len(batches)]
        step(batch)
        more = size(batch)
        pairs, tokens, n = pairs + more[0], tokens + more[1], n + 1
        if n % 16 == 0:
            _wait(device)
    _wait(device)
    return Rate(pairs, tokens, time.perf_counter() - began)


def padded_scoring(data: Data, device: torch.device, sizes: Sizes, seconds: float, sort: bool) -> Rate:
    """The same loop without a gradient."""
    model = _reference(device, sizes).eval()
    ready = [*_rectangles(data, _in_order(data, 256, sort))]

    def step(batch: tuple[torch.Tensor, ...]) -> None:
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            ids, mask = (part.to(device) for part in batch[:2])
            model(input_ids=ids, attention_mask=mask).logits.float().cpu()

    step(ready[0])
    return _timed(step, ready, device, seconds, lambda batch: (len(batch[0]), int(batch[1].sum())))


# -- ours --------------------------------------------------------------------------------------------------------------


def _network(device: torch.device, sizes: Sizes) -> TextNetwork:
    return TextNetwork(PackedEncoder(Architecture(**sizes._asdict()), seed=0)).to(device)


def packed_training(data: Data, device: torch.device, sizes: Sizes, seconds: float, size: int, steps: str) -> Rate:
    """As somebody trains: everything from drawing documents to the step of AdamW is in the time."""
    if device.type != "cuda" and steps != "plain":
        raise RuntimeError("only a GPU has such steps")
    clock = _Clock(device, seconds, warm_up=max(24, 2 * len(data) // size))
    queries = size // DOCUMENTS
    plan = Training("bce", epochs=10**6, batch_size=queries, documents_per_query=None, learning_rate=2e-5, steps=steps)  # type: ignore[arg-type]
    fit(_network(device, sizes), data.lists, plan, progress=clock)
    return Rate(clock.steps * size, clock.steps * size * float(data.lengths.mean()), clock.seconds)


class _Clock:
    """Wraps steps: counts those after the first ones, until the time is over."""

    def __init__(self, device: torch.device, most: float, warm_up: int) -> None:
        self._device, self._most, self._warm_up = device, most, warm_up
        self.steps, self.seconds = 0, 0.0

    def __call__(self, steps: Iterable[int]) -> Iterator[int]:
        began = 0.0
        for n, step in enumerate(steps):
            if n == self._warm_up:
                _wait(self._device)
                began = time.perf_counter()
            if n > self._warm_up:
                self.steps = n - self._warm_up
                if self.steps % 16 == 0:
                    _wait(self._device)
                    if time.perf_counter() - began > self._most:
                        break
            yield step
        _wait(self._device)
        self.seconds = time.perf_counter() - began


def packed_scoring(data: Data, device: torch.device, sizes: Sizes, seconds: float, compiled: bool) -> Rate:
    """All pairs, again and again, from tokens to outputs in memory."""
    network = _network(device, sizes)
    if compiled:
        network.encoder.compile_layers()
    lists = data.lists

    def step(_: None) -> None:
        scoring.outputs(network, lists.tokens, lists.offsets)

    step(None)
    return _timed(step, [None], device, seconds, lambda _: (len(data), int(data.lengths.sum())))


# -- limits and checks -------------------------------------------------------------------------------------------------


def products(device: torch.device) -> str:
    """The rate of large products alone, which nothing exceeds."""
    n = 8192 if device.type == "cuda" else 1024
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    a, b = (torch.randn(n, n, device=device, dtype=dtype) for _ in range(2))
    for _ in range(3):
        a @ b
    _wait(device)
    began = time.perf_counter()
    for _ in range(20):
        a @ b
    _wait(device)
    return f"{20 * 2 * n**3 / (time.perf_counter() - began) / 1e12:.1f} TFLOP/s"


def _same(device: torch.device, sizes: Sizes, seed: int = 0) -> tuple[Any, TextNetwork]:
    """Transformers' model, and ours with its encoder's weights; without dropout."""
    model = _reference(device, sizes, dropout=0.0, seed=seed)
    config = {"model_type": "distilbert", "dropout": 0.0, **_published(sizes)}
    weights = {name: x.detach().cpu() for name, x in model.distilbert.state_dict().items()}
    return model, TextNetwork(encoder_of(config, weights), dropout=0.0).to(device)


def differences(data: Data, device: torch.device, sizes: Sizes) -> str:
    """The largest difference of the encoder's outputs to those of the padded reference in 32 bits."""
    torch.backends.cuda.matmul.allow_tf32 = False
    model, network = _same(device, sizes)
    rows = np.arange(min(512, len(data)))
    with torch.inference_mode():
        expected = [
            model.distilbert(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state[:, 0].cpu()
            for ids, mask, _ in _rectangles(data, np.array_split(rows, max(1, len(rows) // 64)))
        ]
    reference = torch.cat(expected).numpy()
    said = [f"values of size {np.abs(reference).max():.1f}"]
    for name, dtype in (("fp32", torch.float32), ("bf16", torch.bfloat16)):
        if dtype == torch.bfloat16 and device.type != "cuda":
            continue
        found = scoring.vectors(network, data.lists.tokens[rows], dtype=dtype)
        said.append(f"{name} differs by at most {np.abs(found - reference).max():.1e}")
    return ", ".join(said)


def losses(data: Data, device: torch.device, sizes: Sizes) -> str:
    """Mean losses of the second of two epochs, 256 pairs per step, of three draws of the weights and the batches."""
    found: dict[str, list[float]] = {"loop bf16": [], "ours": []}
    for seed in range(3):
        model, network = _same(device, sizes, seed)
        plan = Training(
            "bce",
            epochs=2,
            batch_size=256 // DOCUMENTS,
            documents_per_query=None,
            learning_rate=1e-4,
            steps="plain",
            seed=seed,
        )
        found["loop bf16"].append(_loss_of_a_loop(data, model, plan, device))
        found["ours"].append(fit(network, data.lists, plan).losses[-1])
    return "; ".join(f"{name} {np.mean(own):.4f} ± {np.std(own, ddof=1):.4f}" for name, own in found.items())


def _loss_of_a_loop(data: Data, model: Any, plan: Training, device: torch.device) -> float:
    adam = torch.optim.AdamW(model.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay)
    per_epoch, found = len(data) // 256, []
    for step in range(2 * per_epoch):
        if step % per_epoch == 0:
            batches = _rectangles(data, _in_order(data, 256, False, seed=(plan.seed, step)))
            found = []
        ids, mask, good = (part.to(device) for part in next(batches))
        for group in adam.param_groups:
            group["lr"] = plan.rate(step, 2 * per_epoch)
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            scores = model(input_ids=ids, attention_mask=mask).logits[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores.float(), good)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        adam.step()
        adam.zero_grad(set_to_none=True)
        found.append(loss.detach())
    return float(torch.stack(found).mean())


# -- as a user ---------------------------------------------------------------------------------------------------------


def from_a_file(folder: str, device: torch.device, sizes: Sizes, pairs: int) -> str:
    """From a file of texts to a saved model, three passes, as ``ranksift train`` does it: where the time goes."""
    with TemporaryDirectory() as place:
        data, encoder, model = (Path(place) / name for name in ("pairs.jsonl", "encoder", "model"))
        tokenizer = Tokenizer(folder)
        _write_pairs(data, tokenizer, pairs)
        _write_encoder(encoder, tokenizer, sizes)
        how = {"epochs": 3, "batch_size": 256 // DOCUMENTS, "documents_per_query": None, "device": device.type}
        ranker = TextRanker("bce", encoder=str(encoder), context=False, learning_rate=2e-5, **how)
        began = time.perf_counter()
        examples = _examples(data)
        read = time.perf_counter()
        with _timing(Tokenizer, "pairs") as tokens, _timing(training, "fit") as steps:
            ranker.fit(examples)
        _wait(device)
        fitted = time.perf_counter()
        ranker.save(model)
        ended = time.perf_counter()
    parts = {
        "reading": read - began,
        "tokens": sum(tokens),
        "training": sum(steps),
        "the rest of the fit": fitted - read - sum(tokens) - sum(steps),
        "saving": ended - fitted,
    }
    said = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts.items())
    return (
        f"{pairs} pairs, 3 passes, {ended - began:.1f} s: {said}; {3 * pairs / sum(steps):.0f} pairs/s in training, "
        f"{3 * pairs / (ended - began):.0f} from the file to the saved model"
    )


@contextmanager
def _timing(owner: Any, name: str) -> Iterator[list[float]]:
    """The seconds of each call of a function, while this lasts."""
    usual, found = getattr(owner, name), []

    def timed(*args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        result = usual(*args, **options)
        found.append(time.perf_counter() - began)
        return result

    setattr(owner, name, timed)
    try:
        yield found
    finally:
        setattr(owner, name, usual)


def _write_pairs(path: Path, tokenizer: Tokenizer, pairs: int) -> None:
    """Texts of whole words, about as long as the pairs of the other rows."""
    draw = np.random.default_rng(0)
    words = [word for word in json.loads(tokenizer.to_json())["model"]["vocab"] if word.isalpha() and len(word) > 2]
    lengths = np.clip(draw.lognormal(4.0, 0.6, pairs).astype(int), 16, 256) - 13
    with path.open("w") as file:
        for row, length in enumerate(lengths.tolist()):
            asked = row // DOCUMENTS
            query = " ".join(words[n % len(words)] for n in range(asked, asked + 10))
            doc = " ".join(words[n] for n in draw.integers(0, len(words), length))
            said = {"query_id": f"q{asked}", "query": query, "doc_id": f"d{row}", "doc": doc}
            file.write(json.dumps(said | {"label": 2 * int(draw.integers(0, 2)) - 1}) + "\n")


def _write_encoder(folder: Path, tokenizer: Tokenizer, sizes: Sizes) -> None:
    """DistilBERT with random weights, as Hugging Face's libraries save it."""
    folder.mkdir()
    config = {"model_type": "distilbert", "vocab_size": tokenizer.vocabulary, **_published(sizes)}
    architecture = Architecture.of(config)
    assert architecture is not None
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(tokenizer.to_json())
    save_file(PackedEncoder(architecture, seed=0).published(), folder / "model.safetensors")


def _examples(path: Path) -> Examples:
    """The file as the command reads it; where polars is not installed, line by line."""
    if find_spec("polars") is not None:
        return read_examples(path)
    rows = [json.loads(line) for line in path.open()]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Examples.from_texts(
        columns["query"], columns["doc"], columns["label"], columns["query_id"], doc_ids=columns["doc_id"]
    )


if __name__ == "__main__":
    main()
