"""Judgments of assessors: which question to ask next, where answers are kept, and what they agree on."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.labelling.agreement import Agreement as Agreement
    from ranksift.labelling.agreement import agreement_among as agreement_among
    from ranksift.labelling.agreement import chi_square as chi_square
    from ranksift.labelling.agreement import cohen_kappa as cohen_kappa
    from ranksift.labelling.agreement import fleiss_kappa as fleiss_kappa
    from ranksift.labelling.agreement import krippendorff_alpha as krippendorff_alpha
    from ranksift.labelling.assignment import Finished as Finished
    from ranksift.labelling.assignment import ordinary as ordinary
    from ranksift.labelling.assignment import rotation as rotation
    from ranksift.labelling.assignment import verification as verification
    from ranksift.labelling.cost import Cost as Cost
    from ranksift.labelling.cost import costs as costs
    from ranksift.labelling.exports import Contents as Contents
    from ranksift.labelling.exports import Labelled as Labelled
    from ranksift.labelling.exports import labelled as labelled
    from ranksift.labelling.floor import floor as floor
    from ranksift.labelling.imports import Collected as Collected
    from ranksift.labelling.imports import collect as collect
    from ranksift.labelling.imports import read_topics as read_topics
    from ranksift.labelling.judgments import Judgment as Judgment
    from ranksift.labelling.judgments import Question as Question
    from ranksift.labelling.prior import with_prior as with_prior
    from ranksift.labelling.records import Entry as Entry
    from ranksift.labelling.records import Item as Item
    from ranksift.labelling.records import NewTask as NewTask
    from ranksift.labelling.records import Person as Person
    from ranksift.labelling.records import Project as Project
    from ranksift.labelling.records import Query as Query
    from ranksift.labelling.records import Task as Task
    from ranksift.labelling.simulation import SimulatedAssessor as SimulatedAssessor
    from ranksift.labelling.simulation import Simulation as Simulation
    from ranksift.labelling.simulation import simulate as simulate
    from ranksift.labelling.store import Store as Store
    from ranksift.labelling.strategies import strategy as strategy
    from ranksift.labelling.strategies.strategy import State as State

export(__name__)
