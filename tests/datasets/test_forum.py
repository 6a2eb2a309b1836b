"""The made-up forum: its rules, read off what everybody can see, and its noise."""

import numpy as np
import pytest

import ranksift as rs
from ranksift.datasets import synthetic_forum
from ranksift.datasets.forum import _CHATTER, _NO_HELP, _THANKS, KINDS, LABELS


@pytest.fixture(scope="module")
def forum():
    return synthetic_forum(2000, seed=3)


def named_in(text: str) -> str | None:
    """Whom a post names."""
    return next((name for names in KINDS.values() for name in names if name in text), None)


def by_the_rules(examples: rs.Examples) -> list[float]:
    """What posts are worth, told by nothing but texts, authors, and the order of the list."""
    texts, found = examples.texts, []
    for query, question in enumerate(texts.queries):
        (kind,) = (kind for kind in KINDS if kind in question.partition("\n")[0])
        rows = range(examples.offsets[query], examples.offsets[query + 1])
        before: set[str] = set()
        for row in rows:
            said, asker = texts.docs[row], texts.asker[query]
            reply = texts.docs[row + 1] if row + 1 in rows and texts.author[row + 1] == asker else ""
            name = named_in(said)
            if texts.author[row] == asker:
                found.append(-1.0)
            elif reply in _THANKS:
                found.append(2.0)
            elif reply in _NO_HELP:
                found.append(-1.0)
            elif name is not None:
                found.append(2.0 if name in KINDS[kind] and name not in before else -1.0)
            else:
                found.append(-1.0 if said in _CHATTER else 1.0)
            before |= {name} - {None}
    return found


def test_the_rules_can_be_read_off_the_list(forum):
    assert by_the_rules(forum.examples) == forum.truth.tolist()


def test_labels_follow_their_chances(forum):
    np.testing.assert_allclose(forum.chances.sum(axis=1), 1)
    labels = forum.examples.labels
    assert np.mean(labels == forum.truth) == pytest.approx(0.9, abs=0.01)
    for column, label in enumerate(LABELS):
        assert forum.chances[:, column] == pytest.approx(np.where(forum.truth == label, 0.9, 0.05))
        other = forum.truth != label
        assert np.mean(labels[other] == label) == pytest.approx(0.05, abs=0.01)


def test_the_truth_is_the_best_ranking(forum):
    examples, qrels = forum.examples, forum.examples.qrels()
    best = examples.run(forum.truth, forum.truth > 0)
    value = rs.evaluate(qrels, best, "nDCG_f@10").mean_of("nDCG_f@10")
    assert 0.9 < value < 0.95
    clean = synthetic_forum(100, noise=0, seed=3)
    best = clean.examples.run(clean.truth, clean.truth > 0)
    assert rs.evaluate(clean.examples.qrels(), best, "nDCG_f@10").per_query()["value"].min() >= 0
    assert np.array_equal(clean.examples.labels, clean.truth)


def test_texts_alone_do_not_tell(forum):
    """The same words below the same question are worth different things: it is the list that tells."""
    seen: dict[str, set[float]] = {}
    for text, worth in zip(forum.examples.texts.docs, forum.truth.tolist(), strict=True):
        seen.setdefault(text, set()).add(worth)
    assert seen["Ask at the library, they keep a list."] == {-1.0, 1.0, 2.0}
    # Threads of the same kind with the same name in them.
    assert sum(len(worth) > 1 for worth in seen.values()) > len(seen) / 3


def test_labels_and_lengths_vary(forum):
    shares = [np.mean(forum.truth == label) for label in LABELS]
    assert min(shares) > 0.08
    assert max(shares) < 0.65
    lengths = forum.examples.lengths
    assert (lengths.min(), lengths.max()) == (1, 30)
    assert 5 < lengths.mean() < 8
    texts = forum.examples.texts
    assert texts.known() == ("position", "author", "time", "parent", "asker")
    assert (np.diff(texts.time) > 0).all()
    assert len(set(texts.queries)) > 500


def test_same_seed_same_forum():
    one, two, other = synthetic_forum(50, seed=1), synthetic_forum(50, seed=1), synthetic_forum(50, seed=2)
    assert one.examples.texts.docs == two.examples.texts.docs
    assert np.array_equal(one.examples.labels, two.examples.labels)
    assert one.examples.texts.docs != other.examples.texts.docs


def test_a_reply_has_its_parent(forum):
    texts, examples = forum.examples.texts, forum.examples
    replies = [row for row, parent in enumerate(texts.parent) if parent is not None]
    assert len(replies) > 500
    for row in replies:
        assert texts.docs[row] in _THANKS + _NO_HELP
        assert examples.docs[row - 1] == texts.parent[row]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": 0}, "no posts of 0 threads; ask for at least one thread"),
        ({"noise": 1.5}, "noise=1.5"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(rs.InputError, match=message):
        synthetic_forum(**options)


def test_it_is_written_and_read_back(tmp_path):
    examples = synthetic_forum(30, seed=1).examples
    examples.save(tmp_path / "forum.jsonl")
    again = rs.read_examples(tmp_path / "forum.jsonl")
    assert again.texts.docs == examples.texts.docs
    assert again.texts.parent == examples.texts.parent
    assert np.array_equal(again.labels, examples.labels)
