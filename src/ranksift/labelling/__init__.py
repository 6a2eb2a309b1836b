"""Judgments of assessors: which question to ask next, where answers are kept, and what they agree on."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.labelling.judgments import Judgment as Judgment
    from ranksift.labelling.judgments import Question as Question
    from ranksift.labelling.records import Entry as Entry
    from ranksift.labelling.records import Item as Item
    from ranksift.labelling.records import NewTask as NewTask
    from ranksift.labelling.records import Person as Person
    from ranksift.labelling.records import Project as Project
    from ranksift.labelling.records import Query as Query
    from ranksift.labelling.records import Task as Task

export(__name__)
