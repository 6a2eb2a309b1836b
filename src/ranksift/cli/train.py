"""``ranksift train``: a ranker from labelled examples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ranksift.cli import options
from ranksift.cli.output import check_picture, draw, heard_once, is_first, note, progress, show
from ranksift.errors import InputError
from ranksift.evaluation.table import Column, Table

if TYPE_CHECKING:
    from ranksift.collection.examples import Examples
    from ranksift.learning.ranker import Ranker
    from ranksift.learning.training_folder import TrainingFolder
    from ranksift.measures.names import MeasureLike

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The method to train; --list shows all. text+NAME trains NAME on top of a text network.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Set a parameter of the method, such as trees=500; may be repeated."
    ),
]
Loss = Annotated[str | None, typer.Option("--loss", metavar="NAME", help="The loss, for methods that offer several.")]
Validation = Annotated[
    list[str],
    typer.Option(
        "--validation", metavar="DATA", help="Examples for early stopping and for fitting the cutoff; may be repeated."
    ),
]
MeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME",
        help="The measure for early stopping and for the cutoff. [default: the method's own, and nDCG_f@10 with a "
        "cutoff]",
    ),
]
Scaling = Annotated[
    Literal["none", "standard", "query"] | None,
    typer.Option(
        "--scaling",
        help="How features are scaled; query means from 0 to 1 within each query. [default: the method's own]",
    ),
]
CutoffSettings = Annotated[
    list[str],
    typer.Option(
        "--cutoff-set",
        metavar="NAME=VALUE",
        help="Set a parameter of the rule, such as by=zscore; may be repeated.",
    ),
]
Freeze = Annotated[
    bool,
    typer.Option(
        "--freeze", help="Train only the layers on top of the text encoder; without a GPU this takes minutes."
    ),
]
Checkpoints = Annotated[
    Path | None,
    typer.Option(
        "--checkpoints",
        metavar="DIR",
        help="Keep the state and the log of training on texts here; the same command resumes an interrupted "
        "run. [default: MODEL.training; checkpoints are removed when the model is saved]",
    ),
]
AtMost = Annotated[
    str | None,
    typer.Option("--at-most", metavar="LIMITS", help='Choose the best cut within these limits, such as "Empty<=0.1".'),
]
Data = Annotated[
    list[str] | None,
    typer.Argument(metavar="DATA...", help="Examples: LETOR, CSV, JSONL or Parquet files.", show_default=False),
]


@heard_once()
def train(
    data: Data = None,
    model: Model = None,
    loss: Loss = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="MODEL", help="Write the model into this folder.")
    ] = None,
    validation: Validation = options.NONE,
    freeze: Freeze = False,
    settings: Settings = options.NONE,
    measure: MeasureName = None,
    gains: options.GainsText = "linear",
    scaling: Scaling = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            "--cutoff",
            metavar="RULE",
            help="Also fit this rule, which drops documents; ranksift cutoff rules lists them.",
        ),
    ] = None,
    cutoff_settings: CutoffSettings = options.NONE,
    at_most: AtMost = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Draw the trade-off between forbidden documents shown and good ones hidden."
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option("--folds", min=3, help="Judge the method by cross-validation before training the model."),
    ] = None,
    checkpoints: Checkpoints = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the random number generator.")] = 0,
    labels: options.LabelWords = None,
    skip_bad_rows: options.SkipBadRows = False,
    engine: options.Engine = "local",
    address: options.Address = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="With --engine ray, how many processes train the network. [default: 2]"),
    ] = None,
    list_models: Annotated[
        bool, typer.Option("--list", help="List the methods, or with --model the parameters of one, and exit.")
    ] = False,
) -> None:
    """Train a ranker, and save it with a card that says how it was made.

    ranksift train train.txt --validation vali.txt --model LambdaMART --out model
    """
    from ranksift.collection.examples import read_examples
    from ranksift.cutoffs.limits import Limits
    from ranksift.learning.model_folder import place_for_a_model
    from ranksift.learning.ranker import FEWEST_TO_CHECK

    if list_models:
        show(_list(model))
        return
    on_ray = options.on_ray(engine, address)
    if workers is not None and not on_ray:
        raise InputError(
            "--workers is only for a Ray cluster", remedy="give --engine ray too, or start it with torchrun"
        )
    if at_most is not None and cutoff is None and model is not None and not method_named(model).brings_cut():
        cutoff = "global"
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
    rule = rule_named(cutoff, ranker.measure, limited(cutoff, cutoff_settings, at_most))
    check_picture(plot)
    if at_most is not None:
        Limits.of(at_most)
        if out is None:
            raise InputError("--at-most belongs to the model that --out writes", remedy="name a folder: --out MODEL")
    if out is not None and not validation:
        ranker.check_alone()
    if not data:
        raise InputError("no examples are given", remedy="name a LETOR, CSV, JSONL or Parquet file")
    if out is None and folds is None:
        raise InputError("no folder is named", remedy="say where to write the model: --out MODEL")
    kept = None if out is None else training_folder(ranker, place_for_a_model(out), checkpoints)
    reading = options.reading_of(labels, skip_bad_rows)
    examples = read_examples(data if len(data) > 1 else data[0], **reading)
    held_out = None
    if validation:
        held_out = ranker.read_as(examples.feature_names, validation, **reading)
    tell_what_is_odd(examples, held_out, ranker)
    if measure is not None and held_out is not None and getattr(ranker, "stop_by", None) == "loss":
        note(f"{type(ranker).__name__} stops by its loss; with --set stop_by=measure it stops by {measure}")
    if folds is not None:
        _cross_validated(ranker, examples, folds, rule, seed)
    if out is None:
        return
    with resumable(kept):
        if on_ray:
            from ranksift.scale.training import fit as fit_on_ray

            many = 2 if workers is None else workers
            ranker = fit_on_ray(ranker, examples, held_out, workers=many, address=address, checkpoints=kept)
        else:
            ranker.fit(examples, held_out, checkpoints=kept)
    if not is_first():
        return
    if rule is not None:
        if held_out is None:
            note(
                "the cutoff is fitted to the documents that the model was trained on, which makes it too optimistic; "
                "give --validation"
            )
        ranker.fit_cutoff(examples if held_out is None else held_out, rule)
    elif at_most is not None:
        ranker.at_most(at_most)
    if plot is not None:
        _draw_tradeoff(ranker, at_most, plot)
    ranker.save(out)
    end_training(kept)
    checked = [] if ranker.cut_choice_ is None else [ranker.cut_choice_.table(marked=at_most is None)]
    show(told(ranker, {"training": examples, "validation": held_out}), *checked, *_kept_to(ranker), *places(out, kept))
    if ranker.brings_cut() and rule is None and not checked:
        note(f"the cutoff was not checked: this takes {FEWEST_TO_CHECK} held-out queries; give more as --validation")


def training_folder(ranker: Ranker, model: Path, given: Path | None) -> TrainingFolder | None:
    """Where a training is kept: beside the model, unless another folder is named; None if the method keeps none."""
    from ranksift.learning.training_folder import TrainingFolder

    if not ranker.keeps_checkpoints():
        if given is not None:
            what = f"--checkpoints is only for rankers of texts, and {type(ranker).__name__} is not one"
            raise InputError(what, remedy="leave it out")
        return None
    path = model.with_name(f"{model.name}.training") if given is None else given
    if model.resolve() in (path.resolve(), *path.resolve().parents):
        raise InputError("is in the folder of the model", source=str(path), remedy="name another folder: --checkpoints")
    folder = TrainingFolder(path, progress=progress, note=note)
    folder.check()
    return folder


@contextmanager
def resumable(kept: TrainingFolder | None) -> Iterator[None]:
    """When training is interrupted, say how to resume it."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None and kept.begun():
            note(f"stopped; the same command resumes from {kept.path}")
        raise


