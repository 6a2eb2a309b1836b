"""Genuine files of every format, how RankSift reads them, and what they say by the plain readers."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.collection.plain import Refused
from tests.hunt import plain
from tests.hunt.damage import damaged, damaged_json

Files = dict[str, bytes]
SAVED = Path(__file__).parents[1] / "learning" / "saved_before"


class Anything:
    """Stands for a value about which the plain reader says nothing."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


@dataclass(frozen=True)
class Case:
    """Files of a case by their names, and the genuine ones of which they were made."""

    format: str
    files: Files
    genuine: Files


@dataclass(frozen=True)
class Format:
    """A row of the table of results.

    ``make`` gives genuine files and damaged ones, ``read`` is what RankSift makes of a folder of them, and ``expect``
    what they say; the last two give values that are equal.
    """

    label: str
    make: Callable[[random.Random], tuple[Files, Files]]
    read: Callable[[Path], Any]
    expect: Callable[[Files], Any]


def case_of(seed: int, number: int) -> Case:
    """The files of a case: the same for the same seed and number, wherever it is made."""
    name = ORDER[number % len(ORDER)]
    genuine, files = FORMATS[name].make(random.Random(f"{seed} {number}"))
    return Case(name, files, genuine)


# -- judgments and a run ---------------------------------------------------------------------------------------------


def collection(rng: random.Random) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, float]]]:
    """Rows of judgments and of a run; scores are told apart by 32 bits too, so that no tool needs to round them."""
    words = ["d{}", "d{}", "doc-{}", "é{}", "日本{}", "GX{:03}-11-7"]
    labels, scores = [], []
    queries = rng.sample(["q1", "q2", "301", "topic-4", "ü5"], rng.randint(2, 4))
    for query in queries:
        documents = [rng.choice(words).format(d) for d in range(rng.randint(3, 8))]
        labels += [(query, d, rng.choice((-1, 0, 0, 1, 1, 2, 3))) for d in documents if rng.random() < 0.8]
        scores += [(query, d, rng.randint(-40, 200) / 8) for d in documents if rng.random() < 0.9]
    return labels or [(queries[0], "d1", 1)], scores or [(queries[0], "d1", 1.0)]


def trec(labels: Any, scores: Any, rng: random.Random) -> tuple[bytes, bytes]:
    qrels = "".join(f"{q} 0 {d} {v}\n" for q, d, v in labels)
    return qrels.encode(), "".join(f"{q} Q0 {d} {i} {v} tag\n" for i, (q, d, v) in enumerate(scores)).encode()


def delimited(separator: str) -> Callable[[Any, Any, random.Random], tuple[bytes, bytes]]:
    def written(labels: Any, scores: Any, rng: random.Random) -> tuple[bytes, bytes]:
        texts = []
        for noun, rows in (("label", labels), ("score", scores)):
            lines = [["query_id", "doc_id", noun], *([q, d, str(v)] for q, d, v in rows)]
            mark = rng.choice(("", "", '"'))
            texts.append("".join(separator.join(mark + field + mark for field in line) + "\n" for line in lines))
        return texts[0].encode(), texts[1].encode()

    return written


def json_lines(labels: Any, scores: Any, rng: random.Random) -> tuple[bytes, bytes]:
    qrels, run = (
        "".join(json.dumps({"query_id": q, "doc_id": d, noun: v}, ensure_ascii=False) + "\n" for q, d, v in rows)
        for noun, rows in (("label", labels), ("score", scores))
    )
    return qrels.encode(), run.encode()


def parquet(labels: Any, scores: Any, rng: random.Random) -> tuple[bytes, bytes]:
    import polars as pl

    packing, statistics = rng.choice(("uncompressed", "snappy", "zstd")), rng.random() < 0.5
    made = []
    for noun, rows in (("label", labels), ("score", scores)):
        frame = pl.DataFrame(rows, schema=["query_id", "doc_id", noun], orient="row")
        target = io.BytesIO()
        frame.write_parquet(target, compression=packing, statistics=statistics)  # type: ignore[arg-type]
        made.append(target.getvalue())
    return made[0], made[1]


