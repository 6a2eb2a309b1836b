"""Tokens of pairs against what the tokenizer itself makes of them, cut or not."""

import json

import numpy as np
import pytest

from ranksift.errors import InputError
from ranksift.learning.text.encoder import find_encoder
from ranksift.learning.text.tokens import Tokenizer
from tests.learning.text.tiny import drawn_texts, tokenizers


def own(folder, queries, documents, offsets, **truncation):
    """Ids and types as the tokenizer gives them, pair by pair."""
    made = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    if truncation:
        made.enable_truncation(**truncation)
    query = np.repeat(np.arange(len(queries)), np.diff(offsets))
    return [made.encode(queries[q], d) for q, d in zip(query, documents, strict=True)]


def check_same(tokens, expected):
    for i, one in enumerate(expected):
        ids = tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]]
        assert ids.tolist() == one.ids
        assert [int(place >= tokens.second[i]) for place in range(len(ids))] == one.type_ids
    assert len(tokens) == len(expected)


def test_pairs_are_those_of_the_tokenizer(bert):
    queries, documents, offsets, _ = drawn_texts()
    documents[3], documents[4] = "", documents[5]
    tokens = Tokenizer(bert).pairs(queries, documents, offsets)
    check_same(tokens, own(bert, queries, documents, offsets))
    assert tokens.cut[:2] == (len(documents), 0)


def test_the_default_encoder_reads_words(capsys):
    try:
        folder = find_encoder("minilm")
    except InputError as missing:
        pytest.skip(str(missing))
    queries, documents = ["Where can I renew a visa?", "Wo? 🙂"], ["At the ministry.", "", "naïve\tcafé " * 40]
    tokens = Tokenizer(folder).pairs(queries, documents, np.array([0, 2, 3]), max_length=64)
    check_same(tokens, own(folder, queries, documents, [0, 2, 3], max_length=64, strategy="only_second"))


def test_the_document_is_cut_first(bert):
    queries, documents, offsets, _ = drawn_texts(words=30)
    tokens = Tokenizer(bert).pairs(queries, documents, offsets, max_length=20)
    check_same(tokens, own(bert, queries, documents, offsets, max_length=20, strategy="only_second"))
    longer = [len(one.split()) > 20 - 3 - n for one, n in zip(documents, query_words(queries, offsets), strict=True)]
    assert tokens.cut.cut_documents == sum(longer) > 0
    assert tokens.cut.share == sum(longer) / len(documents)
    assert tokens.cut.tokens - tokens.cut.cut_tokens == tokens.lengths.sum() - sum(
        3 + n for n in query_words(queries, offsets)
    )


def query_words(queries, offsets):
    return np.repeat([len(one.split()) for one in queries], np.diff(offsets))


@pytest.mark.parametrize(
    ("query", "document", "lengths"),
    [(50, 50, (8, 9)), (50, 2, (15, 2)), (3, 50, (3, 14)), (50, 0, (17, 0)), (8, 9, (8, 9))],
)
def test_a_long_query_leaves_a_share(bert, query, document, lengths):
    texts = " ".join(["w1"] * query), " ".join(["w2"] * document)
    tokens = Tokenizer(bert).pairs([texts[0]], [texts[1]], np.array([0, 1]), max_length=20, query_share=0.5)
    ids = tokens.ids.tolist()
    assert (ids.count(5), ids.count(6)) == lengths
    assert tokens.cut.cut_queries == int(query > lengths[0])


def test_single_texts(bert):
    tokens = Tokenizer(bert).texts(["w0 w1", ""], max_length=3)
    assert tokens.ids.tolist() == [2, 4, 3, 2, 3]
    assert tokens.second.tolist() == [3, 2]
    assert tokens.cut[:4] == (2, 1, 2, 1)


def test_some_rows(bert):
    queries, documents, offsets, _ = drawn_texts()
    tokens = Tokenizer(bert).pairs(queries, documents, offsets)
    rows = np.array([4, 0, 4])
    some = tokens[rows]
    assert some.lengths.tolist() == tokens.lengths[rows].tolist()
    assert some.ids[some.offsets[1] : some.offsets[2]].tolist() == tokens.ids[: tokens.offsets[1]].tolist()


def test_tokens_are_kept_and_a_damaged_file_is_made_anew(bert, tmp_path):
    queries, documents, offsets, _ = drawn_texts()
    fresh = Tokenizer(bert).pairs(queries, documents, offsets)
    first = Tokenizer(bert, cache=tmp_path).pairs(queries, documents, offsets)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2
    files[0].write_bytes(b"not what was written")
    again = Tokenizer(bert, cache=tmp_path)
    assert again.pairs(queries, documents, offsets).ids.tolist() == first.ids.tolist() == fresh.ids.tolist()
    assert files[0].stat().st_size > 100
    # Taken from the files: where they say something else, so do the tokens.
    from safetensors.numpy import load_file, save_file

    for file in files:
        kept = load_file(file)
        kept["ids"][:] = 7
        save_file(kept, file)
    assert set(again.pairs(queries, documents, offsets).ids.tolist()) == {2, 3, 7}
    assert again.pairs(queries, [*documents[:-1], "w9"], offsets).ids[-2] == 13


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["w1", "w\ud800"], r"the document 'w\\ud800' is not Unicode text; read its file as UTF-8"),
        (["w1", None], "a document is None; give texts"),
    ],
)
def test_what_is_no_text_is_refused(bert, texts, said):
    with pytest.raises(InputError, match=said):
        Tokenizer(bert).pairs(["w1"], texts, np.array([0, 2]))


def test_texts_and_offsets_belong_together(bert):
    with pytest.raises(InputError, match="1 documents for offsets that end at 2"):
        Tokenizer(bert).pairs(["w1"], ["w2"], np.array([0, 2]))
    with pytest.raises(InputError, match="max_length=3"):
        Tokenizer(bert).pairs(["w1"], ["w2"], np.array([0, 1]), max_length=3)


def test_folders_without_a_tokenizer(tmp_path):
    with pytest.raises(InputError, match=r"has no tokenizer.json; copy the folder"):
        Tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match=r"tokenizer.json: is not a tokenizer"):
        Tokenizer(tmp_path)


def test_older_files_are_converted(tmp_path):
    pytest.importorskip("transformers", reason="older files of tokenizers need transformers")
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "to", "be"]))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    tokens = Tokenizer(tmp_path).pairs(["to"], ["be or"], np.array([0, 1]))
    assert tokens.ids.tolist() == [2, 5, 3, 6, 1, 3]


def test_code_beside_older_files_is_not_run_and_nobody_is_asked(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="older files of tokenizers need transformers")
    ran = tmp_path / "ran"
    (tmp_path / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "to", "be"]))
    (tmp_path / "config.json").write_text('{"model_type": "oracle"}')
    (tmp_path / "own.py").write_text(f"open({str(ran)!r}, 'w')\nclass Own: pass\n")
    code = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", "own.Own"]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(code))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody is asked"))
    with pytest.raises(InputError, match=r"has no tokenizer.json, and none can be made of its files"):
        Tokenizer(tmp_path)
    assert not ran.exists()
