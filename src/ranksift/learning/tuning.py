"""Tuning: which parameters of a ranker are best on queries that it was not fitted to."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ranksift import __version__
from ranksift.collection.examples import Examples, Fold, folds_of, read_examples
from ranksift.collection.ragged import Ints
from ranksift.cutoffs.choice import told_once
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.threshold import one_measure
from ranksift.errors import InputError
from ranksift.files import parse_json, read_whole
from ranksift.learning.judged_documents import with_labels
from ranksift.learning.libraries import require
from ranksift.learning.ranker import Ranker, checked_ranker, checked_rule
from ranksift.learning.search_space import Space, SpaceLike, key_of, with_parameters, word
from ranksift.learning.validation import HeldOut, Scored, number_of_folds
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import at_most, choice, function, integer, is_number, number, optional, path, plain, takes

if TYPE_CHECKING:
    import polars as pl

# All are drawn before the first one is tried.
_MOST_TRIALS = 100_000

# Of what each query does to a value.
_DIGITS = 7

# What the storage of a search begins with, and how long it may be: 10,000 trials of 10,000 queries.
_MOST_BYTES = 1_000_000_000
_FIRST = b'{"op_code":0,'
# The number of a line that holds a trial.
_TRIAL = 4

_STUDY, _SEARCH = "ranksift", "search"
# What is kept of a trial beside its value.
_PARAMETERS, _ERROR, _SECONDS, _QUERIES = "parameters", "error", "seconds", "queries"


@dataclass(frozen=True)
class Trial:
    """One try.

    Attributes
    ----------
    number
        The ranker as it was given is number 0.
    params
        The values of the parameters that are searched.
    value
        The measure; None where it failed.
    error
        Why it failed.
    seconds
        What it took.
    queries
        What each query does to the value, which is their mean.
    """

    number: int
    params: Mapping[str, Any]
    value: float | None
    error: str | None = None
    seconds: float = field(default=0.0, compare=False)
    queries: tuple[float, ...] = field(default=(), compare=False, repr=False)

    def errors_ahead(self, other: Trial) -> float:
        """How many standard errors of the difference, over queries, the value is higher than that of another trial."""
        apart = np.subtract(self.queries, other.queries)
        error = float(apart.std(ddof=1)) / np.sqrt(len(apart)) if len(apart) > 1 else np.inf
        ahead = float(apart.mean())
        return ahead / error if error else np.sign(ahead) * np.inf if ahead else 0.0


#: How trials are drawn, by the names of Optuna's samplers.
Sampler: TypeAlias = Literal["random", "tpe"]

#: Makes trials, in whichever order, by a function of their numbers and parameters.
Spread: TypeAlias = Callable[
    [Callable[[int, Mapping[str, Any]], Trial], Iterable[tuple[int, Mapping[str, Any]]]], Iterable[Trial]
]


@dataclass(frozen=True, eq=False)
class Tuning:
    """What a search found.

    Attributes
    ----------
    trials
        All that was tried, in order.
    measure
        What was searched for: the highest, or of a cost the lowest.
    space
        Where it was searched.
    margin
        How many standard errors better than the given ranker a trial must be to be chosen.
    """

    trials: tuple[Trial, ...]
    measure: Measure
    space: Space
    _problem: _Problem = field(repr=False)
    margin: float = 0.0

    @property
    def best_first(self) -> tuple[Trial, ...]:
        """The trials that did not fail, by value; of equal ones the first."""
        sign = -1.0 if self.measure.higher_is_better else 1.0
        done = (trial for trial in self.trials if trial.value is not None)
        return tuple(sorted(done, key=lambda trial: (sign * (trial.value or 0.0), trial.number)))

    @property
    def best(self) -> Trial:
        """The trial of the best value, of equal ones the first; with a margin, of those that are better by it."""
        ranked, given = self.best_first, self.trials[0]
        if not self.margin or given.value is None:
            return ranked[0]
        sign = 1.0 if self.measure.higher_is_better else -1.0
        return next(t for t in ranked if t is given or sign * t.errors_ahead(given) >= self.margin)

    @property
    def cuts(self) -> bool:
        """Whether a rule cut the lists before they were judged."""
        return self._problem.cutoff is not None

    @property
    def best_params(self) -> dict[str, Any]:
        """The best values of the parameters that were searched."""
        return dict(self.best.params)

    @property
    def best_value(self) -> float:
        """The measure of the best trial."""
        return float(self.best.value or 0.0)

    @property
    def ranker(self) -> Ranker:
        """The ranker with the best parameters, not fitted."""
        return with_parameters(self._problem.ranker, self.best.params)

    def fit(self, examples: Any = None, validation: Any = None, **options: Any) -> Ranker:
        """The best ranker, fitted to the examples of the search (or to others), with the search in its card.

        Where the search had a cutoff, so has the ranker: fitted to the validation set, or to the scores of each fold by
        a ranker of the others. Options are those of :meth:`Ranker.fit`.
        """
        problem = self._problem
        given = problem.examples if examples is None else with_labels(read_examples(examples))
        stop_by = problem.validation if examples is None and validation is None else validation
        with told_once():
            model = self.ranker.fit(given, stop_by, **options)
            if problem.cutoff is not None:
                if stop_by is not None:
                    model.fit_cutoff(stop_by, problem.cutoff)
                else:
                    again = replace(problem, ranker=self.ranker, examples=given, validation=None)
                    model.cutoff_ = problem.cutoff.clone().fit_lists(again.held_out(self.ranker).lists)
        model.card_["tuning"] = self.to_dict()
        return model

    def to_frame(self) -> pl.DataFrame:
        """A polars frame: the trials in order, with a column for each parameter, the value, the error and seconds."""
        import polars as pl

        columns: dict[str, Any] = {"trial": [trial.number for trial in self.trials]}
        for name in self.space.parts:
            column = [trial.params[name] for trial in self.trials]
            plain_ones = all(value is None or isinstance(value, bool | int | float | str) for value in column)
            columns[name] = pl.Series(column if plain_ones else [json.dumps(plain(v)) for v in column], strict=False)
        columns[str(self.measure)] = pl.Series([trial.value for trial in self.trials], dtype=pl.Float64)
        columns["error"] = pl.Series([trial.error for trial in self.trials], dtype=pl.String)
        columns["seconds"] = pl.Series([trial.seconds for trial in self.trials], dtype=pl.Float64)
        return pl.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """What a model's card says of the search."""
        return {
            "measure": str(self.measure),
            "value": self.best_value,
            "parameters": plain(self.best_params),
            "value_untuned": self.trials[0].value,
            "trials": len(self.trials),
            "failed": sum(trial.value is None for trial in self.trials),
            "space": self.space.to_dict(),
            "margin": self.margin,
            **self._problem.design(),
        }

    def __repr__(self) -> str:
        failed = sum(trial.value is None for trial in self.trials)
        count = f"{len(self.trials)} trials" + f", {failed} failed" * bool(failed)
        chosen = ", ".join(f"{name}={_short(value)}" for name, value in self.best_params.items())
        name = type(self._problem.ranker).__name__
        return f"<Tuning of {name}: {count}; best {self.measure} {self.best_value:.4f} at {chosen}>"


