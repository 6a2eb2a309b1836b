"""``ranksift tune``: the parameters of a ranker that are best on other queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import is_alone, note, progress, show, write
from ranksift.cli.train import (
    CutoffSettings,
    Data,
    Freeze,
    Loss,
    Scaling,
    Settings,
    configured,
    end_training,
    of_lists,
    places,
    resumable,
    rule_named,
    tell_what_is_odd,
    told,
    training_folder,
)
from ranksift.errors import InputError

if TYPE_CHECKING:
    from ranksift.evaluation.table import Table
    from ranksift.learning.ranker import Ranker
    from ranksift.learning.tuning import Tuning

# Trials that are shown.
_SHOWN = 10

_RANGE = re.compile(r"(?P<low>[^,]+?)\.\.(?P<high>[^,:]+)(?P<log>:log)?")


def tune(
    data: Data = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="The method to tune; ranksift train --list shows all."),
    ] = None,
    loss: Loss = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="MODEL", help="Fit the best parameters to all examples, and save the model here."
        ),
    ] = None,
    validation: Annotated[
        list[str],
        typer.Option(
            "--validation",
            metavar="DATA",
            help="Examples for early stopping, for choosing the best trial and for the cutoff; may be repeated.",
        ),
    ] = options.NONE,
    trials: Annotated[int, typer.Option("--trials", min=1, help="The largest number of trials.")] = 30,
    folds: Annotated[
        int,
        typer.Option("--folds", min=2, help="The number of folds, if there is no --validation."),
    ] = 5,
    space: Annotated[
        list[str],
        typer.Option(
            "--space",
            metavar="NAME=VALUES",
            help="The values to search: leaves=4,8,16 or C=0.01..100 or C=0.01..100:log; may be repeated. "
            "[default: the method's own space without the parameters given by --set]",
        ),
    ] = options.NONE,
    freeze: Freeze = False,
    settings: Settings = options.NONE,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="The measure for choosing the best trial and for early stopping. [default: the method's own; "
            "nDCG_f@10 with --cutoff]",
        ),
    ] = None,
    gains: options.GainsText = "linear",
    scaling: Scaling = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            "--cutoff",
            metavar="RULE",
            help="Judge lists after this rule has cut them, and save it with the model; ranksift cutoff rules "
            "lists them.",
        ),
    ] = None,
    cutoff_settings: CutoffSettings = options.NONE,
    margin: Annotated[
        float,
        typer.Option(
            "--margin",
            min=0,
            metavar="ERRORS",
            help="How many standard errors better than the default parameters a trial must be to be chosen.",
        ),
    ] = 0.0,
    sampler: Annotated[
        Literal["random", "tpe"],
        typer.Option(
            "--sampler",
            help="How trials are drawn: at random, or by Optuna's TPE, each from the values of those before it.",
        ),
    ] = "random",
    storage: Annotated[
        Path | None,
        typer.Option(
            "--storage",
            metavar="FILE",
            help="Keep the trials here, so that the same command resumes an interrupted search or adds more --trials. "
            "[default: MODEL.tuning, removed when the model is saved]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random number generator.")] = 0,
    labels: options.LabelWords = None,
    skip_bad_rows: options.SkipBadRows = False,
    engine: options.Engine = "local",
    address: options.Address = None,
) -> None:
    """Search for the parameters with which a ranker does best on queries it was not fitted to.

    ranksift tune train.txt --validation vali.txt --model LambdaMART --out model

    If there are no more combinations of values than trials, all of them are tried; otherwise parameters are drawn by
    the sampler. The default parameters are always tried.
    """
    from ranksift.collection.examples import read_examples
    from ranksift.learning.model_folder import place_for_a_model
    from ranksift.learning.tuning import holds_trials

    search = _search(engine, address)
    if not is_alone():
        raise InputError("ranksift tune runs in one process", remedy="start it without torchrun")
    ranker = configured(
        model,
        {
            "loss": loss,
            "freeze": freeze or None,
            "measure": measure,
            "gains": gains,
            "scaling": scaling,
            "seed": seed,
        },
        settings,
        usual=of_lists(cutoff),
    )
    rule = rule_named(cutoff, ranker.measure, cutoff_settings)
    where = _space(ranker, space, settings, stopped=bool(validation))
    if not data:
        raise InputError("no examples are given", remedy="name a LETOR, CSV, JSONL or Parquet file")
    place = None if out is None else place_for_a_model(out)
    training = None if place is None else training_folder(ranker, place, None)
    kept = storage if storage is not None or place is None else place.with_name(f"{place.name}.tuning")
    was_there = kept is not None and kept.exists()
    if kept is not None and storage is None:
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot be made ({error.strerror or error})"
            raise InputError(what, source=str(kept.parent), remedy="make room, or name another folder") from None
    reading = options.reading_of(labels, skip_bad_rows)
    examples = read_examples(data if len(data) > 1 else data[0], **reading)
    held_out = ranker.read_as(examples.feature_names, validation, **reading) if validation else None
    tell_what_is_odd(examples, held_out, ranker)
    with ranker.remembering():  # until the best one is fitted, too
        try:
            found = search(
                ranker,
                examples,
                held_out,
                space=where,
                trials=trials,
                folds=folds,
                cutoff=rule,
                margin=margin,
                sampler=sampler,
                storage=kept,
                seed=seed,
                progress=progress("Tuning"),
            )
        except KeyboardInterrupt:
            if kept is None:
                note("stopped; the trials are lost: --storage would keep them")
            else:
                note(
                    f"stopped; the same command resumes from {kept}"
                    if kept.exists()
                    else "stopped before the first trial"
                )
            raise
        except InputError:
            if kept is not None and not was_there and not holds_trials(kept):
                with suppress(OSError):  # what is wrong already counts more
                    kept.unlink(missing_ok=True)
            raise
        show(_table(found, "validation" if validation else f"{folds} folds"))
        if out is None:
            return
        with resumable(training):
            best = found.fit(checkpoints=training)
    best.save(out)
    end_training(training)
    if kept is not None and storage is None:
        try:
            kept.unlink(missing_ok=True)
        except OSError as error:
            note(f"{kept} cannot be removed ({error.strerror or error}); the model is saved without it")
    write("\n")
    show(told(best, {"training": examples, "validation": held_out}), *places(out, training))


def _search(engine: str, address: str | None) -> Callable[..., Tuning]:
    """What searches: on this machine, or on a cluster."""
    if options.on_ray(engine, address):
        from ranksift.scale.tuning import tune as search_on_ray

        return partial(search_on_ray, address=address)
    from ranksift.learning.tuning import tune as search

    return search


def space_of(given: list[str]) -> dict[str, Any]:
    """Where to search, from words.

    >>> space_of(["C=0.01..100:log", "leaves=4..64", "hidden=[8],[16,8]", "loss=bce,ordinal(k=3,gamma=1)"])
    {'C': (0.01, 100, 'log'), 'leaves': (4, 64), 'hidden': [[8], [16, 8]], 'loss': ['bce', 'ordinal(k=3,gamma=1)']}
    """
    found: dict[str, Any] = {}
    for words in given:
        name, sign, text = (part.strip() for part in words.partition("="))
        if not sign or not name or not text:
            raise InputError(
                f"--space {words!r} is not of the form NAME=VALUES", remedy="write it as --space C=0.01..100:log"
            )
        if name in found:
            raise InputError(f"--space names {name!r} twice", remedy="name it once")
        ends = _RANGE.fullmatch(text)
        if ends is None:
            found[name] = _choices(name, text)
            continue
        found[name] = (_number(ends["low"], words), _number(ends["high"], words), *(["log"] if ends["log"] else []))
    return found


def _choices(name: str, text: str) -> list[Any]:
    """What stands between commas; those in brackets are no such commas."""
    import ast

    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return list(ast.literal_eval(f"[{text}]"))
    words = re.split(r",(?![^()\[\]{}]*[)\]}])", text)
    return [options.value_of(name, word.strip()) for word in words if word.strip()]


def _number(text: str, words: str) -> int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    raise InputError(
        f"--space {words!r}: {text.strip()!r} is not a number", remedy="write it as --space C=0.01..100:log"
    )


def _space(ranker: Ranker, given: list[str], settings: list[str], *, stopped: bool) -> dict[str, Any]:
    """Where to search: where it is said, or in the method's own space, less what is fixed."""
    from ranksift.learning.stacked import StackedRanker

    fixed = options.settings_of(settings)
    if isinstance(ranker, StackedRanker):
        fixed = {ranker.place_of(name): value for name, value in fixed.items()}
    if given:
        found = space_of(given)
        both = next((name for name in found if name in fixed), None)
        if both is not None:
            raise InputError(f"{both} is both --set and in --space", remedy="leave one out")
        return found
    own = ranker.natural_space(stopped=stopped)
    found = {name: values for name, values in own.items() if not {name, name.partition(".")[0]} & {*fixed}}
    if not found:
        raise InputError(
            f"{type(ranker).__name__} has nothing to tune by itself", remedy="name it: --space NAME=VALUES"
        )
    return found


