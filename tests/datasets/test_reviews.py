"""Product reviews have paper 1's statistics, and labels that follow their chances."""

import numpy as np
import pytest

from ranksift import InputError
from ranksift.datasets.reviews import GAINS, LABELS, product_reviews


@pytest.fixture(scope="module")
def made():
    return product_reviews(20_000, seed=3)


def test_labels_have_the_shares_of_the_paper(made):
    labels, alone = made.examples.labels, (made.examples.lengths == 1)[made.examples.query]
    spam, none, few, many = (np.mean(labels == label) for label in LABELS)
    # Table 1: 83.16, 10.48 and 5.98 % of the reviews, 25.53, 2.53 and 2.69 % of them spam; Table 6: 45.3 % of lone ones
    assert spam == pytest.approx(0.21, abs=0.01)
    assert none == pytest.approx(0.8316 * (1 - 0.2553), abs=0.015)
    assert few == pytest.approx(0.1048 * (1 - 0.0253), abs=0.01)
    assert many == pytest.approx(0.0598 * (1 - 0.0269), abs=0.01)
    assert np.mean(labels[alone] == -1) == pytest.approx(0.453, abs=0.02)


def test_products_have_as_many_reviews_as_in_the_paper(made):
    lengths = made.examples.lengths
    assert np.mean(lengths == 1) == pytest.approx(0.33, abs=0.015)
    assert np.median(lengths) == 3
    assert lengths.mean() == pytest.approx(10, abs=0.6)


def test_labels_follow_their_chances(made):
    np.testing.assert_allclose(made.chances.sum(axis=1), 1)
    for column, label in enumerate(LABELS):
        chance = made.chances[:, column]
        for low in np.linspace(0, 0.9, 10):
            inside = (chance >= low) & (chance < low + 0.1)
            if inside.sum() > 500:
                assert np.mean(made.examples.labels[inside] == label) == pytest.approx(chance[inside].mean(), abs=0.05)


def test_same_seed_same_reviews():
    one, two, other = product_reviews(50, seed=1), product_reviews(50, seed=1), product_reviews(50, seed=2)
    assert np.array_equal(one.examples.features, two.examples.features)
    assert np.array_equal(one.examples.labels, two.examples.labels)
    assert one.examples.features.shape != other.examples.features.shape


def test_gains_forbid_spam_alone():
    assert [label for label in LABELS if GAINS.get(label, label) < 0] == [-1.0]


def test_no_products_are_refused():
    with pytest.raises(InputError, match="no reviews of 0 products; ask for at least one product"):
        product_reviews(0)
