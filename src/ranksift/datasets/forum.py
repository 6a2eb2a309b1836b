"""A synthetic forum, whose labels depend on what is said and on the list in which it is said.

People ask where to find someone: a dentist, a plumber. The worth of a post follows from rules, in this order:

1. A post by the asker answers nothing: bad.
2. A post to which the asker replies at once is good if the reply says thanks, and bad if it says that the post did not
help. 3. A post that names someone is good if the name is of the kind that is asked for, and no one named it before in
the
   thread; otherwise bad.
4. A post that helps to find someone, but names no one, is potentially useful.
5. Everything else is bad.

A name says little about its kind, so the kind has to be learned from other threads; whether a post repeats another, and
what the asker says to it, stand elsewhere in the list. Then some labels are changed by chance. So the best possible
ranking is known, which is never the case with real data. It is for tests and for showing how things work, not for
conclusions about forums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ranksift.collection.examples import Examples
from ranksift.collection.ragged import Floats
from ranksift.errors import InputError
from ranksift.parameters import at_most, integer, number, takes

#: Bad; potentially useful; good.
LABELS = (-1.0, 1.0, 2.0)

_LONGEST = 30

#: Whom people look for, and who is there.
KINDS = {
    "dentist": (
        *("Pearl Smiles", "Doctor Hanna", "White Bridge", "Cedar House", "Doctor Osei"),
        *("Molar Street", "Doctor Weiss", "Apple Court", "Bright Side", "Doctor Amari"),
    ),
    "mechanic": (
        *("Turner Brothers", "Quick Axle", "Red Gate", "Omar and Sons", "Northgate"),
        *("Piston Lane", "Four Seasons", "Uncle Joe", "Black Swan", "Ruiz and Ruiz"),
    ),
    "nursery": (
        *("Little Oaks", "Sunbeam House", "Happy Feet", "Blue Kite", "Tiny Steps"),
        *("Maple Yard", "Pumpkin Hill", "Miss Clara", "Rainbow Bridge", "Seven Dwarfs"),
    ),
    "vet": (
        *("Paws Corner", "Doctor Lind", "Green Cross", "Whisker Lane", "Harbour Ark"),
        *("Doctor Silva", "Lucky Dog", "Meadow Farm", "Doctor Ito", "Noah and Friends"),
    ),
    "bakery": (
        *("Golden Crust", "Anna and Paul", "Morning Star", "Old Mill", "Three Loaves"),
        *("Corner Oven", "Papa Luigi", "Warm Stone", "Sweet Home", "The Brown Bag"),
    ),
    "plumber": (
        *("Dry House", "Novak and Daughter", "Blue Pipe", "Rapid Flow", "Silver Tap"),
        *("Mister Okoro", "Day and Night", "Copper King", "Mister Leak", "Hansen Works"),
    ),
    "gym": (
        *("Iron Yard", "Second Wind", "Studio Nine", "Power Dock", "River Club"),
        *("Coach Amira", "The Attic", "Steel Bear", "Early Bird", "Club Olympus"),
    ),
    "tailor": (
        *("Needle Point", "Mister Rossi", "Velvet Row", "Good Fit", "Savile Corner"),
        *("Madame Chen", "Silk Road", "The Last Button", "Mister Adeyemi", "Blue Thread"),
    ),
}

_PLACES = ("near the old harbour", "in the north of the city", "close to the university", "around the central station")
_LANDMARKS = ("the post office", "the big mall", "the library", "the stadium", "the fish market")
_GREETINGS = ("", "", "Hi all, ", "Hello, ", "Good morning, ")
_QUESTIONS = (
    "{greeting}can anyone recommend a {kind} {place}?",
    "{greeting}where do you find a good {kind} {place}?",
    "{greeting}we just moved here and need a {kind} {place}.",
    "{greeting}looking for a {kind} {place}, any ideas?",
)
_MORE = ("", "It should not be too expensive.", "Weekends would be best.", "We have no car.", "It is urgent.")
_BESIDE = "We found a {other} already, so please only tell me about a {kind}."
_NAMED = (
    "Try {name}, {detail}.",
    "{name} is the best I know, {detail}.",
    "We always go to {name}, {detail}.",
    "I can recommend {name}.",
    "My sister swears by {name}, {detail}.",
    "+1 for {name}.",
)
_DETAILS = (
    "they are next to {landmark}",
    "they are friendly and fast",
    "the prices are fair",
    "ask for the owner",
    "they also work on weekends",
    "just call before you go",
)
_USEFUL = (
    "There are several of them {place}, walk around and compare.",
    "Ask at {landmark}, they keep a list.",
    "The one behind {landmark} is fine, I went there twice.",
    "Call the number on the board at {landmark}.",
    "Look for the yellow sign near {landmark}.",
)
_CHATTER = (
    "I am looking for the same.",
    "Following this.",
    "Good luck!",
    "Sorry, no idea, we just moved here too.",
    "Is it really that hard to find one?",
    "Please use the search, this was asked last week.",
    "Haha, welcome to the city.",
)
_THANKS = ("Thank you, that worked!", "Thanks, I called them and it was perfect.", "Great tip, thanks a lot.")
_NO_HELP = (
    "I went there, it is closed now.",
    "I tried that, they never answered.",
    "That did not help, they take nobody new.",
)
_ASKER = ("Any more ideas?", "I would prefer something closer.", "I saw {name} on the map, does anybody know it?")
_PEOPLE = (
    "ann",
    "bob",
    "carla",
    "deniz",
    "emil",
    "farah",
    "goran",
    "hye",
    "ines",
    "jamal",
    "kofi",
    "lena",
    "milo",
    "nia",
)


class _Post(NamedTuple):
    text: str
    author: str
    truth: float
    replies: bool = False


@dataclass(frozen=True, eq=False)
class Forum:
    """Threads of a forum.

    Attributes
    ----------
    examples
        A query is a question, a document a post below it, with texts, positions, authors, times, askers, and, for a
        reply of the asker, the post that it replies to. There are no features.
    truth
        The label that the rules give to each post, in the order of the examples.
    chances
        The probability of each of :data:`LABELS` (columns), in the order of the examples: the labels are drawn by them.
    """

    examples: Examples
    truth: Floats
    chances: Floats


@takes(threads=at_most(10**6, integer()), seed=integer(0), noise=number(least=0, most=1))
def synthetic_forum(threads: int = 200, *, noise: float = 0.1, seed: int = 0) -> Forum:
    """Make threads; the same arguments give the same threads, and another seed gives other threads of the same forum.

    Parameters
    ----------
    threads
        The number of threads; there are about six times as many posts.
    noise
        The probability that a label is one of the other two instead of what the rules say.
    seed
        The seed of the random number generator.

    Examples
    --------
    >>> forum = synthetic_forum(100, seed=1)
    >>> forum.examples.texts.docs[2], forum.truth[2]
    ('Noah and Friends is the best I know, ask for the owner.', np.float64(2.0))
    >>> bool(np.allclose(forum.chances.sum(axis=1), 1.0))
    True
    """
    if threads < 1:
        raise InputError(f"no posts of {threads} threads", remedy="ask for at least one thread")
    draw = np.random.default_rng(seed)
    asked, posts, askers = [], [], []
    for _ in range(threads):
        question, asker, thread = _thread(draw)
        asked.append(question)
        askers.append(asker)
        posts.append(thread)
    lengths = [len(thread) for thread in posts]
    flat = [post for thread in posts for post in thread]
    ids = [f"q{i}" for i in range(1, threads + 1)]
    truth = np.array([post.truth for post in flat])
    chances = np.where(truth[:, None] == np.array(LABELS), 1.0 - noise, noise / 2)
    drawn = (draw.random((len(flat), 1)) > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    places = [place for length in lengths for place in range(1, length + 1)]
    examples = Examples.from_texts(
        dict(zip(ids, asked, strict=True)),
        [post.text for post in flat],
        np.array(LABELS)[drawn],
        np.repeat(ids, lengths),
        position=places,
        author=[post.author for post in flat],
        time=np.cumsum(1 + draw.integers(0, 600, len(flat))).astype(np.float64),
        parent=[f"d{place - 1}" if post.replies else None for place, post in zip(places, flat, strict=True)],
        asker=dict(zip(ids, askers, strict=True)),
        name="forum",
    )
    return Forum(examples, truth, chances)


def _thread(draw: np.random.Generator) -> tuple[str, str, list[_Post]]:
    """A question, who asked, and the posts below it."""
    kinds = list(KINDS)
    kind, other = (kinds[i] for i in draw.choice(len(kinds), 2, replace=False))
    people = [_PEOPLE[i] for i in draw.permutation(len(_PEOPLE))]
    asker, others = people[0], people[1:]
    place = _one(draw, _PLACES)
    question = _one(draw, _QUESTIONS).format(greeting=_one(draw, _GREETINGS), kind=kind, place=place)
    question = question[0].upper() + question[1:]
    beside = draw.random() < 0.3
    more = _BESIDE.format(other=other, kind=kind) if beside else _one(draw, _MORE)
    length = int(np.clip(np.rint(np.exp(draw.normal(1.6, 0.7))), 1, _LONGEST))
    posts: list[_Post] = []
    named: list[str] = []
    while len(posts) < length:
        text, name, truth = _post(draw, kind, other if beside else _one(draw, [k for k in kinds if k != kind]), named)
        by_asker = draw.random() < 0.06
        if by_asker:
            text, name = _by_asker(draw, kind)
        if name:
            named.append(name)
        reply = draw.random() if truth > 0 and not by_asker and len(posts) + 1 < length else 1.0
        if reply < 0.2:
            posts += [_Post(text, _one(draw, others), 2.0), _Post(_one(draw, _THANKS), asker, -1.0, replies=True)]
        elif reply < 0.35:
            posts += [_Post(text, _one(draw, others), -1.0), _Post(_one(draw, _NO_HELP), asker, -1.0, replies=True)]
        else:
            posts.append(_Post(text, asker if by_asker else _one(draw, others), -1.0 if by_asker else truth))
    return f"{question}\n{more}".strip(), asker, posts


def _post(draw: np.random.Generator, kind: str, other: str, named: list[str]) -> tuple[str, str, float]:
    """A post, whom it names, and what it is worth if the asker does not reply."""
    what = draw.random()
    if what < 0.15:
        return _one(draw, _CHATTER), "", -1.0
    if what < 0.33:
        return _one(draw, _USEFUL).format(landmark=_one(draw, _LANDMARKS), place=_one(draw, _PLACES)), "", 1.0
    again = [name for name in named if name in KINDS[kind]]
    name = _one(draw, again if what < 0.42 and again else KINDS[other if what < 0.53 else kind])
    good = name in KINDS[kind] and name not in named
    return _one(draw, _NAMED).format(name=name, detail=_detail(draw)), name, 2.0 if good else -1.0


def _by_asker(draw: np.random.Generator, kind: str) -> tuple[str, str]:
    """What the asker says between answers, and whom it names: it may look like an answer."""
    name = _one(draw, KINDS[kind])
    text = _one(draw, _ASKER + _NAMED).format(name=name, detail=_detail(draw))
    return text, name if name in text else ""


def _detail(draw: np.random.Generator) -> str:
    return _one(draw, _DETAILS).format(landmark=_one(draw, _LANDMARKS))


def _one(draw: np.random.Generator, choices: list[str] | tuple[str, ...]) -> str:
    return choices[int(draw.integers(len(choices)))]
