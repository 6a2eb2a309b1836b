"""RankSift in ir_measures: the measures that it lacks, and a provider that computes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from types import SimpleNamespace
from typing import Any

import ir_measures  # noqa: TID253 - imported only when registering with ir_measures
import numpy as np
from ir_measures.measures import ParamInfo  # noqa: TID253
from ir_measures.measures.base import Agg  # noqa: TID253
from ir_measures.providers.pytrec_eval_provider import PytrecEvalProvider  # noqa: TID253
from ir_measures.util import QrelsConverter  # noqa: TID253

from ranksift.collection.gains import Gains
from ranksift.collection.qrels import Qrels, read_qrels
from ranksift.collection.run import Run, read_run
from ranksift.errors import InputError
from ranksift.evaluation.evaluate import evaluate
from ranksift.measures.measure import CATALOGUE, Measure
from ranksift.measures.names import parse_measure

#: gdeval, which computes ir_measures' ERR, knows labels up to 4 whatever the collection holds.
GDEVAL_MAX_GRADE = 4


class QueryValue(float):
    """A query's value that remembers its numerator and denominator, so that micro measures aggregate properly."""

    numerator: float
    denominator: float


class OwnAggregate(Agg):
    """The measure's own aggregate; ir_measures adds the queries' values one by one."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.numerators: list[float] = []
        self.denominators: list[float] = []

    def add(self, value: float) -> None:
        """Take one query's value; a plain number counts as one over one."""
        parts = (value.numerator, value.denominator) if isinstance(value, QueryValue) else (value, 1.0)
        self.numerators.append(parts[0])
        self.denominators.append(parts[1])

    def result(self) -> float:
        """The aggregate of all queries, not a number if there is none (as in ir_measures)."""
        if not self.numerators:
            return float("nan")
        return float(self.measure.aggregate(np.array(self.numerators), np.array(self.denominators)))


class GuestMeasure(ir_measures.Measure):
    """A measure of RankSift's catalogue in the form of ir_measures; each one is a subclass, made by :func:`dress`.

    Parameters are RankSift's own, with ``cutoff`` for k, and ``judged_only``, which drops unjudged documents
    (and, unlike trec_eval's ``-J``, no forbidden ones).
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)  # type: ignore[no-untyped-call]
        inside = ", ".join(f"{name}={_text(value)}" for name, value in params.items() if name != "judged_only")
        self.ranksift = parse_measure(f"{self.NAME}({inside})")

    def aggregator(self) -> Agg:
        """The measure's own: mean, ratio of sums, or sum."""
        return OwnAggregate(self.ranksift)

    def __reduce__(self) -> tuple[Any, ...]:
        return revive, (self.NAME, self.params)

    def _param_repr(self, v: Any) -> str:
        """Gains as text: ir_measures' parser does not read negative numbers."""
        return _text(v)


def _text(value: Any) -> str:
    """A parameter in the form that both parsers read."""
    if isinstance(value, Mapping | Gains):
        value = str(Gains.of(value)).strip('{}"').replace(":", "=")
    return repr(str(value)) if isinstance(value, Measure) else repr(value)


def dress(name: str, cls: type[Measure]) -> GuestMeasure:
    """Make ir_measures' form of a measure, under a name."""
    parameters = {"judged_only": ParamInfo(dtype=bool, default=False, desc="drop documents without a judgment")}
    for field in fields(cls):
        if not field.repr:
            continue
        if field.name == "k":
            parameters["cutoff"] = ParamInfo(dtype=int, required=cls.needs_k, desc="ranking cutoff threshold")
        else:
            default = None if field.default is MISSING else field.default
            parameters[field.name] = ParamInfo(default=default)
    about = (cls.__doc__ or "").partition("\n")[0]
    body = {
        "__name__": name, "__doc__": cls.__doc__, "NAME": name,
        "PRETTY_NAME": name, "SHORT_DESC": about, "SUPPORTED_PARAMS": parameters,
    }  # fmt: skip
    made: GuestMeasure = type(name, (GuestMeasure,), body)()
    return made


def revive(name: str, params: dict[str, Any]) -> GuestMeasure:
    """A measure from its name and parameters, in another process that may not know it yet."""
    if PROVIDER not in ir_measures.DefaultPipeline.providers:
        register()
    made: GuestMeasure = ir_measures.measures.registry[name](**params)
    return made


def translate(measure: ir_measures.Measure) -> Measure:
    """RankSift's measure that means the same; an error if there is none."""
    if isinstance(measure, GuestMeasure):
        return measure.ranksift
    if measure.NAME == "RBP" and "rel" not in measure.params:
        raise InputError("RBP of ir_measures is graded where rel is not given", remedy="give rel")
    if measure.NAME == "IPrec":
        raise InputError("IPrec of ir_measures rounds a recall as trec_eval 9 does", remedy="use ranksift's own")
    ours = parse_measure(repr(measure))
    if measure.NAME == "SetF":  # its beta is trec_eval's x, the square of van Rijsbergen's
        return ours(beta=float(measure.params.get("beta", 1)) ** 0.5)
    return ours(max_grade=GDEVAL_MAX_GRADE) if measure.NAME == "ERR" else ours


