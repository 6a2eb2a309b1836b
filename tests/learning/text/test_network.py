"""What stands on an encoder: gradients reach all of it, and a list is a set of documents."""

import numpy as np
import pytest
import torch

from ranksift.errors import InputError
from ranksift.learning.text.encoder import Batch, load_encoder
from ranksift.learning.text.network import TextNetwork
from ranksift.learning.text.packing import pack
from ranksift.learning.text.training import Goal
from tests.learning.text.tiny import CONFIGS, drawn_lists, network_for, write_encoder


@pytest.mark.parametrize("list_layers", [0, 2])
@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("kind", CONFIGS)
def test_gradients_reach_every_parameter(tmp_path, kind, pooling, list_layers):
    folder = write_encoder(tmp_path, kind)
    lists = drawn_lists(folder, queries=6)
    network = network_for(folder, lists, pooling=pooling, list_layers=list_layers).train()
    packed = pack(lists.tokens, np.arange(len(lists)))
    vectors = network.encode(Batch.of(packed, network.device, grouped=True))[packed.back]
    outputs = network.of_vectors(vectors, lists.offsets)
    Goal("ordinal", lists)(outputs, torch.from_numpy(lists.gains).float(), lists.offsets).backward()
    for name, weights in network.named_parameters():
        assert weights.grad is not None, name
        assert bool((weights.grad != 0).any()), name
        if name.endswith("qkv.weight"):  # queries, keys and values
            assert all(bool((part != 0).any()) for part in weights.grad.chunk(3)), name


def test_documents_see_their_own_list_and_no_other(bert):
    network = TextNetwork(load_encoder(bert), 2, list_layers=2, seed=4).eval()
    draw = torch.Generator().manual_seed(0)
    vectors, offsets = torch.randn(9, 32, generator=draw), np.array([0, 4, 4, 5, 9])
    with torch.inference_mode():
        whole = network.of_vectors(vectors, offsets)
        for begin, end in ((0, 4), (4, 5), (5, 9)):
            alone = network.of_vectors(vectors[begin:end], np.array([0, end - begin]))
            torch.testing.assert_close(alone, whole[begin:end], atol=1e-6, rtol=0)
        turned = network.of_vectors(vectors[[3, 1, 0, 2, 4, 5, 6, 7, 8]], offsets)
        torch.testing.assert_close(turned[:4], whole[[3, 1, 0, 2]], atol=1e-6, rtol=0)
        changed = vectors.clone()
        changed[0] = -changed[0]
        moved = (network.of_vectors(changed, offsets) - whole).abs().amax(dim=1)
        assert (moved[:4] > 1e-6).all()
        assert (moved[4:] == 0).all()


def test_outputs_begin_where_they_are_told(bert):
    network = TextNetwork(load_encoder(bert), 2, start=[0.5, -3.0])
    assert network.head.bias.tolist() == [0.5, -3.0]


def test_what_the_encoder_cannot_read_is_refused(bert):
    network = TextNetwork(load_encoder(bert))
    network.check_fits(64, 300)
    with pytest.raises(InputError, match=r"max_length=65 is more than the 64 tokens .* use max_length=64"):
        network.check_fits(65, 300)
    with pytest.raises(InputError, match="the tokenizer has 301 tokens, but the encoder 300"):
        network.check_fits(64, 301)
