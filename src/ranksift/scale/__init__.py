"""The same work on many machines, by Ray: thin, as every part of it is done by the functions that one machine runs."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.scale.evaluation import evaluate as evaluate

export(__name__)
