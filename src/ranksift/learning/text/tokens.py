"""Texts as tokens: pairs of a query and a document, one after another in a flat array."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ranksift.collection import ragged
from ranksift.collection.ragged import Ints
from ranksift.errors import InputError, missing_library
from ranksift.files import writing
from ranksift.parameters import integer, number

TokenIds = NDArray[np.int32]

#: The file of a fast tokenizer in a folder of a model.
TOKENIZER = "tokenizer.json"

#: Files that other kinds of tokenizers have; transformers makes a fast one of them.
_OTHERS = ("vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model")

# Texts that are tokenised at once, and their characters: enough for all cores, in little memory. A tokenizer keeps some
# twenty bytes for each character.
_TOGETHER, _CHARACTERS = 1 << 14, 1 << 24


class Cut(NamedTuple):
    """What did not fit into the input.

    Attributes
    ----------
    documents, cut_documents
        How many there are, and how many of them are longer than what is left for them.
    tokens, cut_tokens
        The number of tokens of all documents, and how many of these are not read.
    cut_queries
        Queries that are cut.

    Examples
    --------
    >>> print(Cut(documents=40, cut_documents=10, tokens=9000, cut_tokens=900, cut_queries=0).told())
    25.0% of the documents are longer than the input; 10.0% of their tokens are not read
    """

    documents: int
    cut_documents: int
    tokens: int
    cut_tokens: int
    cut_queries: int

    @property
    def share(self) -> float:
        """The share of the documents that are longer than the input."""
        return self.cut_documents / max(1, self.documents)

    def __bool__(self) -> bool:
        """Whether something did not fit."""
        return self.cut_documents + self.cut_queries > 0

    def told(self, limit: str = "the input") -> str:
        """What did not fit, in words."""
        lost = self.cut_tokens / max(1, self.tokens)
        said = f"{self.share:.1%} of the documents are longer than {limit}; {lost:.1%} of their tokens are not read"
        cut = "1 query is cut" if self.cut_queries == 1 else f"{self.cut_queries} queries are cut"
        return f"{said}; {cut}" if self.cut_queries else said


@dataclass(frozen=True, eq=False)
class Tokens:
    """Texts one after another, each as its tokens, to be packed into batches.

    Attributes
    ----------
    ids
        The ids of all tokens.
    offsets
        Text i owns ``ids[offsets[i]:offsets[i + 1]]``.
    second
        For each text, the position at which tokens of the second type begin: its length if there are none.
    cut
        What was cut because it did not fit.
    """

    ids: TokenIds
    offsets: Ints
    second: Ints
    cut: Cut

    def __len__(self) -> int:
        return len(self.second)

    @property
    def lengths(self) -> Ints:
        """Tokens of each text."""
        return np.diff(self.offsets)

    def __getitem__(self, rows: Ints) -> Tokens:
        """Some of the texts, in the order of the rows."""
        where, offsets = ragged.take(self.offsets, np.asarray(rows, dtype=np.int64))
        return Tokens(self.ids[where], offsets, self.second[rows], self.cut)


def joined(parts: Sequence[Tokens]) -> Tokens:
    """Texts of several calls one after another.

    >>> one = Tokens(np.arange(3, dtype=np.int32), np.array([0, 1, 3]), np.array([1, 2]), Cut(2, 0, 3, 0, 0))
    >>> joined([one, one]).offsets.tolist(), joined([one, one]).ids.tolist()
    ([0, 1, 3, 4, 6], [0, 1, 2, 0, 1, 2])
    """
    if len(parts) == 1:
        return parts[0]
    starts = ragged.offsets_of(np.array([len(part.ids) for part in parts])).tolist()
    offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
    return Tokens(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([*offsets, starts[-1:]]),
        np.concatenate([part.second for part in parts]),
        Cut(*(sum(counts) for counts in zip(*(part.cut for part in parts), strict=True))),
    )


class Tokenizer:
    """Splits texts into the tokens that the model of a folder was trained with.

    Each distinct text is tokenised once, on all cores, and pairs are put together from the results.

    Parameters
    ----------
    folder
        The folder of a model, with ``tokenizer.json``, or with files from which transformers can make one.
    cache
        A folder in which to keep tokens, so that the same texts are not tokenised again; None: nothing is kept.

    Examples
    --------
    >>> import tempfile, tokenizers
    >>> from tokenizers.processors import TemplateProcessing
    >>> words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "to": 4, "be": 5, "or": 6, "not": 7}
    >>> own = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    >>> own.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    >>> own.post_processor = TemplateProcessing(
    ...     pair="[CLS] $A [SEP] $B:1 [SEP]:1", single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    ... )
    >>> folder = tempfile.mkdtemp()
    >>> own.save(f"{folder}/tokenizer.json")
    >>> pairs = Tokenizer(folder).pairs(["to be"], ["or not", "to be or not to be"], np.array([0, 2]), max_length=8)
    >>> pairs.ids.tolist(), pairs.offsets.tolist(), pairs.second.tolist()
    ([2, 4, 5, 3, 6, 7, 3, 2, 4, 5, 3, 4, 5, 6, 3], [0, 7, 15], [4, 4])
    >>> print(pairs.cut.told())
    50.0% of the documents are longer than the input; 37.5% of their tokens are not read
    """

    def __init__(self, folder: str | os.PathLike[str], cache: str | os.PathLike[str] | None = None) -> None:
        self._take(_tokenizer(Path(folder)), cache)

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        """Make a tokenizer from what :meth:`to_json` returned."""
        import tokenizers

        made = cls.__new__(cls)
        with _without_panic():
            made._take(tokenizers.Tokenizer.from_str(text), None)
        return made

    def _take(self, own: Any, cache: str | os.PathLike[str] | None) -> None:
        # A file may say how long inputs are; that is ours to say.
        own.no_truncation()
        own.no_padding()
        self._own = own
        self._cache = None if cache is None else Path(cache)
        with _without_panic():
            self._pair, self._single = _Frame.of(self._own, pair=True), _Frame.of(self._own, pair=False)
        #: How many tokens it knows.
        self.vocabulary = int(self._own.get_vocab_size(with_added_tokens=True))

    def to_json(self) -> str:
        """The tokenizer as in ``tokenizer.json``."""
        return str(self._own.to_str())

    def pairs(
        self,
        queries: Sequence[str],
        documents: Sequence[str],
        offsets: Ints,
        *,
        max_length: int = 256,
        query_share: float = 0.5,
    ) -> Tokens:
        """Each query followed by a document, in the order of the documents.

        Parameters
        ----------
        queries, documents
            Their texts.
        offsets
            Query i owns ``documents[offsets[i]:offsets[i + 1]]``.
        max_length
            The largest number of tokens of a pair. Longer pairs are cut at the end of the document, then at the end of
            the query.
        query_share
            The share of the input that a long query takes if the document would fill the rest.
        """
        integer(self._pair.size + 2).check("max_length", max_length)
        number(above=0, most=1).check("query_share", query_share)
        asked, read = self._tokenised(queries, "query"), self._tokenised(documents, "document")
        query = np.repeat(np.arange(len(queries)), np.diff(offsets))
        if len(query) != len(documents):
            what = f"{len(documents)} documents for offsets that end at {len(query)}"
            raise InputError(what, remedy="give where the documents of each query begin, and where the last ones end")
        q, d = asked.lengths[query], read.lengths
        room = max_length - self._pair.size
        taken_q = np.minimum(q, np.maximum(int(query_share * room), room - d))
        taken_d = np.minimum(d, room - taken_q)
        cut = Cut(
            documents=len(d),
            cut_documents=int((taken_d < d).sum()),
            tokens=int(d.sum()),
            cut_tokens=int((d - taken_d).sum()),
            cut_queries=len(np.unique(query[taken_q < q])),
        )
        return self._pair.around([(asked, query, taken_q), (read, np.arange(len(d)), taken_d)], cut)

    def texts(self, texts: Sequence[str], *, max_length: int = 256) -> Tokens:
        """Each text separately."""
        integer(self._single.size + 1).check("max_length", max_length)
        read = self._tokenised(texts, "text")
        d = read.lengths
        taken = np.minimum(d, max_length - self._single.size)
        cut = Cut(len(d), int((taken < d).sum()), int(d.sum()), int((d - taken).sum()), 0)
        return self._single.around([(read, np.arange(len(d)), taken)], cut)

    # -- each distinct text once ------------------------------------------------------------------------------

    def _tokenised(self, texts: Sequence[str], what: str) -> _Ragged:
        distinct: dict[str, int] = {}
        where = np.array([distinct.setdefault(text, len(distinct)) for text in texts], dtype=np.int64)
        found = self._cached([*distinct], what)
        rows, offsets = ragged.take(found.offsets, where)
        return found if len(distinct) == len(texts) else _Ragged(found.ids[rows], offsets)

    def _cached(self, texts: list[str], what: str) -> _Ragged:
        if self._cache is None:
            return self._encoded(texts, what)
        from safetensors.numpy import load_file, save

        place = self._cache / f"tokens-{self._sum_of(texts)[:32]}.safetensors"
        try:
            kept = load_file(place)
            found = _Ragged(kept["ids"], kept["offsets"])
            if len(found.offsets) == len(texts) + 1 and found.offsets[-1] == len(found.ids):
                return found
        except Exception:  # not there, or not what was written: it is made again
            pass
        found = self._encoded(texts, what)
        self._cache.mkdir(parents=True, exist_ok=True)
        with writing(place) as file:
            file.write(save({"ids": found.ids, "offsets": found.offsets}))
        return found

    def _sum_of(self, texts: list[str]) -> str:
        total = hashlib.sha256(self.to_json().encode())
        for text in texts:
            data = text.encode("utf-8", "surrogatepass")
            total.update(len(data).to_bytes(8, "little"))
            total.update(data)
        return total.hexdigest()

    def _encoded(self, texts: list[str], what: str) -> _Ragged:
        lengths: list[int] = []
        pieces: list[TokenIds] = []
        for some in _in_groups(texts):
            try:
                with _without_panic():
                    found = [text.ids for text in self._own.encode_batch_fast(some, add_special_tokens=False)]
                piece = np.fromiter(chain.from_iterable(found), dtype=np.int32, count=sum(map(len, found)))
            except Exception:
                raise _not_a_text(texts, what) from None
            lengths += map(len, found)
            pieces.append(piece)
        ids = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int32)
        return _Ragged(ids, ragged.offsets_of(np.array(lengths, dtype=np.int64)))


class _Ragged(NamedTuple):
    ids: TokenIds
    offsets: Ints

    @property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)


class _Frame(NamedTuple):
    """The special tokens before, between and behind the texts of an input."""

    parts: tuple[TokenIds, ...]
    second: bool

    @property
    def size(self) -> int:
        return sum(map(len, self.parts))

    @classmethod
    def of(cls, tokenizer: Any, *, pair: bool) -> _Frame:
        """What a tokenizer puts around one text, or two."""
        for word in ("a", "the", "1", "."):  # one that is a token at least
            made = tokenizer.encode(word, word) if pair else tokenizer.encode(word)
            owner = [-1 if n is None else n for n in made.sequence_ids]
            if all(n in owner for n in range(1 + pair)):
                break
        else:
            raise InputError("the tokenizer finds no tokens in a word", remedy="use another model")
        ids, of = np.array(made.ids, dtype=np.int32), np.array(owner)
        parts: list[TokenIds] = []
        at = 0
        for n in range(1 + pair):
            places = np.flatnonzero(of == n)
            parts.append(ids[at : places[0]])
            at = int(places[-1]) + 1
        return cls((*parts, ids[at:]), pair and made.type_ids[int(np.flatnonzero(of == 1)[0])] == 1)

    def around(self, texts: list[tuple[_Ragged, Ints, Ints]], cut: Cut) -> Tokens:
        """Inputs of texts: of each place, the texts to take from, which one, and how many of its tokens."""
        count = len(texts[0][1])
        # A piece is a run of tokens of an input: special ones, a text, special ones, a text, special ones.
        sizes = np.zeros((count, 2 * len(texts) + 1), dtype=np.int64)
        sizes[:, ::2] = [len(part) for part in self.parts]
        sizes[:, 1::2] = np.stack([taken for _, _, taken in texts], axis=1)
        starts = ragged.offsets_of(sizes.ravel())
        ids = np.empty(int(starts[-1]), dtype=np.int32)
        begin = starts[:-1].reshape(sizes.shape)
        for n, part in enumerate(self.parts):
            ids[(begin[:, 2 * n, None] + np.arange(len(part))).ravel()] = np.tile(part, count)
        for n, (source, which, taken) in enumerate(texts):
            inside = ragged.positions(taken)
            ids[np.repeat(begin[:, 2 * n + 1], taken) + inside] = source.ids[
                np.repeat(source.offsets[:-1][which], taken) + inside
            ]
        lengths = sizes.sum(axis=1)
        second = begin[:, 3] - begin[:, 0] if self.second else lengths
        return Tokens(ids, ragged.offsets_of(lengths), second, cut)


def _in_groups(texts: list[str]) -> Iterator[list[str]]:
    """Texts that are tokenised at once."""
    start = characters = 0
    for row, text in enumerate(texts):
        size = len(text) if isinstance(text, str) else 0  # anything that is not a text is reported by the reader
        if row > start and (characters + size > _CHARACTERS or row - start == _TOGETHER):
            yield texts[start:row]
            start, characters = row, 0
        characters += size
    if start < len(texts):
        yield texts[start:]


def _not_a_text(texts: list[str], what: str) -> InputError:
    for text in texts:
        if not isinstance(text, str):
            return InputError(f"a {what} is {text!r:.60}", remedy="give texts")
        try:
            text.encode()
        except UnicodeEncodeError:
            return InputError(f"the {what} {text!r:.60} is not Unicode text", remedy="read its file as UTF-8")
    return InputError(f"a {what} cannot be tokenised", remedy="use another model")


@contextmanager
def _without_panic() -> Iterator[None]:
    """Make an error of what would end the process: Rust's libraries panic over files that contradict themselves."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"the tokenizer cannot be used ({error})", remedy="use another model") from None


