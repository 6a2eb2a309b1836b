"""The story that ``ranksift demo`` tells: one file a chapter.

A chapter has a ``TITLE`` and a function ``tell(stage)``. To add one, write its file and name it in :data:`CHAPTERS`.
"""

from ranksift.cli.story import (
    blindness,
    boundlessness,
    collection,
    cutting,
    explanation,
    filtering,
    gate,
    luck,
    stopping,
    training,
    worth,
)

#: The chapters, in order.
CHAPTERS = (
    collection,
    blindness,
    boundlessness,
    filtering,
    luck,
    explanation,
    gate,
    stopping,
    worth,
    cutting,
    training,
)
