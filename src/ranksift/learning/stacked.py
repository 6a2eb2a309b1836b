"""A ranker of features on top of text rankers: what they say of documents are columns beside others.

A network knows the documents that it was fitted to too well to say anything of them that a ranker on top could learn
from. So queries are held out in turn (:mod:`~ranksift.learning.cross_fitting`): the columns of a training document are
the outputs of networks that have not seen its query, and those of a new document are the mean over the networks of all
folds.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.examples import Examples, folds_of
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats
from ranksift.collection.text_features import text_features
from ranksift.cutoffs.threshold import MEASURE
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.cross_fitting import FOLDS, in_turns
from ranksift.learning.distillable import Distillable
from ranksift.learning.inner_models import as_one, one_by_one, restored, state_of, with_prefix
from ranksift.learning.judged_documents import check_labels_differ
from ranksift.learning.outputs import speaking_of
from ranksift.learning.ranker import RANKERS, Ranker
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.text.ranker import TextRanker
from ranksift.learning.training_folder import TrainingFolder
from ranksift.measures.names import MeasureLike
from ranksift.parameters import Kind, flag, integer, optional, parameter, several, word

#: What one fold has: for each set-up the networks of all seeds.
Member = tuple[tuple[TextRanker, ...], ...]

# The file of what the networks are, and the prefix of what the ranker on top has learned.
_STACK, _TOP = "stack.json", "top-"

# From the seed of a network to that of the next one, far from seeds that users take one after another.
_NEXT_SEED = 1_000_003

_MAPPING = Kind("a mapping such as {'freeze': True}", lambda value: isinstance(value, Mapping))


@dataclass(eq=False)
class StackedRanker(Distillable):
    """A ranker of features on top of text rankers, whose outputs are columns beside features.

    Columns are the features of the examples, if there are any, simple features of the texts (``simple``), and all
    outputs of the text rankers: for an ordinal loss, the log-odds of each gain. Text rankers are fitted with queries
    held out in turn: each training document has the outputs of networks that have not seen its query, a new document
    the mean over the networks of all folds. A validation set stops the networks and the ranker on top. Documents are
    dropped by the cutoff of the ranker on top, if it has one.

    Attributes
    ----------
    texts_
        The fitted text rankers: one entry per fold, with one per set-up, with one per seed.
    top_
        The fitted ranker on top.
    columns_
        The columns that it sees, by name.
    cutoff_
        The cutoff of the ranker on top, until another is fitted.

    Examples
    --------
    >>> StackedRanker("LambdaMARTf", text={"freeze": True}, top={"trees": 100}).get_params()["folds"]
    5
    """

    natural_scaling = "none"
    takes_missing = True
    takes_texts = True
    takes_unlabelled = True

    model: str = parameter(
        "LambdaMARTf", word("a method's name"), "The ranker on top: the name of a method that learns from features."
    )
    text: Mapping[str, Any] | None = parameter(
        None, optional(_MAPPING), "Parameters of TextRanker: ``{'freeze': True, 'loss': 'bce'}``."
    )
    top: Mapping[str, Any] | None = parameter(
        None, optional(_MAPPING), "Parameters of the ranker on top: ``{'trees': 100}``."
    )
    _: KW_ONLY
    texts: Sequence[Mapping[str, Any]] | None = parameter(
        None,
        optional(several(_MAPPING, "a list of mappings such as [{'context': True}, {'context': False}]", least=1)),
        """Several text rankers, each with columns of its own: what each has besides ``text``, or in its place. None:
        one, with the parameters in ``text``.""",
    )
    folds: int = parameter(FOLDS, integer(2), "Parts of the training queries, each of which is held out once.")
    seeds: int = parameter(
        1, integer(1), "Networks of each text ranker and fold, with seeds of their own, whose outputs are averaged."
    )
    simple: bool = parameter(
        True,
        flag(),
        """The ranker on top sees what texts tell without a model: lengths, words in common, question marks, places and
        who wrote them, as far as they are known (:func:`~ranksift.collection.text_features.text_features`). A feature
        of the same name takes its place.""",
    )
    measure: MeasureLike = parameter(
        "nDCG_f@10", MEASURE, "What the ranker on top learns or stops by. That of networks is ``text={'measure': …}``."
    )

    # -- parameters -----------------------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Refuse what the text rankers and the ranker on top refuse."""
        super().check_parameters()
        import ranksift.learning.methods  # noqa: F401 (every method can be the ranker on top, wherever it was imported)

        known = [name for name, kind in RANKERS.items() if not kind.takes_texts]
        if self.model not in known:
            what = "reads texts" if self.model in RANKERS else "is unknown"
            raise InputError(f"model={self.model!r} {what}", remedy=f"use one of: {', '.join(known)}")
        for parameters in self._set_ups():
            _check_known(TextRanker, parameters)
            TextRanker(**parameters).check_parameters()
        _check_known(RANKERS[self.model], self.top or {})
        top = self._new_top()
        top.check_parameters()
        if top.reads_texts():
            what = f"top={dict(self.top or {})!r} makes of {self.model} a ranker that reads texts"
            raise InputError(what, remedy="take one that learns from features")

    def check_can_fit(self) -> None:
        """Also refuse what they cannot be fitted with."""
        super().check_can_fit()
        for parameters in self._set_ups():
            self._new_text(parameters).check_can_fit()
        self._new_top().check_can_fit()

    def libraries(self) -> tuple[str, ...]:
        """The libraries of the text rankers and of the ranker on top."""
        return tuple(dict.fromkeys([*TextRanker.needs, *self._new_top().libraries()]))

    def brings_cut(self) -> bool:
        """As the ranker on top."""
        return self._new_top().brings_cut()

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The learning rate of the networks, and the search space of the ranker on top."""
        self.check_parameters()
        of_text = self._new_text(self._set_ups()[0]).natural_space(stopped)
        of_top = self._new_top().natural_space(stopped).items()
        return {"text.learning_rate": of_text["learning_rate"], **{f"top.{name}": values for name, values in of_top}}

    def place_of(self, name: str) -> str:
        """The full name of a parameter, such as ``text.freeze`` for ``freeze``.

        >>> StackedRanker().place_of("trees"), StackedRanker().place_of("folds")
        ('top.trees', 'folds')
        """
        if name.partition(".")[0] in self.get_params():
            return name
        kinds: dict[str, type[Ranker]] = {"text": TextRanker, "top": RANKERS[self.model]}
        there = [part for part, kind in kinds.items() if name in kind().get_params()]
        if len(there) > 1:
            what = f"{name} is a parameter of the text ranker and of {self.model}"
            raise InputError(what, remedy=f"write text.{name} or top.{name}")
        return f"{there[0]}.{name}" if there else name

    def _set_ups(self) -> list[dict[str, Any]]:
        """Parameters of each text ranker."""
        return [{**(self.text or {}), **own} for own in self.texts or [{}]]

    def _new_text(self, parameters: Mapping[str, Any], number: int = 0) -> TextRanker:
        seed = parameters.get("seed", self.seed) + number * _NEXT_SEED
        return TextRanker(**{"gains": self.gains, **parameters, "seed": seed})

    def _new_top(self) -> Ranker:
        kind, turns = RANKERS[self.model], {}
        # It holds out the same queries in turn: the same folds by the same seed. What a document that it holds out has
        # in its columns is then of networks that saw the queries that it learns from, and no others. One way for labels
        # to leak stays, as it does in all stacking short of networks for each pair of folds: the columns that it learns
        # from are of networks that have seen the queries that it holds out.
        if "folds" in kind().get_params():
            turns = {"folds": self.folds}
        given = {"gains": self.gains, "seed": self.seed, "measure": self.measure, "scaling": self.scaling}
        return kind(**{**given, **turns, **(self.top or {})})

    # -- training -------------------------------------------------------------------------------------------------

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        queries = len(examples.query_ids)
        if queries < 2:
            raise InputError("one query cannot be held out in turn", source=examples.name, remedy="give at least two")
        self._levels = ragged.distinct(Gains.of(self.gains)(examples.labels[examples.judged]))
        self._simple = self._simple_names(examples)
        turns = min(self.folds, queries)
        _check_folds(examples, turns, self.seed)

        def learn(rest: Examples, _: Examples, fold: int) -> Member:
            # The queries that are held out do not even say when to stop.
            return tuple(
                tuple(
                    self._new_text(own, n).fit(rest, validation, checkpoints=self._part(fold, set_up, n))
                    for n in range(self.seeds)
                )
                for set_up, own in enumerate(self._set_ups())
            )

        with warnings.catch_warnings():  # what would be said of single folds
            warnings.simplefilter("ignore", RankSiftWarning)
            members, said = in_turns(examples, turns, self.seed, learn, self._said)
        self.texts_ = tuple(members)
        seen = self._with_columns(examples, said)
        told = None if validation is None else self._with_columns(validation, self._said_of(validation))
        self.top_ = self._new_top().fit(seen, told)
        self.columns_ = seen.feature_names
        self.cutoff_, self.tradeoff_, self.cut_choice_ = self.top_.cutoff_, self.top_.tradeoff_, self.top_.cut_choice_
        self._tell(turns, queries)

    def left_unread(self) -> str:
        """A note about texts that were too long, from the first text rankers."""
        return next(filter(None, (own[0].left_unread() for own in self.texts_[0])), "")

    def keeps_checkpoints(self) -> bool:
        """As the text rankers."""
        return True

    def remembering(self) -> AbstractContextManager[None]:
        """As the text rankers."""
        return self._new_text(self._set_ups()[0]).remembering()

    def _part(self, fold: int, set_up: int, number: int) -> TrainingFolder | None:
        """Where the training of one network is kept."""
        if self._training is None:
            return None
        found = self._training.part(f"fold-{fold + 1}")
        found = found.part(f"text-{set_up + 1}") if len(self._set_ups()) > 1 else found
        return found.part(f"seed-{number + 1}") if self.seeds > 1 else found

    def _tell(self, turns: int, queries: int) -> None:
        """Write on the card what was cross-fitted, and what each column is of."""
        first = self.texts_[0]
        self.card_["texts"] = first[0][0].card_["texts"]
        self.card_["stack"] = {
            "top": self.model,
            "columns": {
                "given": list(self.feature_names_),
                "simple": list(self._simple),
                **{f"{name} (networks)": list(_columns_of(name, own[0], self._levels)) for name, own in self._named()},
            },
            "cross_fitted": {
                "folds": turns,
                "queries": queries,
                "networks": turns * len(first) * self.seeds,
                "in_training": "columns of a query are of networks fitted to the other folds",
                "of_new_queries": "the mean over the networks of all folds",
            },
        }
        if "cut" in self.top_.card_:
            self.card_["cut"] = self.top_.card_["cut"]

    # -- columns --------------------------------------------------------------------------------------------------

    def _prepared(self, examples: Examples) -> Examples:
        """As they are: the ranker on top scales its columns."""
        return examples

    def _simple_names(self, examples: Examples) -> tuple[str, ...]:
        """The simple features that can be computed for these texts."""
        none = examples.of_queries([])  # the names do not depend on what the texts say
        if not self.simple or none.texts is None:
            return ()
        return tuple(name for name in text_features(none.texts, none.offsets) if name not in examples.feature_names)

    def _with_columns(self, examples: Examples, said: NDArray[np.float64]) -> Examples:
        """The documents as the ranker on top sees them."""
        assert examples.texts is not None
        simple = text_features(examples.texts, examples.offsets) if self._simple else {}
        unknown = np.full(len(examples), np.nan)
        columns = [examples.features, *(simple.get(name, unknown)[:, None] for name in self._simple), said]
        names = self._column_names()
        if len({*names}) < len(names):
            twice = next(name for name in examples.feature_names if names.count(name) > 1)
            what = f"the feature {twice!r} has the name of a column of the networks"
            raise InputError(what, source=examples.name, remedy="call it something else")
        return replace(examples, features=np.hstack(columns), feature_names=names)

    def _column_names(self) -> tuple[str, ...]:
        of_networks = [column for name, own in self._named() for column in _columns_of(name, own[0], self._levels)]
        return (*self.feature_names_, *self._simple, *of_networks)

    def _named(self) -> list[tuple[str, tuple[TextRanker, ...]]]:
        """The text rankers of the first fold, by what their columns are called."""
        first = self.texts_[0]
        return [(f"text {n}" if len(first) > 1 else "text", own) for n, own in enumerate(first, 1)]

    def _said(self, member: Member, examples: Examples) -> NDArray[np.float64]:
        """What the networks of a fold say of documents: documents × outputs of all set-ups."""
        parts = [np.mean([_outputs(one, examples, self._levels) for one in networks], axis=0) for networks in member]
        return np.hstack(parts)

    def _said_of(self, examples: Examples) -> NDArray[np.float64]:
        """What the networks of all folds say, in the mean."""
        return np.asarray(np.mean([self._said(member, examples) for member in self.texts_], axis=0))

    def _score_of(self, examples: Examples) -> Floats:
        return self.top_.scored(self._with_columns(examples, self._said_of(examples)))

    def _networks(self) -> list[list[TextRanker]]:
        return [[one for member in self.texts_ for one in member[n]] for n in range(len(self.texts_[0]))]

    def _take_networks(self, networks: Sequence[TextRanker]) -> None:
        self.texts_ = (tuple((one,) for one in networks),)

    # -- files ----------------------------------------------------------------------------------------------------

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        first = self.texts_[0]
        # What all networks have in common, as an encoder that was not trained, is kept once.
        set_ups = [as_one([state_of(one) for one in own]) for own in self._networks()]
        known = {"simple": list(self._simple), "seeds": len(first[0])}
        top = {f"{_TOP}{name}": value for name, value in state_of(self.top_).items()}
        return {**as_one(set_ups), **top, "levels": self._levels, _STACK: json.dumps(known, indent=2) + "\n"}

    def _restore(self, state: Mapping[str, Any]) -> None:
        known = json.loads(state[_STACK])
        self._levels, self._simple, seeds = state["levels"], tuple(known["simple"]), int(known["seeds"])
        networks = [
            [restored(self._new_text(own), (), one) for one in one_by_one(kept)]
            for own, kept in zip(self._set_ups(), one_by_one(state), strict=True)
        ]
        counts = {len(own) for own in networks}
        if len(counts) != 1 or seeds < 1 or counts.pop() % seeds:
            raise ValueError("networks are not those of the folds")
        self.texts_ = tuple(
            tuple(tuple(own[at : at + seeds]) for own in networks) for at in range(0, len(networks[0]), seeds)
        )
        self.columns_ = self._column_names()
        self.top_ = restored(self._new_top(), self.columns_, with_prefix(state, _TOP))


def _check_known(kind: type[Ranker], given: Mapping[str, Any]) -> None:
    """Refuse parameters that a method does not have."""
    has = kind().get_params()
    unknown = next((name for name in given if name not in has), None)
    if unknown is not None:
        raise InputError(f"{kind.__name__} has no parameter {unknown!r}", remedy=f"it has: {', '.join(has)}")


def _outputs(network: TextRanker, examples: Examples, levels: Floats) -> NDArray[np.float64]:
    """All outputs of a network; those of an ordinal loss for these levels."""
    found = network.outputs(examples)
    return found[:, speaking_of(levels, network.levels_)] if network.is_ordinal else found


def _columns_of(name: str, network: TextRanker, levels: Floats) -> tuple[str, ...]:
    """What the columns of a network are called.

    >>> _columns_of("text", TextRanker("bce"), np.array([-1.0, 1.0]))
    ('text',)
    """
    loss = network.loss.partition("(")[0].strip()
    if loss in ("ordinal", "weighted_ordinal"):
        return tuple(f"{name}: gain above {level:g}" for level in levels[:-1])
    return (f"{name}: good", f"{name}: prize") if loss == "expected_share" else (name,)


def _check_folds(examples: Examples, folds: int, seed: int) -> None:
    """Refuse folds without which nothing can be learned, before any network is trained."""
    check_labels_differ(examples)
    fold = folds_of(len(examples.query_ids), folds, seed)[examples.query]
    for f in range(folds):
        labels = examples.labels[examples.judged & (fold != f)]
        if not len(labels) or labels.min() == labels.max():
            what = f"without fold {f + 1} of {folds}, every label is the same"
            raise InputError(what, source=examples.name, remedy="give more queries, or take fewer folds")