def end_training(kept: TrainingFolder | None) -> None:
    """Remove the checkpoints of a model that is saved, and draw its logs where matplotlib is there."""
    from ranksift.plotting import can_draw

    if kept is None:
        return
    try:
        kept.remove_checkpoints()
        if kept.logs() and can_draw():
            draw(kept.plot(), kept.picture)
    except InputError as error:  # the model is there, and counts more
        note(f"{error}; the model is saved")


def places(model: Path, kept: TrainingFolder | None) -> list[str]:
    """Where the model is, and the log of its training."""
    found = [f"The model: {model}"]
    return found if kept is None or not kept.logs() else [*found, f"The log of its training: {kept.path}"]


def _kept_to(ranker: Ranker) -> list[str]:
    """If limits were given, the threshold and the values that they take."""
    from ranksift.cutoffs.threshold import GlobalCutoff

    rule = ranker.cutoff_
    if not isinstance(rule, GlobalCutoff) or rule.at_most is None:
        return []
    came_to = ", ".join(f"{name} {value:.4f}" for name, value in rule.fitted_on_["limits"].items())
    best = f"Within {rule.limits} the best {rule.measure} is {rule.value_:.4f}"
    return [f"{best}, with a threshold of {rule.threshold_:.4g}: {came_to}."]


