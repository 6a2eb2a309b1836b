"""A ranker of texts: an encoder reads the query with each document, and is trained with any loss."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ranksift.collection.examples import Examples
from ranksift.collection.gains import Gains
from ranksift.collection.ragged import Floats, Ints
from ranksift.collection.texts import CONTEXT
from ranksift.errors import InputError, RankSiftWarning
from ranksift.learning.judged_documents import check_labels_differ
from ranksift.learning.objective import stopping_value
from ranksift.learning.outputs import Outputs, ScoreKind, check_scores, parse_loss, space_of_gamma
from ranksift.learning.ranker import Ranker, finite
from ranksift.learning.search_space import SpaceLike
from ranksift.learning.text.context import NEIGHBOURS, TOLD, in_context
from ranksift.parameters import choice, flag, integer, number, optional, parameter, word

if TYPE_CHECKING:
    from ranksift.collection.texts import Texts
    from ranksift.learning.text.encoder import Encoder
    from ranksift.learning.text.network import TextNetwork
    from ranksift.learning.text.tokens import Tokens
    from ranksift.learning.text.training import TextLists, Training
    from ranksift.learning.training_folder import TrainingFolder

# Files of a saved model; names of the encoder's weights begin with its prefix.
_CONFIG, _TOKENIZER, _READING = "config.json", "tokenizer.json", "reading.json"
_ENCODER = "encoder."

# Of an encoder that is trained, and of one that is not: then all steps of an epoch take a moment.
_EPOCHS, _FROZEN_EPOCHS = 4, 60
# Of an encoder, of layers over lists, and of a head alone.
_RATES = (1.2e-4, 1e-3, 3e-2)

# Tokens to read in all from which on training is told to take its time: minutes on a processor.
_LONG = 1_000_000


@dataclass(eq=False)
class TextRanker(Ranker):
    """A cross-encoder: a network of the BERT family reads the query with each document.

    The encoder comes with its weights and is trained further, or only the layers on top of it (``freeze``), which takes
    minutes without a GPU. With a validation set, the best epoch is kept. Features are not read.

    Attributes
    ----------
    best_epoch_
        The epoch that was kept (after fitting only).
    losses_, values_
        The training loss of every epoch, and the value on the validation set if there is one (after fitting only).
    natural_cut_
        The score that corresponds to an expected gain of 0, if the loss determines it.
    levels_
        For an ordinal loss: the gains, from the lowest; output i estimates whether the gain is above the i-th.

    Examples
    --------
    >>> TextRanker("bce", freeze=True).get_params()["encoder"]
    'minilm'
    """

    natural_scaling = "none"
    takes_missing = True
    takes_texts = True
    takes_features = False
    takes_unlabelled = True  # they are part of what stands around others
    needs = ("torch", "tokenizers", "safetensors")

    loss: str = parameter(
        "ordinal",
        word("the name of a loss"),
        """One of :mod:`~ranksift.learning.losses`, with options in parentheses: ``"lambdarank_bce(gamma=0.3)"``.""",
    )
    encoder: str = parameter(
        "minilm",
        word("the name or the folder of an encoder"),
        """A folder with config.json, model.safetensors and tokenizer.json, the name of a model that Hugging Face's
        libraries have downloaded, or ``"minilm"``, which the extra ``text`` brings.""",
    )
    _: KW_ONLY
    freeze: bool = parameter(
        False,
        flag(),
        "Leave the encoder as it is, and train only the layers on top of its vectors, which are computed once.",
    )
    context: bool = parameter(
        True,
        flag(),
        """Add to each document what the data knows of its list: its position, and whether the asker wrote it.""",
    )
    neighbours: bool = parameter(
        False, flag(), "Also add the beginning of the previous document, and the next reply of the asker."
    )
    list_layers: int = parameter(
        0,
        integer(0, 12),
        """Layers in which the documents of a query attend to each other, in no order. They learn from what is drawn,
        so that whole lists (documents_per_query=0), with a label for each document, are best.""",
    )
    epochs: int | None = parameter(
        None, optional(integer(1), 4), "Passes over the training queries. None: 4, and 60 where the encoder is frozen."
    )
    batch_size: int = parameter(32, integer(1), "Queries per step.")
    documents_per_query: int | None = parameter(
        3,
        optional(integer(0)),
        "Documents drawn per query for each pass, as Carmel et al. 2022 do. 0 or None: whole lists.",
    )
    learning_rate: float | None = parameter(
        None,
        optional(number(above=0), 1.2e-4),
        """The highest learning rate of AdamW. None: 0.00012; where the encoder is frozen 0.03, and 0.001 with
        list_layers.""",
    )
    layer_decay: float = parameter(
        0.8,
        number(above=0, most=1),
        "The rate of a layer of the encoder, as a share of that of the layer above: below 1, it forgets less.",
    )
    matching: bool = parameter(
        False,
        flag(),
        """Before the labels, learn from the texts alone: is this the query that a document belongs to? One pass over
        all documents, labelled or not, each with its own query and with one of another list.""",
    )
    warmup: float = parameter(0.1, number(least=0, most=1), "The share of all steps in which the rate rises.")
    max_length: int = parameter(
        256, integer(8), "Tokens of a query with a document; what is longer is cut at the end of the document."
    )
    pooling: Literal["cls", "mean"] | None = parameter(
        None,
        optional(choice("cls", "mean")),
        """What a vector is: that of the first token, or the mean over all. None: what the encoder was made for.""",
    )
    scores: ScoreKind = parameter(
        "own",
        choice(*get_args(ScoreKind)),
        """What a score is: ``"own"``, as Carmel et al. 2022 have it for each loss, or the ``"expected_gain"``, for
        losses that estimate it; then 0 is the natural cut.""",
    )
    stop_by: Literal["measure", "loss"] = parameter(
        "loss",
        choice("measure", "loss"),
        "With a validation set: the best epoch is that of the best ``measure``, or of the lowest ``loss``.",
    )
    patience: int | None = parameter(
        None,
        optional(integer(1), 2),
        "Training stops after this many epochs without a better value. None: it does not stop early.",
    )
    tokens_at_once: int | None = parameter(
        None,
        optional(integer(1), 16384),
        """Tokens of a step that are processed at once; the gradients of longer steps are summed up. Fewer need less
        memory. None: as many as fit on the device.""",
    )
    device: str = parameter(
        "auto",
        word("the name of a device"),
        """Where it is trained: ``"cpu"``, ``"cuda"``, or ``"auto"``, which uses a GPU if there is one.""",
    )

    def natural_space(self, stopped: bool = False) -> SpaceLike:
        """The learning rate, the batch size, and the gamma of a loss that has one and does not set it."""
        usual = _RATES[self._small]
        return {
            "learning_rate": (usual / 5, usual * 5, "log"),
            "batch_size": [8, 16, 32, 64],
            **space_of_gamma(self.loss),
        }

    @property
    def _small(self) -> int:
        """Which learning rate is usual: the less is trained, the higher."""
        return 0 if not self.freeze else 1 if self.list_layers else 2

    def check_parameters(self) -> None:
        """Also refuse scores that the loss cannot give, and training a frozen encoder."""
        super().check_parameters()
        check_scores(parse_loss(self.loss)[0], self.scores)
        if self.matching and self.freeze:
            what = "matching=True trains the encoder, and freeze=True leaves it as it is"
            raise InputError(what, remedy="leave one of them out")

    def check_can_fit(self) -> None:
        """Refuse an unknown loss, an encoder that is not on this machine, and a device that does not exist."""
        super().check_can_fit()
        from ranksift.learning.losses import check_loss
        from ranksift.learning.text.encoder import find_encoder
        from ranksift.learning.text.scoring import find_device

        check_loss(self.loss)
        find_encoder(self.encoder)
        find_device(self.device)

    @property
    def natural_cut_(self) -> float | None:
        """The score that corresponds to an expected gain of 0, if the loss determines it."""
        return self._outputs.natural_cut

    @property
    def is_ordinal(self) -> bool:
        """Whether each output is about one of ``levels_``."""
        return self._outputs.ordinal

    @property
    def levels_(self) -> Floats:
        """The gains that an ordinal loss distinguishes."""
        return self._outputs.levels

    # -- training ---------------------------------------------------------------------------------------------

    def _train(self, examples: Examples, validation: Examples | None) -> None:
        from ranksift.learning.text.encoder import find_encoder, load_encoder, usual_pooling
        from ranksift.learning.text.scoring import find_device
        from ranksift.learning.text.tokens import Tokenizer
        from ranksift.learning.text.training import Goal, fit

        assert examples.texts is not None
        check_labels_differ(examples)
        folder = find_encoder(self.encoder)
        self._tokenizer = Tokenizer(folder)
        self._pooling = self.pooling or usual_pooling(folder)
        self._told = self._told_of(examples.texts)
        lists = self._lists(examples)
        cut = lists.tokens.cut
        self.card_["texts"] = {
            "max_length": self.max_length,
            "longer": round(cut.share, 4),
            "unread": round(cut.cut_tokens / max(1, cut.tokens), 4),
            "cut_queries": cut.cut_queries,
            "context": list(self._told),
        }
        goal = Goal(self.loss, lists)
        self._outputs = replace(goal.outputs, kind=self.scores)
        self._build(load_encoder(folder), goal.start, find_device(self.device))
        self._network.check_fits(self.max_length, 0)  # texts to come may be that long
        plan = self._plan(stopped=validation is not None)
        self._foretell(lists, plan)
        if self.matching:
            self._match(examples)
        held_out, value = None, None
        if validation is not None:
            held_out = self._lists(validation)
            if self.stop_by == "measure":
                of_scores = stopping_value(validation.judged_only(), self.measure, self.gains)
                value = lambda outputs: of_scores(self._outputs.score(outputs))  # noqa: E731
        found = fit(
            self._network,
            lists,
            plan,
            validation=held_out,
            value=value,
            **_kept_in(self._training),
            also={
                "pooling": self._pooling,
                "stop_by": "loss" if value is None else f"{self.measure} of {self.scores} scores",
            },
        )
        self.best_epoch_, self.losses_, self.values_ = found.best_epoch, [*found.losses], [*found.values]
        self._network.eval()

    def keeps_checkpoints(self) -> bool:
        """It does."""
        return True

    def remembering(self) -> AbstractContextManager[None]:
        """Keep what a frozen encoder has read."""
        from ranksift.learning.text.frozen import remembering

        return remembering()

    def _foretell(self, lists: TextLists, plan: Training) -> None:
        """Tell what is not read, and what memory a long training takes."""
        from ranksift.learning.text.training import memory_of, memory_there

        kept = self._training
        if kept is None:
            return
        cut = lists.tokens.cut
        if cut:
            kept.tell("texts", cut.told(f"max_length={self.max_length}"))
        if int(lists.tokens.lengths.sum()) * (1 if plan.freeze else plan.epochs) >= _LONG:
            needed, there = memory_of(self._network, lists, plan) / 2**30, memory_there(self._network.device) / 2**30
            less = "" if plan.freeze else "; a smaller tokens_at_once needs less"
            kept.tell("memory", f"training takes about {needed:.1f} GiB of memory, of {there:.1f}{less}")

    def _told_of(self, texts: Texts) -> tuple[str, ...]:
        """What is told of lists whose data knows as much."""
        known = {*texts.known()} & {*TOLD}
        if not self.context or not known:
            return ()
        return tuple(name for name in TOLD if name in known or (name == NEIGHBOURS and self.neighbours))

    def _match(self, examples: Examples) -> None:
        """Let the encoder learn which query a document belongs to, if there is more than one."""
        from ranksift.learning.text.matching import match, matching_lists
        from ranksift.learning.text.network import TextNetwork

        texts = examples.texts
        assert texts is not None
        asked = {query for query, size in zip(texts.queries, examples.lengths.tolist(), strict=True) if size}
        if len(asked) < 2:
            return
        lists = matching_lists(
            self._tokenizer,
            texts.queries,
            self._docs(examples),
            examples.offsets,
            max_length=self.max_length,
            seed=self.seed,
        )
        network = TextNetwork(self._network.encoder, pooling=self._pooling, seed=self.seed).to(self._network.device)
        kept = None if self._training is None else self._training.part("matching")
        match(network, lists, self._plan(stopped=False), **_kept_in(kept), also={"pooling": self._pooling})

    def _plan(self, stopped: bool) -> Training:
        from ranksift.learning.text.training import Training

        return Training(
            loss=self.loss,
            epochs=self.epochs or (_FROZEN_EPOCHS if self.freeze else _EPOCHS),
            batch_size=self.batch_size,
            documents_per_query=self.documents_per_query or None,
            learning_rate=self.learning_rate or _RATES[self._small],
            warmup=self.warmup,
            layer_decay=self.layer_decay,
            patience=self.patience if stopped else None,
            freeze=self.freeze,
            tokens_at_once=self.tokens_at_once,
            seed=self.seed,
        )

    def _build(self, encoder: Encoder, start: list[float] | None, device: Any) -> None:
        """The network, on a device."""
        from ranksift.learning.text.frozen import frozen
        from ranksift.learning.text.network import TextNetwork

        self._network: TextNetwork = TextNetwork(
            frozen(encoder, device) if self.freeze else encoder,
            self._outputs.width,
            pooling=self._pooling,
            list_layers=self.list_layers,
            start=start,
            seed=self.seed,
        )
        self._network.to(device).eval()

    def _lists(self, examples: Examples) -> TextLists:
        """The labelled documents, as they are in their whole lists."""
        from ranksift.learning.text.training import TextLists

        known, tokens = examples.judged_only(), self.tokens(examples)
        if len(known) < len(examples):
            tokens = tokens[np.flatnonzero(examples.judged)]
        return TextLists(tokens, known.offsets, Gains.of(self.gains)(known.labels))

    def tokens(self, examples: Examples) -> Tokens:
        """What the network reads: each query with its documents, in the order of the examples."""
        texts = examples.texts
        assert texts is not None
        self._warn_of_missing(texts, examples.name)
        docs = self._docs(examples)
        found = self._tokenizer.pairs(texts.queries, docs, examples.offsets, max_length=self.max_length)
        self._unread = found.cut.told() if found.cut else ""
        return found

    def _warn_of_missing(self, texts: Texts, name: str) -> None:
        """Warn where texts of a named source lack what the model read beside each document in training."""
        missing = [repr(column) for column in self._told if column in CONTEXT and getattr(texts, column) is None]
        if missing and name:
            what = f"lacks {', '.join(missing)}, which the model read with each document in training"
            warnings.warn(f"{name}: {what}, so its scores are less reliable", RankSiftWarning, stacklevel=2)

    @property
    def is_on_gpu(self) -> bool:
        """Whether the network is on a GPU."""
        return self._network.device.type == "cuda"

    def left_unread(self) -> str:
        """A note about the texts last read that were too long."""
        return self._unread

    def _docs(self, examples: Examples) -> Sequence[str]:
        """What is read of each document: its text, with what is told of its list."""
        texts = examples.texts
        assert texts is not None
        return in_context(texts, examples.offsets, self._told) if self._told else texts.docs

    # -- use ----------------------------------------------------------------------------------------------------

    def outputs(self, examples: Examples) -> NDArray[np.float64]:
        """The outputs of the network: documents × outputs, in the order of the examples."""
        from ranksift.learning.text import scoring

        if not len(examples):
            self._unread = ""
            return np.zeros((0, self._outputs.width))
        return scoring.outputs(self._network, self.tokens(examples), examples.offsets)

    def _score_of(self, examples: Examples) -> Floats:
        return self._outputs.score(self.outputs(examples))

    def scores_of(self, tokens: Tokens, offsets: Ints) -> Floats:
        """Scores from :meth:`tokens` that were computed before; documents of query i begin at ``offsets[i]``."""
        from ranksift.learning.text import scoring

        return finite(self, self._outputs.score(scoring.outputs(self._network, tokens, offsets)))

    # -- files --------------------------------------------------------------------------------------------------

    def _state(self) -> Mapping[str, NDArray[Any] | str]:
        from ranksift.learning.text.encoder import numbers

        encoder = self._network.encoder
        head = {name: x for name, x in self._network.state_dict().items() if not name.startswith(_ENCODER)}
        arrays = numbers({_ENCODER + name: x for name, x in encoder.published().items()} | head)
        reading = {"pooling": self._pooling, "told": list(self._told)}
        texts = {
            _CONFIG: json.dumps(encoder.config, indent=2) + "\n",
            _TOKENIZER: self._tokenizer.to_json(),
            _READING: json.dumps(reading) + "\n",
        }
        return {**arrays, "levels": self._outputs.levels, **texts}

    def _restore(self, state: Mapping[str, Any]) -> None:
        from ranksift.learning.libraries import require

        require("a text ranker", *self.needs)
        import torch

        from ranksift.learning.text.encoder import restored_encoder
        from ranksift.learning.text.scoring import find_device
        from ranksift.learning.text.tokens import Tokenizer

        self._outputs = Outputs(parse_loss(self.loss)[0], state["levels"], self.scores)
        if not self._outputs.fits:
            raise ValueError("levels are not those of the loss")
        reading = json.loads(state[_READING])
        self._pooling, self._told = reading["pooling"], tuple(name for name in TOLD if name in reading["told"])
        if self._pooling not in ("cls", "mean"):
            raise ValueError(f"pooling {self._pooling!r} is unknown")
        self._tokenizer = Tokenizer.from_json(state[_TOKENIZER])
        own = {name: value for name, value in state.items() if isinstance(value, np.ndarray) and name != "levels"}
        published = {name.removeprefix(_ENCODER): x for name, x in own.items() if name.startswith(_ENCODER)}
        # Where it was trained need not be where it is used.
        device = find_device("cpu" if self.device == "cpu" else "auto")
        self._build(restored_encoder(json.loads(state[_CONFIG]), published), None, device)
        head = {name: torch.from_numpy(x.copy()) for name, x in own.items() if not name.startswith(_ENCODER)}
        wanted = {name for name in self._network.state_dict() if not name.startswith(_ENCODER)}
        if set(head) != wanted:
            raise ValueError("weights are not those of this network")
        self._network.load_state_dict(head, strict=False)
        self._network.check_fits(self.max_length, 0)


def _kept_in(folder: TrainingFolder | None) -> dict[str, Any]:
    """What training is told of where it keeps its state, and who looks on."""
    if folder is None:
        return {}
    return {
        "checkpoint": folder.checkpoint,
        "checkpoint_seconds": folder.seconds,
        "log": folder.log,
        "progress": folder.watched("Training"),
    }
