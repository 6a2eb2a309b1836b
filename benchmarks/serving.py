"""The rerank service beside a plain server: one request, one call of the model.

    python -m benchmarks --only serving
    PYTHONPATH=src python -m benchmarks.serving --device cuda
    python -m benchmarks.serving --lone 2000
    python -m benchmarks.serving --soak 300

Clients ask on open connections, each the next request as soon as the last one is answered; no client sends a
request twice. Plain servers are Starlette's, with a thread for the model: one calls transformers, padded to
the longest document of the request, and one calls our ``rank``. With ``--device cuda`` requests do not go over HTTP, as
machines with a GPU often lack its libraries: the same bodies are read, and the same answers written, in one process.
There plain means a pool of threads, as frameworks have it, or one thread, whichever is better.

Ratios are of requests per second, and of requests per second of the processor: the second ones mean something on a
machine that others use, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranksift.collection.examples import Examples

CLIENTS = (1, 8, 32, 64)
DOCUMENTS = 8
# Requests that are made before the clock runs.
_MOST = 16_384
#: Of the words of a document: lognormal, about 40 in the mean.
MEAN, SPREAD = 3.5, 0.6
PLAIN, OURS_PLAIN, SERVICE = "transformers, a call per request", "rank, a call per request", "ranksift serve"

Answer = Callable[[bytes], Awaitable[bytes]]

_TEXT = (
    "the a of to in is was that for with on as by at from it this are be or an which not have but had were one "
    "all we when there can more if no out so what up about into than them only other new some could time these "
    "two may then do first any my now such like our over man me even most made after also did many before must "
    "through back years where much your way well down should because each just those people how too little state "
    "good very make world still own see men work long permit office form visa school road water price garden "
    "engine battery window market station doctor ticket passport"
)
_WORDS = _TEXT.split()


class Row(NamedTuple):
    """What one way did for so many clients: milliseconds, and those of the processor for one request."""

    way: str
    clients: int
    rate: float
    p50: float
    p99: float
    work: float


class Took(NamedTuple):
    """Seconds of each request, of all of them together, and of the processor."""

    each: list[float]
    whole: float
    work: float


# -- what is asked, and the model -------------------------------------------------------------------------------------


def bodies(seed: int, count: int) -> list[bytes]:
    """Requests."""
    draw = np.random.default_rng(seed)

    def text(count: int) -> str:
        return " ".join(_WORDS[n] for n in draw.integers(0, len(_WORDS), count))

    sizes = np.clip(draw.lognormal(MEAN, SPREAD, (count, DOCUMENTS)), 4, 200).astype(int).tolist()
    return [json.dumps({"query": text(8), "documents": [text(size) for size in row]}).encode() for row in sizes]


def save_model(folder: Path, device: str, encoder: str) -> Path:
    """A ranker of texts with a head that has learned next to nothing: speed does not depend on that."""
    from ranksift.learning.text.ranker import TextRanker

    asked = [json.loads(body) for body in bodies(99, 8)]
    docs = [text for one in asked for text in one["documents"]]
    queries = [one["query"] for one in asked for _ in one["documents"]]
    labels = np.arange(len(docs)) % 3 - 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        examples = Examples.from_texts(queries, docs, labels)
        TextRanker("bce", encoder=encoder, context=False, epochs=1, device=device).fit(examples).save(folder)
    return folder


def usual_encoder(folder: Path) -> str:
    """MiniLM where the extra ``text`` has brought it, or random weights of its size."""
    from ranksift.errors import InputError
    from ranksift.learning.text.encoder import Architecture, PackedEncoder, find_encoder

    try:
        return str(find_encoder())
    except InputError:
        pass
    import tokenizers
    from safetensors.torch import save_file

    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
    config = {"model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, **sizes}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file(PackedEncoder(Architecture.of(config), seed=1).published(), folder / "model.safetensors")
    letters = [chr(n) for n in range(33, 127)]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{one}" for one in letters), *_WORDS]
    known = {word: n for n, word in enumerate(dict.fromkeys(words))}
    own = tokenizers.Tokenizer(tokenizers.models.WordPiece(known, unk_token="[UNK]"))
    own.normalizer = tokenizers.normalizers.BertNormalizer()
    own.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    own.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    own.save(str(folder / "tokenizer.json"))
    return str(folder)


# -- the ways ---------------------------------------------------------------------------------------------------------


def call_of_transformers(folder: Path) -> Callable[[bytes], bytes]:
    """The same network as people call it: tokens padded to the longest, one call of transformers."""
    import torch
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    from ranksift.learning.saved_model import load

    model: Any = load(folder)
    network = model._network
    device, settings = network.device, dict(network.encoder.config)
    body = AutoModel.from_config(AutoConfig.for_model(settings.pop("model_type"), **settings), add_pooling_layer=False)
    body.load_state_dict(network.encoder.published(), strict=False)
    body.to(device).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=model._tokenizer._own, pad_token="[PAD]")
    half = device.type == "cuda"

    def call(body_of_request: bytes) -> bytes:
        asked = json.loads(body_of_request)
        texts = asked["documents"]
        batch = tokenizer(
            [asked["query"]] * len(texts),
            texts,
            padding=True,
            truncation=True,
            max_length=256,
            return_tensors="pt",
            return_token_type_ids=True,
        )
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=half):
            states = body(
                **{name: batch[name].to(device) for name in ("input_ids", "token_type_ids", "attention_mask")}
            )
            states = states.last_hidden_state
            if model._pooling == "mean":
                mask = batch["attention_mask"].to(device)[:, :, None]
                vectors = (states * mask).sum(1) / mask.sum(1)
            else:
                vectors = states[:, 0]
            found = model._outputs.score(network.head(vectors).double().cpu().numpy())
        order = np.argsort(-found, kind="stable").tolist()
        return json.dumps({"results": [{"index": i, "relevance_score": float(found[i])} for i in order]}).encode()

    return call


def call_of_rank(folder: Path) -> Callable[[bytes], bytes]:
    """A call of our own ``rank`` for each request."""
    from ranksift.learning.saved_model import load

    model = load(folder)

    def call(body: bytes) -> bytes:
        asked = json.loads(body)
        found = model.rank(asked["query"], asked["documents"])
        return json.dumps({"results": [{"index": one.index, "relevance_score": one.score} for one in found]}).encode()

    return call


CALLS = {PLAIN: call_of_transformers, OURS_PLAIN: call_of_rank}


def serve_plain(way: str, folder: Path) -> None:
    """A plain server on a free port, which it prints."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from ranksift.web.door import listening

    call, pool = CALLS[way](folder), ThreadPoolExecutor(1)

    async def endpoint(request: Request) -> Response:
        body = await request.body()
        found = await asyncio.get_running_loop().run_in_executor(pool, call, body)
        return Response(found, media_type="application/json")

    door = listening("127.0.0.1", 0)
    app = Starlette(routes=[Route("/v1/rerank", endpoint, methods=["POST"])])
    print(door.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([door])


# -- clients ----------------------------------------------------------------------------------------------------------


async def load(
    clients: int,
    seconds: float,
    seed: int,
    opened: Callable[[], Awaitable[Answer]],
    work: Callable[[], float] = time.process_time,
) -> Took:
    """Ask for so many seconds, and wait for the last answers."""
    each: list[float] = []
    sent = [bodies(seed * 1000 + number, _MOST // clients) for number in range(clients)]
    began, worked = time.perf_counter(), work()

    async def one(own: list[bytes]) -> None:
        ask = await opened()
        for body in own:
            start = time.perf_counter()
            if start >= began + seconds:
                return
            found = await ask(body)
            each.append(time.perf_counter() - start)
            assert b'"results"' in found, found[:300]

    await asyncio.gather(*map(one, sent))
    return Took(each, time.perf_counter() - began, work() - worked)


def over_http(port: int) -> Callable[[], Awaitable[Answer]]:
    """A connection that stays open, as clients have it."""

    async def opened() -> Answer:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def ask(body: bytes) -> bytes:
            writer.write(b"POST /v1/rerank HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            return await reader.readexactly(int(length.split(b":")[1]))

        return ask

    return opened


def measured(way: str, clients: int, took: Took) -> Row:
    """A row."""
    p50, p99 = np.percentile(took.each, (50, 99))
    count = len(took.each)
    return Row(way, clients, count / took.whole, 1000 * p50, 1000 * p99, 1000 * took.work / count)


def work_of(process: subprocess.Popen[str]) -> Callable[[], float]:
    """Seconds of the processor that a process took so far."""

    def so_far() -> float:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    return so_far


@contextmanager
def server(way: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server as a process, and its port."""
    if way == SERVICE:
        words = ["-m", "ranksift.cli.main", "serve", str(folder), "--port", "0", "--timeout", "600"]
    else:
        words = ["-m", "benchmarks.serving", "--serve", way, "--folder", str(folder)]
    variables = {**os.environ, "RANKSIFT_SERVE_LOG": "warning"}
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        port = int(line.split("127.0.0.1:")[1].split("/")[0]) if way == SERVICE else int(line)
        yield port, process
    finally:
        process.terminate()
        process.wait(60)


# -- tables -----------------------------------------------------------------------------------------------------------


def report(quick: bool, many: tuple[int, ...] = CLIENTS) -> str:
    """Measure over HTTP on this machine, and give a Markdown table."""
    seconds, rounds, many = (3.0, 1, (1, 8)) if quick else (15.0, 3, many)
    found: dict[tuple[str, int], list[Row]] = {}
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = save_model(Path(place) / "model", "cpu", usual_encoder(Path(place) / "encoder"))
        ways = (PLAIN, OURS_PLAIN, SERVICE)
        servers = {way: stack.enter_context(server(way, folder)) for way in ways}
        for port, _ in servers.values():
            asyncio.run(load(2, 1.0, 77, over_http(port)))
        for clients in many:
            for number in range(rounds):
                for way in ways:
                    port, process = servers[way]
                    took = asyncio.run(load(clients, seconds, number + 1, over_http(port), work_of(process)))
                    found.setdefault((way, clients), []).append(measured(way, clients, took))
                    print(*found[way, clients][-1], file=sys.stderr, flush=True)
    return as_table([_median(rows) for rows in found.values()], "over HTTP on the processor")


def _median(rows: list[Row]) -> Row:
    return Row(*rows[0][:2], *(float(np.median([row[i] for row in rows])) for i in (2, 3, 4, 5)))


def as_table(rows: list[Row], what: str) -> str:
    """Rows as Markdown; each is compared with the plain ways for so many clients."""
    from benchmarks.evaluation import table

    lines = []
    for row in sorted(rows, key=lambda row: row.clients):
        ratios = []
        for plain in (PLAIN, OURS_PLAIN):
            others = [other for other in rows if other.clients == row.clients and other.way.startswith(plain)]
            ratios.append(row.rate / max(other.rate for other in others))
            ratios.append(min(other.work for other in others) / row.work)
        numbers = [f"{number:.1f}" for number in row[2:]]
        lines.append([str(row.clients), row.way, *numbers, *(f"{ratio:.2f}x" for ratio in ratios)])
    header = ["clients", "server", "requests/s", "p50, ms", "p99, ms", "processor, ms a request"]
    header += ["to transformers", "by processor", "to rank", "by processor"]
    return table(f"serving: {DOCUMENTS} documents per request, {what}", header, lines)


def in_process(folder: Path, seconds: float, rounds: int, many: tuple[int, ...]) -> list[Row]:
    """The same without HTTP: bodies in, answers out."""
    from ranksift.serving.answers import asked_list, ranked_answer
    from ranksift.serving.requests import Rerank
    from ranksift.serving.served import load_served

    served: Any = load_served("model", folder, "v")
    reads = ThreadPoolExecutor(4)

    async def batched(body: bytes) -> bytes:
        loop = asyncio.get_running_loop()
        asked = Rerank.read(body, 1000)
        listed = await loop.run_in_executor(reads, asked_list, served, asked)
        scores = await served.batcher.ask(listed, listed.size)
        return ranked_answer(served, asked, listed, scores, "id")[1]

    def plain(call: Callable[[bytes], bytes], threads: int) -> Answer:
        pool = ThreadPoolExecutor(threads)

        async def ask(body: bytes) -> bytes:
            return await asyncio.get_running_loop().run_in_executor(pool, call, body)

        return ask

    ways: dict[str, Answer] = {SERVICE: batched}
    for name, made in CALLS.items():
        call = made(folder)
        ways |= {f"{name}, {threads} threads": plain(call, threads) for threads in (1, 40)}
    found: dict[tuple[str, int], list[Row]] = {}
    for ask in ways.values():
        asyncio.run(load(8, 2.0, 77, _always(ask)))
    for clients in many:
        for number in range(rounds):
            for way, ask in ways.items():
                took = asyncio.run(load(clients, seconds, number + 1, _always(ask)))
                found.setdefault((way, clients), []).append(measured(way, clients, took))
                print(*found[way, clients][-1], file=sys.stderr, flush=True)
    return [_median(rows) for rows in found.values()]


def lone(requests: int) -> str:
    """What batches add to a request that comes alone: it is handed to a thread and back, here with nothing to score."""
    from ranksift.serving.batching import Batcher

    async def handed() -> list[float]:
        batcher: Batcher[int, int] = Batcher(lambda asked: [*asked], budget=1)
        times = []
        for number in range(requests):
            began = time.perf_counter()
            await batcher.ask(number, 1)
            times.append(time.perf_counter() - began)
        batcher.close()
        return times

    half, most = 1e6 * np.percentile(asyncio.run(handed()), (50, 90))
    return f"{requests:,} requests, one after the other: {half:.0f} µs at the median, 90% within {most:.0f} µs"


def _always(ask: Answer) -> Callable[[], Awaitable[Answer]]:
    async def opened() -> Answer:
        return ask

    return opened


def soak(folder: Path, seconds: float, clients: int = 8) -> str:
    """Memory of the service while clients ask without a pause."""
    sizes: list[tuple[float, int]] = []

    async def watched(process: subprocess.Popen[str], port: int) -> int:
        began = time.perf_counter()
        asking = asyncio.create_task(load(clients, seconds, 5, over_http(port)))
        while not asking.done():
            status = Path(f"/proc/{process.pid}/status").read_text()
            sizes.append((time.perf_counter() - began, int(status.split("VmRSS:")[1].split()[0])))
            await asyncio.sleep(min(5.0, seconds / 10))
        return len((await asking).each)

    with server(SERVICE, folder) as (port, process):
        count = asyncio.run(watched(process, port))
    parts = [
        np.median([size for at, size in sizes if low <= at / seconds < low + 0.2]) / 1024 for low in (0.2, 0.5, 0.8)
    ]
    said = ", ".join(f"{size:.0f} MiB" for size in parts)
    return f"{count:,} requests in {seconds:.0f} s by {clients} clients; memory at 20, 50 and 80% of the time: {said}"


def main() -> None:
    """One of the parts, by its option."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cuda: in one process, without HTTP")
    parser.add_argument("--in-process", action="store_true", help="the same on the processor")
    parser.add_argument("--soak", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--lone", type=int, default=0, metavar="REQUESTS", help="what batches add to a lone request")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each round, in one process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", default=",".join(map(str, CLIENTS)))
    parser.add_argument("--encoder", default="", help="a folder; default: MiniLM, or random weights of its size")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--serve", default="", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve_plain(options.serve, options.folder)
        return
    if options.lone:
        print(lone(options.lone))
        return
    many = tuple(map(int, options.clients.split(",")))
    with tempfile.TemporaryDirectory() as place:
        if options.device == "cpu" and not options.soak and not options.in_process:
            print(report(options.quick, many))
            return
        encoder = options.encoder or usual_encoder(Path(place) / "encoder")
        folder = save_model(Path(place) / "model", options.device, encoder)
        if options.soak:
            print(soak(folder, options.soak))
        else:
            rows = in_process(folder, options.seconds, options.rounds, many)
            print(as_table(rows, f"in one process on {options.device}"))


if __name__ == "__main__":
    main()
