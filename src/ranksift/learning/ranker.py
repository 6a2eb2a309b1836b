"""What every ranker has: fit, score, rank, save."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ranksift.collection.examples import Examples, read_examples
from ranksift.collection.gains import Gains, GainsLike
from ranksift.collection.lists import Lists
from ranksift.collection.ragged import Floats
from ranksift.cutoffs.baselines import FilterAll
from ranksift.cutoffs.choice import REMEDY, TUNED, CutChoice, CutWarning
from ranksift.cutoffs.cutoff import Cutoff
from ranksift.cutoffs.limits import LimitsLike
from ranksift.cutoffs.threshold import MEASURE, GlobalCutoff, one_measure
from ranksift.cutoffs.tradeoff import Tradeoff, with_costs
from ranksift.errors import InputError, RankSiftWarning, tell
from ranksift.evaluation.printed import Printed
from ranksift.evaluation.table import Column, Table
from ranksift.learning.features import read_as, same_features
from ranksift.learning.judged_documents import JudgedDocuments, with_labels
from ranksift.learning.libraries import require, versions
from ranksift.learning.ranked_documents import RankedDocument, ranked_documents
from ranksift.learning.scaling import FeatureScale, Scaling
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.training_folder import TrainingFolder
from ranksift.measures.cumulative import DCG, nDCG, nDCG_f
from ranksift.measures.measure import Measure
from ranksift.measures.names import MeasureLike
from ranksift.parameters import Parameterised, choice, integer, keep_repr, optional, parameter, plain, read_by

if TYPE_CHECKING:
    from ranksift.collection.run import Run

#: Held-out queries that it takes to overrule a method's own cut: of fewer, nobody knows how far values vary.
FEWEST_TO_CHECK = 10

# What a card tells of sets of examples, and in which words.
_SETS = {"learned from": "data", "validated on": "validation"}

# Thresholds of which a model remembers what they show and hide.
_CURVE = 500

#: Every ranker by its name, filled as the files of this room are imported.
RANKERS: dict[str, type[Ranker]] = {}


@dataclass(eq=False)
class Ranker(Parameterised, Printed):
    """The base class of all rankers: a function of features or texts. Parameters are given to the constructor.

    Attributes
    ----------
    cutoff_
        The rule that drops documents in :meth:`rank`; None: nothing is dropped.
    tradeoff_
        What each threshold shows and hides in held-out queries; None if there were none.
    cut_choice_
        How well the method's own cutoff did on held-out queries; None if it was not checked, or the model was loaded.
    feature_names_
        The names of the features that it was fitted to.
    card_
        What is known about the model: training data, validation data, versions of libraries.
    """

    #: The method's own scaling, if none is asked for.
    natural_scaling: ClassVar[Scaling] = "standard"
    #: Whether missing values are something that the method can learn from; else each is the mean of its feature.
    takes_missing: ClassVar[bool] = False
    #: Whether it reads texts, and whether it reads features; one that reads both may be given texts alone.
    takes_texts: ClassVar[bool] = False
    takes_features: ClassVar[bool] = True
    #: Whether training is given unlabelled documents too.
    takes_unlabelled: ClassVar[bool] = False
    #: Whether it brings a cut of its own, so that documents may be dropped though no rule is fitted.
    filters: ClassVar[bool] = False
    #: Libraries without which no ranker of this kind can be fitted.
    needs: ClassVar[tuple[str, ...]] = ()
    #: Parameters that models of earlier versions were saved with, and that mean nothing now.
    former_parameters: ClassVar[tuple[str, ...]] = ()

    _: KW_ONLY
    gains: GainsLike = parameter(
        "linear",
        read_by(Gains.of, "gains such as 'linear', 'exp' or {-2: -10}"),
        "The gains of labels; documents with a negative gain are forbidden.",
    )
    measure: MeasureLike = parameter(
        "nDCG@10",
        MEASURE,
        """The measure for tuning, and for early stopping if there is a validation set. Methods with a ``stop_by`` stop
        by their loss unless it is ``"measure"``. If some gains are negative, nDCG_f and DCG are computed on the lists
        after the best threshold has cut them.""",
    )
    scaling: Scaling | None = parameter(
        None,
        optional(choice(*get_args(Scaling))),
        """``"none"``; ``"standard"``: mean 0 and deviation 1 over the training documents; ``"query"``: from 0 to 1
        within each query, as in LETOR's normalised files. None: the method's own.""",
    )
    seed: int = parameter(0, integer(0), "Seed of the random number generator; the same seed gives the same scores.")

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_repr(cls)
        if not abstract:
            RANKERS[cls.__name__] = cls

    # -- fitting ---------------------------------------------------------------------------------------------

    def fit(
        self,
        examples: Any,
        validation: Any = None,
        *,
        checkpoints: TrainingFolder | str | os.PathLike[str] | None = None,
    ) -> Self:
        """Learn from labelled examples. Unlabelled documents are part of their lists, but nothing is learned from them.

        Parameters
        ----------
        examples
            Anything that :func:`read_examples` takes.
        validation
            Other examples, for early stopping by ``measure``. Methods that filter also calibrate and check their cutoff
            on them; without validation examples, on the training queries, each held out in turn: see their ``folds``.
        checkpoints
            For rankers of texts: a folder that keeps the state and the log of the training. The same call resumes an
            interrupted training, with the same result; see :class:`~ranksift.learning.training_folder.TrainingFolder`.
        """
        self.check_can_fit()
        self._training = self._checkpoints_in(checkpoints)
        if validation is None:
            self.check_alone()
        given = self._readable(with_labels(read_examples(examples)))
        held_out = None
        if validation is not None:
            held_out = self._readable(with_labels(self.read_as(given.feature_names, validation)))
        if held_out is not None:
            self._check_tells(held_out)
        training = given.judged_only()
        try:
            self.feature_names_ = training.feature_names
            self.cutoff_: Cutoff | None = None
            self.tradeoff_: Tradeoff | None = None
            self.cut_choice_: CutChoice | None = None
            self._scale = FeatureScale.fit(training.features)
            self.card_ = {
                "data": {**_told(training), "features": len(training.feature_names)},
                "versions": versions("numpy", *self.libraries()),
            }
            if held_out is not None:
                self.card_["validation"] = _told(held_out.judged_only())
            if held_out is None:
                given, held_out = self._held_out_of(given)
            checked = self._train(self._learned_from(given), None if held_out is None else self._learned_from(held_out))
            self._check_own_cut(checked)
            self._fitted_with = self._plain_parameters()
        except BaseException:
            del self.feature_names_  # the model that was there before is gone too
            raise
        finally:
            self._training = None
        return self

    def keeps_checkpoints(self) -> bool:
        """Whether the state of training can be kept in a folder."""
        return False

    def remembering(self) -> AbstractContextManager[None]:
        """Keep results that need not be computed again while many such rankers are fitted to the same examples."""
        return nullcontext()

    def _checkpoints_in(self, given: TrainingFolder | str | os.PathLike[str] | None) -> TrainingFolder | None:
        if given is None:
            return None
        if not self.keeps_checkpoints():
            what = f"{type(self).__name__} keeps no checkpoints"
            raise InputError(what, remedy="leave them out: only rankers of texts keep checkpoints")
        folder = TrainingFolder.of(given)
        folder.begin()
        return folder

    def reads_texts(self) -> bool:
        """Whether it reads texts; a ranker with an inner model does what that model does."""
        return self.takes_texts

    def reads_features(self) -> bool:
        """Whether it reads features; a ranker with an inner model does what that model does."""
        return self.takes_features

    def brings_cut(self) -> bool:
        """Whether it has its own cutoff; a ranker with a ranker on top does what that ranker does."""
        return self.filters

    def _readable(self, given: Examples) -> Examples:
        """What it reads of examples; refused where they lack it."""
        name = type(self).__name__
        if self.reads_texts():
            if given.texts is None:
                what = f"has no texts, and {name} reads texts"
                remedy = "give a table with query_id, query, doc and label, or take a method that learns from features"
                raise InputError(what, source=given.name, remedy=remedy)
            return given.of_features(()) if given.feature_names and not self.reads_features() else given
        if given.texts is not None and not given.feature_names:
            what = f"there are texts but no features, and {name} learns from features"
            raise InputError(
                what, source=given.name, remedy="give columns of numbers, or take a method that reads texts"
            )
        return given

    def read_as(self, names: tuple[str, ...], source: Any, **reading: Any) -> Examples:
        """Read examples, such as a validation set, as it would if it were fitted to these features."""
        if self.reads_features():
            return read_as(names, source, **reading)
        return read_examples(source, features=(), **reading)

    def _check_tells(self, validation: Examples) -> None:
        """Warn of a validation set that cannot say when to stop."""
        labels = validation.labels[validation.judged]
        if labels.min() == labels.max():
            what = f"every label is {labels[0]:g}, so training cannot decide when to stop"
            warnings.warn(f"{validation.name}: {what}", RankSiftWarning, stacklevel=3)

    def _learned_from(self, examples: Examples) -> Examples:
        """Documents with their features as :meth:`rank` will see them: what a list adds applies to the whole list."""
        ready = self._prepared(examples)
        return ready if self.takes_unlabelled else ready.judged_only()

    def _held_out_of(self, given: Examples) -> tuple[Examples, Examples | None]:
        """Without a validation set, the training queries to learn from and those to hold out."""
        return given, None

    def _train(self, examples: Examples, validation: Examples | None) -> JudgedDocuments | None:
        """Set what :meth:`_score` needs; features are scaled.

        A method that brings a cut returns documents that can check it: scored by models that have not seen them.
        """
        raise NotImplementedError

    def _check_own_cut(self, held_out: JudgedDocuments | None) -> None:
        """Keep a cut that the method brings only where held-out queries say that it is worth having."""
        if self.cutoff_ is None or held_out is None:
            return
        # In the order of a file, equal scores could make a model that says nothing look perfect, or hopeless.
        lists = held_out.in_random_order(self.seed).lists(self.gains)
        self.tradeoff_ = _remembered(lists, one_measure(self._judged_by))
        if len(held_out.examples.query_ids) < FEWEST_TO_CHECK:
            return
        choice = CutChoice.of(lists, self.cutoff_, self._judged_by, self.seed)
        self.cutoff_, self.card_["cut"] = choice.rule(lists), choice.to_dict()
        self.cut_choice_ = choice
        if choice.warning():
            warnings.warn(choice.warning(), CutWarning, stacklevel=3)

    def at_most(self, limits: LimitsLike) -> Self:
        """Move the cutoff, even of a saved model, to the best one within some limits.

        What each threshold shows and hides is known from the queries that checked the cutoff, so no data is needed. On
        other queries the limits hold only as precisely as a share can be estimated from that many queries.

        Parameters
        ----------
        limits
            As ``"Empty<=0.1 GoodFiltered<=0.3"`` or ``{"Empty": 0.1}``, of Fdocs@k, GoodFiltered, Empty and the
            measure. None: the best threshold.

        Examples
        --------
        >>> from ranksift.datasets.reviews import GAINS, product_reviews
        >>> from ranksift.learning import LambdaMARTf
        >>> model = LambdaMARTf(trees=50, gains=GAINS).fit(product_reviews(300).examples)
        >>> before = model.tradeoff_.at(model.tradeoff_.best("nDCG_f@10"))["GoodFiltered"]
        >>> before > 0.2, model.at_most("GoodFiltered<=0.2").cutoff_.fitted_on_["limits"]["GoodFiltered"] <= 0.2
        (True, True)
        """
        self._check_fitted()
        if self.cutoff_ is None or self.tradeoff_ is None:
            what = f"the cut of this {type(self).__name__} was not checked on held-out queries"
            remedy = "fit it with validation examples"
            raise InputError(what, remedy=remedy)
        measure = next(iter(self.tradeoff_.values))
        self.cutoff_ = GlobalCutoff.of_tradeoff(self.tradeoff_, measure, limits, self.cutoff_)
        if "cut" in self.card_:
            self.card_["cut"] = {**self.card_["cut"], "chosen": str(self.cutoff_.limits) or TUNED}
        tell(self.cutoff_.notes_)
        return self

    @property
    def _judged_by(self) -> MeasureLike:
        """What decides on a cut: the ranker's measure, where cutting can raise it; nDCG is taken as nDCG_f."""
        own = one_measure(self.measure)
        if isinstance(own, nDCG):
            return nDCG_f(k=own.k, base=own.base)
        return own if isinstance(own, nDCG_f | DCG) else "nDCG_f@10"

    def check_can_fit(self) -> None:
        """Refuse what would fail later: invalid parameters, and libraries that are not installed."""
        self.check_parameters()
        require(type(self).__name__, *self.libraries())

    def check_alone(self) -> None:
        """Refuse parameters that can only be fitted with validation examples."""

    def libraries(self) -> tuple[str, ...]:
        """The libraries without which it cannot be fitted."""
        return self.needs

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The default search space for tuning; empty: there is nothing to tune.

        Parameters
        ----------
        stopped
            Whether a validation set stops training, so that its length needs no search.
        """
        return {}

    def fit_cutoff(self, examples: Any, rule: Cutoff | None = None) -> Self:
        """Fit a rule to this model's scores of some examples; by default the best global threshold of nDCG_f@10.

        Use examples that the model was not fitted to: on its own training documents, its scores are too confident. The
        given rule is not changed: ``cutoff_`` is a copy.
        """
        chosen = GlobalCutoff("nDCG_f@10") if rule is None else checked_rule(rule).clone()
        given = with_labels(self.read(examples))
        lists = self.judged(given).lists(self.gains)
        self.cutoff_ = chosen.fit_lists(lists)
        if not isinstance(chosen, FilterAll) and not self.cutoff_.keep_lists(lists).any():
            what = f"the rule {chosen.rule} drops every document, so this model shows nothing"
            warnings.warn(f"{given.name}: {what}; {REMEDY}", CutWarning, stacklevel=2)
        self.tradeoff_ = _remembered(lists, one_measure(chosen.natural_measure))
        self.card_.pop("cut", None)  # it spoke of another one
        self.cut_choice_ = None
        return self

    # -- use ---------------------------------------------------------------------------------------------------

    def read(self, source: Any, **reading: Any) -> Examples:
        """Read examples with the model's features: by their names from a table, by their numbers from a LETOR file.

        ``reading`` holds the options of :func:`read_examples` for tables: ``labels`` and ``skip_bad_rows``.
        """
        self._check_fitted()
        return self.read_as(self.feature_names_, source, **reading)

    def score(self, examples: Any) -> Floats:
        """A score for every document, higher is better, in the order in which the documents were given."""
        given = self.read(examples)
        out = np.empty(len(given))
        out[given.row] = self.scored(given)
        return out

    @overload
    def rank(self, data: Any, documents: None = None, *, name: str | None = None) -> Run: ...

    @overload
    def rank(self, data: str, documents: Sequence[str], *, explain: bool = False) -> list[RankedDocument]: ...

    def rank(
        self, data: Any, documents: Sequence[str] | None = None, *, name: str | None = None, explain: bool = False
    ) -> Run | list[RankedDocument]:
        """Documents by score, without those that the model's cutoff drops.

        Parameters
        ----------
        data
            Anything that :func:`read_examples` takes, to make a run; or the text of a query.
        documents
            With a query: the texts of its documents, in the order of their list. They are returned best first.
        name
            The name of the run.
        explain
            With a query: also return the dropped documents, after those that are kept.
        """
        if documents is not None:
            return self._rank_texts(data, documents, explain=explain)
        given = self.read(data)
        scores = self.scored(given)
        return given.run(scores, self._kept(given, scores), name or type(self).__name__)

    def _rank_texts(self, query: str, documents: Sequence[str], *, explain: bool) -> list[RankedDocument]:
        self._check_list(documents, None)
        if not len(documents):
            return []
        given = self.list_of(query, documents)
        return self.ranked(given, self.scored(given), explain=explain)

    def list_of(
        self, query: str = "", documents: Sequence[str] | None = None, features: ArrayLike | None = None
    ) -> Examples:
        """The documents of one query as the model reads them: texts, rows of features, or both.

        Parameters
        ----------
        query, documents
            Texts, for a model that reads them. The documents are in the order of their list.
        features
            Documents × features in the order of ``feature_names_``, for a model that reads them; NaN for a missing one.
        """
        self._check_list(documents, features)
        names = None if features is None else self.feature_names_
        if documents is None:
            rows = np.asarray(features, dtype=np.float64)
            return Examples.from_arrays(rows, None, np.zeros(len(rows), dtype=np.int64), feature_names=names)
        places = range(1, len(documents) + 1)
        return Examples.from_texts(
            [query] * len(documents), documents, features=features, feature_names=names, position=places
        )

    def _check_list(self, documents: Sequence[str] | None, features: ArrayLike | None) -> None:
        """Refuse texts or features that the model does not read, and the lack of what it does."""
        self._check_fitted()
        name = type(self).__name__
        if self.reads_texts() and documents is None:
            raise InputError(f"{name} reads texts, but none are given", remedy="give a query and its documents")
        if documents is not None and not self.reads_texts():
            what = f"{name} was fitted to features, but texts are given"
            raise InputError(what, remedy="give examples with features, or take a model that reads texts")
        if self.feature_names_ and features is None:
            what = f"it was fitted to texts and features, such as {self.feature_names_[0]!r}, but only texts are given"
            if documents is None:
                what = f"{name} was fitted to features, such as {self.feature_names_[0]!r}, but none are given"
            raise InputError(what, remedy="give examples with both" if documents is not None else "give them")
        if features is not None and not self.feature_names_:
            raise InputError(f"{name} was fitted to texts only, but features are given", remedy="leave them out")
        if isinstance(documents, str):
            raise InputError("the documents are a single text", remedy="give a list of texts")

    def ranked(self, given: Examples, scores: Floats, *, explain: bool = False) -> list[RankedDocument]:
        """The documents of one query by their scores, without those that the cutoff drops.

        ``explain`` also gives the dropped ones, after those that are kept.
        """
        documents = [""] * len(given) if given.texts is None else given.texts.docs
        return ranked_documents(documents, scores, self._kept(given, scores), self.cutoff_, explain=explain)

    def _kept(self, examples: Examples, scores: Floats) -> NDArray[np.bool_] | None:
        """The documents that the cutoff keeps; None if there is none."""
        if self.cutoff_ is None:
            return None
        lists = Lists.from_arrays(scores, None, examples.query)
        kept = np.empty(len(examples), dtype=bool)
        kept[lists.row] = self.cutoff_.keep_lists(lists)
        return kept

    def judged(self, examples: Examples) -> JudgedDocuments:
        """The labelled documents, scored, and kept or dropped as documents of their whole lists."""
        scores, known = self.scored(examples), examples.judged
        kept = self._kept(examples, scores)
        return JudgedDocuments(examples.judged_only(), scores[known], None if kept is None else kept[known])

    def value(self, examples: Any, measure: MeasureLike | None = None, *, cut: bool = False) -> float:
        """A measure of the model's ranking of some examples, its own measure by default.

        It is the value of :meth:`rank`'s run with the labels as judgments, leaving out unjudged documents.

        Parameters
        ----------
        examples
            With labels.
        measure
            Any measure; the gains are the model's.
        cut
            Leave out what the model's cutoff drops; otherwise nothing is dropped.
        """
        found = self.judged(with_labels(self.read(examples)))
        return found.value(self.measure if measure is None else measure, self.gains, cut=cut)

    def scored(self, examples: Examples) -> Floats:
        """A score for every document, in the order of the examples: query after query."""
        self._check_fitted()
        if self.reads_texts():
            examples = self._readable(examples)
        same_features(examples, self.feature_names_)
        return finite(self, np.asarray(self._score_of(self._prepared(examples)), dtype=np.float64))

    def _check_fitted(self) -> None:
        if not hasattr(self, "feature_names_"):
            raise InputError(f"this {type(self).__name__} is not fitted", remedy="call fit first")

    def left_unread(self) -> str:
        """A note about texts last read that were too long; empty if everything was read."""
        return ""

    def _score_of(self, examples: Examples) -> Floats:
        """Scores of documents whose features are scaled; a method that looks at whole lists has its own."""
        return self._score(examples.features)

    def _score(self, features: NDArray[np.float64]) -> Floats:
        """Scores of documents, from scaled features."""
        raise NotImplementedError

    def _prepared(self, examples: Examples) -> Examples:
        """Features on the model's scale; one that is scaled has no gaps, and others have them where the method may."""
        how = self.scaling or self.natural_scaling
        return self._scale.apply(examples, how, keep_missing=self.takes_missing)

    # -- how it is shown -------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        if not hasattr(self, "feature_names_"):
            return self.as_made()
        cut = "drops nothing" if self.cutoff_ is None else f"keeps {self.cutoff_.condition.partition(', ')[0]}"
        return f"<{self.as_made()}: learned from {self.card_['data']['queries']:,} queries; {cut}>"

    def __str__(self) -> str:
        return repr(self)

    def table(self) -> Table:
        """The method and its parameters and, if fitted, what it learned from and what it drops."""
        rows: list[tuple[str, str]] = [(name, str(plain(value))) for name, value in self.get_params().items()]
        if not hasattr(self, "feature_names_"):
            return Table(["parameter", Column("value", align="left")], rows, title=f"{type(self).__name__}, not fitted")
        sets = [(name, self.card_[part]) for name, part in _SETS.items() if part in self.card_]
        rows = [
            *((name, f"{told['queries']:,} queries, {told['documents']:,} documents") for name, told in sets),
            ("reads", ", ".join(["texts"] * self.reads_texts() + [f"{len(self.feature_names_)} features"])),
            ("keeps", "everything" if self.cutoff_ is None else self.cutoff_.condition),
            *rows,
        ]
        return Table(["", Column("value", align="left")], rows, title=type(self).__name__)

    # -- files -----------------------------------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model into a folder: a card, weights, and the cutoff if there is one. Nothing is pickled.

        A reader finds either the earlier model or this one, as a whole; anything that is not a model is not replaced.
        """
        from ranksift.learning.saved_model import save

        self._check_fitted()
        save(self, folder)

    def _plain_parameters(self) -> dict[str, Any]:
        return {name: plain(value) for name, value in self.get_params().items()}

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        """What was learned: arrays, and texts that become files of these names."""
        raise NotImplementedError

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Take back what :meth:`_state` gave."""
        raise NotImplementedError