def _draw_tradeoff(ranker: Ranker, at_most: str | None, path: Path) -> None:
    """The curve of all thresholds, with the model's own cut marked."""
    curve, rule = ranker.tradeoff_, ranker.cutoff_
    if curve is None or rule is None:
        raise InputError("there is no cutoff to draw", remedy="leave --plot out, or give --validation and --cutoff")
    of_rules = {"filter-all": math.inf, "rank-only": -math.inf}
    if rule.rule in ("fixed", "global"):  # others do not cut on the score itself
        of_rules[rule.rule] = vars(rule)["threshold_"]
    # The lowest of the thresholds that are no lower than the rule's: both keep the same documents.
    chosen = int((curve.thresholds >= of_rules[rule.rule]).sum()) - 1 if rule.rule in of_rules else None
    draw(curve.plot(chosen, at_most), path)


def told(ranker: Ranker, given: dict[str, Examples | None]) -> Table:
    """What the model gives, on what it was fitted to and on what it was stopped by."""
    from ranksift.learning.judged_documents import with_labels

    rows: list[list[str | int | float]] = []
    for name, examples in given.items():
        if examples is not None:
            found = ranker.judged(with_labels(examples))
            value, known = found.value(ranker.measure, ranker.gains, cut=True), found.examples
            dropped = [] if found.kept is None else [1.0 - float(found.kept.mean())]
            rows.append([name, len(known.query_ids), len(known), value, *dropped])
    measure = str(ranker.measure)
    columns: list[Column | str] = ["", "queries", "documents", measure]
    if ranker.cutoff_ is not None:
        columns.append(Column("dropped", digits=1, style="percent"))
    count = len(ranker.feature_names_)
    features = [f"{count} feature{'s' * (count != 1)}"] if count or not ranker.reads_texts() else []
    title = f"{type(ranker).__name__} from {' and '.join([*['texts'] * ranker.reads_texts(), *features])}"
    notes = (
        []
        if ranker.cutoff_ is None
        else [f"{measure} is computed on what the model's cutoff, {ranker.cutoff_.rule}, keeps"]
    )
    return Table(columns, rows, title=title, notes=notes)


def tell_what_is_odd(examples: Examples, held_out: Examples | None, ranker: Ranker) -> None:
    """Warn about data that can be learned from, but perhaps should not be."""
    from ranksift.collection.gains import Gains

    labels, gains = examples.labels[examples.judged], Gains.of(ranker.gains)
    if len(labels) and labels.min() == labels.max():
        if ranker.reads_texts():  # which refuses it
            return
        note(f"{examples.name}: every label is {labels[0]:g}, so there is nothing to learn")
    unused = gains.unused(labels)
    if unused:
        note(f"{examples.name}: {unused}")
    if len(labels) and ranker.brings_cut() and (gains(labels) >= 0).all():
        from ranksift.collection.gains import ZERO_AS_FORBIDDEN

        hint = f"; {ZERO_AS_FORBIDDEN}" if labels.min() == 0 else ""
        note(
            f"{examples.name}: no gain is negative, so there is nothing to filter; {type(ranker).__name__} may still "
            f"drop good documents, and LambdaMART drops none{hint}"
        )
    if held_out is not None:
        both = len({*examples.query_ids} & {*held_out.query_ids})
        if both:
            note(
                f"{held_out.name}: {both} of {len(held_out.query_ids)} queries have the id of a training query; if "
                "these are the same queries, training stops too late and the cut drops too little"
            )


def configured(model: str | None, given: dict[str, Any], settings: list[str], usual: dict[str, Any]) -> Ranker:
    """A ranker by its name, with the parameters that were given, and usual ones where others were not."""
    if model is None:
        raise InputError("no method is named", remedy="name one: --model LambdaMART; --list shows all")
    from ranksift.learning.search_space import parameter_of
    from ranksift.learning.stacked import StackedRanker

    ranker = method_named(model)
    known = ranker.get_params()
    parameters = {name: value for name, value in given.items() if value is not None}
    own = options.settings_of(settings)
    if isinstance(ranker, StackedRanker):
        of_text = ("loss", "freeze")
        parameters = {f"text.{name}" if name in of_text else name: value for name, value in parameters.items()}
        own = {ranker.place_of(name): value for name, value in own.items()}
    for name in own:
        if name in parameters and parameters[name] != known.get(name):
            option = name.rpartition(".")[2]
            raise InputError(f"{name} is given both by --{option} and by --set", remedy="leave one out")
    parameters = {**usual, **parameters, **own}
    if "freeze" not in known and "options" in known and parameters.pop("freeze", False):  # of the model inside
        parameters["options"] = {**(parameters.get("options") or {}), "freeze": True}
    for name in parameters:
        parameter_of(ranker, name)  # refuses one that is unknown
    ranker.set_params(**nested(parameters, known))
    ranker.check_can_fit()
    return ranker


