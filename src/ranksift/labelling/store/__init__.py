"""The place of a labelling project: a SQLite file or a PostgreSQL database, behind one class."""

from typing import TYPE_CHECKING

from ranksift._lazy import export

if TYPE_CHECKING:
    from ranksift.labelling.store.outcome import Moved as Moved
    from ranksift.labelling.store.outcome import Saved as Saved
    from ranksift.labelling.store.outcome import Unavailable as Unavailable
    from ranksift.labelling.store.store import Store as Store

export(__name__)
