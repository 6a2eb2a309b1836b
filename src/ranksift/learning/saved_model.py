"""A ranker as files, and back: a card of what it is, and what it learned. Nothing is pickled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ranksift import __version__
from ranksift.collection.examples import Examples
from ranksift.collection.texts import Texts
from ranksift.cutoffs.cutoff import cutoff_of_json
from ranksift.cutoffs.tradeoff import Tradeoff
from ranksift.errors import InputError
from ranksift.files import SUM, parse_json
from ranksift.learning import model_folder
from ranksift.learning.libraries import require
from ranksift.learning.model_folder import CARD
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.scaling import FeatureScale
from ranksift.parameters import path, takes

#: Files that a model may have beside texts of its own.
WEIGHTS, CUTOFF, TRADEOFF = "weights.safetensors", "cutoff.json", "tradeoff.json"

# What every card says; the rest is said of one model, as its data.
_ALWAYS = {"format", "ranksift", "model", "parameters", "feature_names", "cutoff"}
_ALWAYS |= {SUM, model_folder.VERSION, model_folder.FILES, model_folder.REPLACED}


def save(model: Ranker, folder: str | os.PathLike[str]) -> None:
    """What :meth:`Ranker.save` does."""
    require("saving a model", "safetensors")
    from safetensors.numpy import save

    _check_unchanged(model)
    state = {**model._state(), **model._scale.state()}
    arrays = {name: np.ascontiguousarray(value) for name, value in state.items() if not isinstance(value, str)}
    files = {WEIGHTS: save(arrays)}
    files |= {name: value.encode() for name, value in state.items() if isinstance(value, str)}
    if model.cutoff_ is not None:
        files[CUTOFF] = model.cutoff_.to_json().encode()
    if model.tradeoff_ is not None:
        files[TRADEOFF] = json.dumps(model.tradeoff_.to_dict()).encode()
    card = {
        "ranksift": __version__,
        "model": type(model).__name__,
        "parameters": model._fitted_with,
        **model.card_,
        "feature_names": list(model.feature_names_),
        "cutoff": None if model.cutoff_ is None else model.cutoff_.to_dict(),
    }
    model_folder.write_model(folder, card, files, editable=(CUTOFF,))


def _check_unchanged(model: Ranker) -> None:
    """Refuse to save what was learned under parameters that it was not learned with."""
    now = model._plain_parameters()
    changed = next((name for name, value in model._fitted_with.items() if now[name] != value), None)
    if changed is not None:
        what = f"{changed} was changed to {now[changed]!r} after the model was fitted"
        raise InputError(what, remedy="fit it again before it is saved")


@takes(folder=path())
def load(folder: str | os.PathLike[str]) -> Ranker:
    """Read a model that :meth:`Ranker.save` wrote. Files that were changed since are refused, except the cutoff.

    If another process saves a new model into the folder at the same time, the result is the old one or the new one, as
    a whole.

    Examples
    --------
    >>> import tempfile
    >>> from ranksift.learning import RankSVM
    >>> examples = Examples.from_arrays([[0.1], [0.9], [0.3]], [0, 2, 1], ["q", "q", "q"])
    >>> path = Path(tempfile.mkdtemp()) / "model"
    >>> RankSVM().fit(examples).save(path)
    >>> load(path).rank(examples).to_dict()["q"].keys()
    dict_keys(['d2', 'd3', 'd1'])
    """
    import ranksift.learning.methods  # noqa: F401 (the rankers enter themselves)

    target = Path(folder)
    card = model_folder.read_card(target)
    word = card.get("model")
    kind = RANKERS.get(word) if isinstance(word, str) else None
    if kind is None:
        known = ", ".join(RANKERS)
        raise InputError(f"has the unknown model {word!r}", source=str(target / CARD), remedy=f"known are: {known}")
    require("reading a model", "safetensors")
    try:
        model = _restored(kind, card, target)
        _prove(model)
    except InputError as error:
        if str(error).startswith((f"{target}: ", f"{target}{os.sep}")):
            raise
        raise InputError(str(error), source=str(target)) from None  # one part does not know where the others are
    except Exception as error:  # whatever a library says of a file that is not its own
        what = f"is damaged ({type(error).__name__}: {error})"
        raise InputError(what, source=str(target), remedy="train the model again") from None
    return model


def _restored(kind: type[Ranker], card: dict[str, Any], target: Path) -> Ranker:
    from safetensors.numpy import load as load_arrays

    files = model_folder.read_files(target, card)
    model = kind(**{name: value for name, value in card["parameters"].items() if name not in kind.former_parameters})
    try:
        model.check_parameters()
    except InputError as error:  # they were edited into nonsense
        raise InputError(f"is damaged ({error})", source=str(target / CARD), remedy="train the model again") from None
    model._fitted_with = model._plain_parameters()
    model.feature_names_ = _words(card["feature_names"])
    model.card_ = {"data": card["data"], **{name: value for name, value in card.items() if name not in _ALWAYS}}
    state = load_arrays(files[WEIGHTS])
    model._scale = FeatureScale.taken_from(state)
    texts = {name: content.decode() for name, content in files.items() if name not in (WEIGHTS, CUTOFF, TRADEOFF)}
    model._restore({**state, **texts})
    model.cutoff_ = None
    model.tradeoff_, model.cut_choice_ = None, None
    if TRADEOFF in files:
        try:
            model.tradeoff_ = Tradeoff.from_dict(parse_json(files[TRADEOFF]))
        except ValueError as error:
            place = str(model_folder.files_at(target, card) / TRADEOFF)
            raise InputError(f"is damaged ({error})", source=place, remedy="train the model again") from None
    if (card["cutoff"] is None) != (CUTOFF not in files):
        what = f"says that there is {'no' if card['cutoff'] is None else 'a'} cutoff, and its files say otherwise"
        raise InputError(what, source=str(target / CARD), remedy="copy the folder again, or train again")
    if CUTOFF in files:
        model.cutoff_ = cutoff_of_json(files[CUTOFF], str(model_folder.files_at(target, card) / CUTOFF))
    return model


def _words(names: Any) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("feature_names is not a list of words")
    if len(set(names)) < len(names):
        raise ValueError("a feature is named twice")
    return tuple(names)


def _prove(model: Ranker) -> None:
    """Score a list, so that parts of a model that do not belong together are found out when it is read."""
    width, count, scale = len(model.feature_names_), 7, model._scale
    if not scale.centre.shape == scale.spread.shape == (width,):
        raise ValueError(f"the scale is not that of {width} features")
    ids, rows = tuple(map(str, range(count))), np.tile(scale.centre, (count, 1))
    texts = Texts(("a",), tuple(f"{n} a" for n in range(count))) if model.reads_texts() else None
    usual = Examples(
        ("",),
        np.array([0, count]),
        rows,
        np.full(count, np.nan),
        ids,
        model.feature_names_,
        np.arange(count),
        "",
        texts,
    )
    with np.errstate(all="ignore"):
        scores = np.asarray(model._score_of(model._prepared(usual)))
    if scores.shape != (count,) or not np.isfinite(scores).all():
        raise ValueError("scores are not finite, or not one per document")