def packed(data: bytes, suffix: str) -> bytes:
    from backports import zstd

    return gzip.compress(data, mtime=0) if suffix == ".gz" else zstd.compress(data) if suffix == ".zst" else data


def unpacked(name: str, data: bytes) -> bytes:
    from backports import zstd

    try:
        if name.endswith(".gz"):
            return gzip.decompress(data)
        return zstd.decompress(data) if name.endswith(".zst") else data
    except Exception:
        raise Refused("damaged") from None


def pair(suffixes: str, write: Callable[..., tuple[bytes, bytes]], packings: str = "") -> Format:
    """Judgments and a run, one of them damaged or both; what is packed is damaged before or afterwards."""
    choices, compressed = suffixes.split(), packings.split()

    def make(rng: random.Random) -> tuple[Files, Files]:
        suffix = rng.choice(choices)
        packing = rng.choice(compressed) if compressed else ""
        contents = write(*collection(rng), rng)
        names = [f"{kind}{suffix}{packing}" for kind in ("qrels", "run")]
        genuine = {name: packed(data, packing) for name, data in zip(names, contents, strict=True)}
        files = dict(genuine)
        for i in rng.choice(((0,), (1,), (0, 1))):
            if packing and rng.random() < 0.5:
                files[names[i]] = damaged(rng, genuine[names[i]])
            else:
                files[names[i]] = packed(damaged(rng, contents[i]), packing)
        return genuine, files

    return Format(LABELS[write] + (", packed" if packings else ""), make, read_pair, expect_pair)


def read_pair(folder: Path) -> Any:
    import ranksift as rs

    qrels, run = (next(folder.glob(f"{kind}.*")) for kind in ("qrels", "run"))
    scores = rs.evaluate(qrels, run, list(plain.MEASURES))
    table = scores.values[0].tolist()
    return {q: dict(zip(plain.MEASURES, row, strict=True)) for q, row in zip(scores.queries, table, strict=True)}


def expect_pair(files: Files) -> Any:
    tables = []
    for name, data in files.items():
        kind, suffix = name.split(".")[:2]
        tables.append(plain.read_table(unpacked(name, data), f".{suffix}", "label" if kind == "qrels" else "score"))
    return plain.values(*tables)


LABELS = {trec: "TREC text", json_lines: "JSON lines", parquet: "Parquet"}
COMMA, TAB = delimited(","), delimited("\t")
LABELS |= {COMMA: "CSV", TAB: "TSV"}


# -- one file --------------------------------------------------------------------------------------------------------


def make_letor(rng: random.Random) -> tuple[Files, Files]:
    lines = []
    for query in rng.sample(["q1", "10", "ü"], rng.randint(1, 3)):
        for d in range(rng.randint(1, 5)):
            features = " ".join(f"{i}:{rng.randint(-40, 200) / 8}" for i in range(1, 5) if rng.random() < 0.9)
            comment = rng.choice(("", f" #docid = GX{d}", " # a comment"))
            lines.append(f"{rng.choice((-1, 0, 1, 2))} qid:{query} {features}{comment}\n")
    return packed_or_not(rng, "examples.txt", "".join(lines).encode())


def packed_or_not(rng: random.Random, name: str, data: bytes) -> tuple[Files, Files]:
    """A file that is damaged, or damaged and then packed, or packed and then damaged."""
    packing = rng.choice(("", "", ".gz", ".zst"))
    genuine = {name + packing: packed(data, packing)}
    if packing and rng.random() < 0.5:
        return genuine, {name + packing: damaged(rng, packed(data, packing))}
    return genuine, {name + packing: packed(damaged(rng, data), packing)}


def read_letor(folder: Path) -> Any:
    import numpy as np

    import ranksift as rs

    examples = rs.read_examples(next(folder.iterdir()))
    order = np.argsort(examples.row, kind="stable")
    rows = [
        [examples.query_ids[examples.query[i]], examples.docs[i], examples.labels[i], examples.features[i].tolist()]
        for i in order.tolist()
    ]
    return {"names": list(examples.feature_names), "rows": rows}