@takes(
    trials=at_most(_MOST_TRIALS, integer(1)),
    margin=number(least=0, below=1e9),
    sampler=choice(*get_args(Sampler)),
    storage=optional(path()),
    seed=integer(0),
    progress=function(),
    spread=function(),
)
def tune(
    ranker: Ranker,
    examples: Any,
    validation: Any = None,
    *,
    space: SpaceLike | None = None,
    trials: int = 30,
    folds: int = 5,
    measure: MeasureLike | None = None,
    cutoff: Cutoff | None = None,
    margin: float = 0.0,
    sampler: Sampler = "random",
    storage: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
    spread: Spread = starmap,
) -> Tuning:
    """Search for the parameters of a ranker that are best on queries it was not fitted to.

    The ranker as it is given is tried first, so that the best is never worse. Where all parameters have choices, and
    there are no more combinations than trials, each combination is tried once; else they are drawn by the sampler.
    A trial that fails is recorded, and the search goes on. The best value is also the luckiest: what the ranker is
    worth is told by queries that had no part in the search.

    Parameters
    ----------
    ranker
        It is cloned, not fitted. What is not searched stays as it is.
    examples
        The training examples: anything that :func:`read_examples` takes.
    validation
        Examples to stop and to choose by. None: cross-validation; every query is judged by a ranker of the other folds,
        fitted to all of their queries, with nothing that stops it early.
    space
        ``{parameter: list of choices, (low, high) or (low, high, "log")}``. None: the ranker's ``natural_space``.
    trials
        At most so many, and where that is one more, the ranker as it is given.
    folds
        The number of folds, for cross-validation and for the cutoff.
    measure
        What is best; None: the ranker's own measure. Equal scores count as the worst order of their documents.
    cutoff
        A rule that drops documents before they are judged. The rule for a fold of queries is fitted to the other folds.
        None: nothing is dropped; only measures of filtered lists, as nDCG_f, are of what a ranker with a cutoff of its
        own keeps.
    margin
        By how many standard errors of the difference, over queries, a trial has to be better than the ranker as it is
        given, to be chosen. 0: the best value wins, as it does where the ranker as it is given fails. Of many trials on
        few queries that is mostly the luckiest one: with a margin of 1 or 2, parameters that are known to be good stay
        unless there is some evidence for others.
    sampler
        ``"random"``: all trials are drawn at random before the first one is tried, so that they may be tried at the
        same time. ``"tpe"``: Optuna's Tree-structured Parzen Estimator, with its own settings. The first ten trials are
        those of ``"random"``; each later one is drawn from the values of all before it.
    storage
        A file (Optuna's journal, lines of JSON) that keeps trials as they finish: a search that is broken off goes on
        from there, to the same result, and one that is done can be given more trials. One of another search is refused.
    seed
        The seed of the drawn parameters and of the folds.
    progress
        Wraps the trials.
    spread
        Makes the trials: one after another, or as :func:`ranksift.scale.tune` does on many machines.

    Examples
    --------
    >>> from ranksift.learning import RankSVM
    >>> draw = np.random.default_rng(0)
    >>> x = draw.normal(size=(60, 2))
    >>> examples = Examples.from_arrays(x, (x[:, 0] > 0).astype(int), np.repeat(np.arange(12), 5))
    >>> tune(RankSVM(), examples, space={"C": [0.01, 1.0, 100.0]}, folds=3).best_params
    {'C': 1.0}
    >>> tune(RankSVM(), examples, space={"C": (0.01, 100.0, "log")}, trials=12, folds=3, sampler="tpe")
    <Tuning of RankSVM: 12 trials; best nDCG@10 1.0000 at C=1>
    """
    require("tuning", "optuna")
    checked_ranker(ranker)
    if cutoff is not None:
        checked_rule(cutoff)
    given = with_labels(read_examples(examples))
    held_out = None if validation is None else with_labels(ranker.read_as(given.feature_names, validation))
    by = one_measure(ranker.measure if measure is None else measure)
    problem = _Problem(ranker, given, held_out, number_of_folds(folds), by, cutoff, sampler, seed)
    problem.parts()  # a wrong number of folds is refused now
    wanted = ranker.natural_space(stopped=held_out is not None) if space is None else space
    searched = Space.of(wanted, ranker)
    if not searched.parts:
        what = "the space is empty" if space is not None else f"{type(ranker).__name__} has nothing to tune by itself"
        raise InputError(what, remedy="give a space of parameters")
    with _quiet(), ranker.remembering(), told_once():
        candidates = searched.candidates(ranker, int(trials), seed)
        for candidate in candidates:  # a word in place of a number is found before the first trial
            with_parameters(ranker, candidate).check_can_fit()
        record = _record(storage, problem, searched)
        if sampler == "tpe":
            # A search that goes on asks for all of its trials again, and finds in the record what they are worth.
            drawn = searched.one_by_one(ranker, int(trials), seed, record.told)
            found = []
            for _, asked in zip(progress(candidates), enumerate(drawn), strict=False):
                found.append(record.trial(*asked) or record.add(*spread(problem.trial, [asked])))
                record.tell(found[-1])
        else:
            known = [record.trial(number, candidate) for number, candidate in enumerate(candidates)]
            todo = [(number, candidate) for number, candidate in enumerate(candidates) if known[number] is None]
            made = iter(spread(problem.trial, todo))
            found = [known[number] or record.add(next(made)) for number, _ in enumerate(progress(candidates))]
            found.sort(key=lambda trial: trial.number)
    if all(trial.value is None for trial in found):
        raise InputError(f"all {len(found)} trials failed; the first one: {found[0].error}")
    return Tuning(tuple(found), problem.measure, searched, problem, float(margin))


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is to be tuned, and how a try is valued."""

    ranker: Ranker
    examples: Examples
    validation: Examples | None
    folds: int
    measure: Measure
    cutoff: Cutoff | None
    sampler: Sampler
    seed: int

    def parts(self) -> list[Fold]:
        """What is fitted, and judged."""
        if self.validation is not None:
            return [Fold(self.examples, self.validation, self.validation)]
        return [Fold(others, None, own) for others, own in self.examples.folds(self.folds, self.seed)]

    def held_out(self, ranker: Ranker) -> HeldOut:
        """The documents of all queries, scored by rankers that were not fitted to them."""
        return HeldOut.of([Scored(ranker, fold, worst_first=True) for fold in self.parts()], ranker)

    def judged(self, ranker: Ranker) -> HeldOut:
        """What the measure of a ranker is of."""
        found = self.held_out(ranker)
        if self.cutoff is None:
            return found
        return found.cut(self.cutoff, None if self.validation is None else self._parts_of(found.queries))

    def _parts_of(self, queries: Sequence[str]) -> Ints:
        """Folds of the validation queries, for a cutoff."""
        if len(queries) < 2:
            return np.zeros(len(queries), dtype=np.int64)
        return folds_of(len(queries), min(self.folds, len(queries)), self.seed)

    def trial(self, number: int, params: Mapping[str, Any]) -> Trial:
        """Try some parameters."""
        start = time.perf_counter()
        value, error = None, None
        queries: tuple[float, ...] = ()
        try:
            found = self.judged(with_parameters(self.ranker, params))
            queries = tuple(float(f"{each:.{_DIGITS}g}") for each in found.influences(self.measure).tolist())
            value = found.value(self.measure)
        except MemoryError:
            raise
        except InputError as fault:
            error = str(fault)
        except Exception as fault:  # whatever a library raises for parameters that it cannot use
            error = f"{type(fault).__name__}: {fault}"
        return Trial(number, params, value, error, time.perf_counter() - start, queries)

    def design(self) -> dict[str, Any]:
        """How a try is valued, for a model's card."""
        how = {"validation": self.validation.name} if self.validation is not None else {"folds": self.folds}
        rule = None if self.cutoff is None else _rule(self.cutoff)
        return {**how, "cutoff": rule, "sampler": self.sampler, "seed": self.seed}

    def fingerprint(self, space: Space) -> dict[str, str]:
        """What two searches must share for their trials to be the same, by name."""
        return {
            "version": __version__,
            "method": type(self.ranker).__name__,
            "parameters": json.dumps(plain(self.ranker.get_params()), sort_keys=True),
            "space": json.dumps(space.to_dict()),
            "measure": str(self.measure),
            "cutoff": json.dumps(None if self.cutoff is None else _rule(self.cutoff), sort_keys=True),
            "folds": str(self.folds) if self.validation is None or self.cutoff is not None else "",
            "sampler": self.sampler,
            "seed": str(self.seed),
            "examples": _digest(self.examples),
            "validation": "" if self.validation is None else _digest(self.validation),
        }