def _tokenizer(folder: Path) -> Any:
    try:
        import tokenizers
    except ImportError:
        raise missing_library("text models need", "tokenizers", "text") from None
    own = folder / TOKENIZER
    if own.is_file():
        try:
            with _without_panic():
                found = tokenizers.Tokenizer.from_file(str(own))
        except Exception as error:
            raise InputError(f"is not a tokenizer ({error})", source=str(own), remedy="copy the folder again") from None
    elif any((folder / name).is_file() for name in _OTHERS):
        found = _converted(folder)
    else:
        raise InputError(f"has no {TOKENIZER}", source=str(folder), remedy="copy the folder of a model as a whole")
    return found


def _converted(folder: Path) -> Any:
    """A fast tokenizer of older files."""
    try:
        from transformers import AutoTokenizer
    except ImportError:
        what = f"has no {TOKENIZER}, and transformers, which can make one, is not installed"
        raise InputError(what, source=str(folder), remedy="pip install transformers") from None
    try:
        # Code in the folder is not run, and the user is not asked whether it may be.
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        return AutoTokenizer.from_pretrained(str(folder), use_fast=True, **options).backend_tokenizer
    except Exception as error:
        what = f"has no {TOKENIZER}, and none can be made of its files ({error})"
        raise InputError(what, source=str(folder), remedy="copy the folder of a model as a whole") from None