class RankSiftProvider(ir_measures.Provider):
    """Computes RankSift's measures, and those of ir_measures that mean the same."""

    NAME = "ranksift"

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Whether there is a measure that means the same."""
        measure.validate_params()
        try:
            translate(measure)
        except InputError:
            return False
        return True

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> RankSiftEvaluator:
        return RankSiftEvaluator(list(measures), qrels)


class RankSiftEvaluator(ir_measures.Evaluator):
    """Scores runs against one set of judgments. Every judged query counts, an unanswered one as an empty list."""

    def __init__(self, measures: list[ir_measures.Measure], qrels: Any) -> None:
        self.qrels = _qrels(qrels)
        super().__init__(measures, set(self.qrels.query_ids) if self.qrels else set())

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        if self.qrels is None:
            return
        ranking = _run(run)
        for judged_only in (False, True):
            measures = [m for m in self.measures if bool(m.params.get("judged_only")) is judged_only]
            if measures:
                yield from self._values(measures, ranking, "drop" if judged_only else "zero")

    def _values(self, measures: list[ir_measures.Measure], run: Run, unjudged: Any) -> Iterator[ir_measures.Metric]:
        assert self.qrels is not None
        # Naming the queries spares the guest's complaints: a batch may well have none in common with the judgments.
        ours = [translate(m) for m in measures]
        scores = evaluate(self.qrels, run, ours, unjudged=unjudged, queries=self.qrels.query_ids)
        columns = [scores.column(m) for m in ours]
        for q, query in enumerate(scores.queries):
            for measure, m in zip(measures, columns, strict=True):
                value = QueryValue(scores.values[0, q, m])
                value.numerator, value.denominator = scores.numerators[0, q, m], scores.denominators[0, q, m]
                yield ir_measures.Metric(query_id=query, measure=measure, value=value)


def _qrels(source: Any) -> Qrels | None:
    """Judgments in any of ir_measures' forms; no judgments if they are empty."""
    if isinstance(source, Mapping):
        return read_qrels(source) if any(source.values()) else None
    frame = _frame(source, {"query_id": "query_id", "doc_id": "doc_id", "relevance": "label"})
    return read_qrels(frame) if len(frame) else None


def _run(source: Any) -> Run:
    """A run in any of ir_measures' forms."""
    if isinstance(source, Mapping):
        return read_run(source)
    frame = _frame(source, {"query_id": "query_id", "doc_id": "doc_id", "score": "score"})
    return read_run(frame) if len(frame) else read_run({})


def _frame(source: Any, columns: dict[str, str]) -> Any:
    """The columns of a pandas frame, or of an iterable of named tuples, under RankSift's names."""
    if hasattr(source, "itertuples"):
        return source[list(columns)].rename(columns=columns)
    import polars as pl

    rows = list(source)
    return pl.DataFrame({ours: [getattr(row, theirs) for row in rows] for theirs, ours in columns.items()})


class HarmlessPytrecEval(PytrecEvalProvider):
    """ir_measures' pytrec_eval, which ends the process if all labels of a query are negative.

    Such labels are passed to it as 0: documents that are not relevant, as negative labels are in trec_eval.
    """

    def _evaluator(self, measures: Any, qrels: Any) -> Any:
        given = QrelsConverter(qrels).as_dict_of_dict()
        harmless = {
            q: dict.fromkeys(docs, 0) if max(docs.values(), default=0) < 0 else docs for q, docs in given.items()
        }
        return super()._evaluator(measures, harmless)  # type: ignore[no-untyped-call]


PROVIDER = RankSiftProvider()  # type: ignore[no-untyped-call]


def register(*, first: bool = False) -> SimpleNamespace:
    """Enter the measures, once, and put the provider first or last; the measures by name."""
    known, pipeline = ir_measures.measures.registry, ir_measures.DefaultPipeline.providers
    for name, cls in {**CATALOGUE, "nDCG_0": CATALOGUE["nDCG"]}.items():
        if name not in known:
            ir_measures.measures.register(dress(name, cls), name=name)
    ir_measures.providers.register(PROVIDER)
    harmless = HarmlessPytrecEval()  # type: ignore[no-untyped-call]
    pipeline[:] = [harmless if type(p) is PytrecEvalProvider else p for p in pipeline]
    if PROVIDER in pipeline:
        pipeline.remove(PROVIDER)
    pipeline.insert(0 if first else len(pipeline), PROVIDER)
    return SimpleNamespace(**{name: m for name, m in known.items() if isinstance(m, GuestMeasure)})