def _remembered(lists: Lists, measure: Measure) -> Tradeoff:
    """What thresholds show and hide: some of them, with the best one."""
    whole = Tradeoff.of(lists, with_costs(measure, []))
    return whole.thinned(_CURVE, keep=[whole.best(measure)])


def finite(ranker: Ranker, scores: Floats) -> Floats:
    """The same scores; refused where one is infinite, or no number."""
    if not np.isfinite(scores).all():
        what = f"a score of {type(ranker).__name__} is not finite"
        raise InputError(what, remedy="fit it with a smaller step, or scale features")
    return scores


def checked_ranker(ranker: Any) -> Ranker:
    """Refuse what is not a ranker, and a ranker that cannot be fitted."""
    if not isinstance(ranker, Ranker):
        raise InputError(f"{ranker!r} is not a ranker", remedy="give one, as RankSVM()")
    ranker.check_can_fit()
    return ranker


def checked_rule(rule: Any) -> Cutoff:
    """Refuse anything that is not a rule, and a rule with invalid parameters."""
    if not isinstance(rule, Cutoff):
        raise InputError(f"cutoff {rule!r} is not a rule", remedy="give one, as GlobalCutoff('nDCG_f@10')")
    rule.check_parameters()
    return rule


def _told(examples: Examples) -> dict[str, Any]:
    """The description of labelled examples in a card."""
    return {
        "name": examples.name,
        "queries": len(examples.query_ids),
        "documents": len(examples),
        "labels": {f"{x:g}": int((examples.labels == x).sum()) for x in np.unique(examples.labels)},
    }