def nested(parameters: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """Parameters of which some are entries of a mapping, as text.freeze is of text.

    >>> nested({"text.freeze": True, "text.epochs": 2, "folds": 3}, {"text": None})
    {'folds': 3, 'text': {'freeze': True, 'epochs': 2}}
    """
    found = {name: value for name, value in parameters.items() if "." not in name}
    for name, value in parameters.items():
        whole, dot, key = name.partition(".")
        if dot:
            found[whole] = {**(found.get(whole, known[whole]) or {}), key: value}
    return found


def method_named(name: str) -> Ranker:
    """A method by its name, in small letters too, as it is by default; text+NAME is the method NAME on top of texts."""
    from ranksift.learning.methods import SHORT_NAMES, known_rankers
    from ranksift.learning.stacked import StackedRanker
    from ranksift.learning.text.ranker import TextRanker

    below, plus, top = name.partition("+")
    if plus:
        if not isinstance(method_named(below), TextRanker):
            what = f"method {name!r}: only a text ranker can be combined with another method, and {below!r} is not one"
            raise InputError(what, remedy="write it as text+LambdaMARTf")
        return StackedRanker(type(method_named(top)).__name__)
    rankers = known_rankers()
    by_word = {word.lower().replace("-", ""): kind for word, kind in rankers.items()}
    by_word |= {short: rankers[word] for short, word in SHORT_NAMES.items()}
    kind = by_word.get(name.lower().replace("-", "").replace("_", ""))
    if kind is None:
        raise InputError(f"method {name!r} is unknown", remedy=f"use {', '.join(rankers)}")
    return kind()


def of_lists(cutoff: str | None) -> dict[str, Any]:
    """What is taken for the measure if none is named: the method's own, or one of lists as they are cut."""
    return {} if cutoff is None else {"measure": "nDCG_f@10"}


def limited(cutoff: str | None, settings: list[str], at_most: str | None) -> list[str]:
    """Parameters of a rule, with the limits that are given; of a method's own cut they are not a rule's."""
    if at_most is None or cutoff is None:
        return settings
    if cutoff != "global":
        raise InputError(f"the rule {cutoff} cannot keep limits", remedy="leave --at-most out, or use --cutoff global")
    return [*settings, f"at_most={at_most}"]


def rule_named(name: str | None, measure: MeasureLike, settings: list[str]) -> Any:
    """A cutoff by its word, fitted to a measure where it is one that is; None if none is named."""
    from ranksift.cutoffs.rules import rule_of

    own = options.settings_of(settings, "--cutoff-set")
    if name is None:
        if own:
            raise InputError("--cutoff-set needs a rule, and none is named", remedy="name it: --cutoff RULE")
        return None
    kind = rule_of(name)
    known = kind().get_params()
    unknown = next((word for word in own if word not in known), None)
    if unknown is not None:
        what = f"has: {', '.join(known)}" if known else "has none"
        raise InputError(f"rule {name} has no parameter {unknown!r}", remedy=f"it {what}")
    rule = kind(**({"measure": measure} if "measure" in known else {}) | own)
    rule.check_parameters()
    return rule


def _cross_validated(ranker: Ranker, examples: Examples, folds: int, rule: Any, seed: int) -> None:
    from ranksift.learning.validation import cross_validated, three_way
    from ranksift.report import scores as report

    measures = [str(ranker.measure)] + [m for m in ("nDCG@10", "AP") if m != str(ranker.measure)]
    parts = three_way(examples, folds, seed)
    found = cross_validated([ranker], parts, measures, cutoff=rule, progress=progress("Training", folds))
    show(report.table(found, per_query=False, digits=4, title=f"{folds} folds, {len(found.queries)} queries"))


def _list(model: str | None) -> Table:
    """The methods, or the parameters of one."""
    from ranksift.learning.methods import known_rankers, summary_of
    from ranksift.report.parameters import parameter_table

    if model is None:
        rows = [[name, summary_of(kind)] for name, kind in sorted(known_rankers().items())]
        return Table(["method", "what it is"], rows, notes=["--list --model NAME shows the parameters of a method"])
    kind = type(method_named(model))
    return parameter_table(kind, summary_of(kind), scaling=kind.natural_scaling)