def _rule(cutoff: Cutoff) -> dict[str, Any]:
    return {"rule": cutoff.rule, **{name: plain(value) for name, value in cutoff.get_params().items()}}


def _digest(examples: Examples) -> str:
    """The same for the same documents in the same order, whatever their names."""
    found = hashlib.sha256(json.dumps([examples.query_ids, examples.feature_names]).encode())
    for array in (examples.offsets, examples.features, examples.labels):
        values = np.where(np.isnan(array), np.nan, array) if array.dtype.kind == "f" else array  # one kind of NaN
        found.update(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes())
    if examples.texts is not None:
        for name, told in vars(examples.texts).items():
            found.update(json.dumps([name, told if told is None else list(told)]).encode())
    return found.hexdigest()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- the storage -------------------------------------------------------------------------------------------------------


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Optuna say nothing but what is wrong."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


class _Record:
    """The trials that are finished, in Optuna's form. One that is being done is not there, and is done again.

    So is one that does not say what each of so many queries does to its value.

    Attributes
    ----------
    told
        A study of the trials that :meth:`tell` was given, from which TPE draws.
    """

    def __init__(self, study: Any, space: Space, queries: int, path: Path | None = None) -> None:
        import optuna

        self._study, self._space, self._path = study, space, path
        self.told = optuna.create_study(direction=study.direction)
        self._done: dict[str, Any] = {}
        for trial in study.get_trials(deepcopy=False):
            if not _is_finished(trial):
                raise ValueError(f"trial {trial.number} is not one of RankSift's")
            each = trial.user_attrs.get(_QUERIES)
            told = isinstance(each, list) and all(map(is_number, each))
            if trial.state.name != "COMPLETE" or (told and len(each) == queries):
                self._done.setdefault(trial.user_attrs[_PARAMETERS], trial)

    def trial(self, number: int, params: Mapping[str, Any]) -> Trial | None:
        """The trial of some parameters, if it is there."""
        found = self._done.get(key_of(params))
        if found is None:
            return None
        kept = found.user_attrs
        value = found.value if found.state.name == "COMPLETE" else None
        queries = () if value is None else tuple(map(float, kept[_QUERIES]))
        return Trial(number, params, value, kept.get(_ERROR), kept.get(_SECONDS, 0.0), queries)

    def add(self, trial: Trial) -> Trial:
        """Keep a trial."""
        try:
            self._study.add_trial(self._frozen(trial))
        except OSError as error:
            what = f"cannot be written ({error.strerror or error})"
            remedy = "make room; the same command then goes on after the trials that it holds"
            raise InputError(what, source=str(self._path), remedy=remedy) from None
        return trial

    def tell(self, trial: Trial) -> None:
        """Let what a trial is worth decide where the next ones are; the ranker's own may lie outside the space."""
        if all(value in self._space.parts[name] for name, value in trial.params.items()):
            self.told.add_trial(self._frozen(trial))

    def _frozen(self, trial: Trial) -> Any:
        from optuna.trial import TrialState, create_trial

        # Optuna has no place for parameters outside the space.
        inside = {name: value for name, value in trial.params.items() if value in self._space.parts[name]}
        distributions = self._space.distributions()
        attributes = {_PARAMETERS: key_of(trial.params), _SECONDS: trial.seconds, _QUERIES: list(trial.queries)}
        return create_trial(
            state=TrialState.FAIL if trial.value is None else TrialState.COMPLETE,
            value=trial.value,
            params={name: word(value) for name, value in inside.items()},
            distributions={name: distributions[name] for name in inside},
            user_attrs=attributes if trial.error is None else {**attributes, _ERROR: trial.error},
        )


