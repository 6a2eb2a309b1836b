"""A model as it is served: one version of a ranker or of a cutoff, from a request to its answer."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ranksift.collection.ragged import Floats, offsets_of
from ranksift.cutoffs.cutoff import Cutoff, cutoff_of_json, load_cutoff
from ranksift.errors import InputError
from ranksift.files import read_whole
from ranksift.learning import model_folder
from ranksift.serving.batching import Batcher, Watch

if TYPE_CHECKING:
    from ranksift.collection.examples import Examples
    from ranksift.learning.ranked_documents import RankedDocument
    from ranksift.learning.ranker import Ranker
    from ranksift.learning.text.tokens import Tokens

# Characters that make a token, and the most tokens that are read of a document: of models that count none themselves.
_CHARACTERS, _MOST_READ = 4, 256
# Tokens of a call: what keeps a GPU busy, and what is gained elsewhere by larger products. And what a row of features
# counts for.
_GPU_BUDGET, _BUDGET, _ROW = 1 << 16, 1 << 11, 1
_LARGEST_CUTOFF = 64_000_000


@dataclass(frozen=True)
class List:
    """The documents of a request, ready to be scored."""

    given: Examples
    tokens: Tokens | None
    size: int

    def __len__(self) -> int:
        return len(self.given)


class ServedRanker:
    """One version of a ranker.

    Attributes
    ----------
    name, version
        Its name in requests, and what distinguishes it from earlier versions.
    ranker
        As it was loaded.
    notes
        What the operator of the service should know.
    batcher
        Scores requests together.
    """

    def __init__(
        self,
        name: str,
        version: str,
        ranker: Ranker,
        *,
        batch_tokens: int = 0,
        queue_tokens: int = 1 << 62,
        watch: Watch | None = None,
    ) -> None:
        self.name, self.version, self.ranker = name, version, ranker
        self._text = _text_ranker(ranker)
        self.notes = self._tried()
        budget = batch_tokens or (_GPU_BUDGET if self._text is not None and self._text.is_on_gpu else _BUDGET)
        self.batcher: Batcher[List, Floats] = Batcher(
            self.scores, budget=budget, most_waiting=queue_tokens, watch=watch
        )

    @property
    def cutoff(self) -> Cutoff | None:
        """What drops documents."""
        return self.ranker.cutoff_

    def listed(self, query: str, documents: Sequence[str] | None, features: Floats | None = None) -> List:
        """The documents of a request as the model reads them. It takes a while: any thread may do it."""
        given = replace(self.ranker.list_of(query, documents, features), name="")
        if self._text is not None:
            tokens = self._text.tokens(given)
            return List(given, tokens, len(tokens.ids))
        size = _ROW * len(given)
        if documents is not None:
            size += sum(min(_MOST_READ, (len(query) + len(text)) // _CHARACTERS) for text in documents)
        return List(given, None, size)

    def scores(self, lists: Sequence[List]) -> list[Floats]:
        """Scores of the documents of several requests, in one call."""
        offsets = offsets_of(np.array([len(one) for one in lists], dtype=np.int64))
        if self._text is not None:
            from ranksift.learning.text.tokens import joined

            found = self._text.scores_of(joined([one.tokens for one in lists if one.tokens is not None]), offsets)
        else:
            from ranksift.collection.examples import together

            parts = [replace(one.given, query_ids=(str(n),)) for n, one in enumerate(lists)]
            found = self.ranker.scored(parts[0] if len(parts) == 1 else together(parts))
        if self.ranker.reads_texts():
            from ranksift.learning.text.frozen import forget

            forget()
        return np.split(found, offsets[1:-1])

    def ranked(self, one: List, scores: Floats) -> list[RankedDocument]:
        """The documents of a request, kept ones first, best first."""
        return self.ranker.ranked(one.given, scores, explain=True)

    def close(self) -> None:
        """Answer what waits, and stop."""
        self.batcher.close(wait=False)

    def _tried(self) -> list[str]:
        """Rank a list, so that the first request finds everything warm; what the model says of it."""
        if not self.ranker.reads_texts() or self.ranker.feature_names_:
            return []
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.ranker.rank("a question", ["an answer", "another one"])
        return list(dict.fromkeys(str(one.message).removeprefix("examples: ") for one in told))


class ServedCutoff:
    """One version of a cutoff, for scores of whatever else ranks.

    Attributes are those of :class:`ServedRanker`.
    """

    def __init__(self, name: str, version: str, cutoff: Cutoff) -> None:
        self.name, self.version, self.cutoff = name, version, cutoff
        self.notes: list[str] = []

    def close(self) -> None:
        """Nothing waits."""

    @property
    def threshold(self) -> float | None:
        """The one threshold of all lists, if there is one."""
        found = getattr(self.cutoff, "threshold_", None) if self.cutoff.rule in ("fixed", "global") else None
        return float(found) if found is not None and np.isfinite(found) else None


Served = ServedRanker | ServedCutoff


def load_served(name: str, path: Path, version: str, **options: Any) -> Served:
    """What is in a folder of a model, or in a file of a cutoff."""
    if path.is_dir():
        from ranksift.learning.saved_model import load

        return ServedRanker(name, version, load(path), **options)
    return ServedCutoff(name, version, load_cutoff(path))


def version_of(path: Path) -> str:
    """What distinguishes a version from earlier ones: twelve digits of a checksum."""
    total = hashlib.sha256()
    if path.is_dir():
        card = model_folder.read_card(path)
        total.update(str(card.get("sum", card)).encode())
        rule = model_folder.files_at(path, card) / "cutoff.json"  # a person may change it
        if rule.is_file():
            total.update(read_whole(rule, _LARGEST_CUTOFF))
    else:
        if not path.exists():
            raise InputError(
                "is neither a folder of a model nor a file of a cutoff", source=str(path), remedy="name one"
            )
        content = read_whole(path, _LARGEST_CUTOFF)
        cutoff_of_json(content, str(path))
        total.update(content)
    return total.hexdigest()[:12]


def _text_ranker(ranker: Ranker) -> Any:
    """The same, where what it reads can be made ready before it is scored."""
    if not ranker.reads_texts():
        return None
    from ranksift.learning.text.ranker import TextRanker

    return ranker if isinstance(ranker, TextRanker) else None
