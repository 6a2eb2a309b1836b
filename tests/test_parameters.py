"""Parameters: what they may be, and that everybody who has some declares them."""

import inspect
from dataclasses import MISSING, dataclass, fields

import numpy as np
import pytest

from ranksift import InputError
from ranksift.cutoffs.baselines import Oracle
from ranksift.cutoffs.rules import known_rules
from ranksift.learning.losses import LOSSES
from ranksift.learning.methods import known_rankers
from ranksift.measures.measure import CATALOGUE
from ranksift.parameters import (
    Parameterised,
    choice,
    declared,
    either,
    flag,
    integer,
    number,
    optional,
    parameter,
    several,
    takes,
    with_default,
    word,
)

EVERYBODY = [*CATALOGUE.values(), *known_rules().values(), Oracle, *known_rankers().values()]


@pytest.mark.parametrize("kind", EVERYBODY, ids=lambda kind: kind.__name__)
class TestEverybody:
    def test_every_parameter_is_declared(self, kind):
        # What a measure is around is a measure, and the other name of nDCG is not printed.
        assert {f.name for f in fields(kind)} - set(declared(kind)) <= {"measure", "alias"} - set(declared(kind))

    def test_defaults_are_what_they_may_be(self, kind):
        for spec, default in declared(kind).values():
            assert default is not MISSING
            assert spec.kind.fits(default)

    def test_meanings_are_sentences(self, kind):
        for spec, _ in declared(kind).values():
            assert spec.meaning.endswith(".")
            assert "\n" not in spec.meaning

    def test_help_has_them_in_the_words_of_the_declaration(self, kind):
        text = " ".join(kind.__doc__.split())
        for name, (spec, _) in declared(kind).items():
            assert f"{name} : " in text
            assert spec.meaning in text

    def test_what_is_nonsense_for_everything_is_refused_by_name(self, kind):
        def nonsense(name: str) -> None:
            made = kind(**{name: object()})  # a measure refuses it here
            made.check_parameters()

        for name in declared(kind):
            with pytest.raises(InputError, match=rf"{name}|object"):
                nonsense(name)


@pytest.mark.parametrize(
    ("kind", "good", "bad", "what"),
    [
        (integer(1), [1, np.int64(3), 2**40], [0, -1, 1.0, "1", True, None, 2**70], "a positive integer"),
        (integer(2, 9), [2, 9], [1, 10], "an integer from 2 to 9"),
        (integer(0), [0], [-1], "an integer of at least 0"),
        (integer(), [-5], [0.5], "an integer"),
        (number(), [1, -0.5, np.float32(2)], [np.nan, np.inf, "1", None, False, 10**400], "a number"),
        (number(above=0), [1e-300], [0, -1], "a positive number"),
        (number(least=0), [0], [-1e-9], "a number of at least 0"),
        (number(above=0, below=1), [0.5], [0, 1], "a number between 0 and 1"),
        (number(above=0, most=1), [1], [0, 1.01], "a number above 0 and of at most 1"),
        (number(least=0, most=1), [0, 1], [-0.1, 1.1], "a number from 0 to 1"),
        (choice("a", "b", "c"), ["a", np.str_("c")], ["d", None, 1, ["a"]], "'a', 'b' or 'c'"),
        (flag(), [True, np.bool_(False)], [0, 1, "yes", None], "True or False"),
        (word(), ["x"], ["", 3], "a word"),
        (several(integer(1), "counts"), [[], (1, 2), np.array([3])], [1, "12", [0], np.ones((2, 2))], "counts"),
        (several(number(), "numbers", least=1), [[0.5]], [[]], "numbers"),
        (optional(integer(1)), [None, 4], [0], "a positive integer, or None"),
        (either(number(), choice("all")), [1.5, "all"], ["some", None], "a number or 'all'"),
    ],
)
def test_kinds(kind, good, bad, what):
    assert kind.what == what
    for value in good:
        kind.check("x", value)
    for value in bad:
        with pytest.raises(InputError, match=r"^x="):
            kind.check("x", value)


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (integer(1), 0, "trees=0 is not a positive integer; write trees=300, for example"),
        (number(above=0), np.nan, "trees=nan is not finite; give a positive number"),
        (integer(1), 10**30, "trees=1000000000000000000000000000000 is too large; give a smaller number"),
        (choice("a", "b"), "c", "trees='c' is unknown; use 'a' or 'b'"),
        (optional(choice("a", "b")), "c", "trees='c' is unknown; use 'a' or 'b', or None"),
    ],
)
def test_errors_say_what_to_write(kind, value, said):
    with pytest.raises(InputError) as error:
        kind.check("trees", value, 300)
    assert str(error.value) == said


def test_an_error_of_ones_own_has_no_example():
    with pytest.raises(InputError, match=r"^k=0 is not a positive integer; give a positive integer$"):
        integer(1).check("k", 0)


def test_a_long_value_is_cut():
    with pytest.raises(InputError) as error:
        integer(1).check("k", "x" * 10_000)
    assert len(str(error.value)) < 100


@dataclass(eq=False)
class Parent(Parameterised):
    """Somebody.

    Attributes
    ----------
    nothing_
        Learned.
    """

    size: int = parameter(3, integer(1), "How large.")


@dataclass(eq=False)
class Child(Parent):
    """Somebody's child.

    Examples
    --------
    >>> 1
    1
    """

    size: int = with_default(Parent, "size", 5)
    way: str = parameter("up", choice("up", "down"), "Where to.")


class Grandchild(Child):
    """Without parameters of its own."""


def test_a_section_of_parameters_stands_before_other_sections():
    assert inspect.getdoc(Parent).split("\n\n")[1:] == [
        "Parameters\n----------\nsize : a positive integer, default 3\n    How large.",
        "Attributes\n----------\nnothing_\n    Learned.",
    ]
    told = inspect.getdoc(Child)
    assert "size : a positive integer, default 5\n    How large.\nway : 'up' or 'down', default 'up'" in told
    assert told.index("Parameters") < told.index("Examples")
    assert "size : a positive integer, default 5" in inspect.getdoc(Grandchild)


def test_checks_are_inherited():
    Grandchild().check_parameters()
    with pytest.raises(InputError, match="size=0 is not a positive integer; write size=5, for example"):
        Grandchild(size=0).check_parameters()


def test_options_of_functions():
    @takes(k=integer(1))
    def top(values, *, k=10):
        """The first k."""
        return values[:k]

    assert top([1, 2, 3], k=2) == [1, 2]
    assert top([1, 2, 3]) == [1, 2, 3]
    assert top.__doc__ == "The first k."
    with pytest.raises(InputError, match="k=-1 is not a positive integer; write k=10, for example"):
        top([1], k=-1)


@pytest.mark.parametrize("name", LOSSES)
def test_every_option_of_a_loss_is_checked(name):
    import torch

    loss = LOSSES[name]
    options = [p.name for p in inspect.signature(loss).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in set(options) - {"levels", "stands_for"}:
        with pytest.raises(InputError, match=rf"^{option}="):
            loss(torch.zeros(2), [1.0, 0.0], **{option: object()})