def _is_finished(trial: Any) -> bool:
    """Whether a trial is as :meth:`_Record.add` keeps it: the file may be a stranger's."""
    kept = trial.user_attrs
    error, seconds = kept.get(_ERROR), kept.get(_SECONDS, 0.0)
    known = isinstance(kept.get(_PARAMETERS), str) and is_number(seconds) and (error is None or isinstance(error, str))
    return known and (is_number(trial.value) if trial.state.name == "COMPLETE" else trial.state.name == "FAIL")


def _record(storage: str | os.PathLike[str] | None, problem: _Problem, space: Space) -> _Record:
    """The record of a search: in a file, or in memory only."""
    import optuna

    queries = len((problem.examples if problem.validation is None else problem.validation).query_ids)
    directions = optuna.study.StudyDirection
    direction = directions.MAXIMIZE if problem.measure.higher_is_better else directions.MINIMIZE
    if storage is None:
        return _Record(optuna.create_study(direction=direction), space, queries)
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path = Path(storage)
    try:
        _mend(path)
        kept = JournalStorage(JournalFileBackend(str(path), lock_obj=_NoLock()))  # type: ignore[arg-type]
        if any(study.study_name == _STUDY for study in kept.get_all_studies()):
            study = optuna.load_study(storage=kept, study_name=_STUDY)
        else:
            study = optuna.create_study(storage=kept, study_name=_STUDY, direction=direction)
        if study.directions != [direction]:
            raise ValueError("another direction is the better one")
        _check_same(study, problem.fingerprint(space), path)
        return _Record(study, space, queries, path)
    except OSError as error:
        what = f"cannot be the storage of a search ({error.strerror or error})"
        raise InputError(what, source=str(path), remedy="name another file") from None
    except InputError:
        raise
    except Exception as error:  # whatever Optuna does with records that it did not write
        what = f"is a damaged storage ({type(error).__name__}: {error})"
        raise InputError(what, source=str(path), remedy="name another file, or remove this one") from None