def _table(found: Tuning, judged: str) -> Table:
    """The best trials."""
    from ranksift.evaluation.table import Column, Table

    failed = [t for t in found.trials if t.value is None]
    names = list(found.space.parts)
    shown = found.best_first[:_SHOWN]
    if found.best not in shown:
        shown = (*shown[:-1], found.best)
    rows = [[t.number, *(_cell(t.params[name]) for name in names), t.value] for t in shown]
    notes = ["trial 0: the default parameters"]
    if found.cuts:
        notes.append("each fold of the queries is cut by a rule that is fitted to the others")
    if found.margin:
        notes.append(_choice(found))
    if failed:
        notes.append(f"{len(failed)} failed; the first one: {failed[0].error}")
    columns: list[Column | str] = ["trial", *(Column(name, digits=None) for name in names), str(found.measure)]
    title = f"{type(found.ranker).__name__}, the best {len(rows)} of {len(found.trials)} trials by {judged}"
    return Table(columns, rows, title=title, notes=notes)


def _choice(found: Tuning) -> str:
    """Which trial a margin leaves."""
    chosen, errors = found.best.number, f"{found.margin:g} standard error{'s' * (found.margin != 1)}"
    if found.trials[0].value is None:
        return f"chosen: trial {chosen}, the best value, because trial 0 failed"
    return f"chosen: trial {chosen}, " + (
        f"better by {errors}" if chosen else f"because no other is better by {errors}"
    )


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)