def expect_letor(files: Files) -> Any:
    ((name, data),) = files.items()
    return plain.letor(unpacked(name, data))


def make_scores(rng: random.Random) -> tuple[Files, Files]:
    runs, topics = ["bm25", "rm3", "é"][: rng.randint(1, 3)], ["51", "52", "q,3" if rng.random() < 0.3 else "53"]
    suffix, separator = rng.choice(((".csv", ","), (".tsv", "\t")))
    if rng.random() < 0.5:
        lines = [["run", "query_id", "measure", "value"]]
        lines += [[r, t, m, str(rng.randint(0, 64) / 64)] for m in ("AP", "P@5") for r in runs for t in topics]
    else:
        lines = [["topic", *runs], *([t, *(str(rng.randint(0, 64) / 64) for _ in runs)] for t in topics)]
    data = "".join(separator.join(f'"{f}"' if "," in f else f for f in line) + "\n" for line in lines).encode()
    return packed_or_not(rng, f"AP{suffix}", data)


def read_scores(folder: Path) -> Any:
    import ranksift as rs

    scores = rs.read_scores(next(folder.iterdir()))
    return {
        json.dumps([run, query, str(measure)]): float(scores.values[r, q, m])
        for r, run in enumerate(scores.runs)
        for q, query in enumerate(scores.queries)
        for m, measure in enumerate(scores.measures)
    }


def expect_scores(files: Files) -> Any:
    ((name, data),) = files.items()
    return plain.scores(unpacked(name, data), "," if ".csv" in name else "\t", "AP")


# -- cutoffs and models ----------------------------------------------------------------------------------------------

SCORES = [i / 8 for i in range(1, 60, 3)]
# What a cutoff's file says for people; it follows from the rest.
DERIVED = ("ranksift", "keep", "promise", "sum")