class _NoLock:
    """Every record is one write at the end of the file. A lock's file would outlive a process that is killed."""

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        pass


def _mend(path: Path) -> None:
    """Cut off a last line that was not written to its end, as when the power goes; refuse what is no storage."""
    if not path.exists():
        return
    held = read_whole(path, _MOST_BYTES)
    whole = held[: held.rfind(b"\n") + 1]
    for n, line in enumerate(whole.splitlines() or [held], start=1):
        if not (_is_record(line) or (not whole and _FIRST.startswith(line[: len(_FIRST)]))):
            remedy = "name another file"
            raise InputError("is not a storage of a search", source=str(path), line=n, remedy=remedy)
    if len(whole) < len(held):
        os.truncate(path, len(whole))


def holds_trials(path: Path) -> bool:
    """Whether the storage of a search holds a trial that did not fail: somebody may want to go on from there."""
    with suppress(OSError, RecursionError, TypeError, ValueError, AttributeError):
        records = (json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n"))
        return any(record.get("op_code") == _TRIAL and record.get("value") is not None for record in records)
    return False


def _is_record(line: bytes) -> bool:
    try:
        found = parse_json(line)
    except ValueError:
        return False
    return isinstance(found, dict) and "op_code" in found


def _check_same(study: Any, fingerprint: Mapping[str, str], path: Path) -> None:
    """Refuse a file that is of another search."""
    known = study.user_attrs.get(_SEARCH)
    if known is None:
        if study.get_trials(deepcopy=False):
            raise InputError("is not a storage of a search by RankSift", source=str(path), remedy="name another file")
        study.set_user_attr(_SEARCH, dict(fingerprint))
        return
    known = {"sampler": "random", **known}  # as it was before there was another one
    other = [name for name, value in fingerprint.items() if known.get(name) != value]
    if other:
        raise InputError(
            f"is of another search: {_and(other)} differ{'s' * (len(other) == 1)}",
            source=str(path),
            remedy="name another storage, or remove this one",
        )


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
