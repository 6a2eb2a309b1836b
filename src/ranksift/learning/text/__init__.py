"""Rankers from texts: encoders on packed tokens, the networks on top of them, and how they are trained."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.learning.text.encoder import Encoder as Encoder
    from ranksift.learning.text.encoder import find_encoder as find_encoder
    from ranksift.learning.text.encoder import load_encoder as load_encoder
    from ranksift.learning.text.network import TextNetwork as TextNetwork
    from ranksift.learning.text.ranker import TextRanker as TextRanker
    from ranksift.learning.text.scoring import outputs as outputs
    from ranksift.learning.text.scoring import vectors as vectors
    from ranksift.learning.text.tokens import Tokenizer as Tokenizer
    from ranksift.learning.text.tokens import Tokens as Tokens
    from ranksift.learning.text.training import TextLists as TextLists
    from ranksift.learning.text.training import Training as Training
    from ranksift.learning.text.training import fit as fit

export(__name__)
