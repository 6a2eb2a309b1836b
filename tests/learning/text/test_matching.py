"""What texts tell without labels, and layers that forget less."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from ranksift.collection.examples import Examples
from ranksift.errors import InputError
from ranksift.learning.text import scoring
from ranksift.learning.text.encoder import load_encoder
from ranksift.learning.text.matching import match, matching_lists, others
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.ranker import TextRanker
from ranksift.learning.text.tokens import Tokenizer
from ranksift.learning.text.training import Training, fit
from tests.learning.text.tiny import drawn_lists, drawn_texts, network_for


def shared_words(queries=24, documents=4, seed=0):
    """Each query has two words of its own, and each of its documents has one of them."""
    draw = np.random.default_rng(seed)
    asked = [f"w{10 * q} w{10 * q + 1}" for q in range(queries)]
    docs = [
        " ".join(f"w{n}" for n in (*draw.integers(240, 290, 3), 10 * q + draw.integers(0, 2)))
        for q in range(queries)
        for _ in range(documents)
    ]
    return asked, docs, np.arange(queries + 1) * documents


def test_another_query_is_another():
    offsets = np.array([0, 3, 3, 4, 9, 9])
    own = np.repeat(np.arange(5), np.diff(offsets))
    queries = np.array(["car", "none", "bank", "car", "none"])
    drawn = np.concatenate([others(queries.tolist(), offsets, seed) for seed in range(40)])
    assert (queries[drawn] != queries[np.tile(own, 40)]).all()  # not of the same words either
    assert set(drawn.tolist()) == {0, 2, 3}  # of those that have documents
    assert set(others(["a", "b", "c", "d", "e"], offsets, 1).tolist()) <= {0, 2, 3}
    assert others(queries.tolist(), offsets, 3).tolist() == others(queries.tolist(), offsets, 3).tolist()


def test_the_first_of_two_is_the_own_query(calm_bert):
    asked, docs, offsets = shared_words(6, 2)
    tokenizer = Tokenizer(calm_bert)
    found = matching_lists(tokenizer, asked, docs, offsets, max_length=32, seed=0)
    assert found.gains.tolist() == [1.0, -1.0] * 12
    assert found.offsets.tolist() == list(range(0, 25, 2))
    true = tokenizer.pairs(asked, docs, offsets, max_length=32)
    for row in range(12):
        first, second = (found.tokens[np.array([2 * row + n])].ids.tolist() for n in (0, 1))
        assert first == true[np.array([row])].ids.tolist()
        assert first != second
        assert first[-2:] == second[-2:]  # the same document


def test_the_encoder_learns_it_without_labels(calm_bert):
    asked, docs, offsets = shared_words()
    tokenizer = Tokenizer(calm_bert)
    lists = matching_lists(tokenizer, asked, docs, offsets, max_length=32, seed=0)
    network = TextNetwork(load_encoder(calm_bert), pooling="mean", dropout=0.0)
    before = {name: x.detach().clone() for name, x in network.encoder.named_parameters()}
    plan = Training(learning_rate=3e-3, warmup=0.0)
    for _ in range(80):
        fitted = match(network, lists, plan)
    out = scoring.outputs(network, lists.tokens, lists.offsets)[:, 0].reshape(-1, 2)
    assert (out[:, 0] > out[:, 1]).mean() > 0.7  # chance: one half
    assert fitted.losses[0] < 0.68
    assert all(bool((x != before[name]).any()) for name, x in network.encoder.named_parameters() if "up" in name)


def test_a_ranker_uses_unlabelled_documents_for_it(calm_bert):
    queries, docs, offsets, gains = drawn_texts(10, 4)
    rows = np.repeat(np.arange(len(queries)), np.diff(offsets))
    labels = np.where(np.arange(len(docs)) % 3 == 0, np.nan, gains)

    def fitted(texts, **options):
        asked = [queries[q] for q in rows]
        ranker = TextRanker("bce", str(calm_bert), epochs=1, max_length=32, context=False, **options)
        examples = Examples.from_texts(asked, texts, labels, rows.astype(str))
        return ranker.fit(examples)._network.state_dict()

    changed = [f"{doc} w299" if np.isnan(label) else doc for doc, label in zip(docs, labels, strict=True)]
    for matching in (False, True):
        one, other = fitted(docs, matching=matching), fitted(changed, matching=matching)
        same = all(torch.equal(x, other[name]) for name, x in one.items())
        assert same is not matching


def test_a_frozen_encoder_cannot_learn_it():
    with pytest.raises(InputError, match="matching=True trains the encoder, and freeze=True leaves it as it is"):
        TextRanker(matching=True, freeze=True).check_parameters()


def test_one_query_has_no_other(calm_bert):
    examples = Examples.from_texts(["w5"] * 3, ["w1", "w2 w3", "w4"], [1.0, -1.0, 1.0], ["q", "q", "r"])
    own, plain = (
        TextRanker("bce", str(calm_bert), epochs=1, max_length=16, matching=matching).fit(examples).scored(examples)
        for matching in (True, False)
    )
    np.testing.assert_array_equal(own, plain)


@pytest.mark.parametrize("decay", [1.0, 0.5])
def test_lower_layers_move_less(calm_bert, decay):
    lists = drawn_lists(calm_bert, queries=6)
    network = network_for(calm_bert, lists)
    before = {name: x.detach().clone() for name, x in network.named_parameters()}
    # The first step of Adam is the rate, whatever the gradient is.
    plan = Training("ordinal", epochs=1, batch_size=100, documents_per_query=None, warmup=0.0, weight_decay=0.0)
    fit(network, lists, replace(plan, layer_decay=decay, learning_rate=1e-3))
    moved = {name: float((x.detach() - before[name]).abs().max()) / 1e-3 for name, x in network.named_parameters()}
    expected = {"head.weight": 1.0, "encoder.layers.1.up.weight": decay, "encoder.layers.0.up.weight": decay**2}
    expected["encoder.positions"] = decay**3
    assert {name: round(moved[name], 2) for name in expected} == pytest.approx(expected, abs=0.02)
