"""Synthetic product reviews with Carmel et al.'s label statistics, and the true chances of every label.

The paper's collection is not public. This one has its numbers: reviews per product (a third of the products have one,
the median is 3, the mean 10), helpful votes (none for 83 % of the reviews) and spam (21 % of all reviews, 45 % of those
that stand alone, 2.5 % of those with votes). The features of a review are synthetic, and so are the chances of its
labels; given the features, labels are independent. So the best possible ranking is known, which is never the case with
real data. It is for comparing methods, not for conclusions about real reviews.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranksift.collection import ragged
from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats, Ints
from ranksift.errors import InputError
from ranksift.parameters import at_most, integer, takes

#: Spam; no helpful vote; one or two; more.
LABELS = (-1.0, 0.0, 1.0, 2.0)

#: What they are worth. A review without votes is worth a little, else most products would have nothing to show.
GAINS = {-1.0: -10.0, 0.0: 0.1}

_LONGEST = 200
_STARS = np.array([0.10, 0.05, 0.08, 0.20, 0.57])  # shares of one to five

# Where the chances must start from for the paper's shares of spam, of votes and of more than two.
_SPAM, _VOTES, _MANY_VOTES = -3.07, -4.668, -6.08


@dataclass(frozen=True, eq=False)
class Reviews:
    """Reviews of products.

    Attributes
    ----------
    examples
        A query is a product, a document a review, with its label drawn by its chances.
    chances
        The probability of each of :data:`LABELS` (columns), in the order of the examples.
    """

    examples: Examples
    chances: Floats


@takes(products=at_most(10**7, integer()), seed=integer(0))
def product_reviews(products: int = 2000, *, seed: int = 0) -> Reviews:
    """Make reviews; the same arguments give the same reviews, and another seed gives other products of the same kind.

    Parameters
    ----------
    products
        The number of products; there are about ten times as many reviews.
    seed
        The seed of the random number generator.

    Examples
    --------
    >>> made = product_reviews(500, seed=1)
    >>> made.examples.feature_names[:5]
    ('words', 'stars', 'stars_above_mean', 'verified', 'writer_reviews')
    >>> bool(np.allclose(made.chances.sum(axis=1), 1.0))
    True
    """
    if products < 1:
        raise InputError(f"no reviews of {products} products", remedy="ask for at least one product")
    draw = np.random.default_rng(seed)
    lengths = np.minimum(np.ceil(np.exp(draw.normal(0.8, 1.8, products))), _LONGEST).astype(np.int64)
    product = np.repeat(np.arange(products), lengths)
    features = _features(draw, product, lengths)
    chances = _chances(features, np.log(lengths)[product])
    drawn = (draw.random((len(product), 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    examples = Examples.from_arrays(
        np.column_stack(list(features.values())),
        np.array(LABELS)[drawn],
        product,
        feature_names=list(features),
        name="product reviews",
    )
    return Reviews(examples, chances)


def _features(draw: np.random.Generator, product: Ints, lengths: Ints) -> dict[str, Floats]:
    n, products = len(product), len(lengths)
    attacked = draw.normal(size=products)[product]  # some products draw spam, which comes in bursts
    stars = 1.0 + draw.choice(5, n, p=_STARS)
    mean = ragged.sums(stars, product, products) / lengths
    writer = np.floor(np.exp(draw.normal(1.2, 1.1, n)))
    return {
        "words": np.floor(np.exp(draw.normal(3.6, 0.9, n))) + 1.0,
        "stars": stars,
        "stars_above_mean": stars - mean[product],
        "verified": (draw.random(n) < 0.75).astype(np.float64),
        "writer_reviews": writer,
        "writer_helpful": draw.beta(1.5, 3.0, n) * np.minimum(1.0, writer / 3.0),
        "years": draw.exponential(1.0, n),
        "burst": 1.0 / (1.0 + np.exp(-attacked - 0.8 * draw.normal(size=n))),
        "likeness": np.maximum(0.0, draw.normal(0.1, 0.3, n)),
        "capitals": np.abs(draw.normal(size=n)),
        "link": (draw.random(n) < 0.05).astype(np.float64),
        "photo": (draw.random(n) < 0.08).astype(np.float64),
        "suspicion": draw.normal(size=n),
        "price": draw.normal(size=products)[product],
    }


def _chances(features: dict[str, Floats], size: Floats) -> Floats:
    """The probability of each label, by features that act together and not in proportion."""
    x = features
    words = np.log(x["words"] / 36.0)
    extreme = np.abs(x["stars_above_mean"]) > 1.0
    spam = (
        3.2 * x["burst"]
        + 1.5 * (x["likeness"] > 0.5)
        + 0.9 * np.log1p(x["capitals"])
        - 0.9 * x["verified"]
        + 1.4 * x["link"]
        + 0.8 * ((x["writer_reviews"] < 2) & extreme)
        + 1.0 * ((x["words"] < 20) & (x["stars"] == 5))
        + 0.5 * x["suspicion"]
        - 0.37 * size
    )
    helpful = (
        0.9 * words
        - 0.25 * words**2
        + 1.2 * x["photo"]
        + 1.6 * x["writer_helpful"]
        + 0.5 * x["verified"]
        + 0.5 * (x["stars"] <= 2)
        + 0.7 * np.sqrt(x["years"])
        + 0.4 * x["price"] * (x["words"] > 60)
        - 0.8 * x["likeness"]
        + 0.25 * size
    )
    is_spam = _sigmoid(1.6 * spam + _SPAM)
    votes, many = _sigmoid(1.3 * helpful + _VOTES), _sigmoid(1.3 * helpful + _MANY_VOTES)
    return np.column_stack([is_spam, (1 - is_spam) * (1 - votes), (1 - is_spam) * (votes - many), (1 - is_spam) * many])


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))
