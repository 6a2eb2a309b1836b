"""Import paths that the documentation once named: they work until 1.0, with a warning that names the new one.

A row of the table, and one of docs/what-moved.md, is all it takes to move a name.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader
    from importlib.machinery import ModuleSpec
    from types import ModuleType

MOVED = {
    "ranksift.collection.errors.InputError": "ranksift.InputError",
    "ranksift.collection.errors.RankSiftWarning": "ranksift.RankSiftWarning",
    "ranksift.collection.judged.Judged": "ranksift.JudgedRun",
    "ranksift.cutoffs.lists.Lists": "ranksift.Lists",
    "ranksift.cutoffs.shaped.ShapeCutoff": "ranksift.ShapeCutoff",
    "ranksift.evaluation.registration.register_ir_measures": "ranksift.register_ir_measures",
    "ranksift.learning.optimal.ExpectedGainRanker": "ranksift.learning.ExpectedGainRanker",
    "ranksift.learning.optimal.expected_shares": "ranksift.learning.expected_shares",
}


def keep_old_paths() -> None:
    """Let Python find modules that no longer exist; it asks for them here after it has looked everywhere else."""
    if not any(isinstance(finder, OldPaths) for finder in sys.meta_path):
        sys.meta_path.append(OldPaths())


class OldPaths:
    """Finds and makes the modules that have only old names in them."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Say who makes a module; None if it is not one of ours."""
        if not any(old.rpartition(".")[0] == fullname for old in MOVED):
            return None
        from importlib.machinery import ModuleSpec

        return ModuleSpec(fullname, cast("Loader", self))

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the module give its names, from where they are now, to those who ask."""

        def moved(name: str) -> Any:
            new = MOVED.get(f"{module.__name__}.{name}")
            if new is None:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            from ranksift.errors import warn_renamed

            home, _, called = new.rpartition(".")
            warn_renamed(f"from {module.__name__} import {name}", f"from {home} import {called}")
            return getattr(import_module(home), called)

        module.__dict__["__getattr__"] = moved
