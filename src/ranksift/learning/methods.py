"""All rankers, so that a command and a model's card can name any of them."""

from ranksift.learning.ranker import RANKERS, Ranker


def known_rankers() -> dict[str, type[Ranker]]:
    """Every ranker by its name."""
    return dict(RANKERS)