@cache
def cutoffs() -> list[bytes]:
    """A saved cutoff of each rule, of some with other parameters too."""
    from ranksift.cutoffs.rules import known_rules

    rng = random.Random(0)
    scores = [rng.randint(1, 64) / 8 for _ in range(48)]
    labels = [rng.choice((-1, 0)) if s + rng.gauss(0, 2) < 4 else rng.choice((1, 2)) for s in scores]
    groups = [i // 6 for i in range(48)]
    known = known_rules()
    rules = [kind(**({"threshold": 2.5} if word == "fixed" else {})) for word, kind in known.items()]
    rules += [known["normalized"](by=by) for by in ("zscore", "max", "rank", "softmax")]
    rules += [known["expected-gain"](features="shape"), known["expected-gain"](method="isotonic")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few queries promise little
        return [rule.fit(scores, labels, groups).to_json().encode() for rule in rules]


def make_cutoff(rng: random.Random) -> tuple[Files, Files]:
    genuine = rng.choice(cutoffs())
    return {"cutoff.json": genuine}, {"cutoff.json": damaged_under_its_sum(rng, genuine)}


def damaged_under_its_sum(rng: random.Random, data: bytes) -> bytes:
    """Damage to a JSON document that has a sum of its own, or had one, or has it made good again."""
    how = rng.randrange(4)
    if how == 0:
        return damaged_json(rng, data)
    if how == 1:
        return made_good(damaged_json(rng, data))
    document = json.loads(data)
    document.pop("sum", None)
    return damaged_json(rng, json.dumps(document, indent=2).encode())


def made_good(data: bytes) -> bytes:
    """The same document with the sum that it should have."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    if not isinstance(document, dict):
        return data
    rest = {key: value for key, value in document.items() if key != "sum"}
    text = json.dumps({"sum": hashlib.sha256(json.dumps(rest).encode()).hexdigest(), **rest}, indent=2)
    return text.encode()


def read_cutoff(folder: Path) -> Any:
    import ranksift as rs

    cutoff = rs.load_cutoff(folder / "cutoff.json")
    return {"file": _told(json.loads(cutoff.to_json())), "kept": cutoff.keep(SCORES).tolist()}


def expect_cutoff(files: Files) -> Any:
    """What is read is what the file says; the rules of an unchanged file keep what they kept."""
    try:
        document = plain.strict_json(files["cutoff.json"].decode())
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if not isinstance(document, dict):
        raise Refused("not an object")
    plain.check_own_sum(document)
    known = [k for k in map(json.loads, cutoffs()) if k["rule"] == document.get("rule")]
    if not known or any(key not in document for key in _told(known[0])):
        raise Refused("not a whole cutoff")
    told = {key: document[key] for key in _told(known[0])}
    kept = next((kept for text, kept in kept_by_cutoffs() if _told(json.loads(text)) == told), Anything())
    return {"file": told, "kept": kept}


@cache
def kept_by_cutoffs() -> list[tuple[bytes, list[bool]]]:
    """What the undamaged cutoffs keep."""
    from ranksift.cutoffs.cutoff import cutoff_of_json

    return [(text, cutoff_of_json(text, "cutoff.json").keep(SCORES).tolist()) for text in cutoffs()]


def _told(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in DERIVED}


NEW = "saved-now"
MODELS = ("RankSVM", "RankSVM-with-a-cutoff", "LambdaMART", "LambdaMARTf", "ExpectedGainRanker")


@cache
def saved_model(name: str) -> Files:
    """A model that was saved before, or one that is saved now."""
    if name == NEW:
        return new_model()[0]
    return {path.name: path.read_bytes() for path in sorted((SAVED / name).iterdir())}


@cache
def new_model() -> tuple[Files, list[float]]:
    """A model with a cutoff as it is saved now, and its scores of the examples before it was."""
    import ranksift as rs
    from ranksift.learning import RankSVM

    examples = rs.read_examples(SAVED / "examples.csv")
    model = RankSVM(gains={-1: -3}).fit(examples).fit_cutoff(examples)
    return steady_files(model), model.score(examples).tolist()


def steady_files(model: Any) -> Files:
    """What a model is saved as, but for the name of a version, which is drawn at random: no case may depend on it."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model.save(folder)
        found = {str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
    version, steady = json.loads(found["model.json"])["version"], f"version-{'0' * 16}"
    files = {
        name.replace(version, steady): data.replace(version.encode(), steady.encode())
        for name, data in sorted(found.items())
    }
    return files | {"model.json": made_good(files["model.json"])}


def make_card(rng: random.Random) -> tuple[Files, Files]:
    """A model's folder whose card is damaged, or its weights, cutoff or calibration."""
    name = NEW if rng.random() < 0.5 else rng.choice(MODELS)
    genuine = {f"{name}/{file}": data for file, data in saved_model(name).items()}
    files = dict(genuine)
    others = [file for file in saved_model(name) if not file.endswith(("model.json", "contents.json", "trees.txt"))]
    if rng.random() < 0.7:
        files[f"{name}/model.json"] = damaged_under_its_sum(rng, genuine[f"{name}/model.json"])
    else:
        which = rng.choice(others)
        damage = damaged_under_its_sum if which.endswith("cutoff.json") else damaged_json
        forge(files, name, which, (damage if which.endswith("json") else damaged)(rng, genuine[f"{name}/{which}"]))
    return genuine, files


def forge(files: Files, folder: str, which: str, data: bytes) -> None:
    """Put other contents into a model, as somebody does who makes the sums of its files and of its card good again."""
    files[f"{folder}/{which}"] = data
    card = json.loads(files[f"{folder}/model.json"])
    card["files"][Path(which).name] = hashlib.sha256(data).hexdigest()
    changed = json.dumps(card).encode()
    files[f"{folder}/model.json"] = made_good(changed) if "sum" in card else changed


def read_model(folder: Path) -> Any:
    import ranksift as rs

    model = rs.load(next(folder.iterdir()))
    examples = folder.parent / "examples.csv"
    if not examples.exists():
        examples.write_bytes((SAVED / "examples.csv").read_bytes())
    return model.score(examples).tolist()


@cache
def known_scores() -> dict[str, list[float]]:
    known: dict[str, Any] = json.loads((SAVED / "known.json").read_text())
    return known["scores"] | {NEW: new_model()[1]}  # type: ignore[no-any-return]


def expect_card(files: Files) -> Any:
    """The known scores, where the card is that of the model and nothing else was changed."""
    name = next(iter(files)).partition("/")[0]
    if any(files.get(f"{name}/{file}") != data for file, data in saved_model(name).items() if file != "model.json"):
        raise plain.Unjudged
    try:
        card = plain.strict_json(files[f"{name}/model.json"].decode())
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    genuine = json.loads(saved_model(name)["model.json"])
    keys = ("model", "parameters", "feature_names")
    if not isinstance(card, dict) or any(key not in card for key in (*keys, "format", "files")):
        raise Refused("not a card")
    plain.check_own_sum(card)
    if any(card[key] != genuine[key] for key in keys):
        return Anything()
    return known_scores()[name]


@cache
def small_trees() -> tuple[Files, list[list[float]]]:
    """A saved model whose scores are the sums of its trees, and rows to score."""
    from ranksift import Examples
    from ranksift.learning import LambdaMART

    rng = random.Random(0)
    rows = [[rng.randint(1, 64) / 8 for _ in range(3)] for _ in range(96)]
    labels = [max(-1, min(2, round((row[0] - 4 + rng.gauss(0, 1)) / 2))) for row in rows]
    examples = Examples.from_arrays(rows, labels, [i // 6 for i in range(96)])
    model = LambdaMART(trees=3, leaves=4, min_documents=5, gains={-1: -3}, context=False).fit(examples)
    return {f"model/{name}": data for name, data in steady_files(model).items()}, rows[:12]


def make_trees(rng: random.Random) -> tuple[Files, Files]:
    genuine = small_trees()[0]
    files = dict(genuine)
    which = next(name for name in genuine if name.endswith("trees.txt")).partition("/")[2]
    text = genuine[f"model/{which}"]
    if rng.random() < 0.8:  # where the trees are, rather than the parameters of the training behind them
        head, mark, tail = text.partition(b"end of trees")
        text = damaged(rng, head) + mark + tail
    else:
        text = damaged(rng, text)
    forge(files, "model", which, text)
    return genuine, files


def read_trees(folder: Path) -> Any:
    import ranksift as rs

    rows = small_trees()[1]
    return rs.load(folder / "model").score(rs.Examples.from_arrays(rows, None, [0] * len(rows))).tolist()


def expect_trees(files: Files) -> Any:
    return plain.trees(next(data for name, data in files.items() if name.endswith("trees.txt")), small_trees()[1])


FORMATS = {
    "trec": pair(".txt", trec),
    "trec-packed": pair(".txt", trec, ".gz .zst"),
    "csv": pair(".csv", COMMA),
    "csv-packed": pair(".csv", COMMA, ".gz .zst"),
    "tsv": pair(".tsv", TAB),
    "tsv-packed": pair(".tsv", TAB, ".gz .zst"),
    "jsonl": pair(".jsonl", json_lines),
    "jsonl-packed": pair(".jsonl", json_lines, ".gz .zst"),
    "parquet": pair(".parquet", parquet),
    "parquet-packed": pair(".parquet", parquet, ".gz .zst"),
    "letor": Format("LETOR, plain and packed", make_letor, read_letor, expect_letor),
    "scores": Format("score tables, plain and packed", make_scores, read_scores, expect_scores),
    "cutoff": Format("saved cutoffs of every rule", make_cutoff, read_cutoff, expect_cutoff),
    "card": Format("models' cards and weights", make_card, read_model, expect_card),
    "trees": Format("models' trees", make_trees, read_trees, expect_trees),
}
#: Which format each case has, over and over: TREC text in a quarter of them, because other tools read it too.
ORDER = [
    "trec", "csv", "jsonl", "letor", "trec", "parquet", "trees", "cutoff", "trec", "tsv", "trec-packed", "card",
    "trec", "csv-packed", "trees", "jsonl-packed", "trec", "parquet", "scores", "tsv-packed", "parquet-packed",
]  # fmt: skip
