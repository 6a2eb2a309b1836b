"""What came of the faults, as tables of a page."""

from __future__ import annotations

from tests.faults.shim import FULL, KILL, READ_ONLY
from tests.faults.trials import BETWEEN, NEW, OLD, SMALL, WRONG, Found
from tests.hunt.table import markdown

BEGIN = "<!-- made by python -m tests.faults --write: begin -->"
KINDS = {
    KILL: "the process is killed", FULL: "the disk is full", READ_ONLY: "nothing can be written any more",
    SMALL: "a small disk is really full",
}  # fmt: skip
OUTCOMES = {OLD: "the old version", NEW: "the new version", BETWEEN: "a study without its page", WRONG: "wrong"}


def page(found: Found, command: str) -> str:
    """Both tables in Markdown, under the command that made them."""
    tried = [kind for kind in KINDS if found.total(kind)]
    by_fault: list[list[str | int]] = [
        [KINDS[kind], found.total(kind), *(found.total(kind, outcome) for outcome in OUTCOMES)] for kind in tried
    ]
    by_fault.append(["together", found.total(), *(found.total(outcome=outcome) for outcome in OUTCOMES)])
    by_command: list[list[str | int]] = [
        [name, steps, *(found.total(kind, command=name) for kind in tried), found.total(outcome=WRONG, command=name)]
        for name, steps in found.steps.items()
    ]
    return "\n\n".join(
        (
            f"`{command}`: {found.total():,} faults in {len(found.steps)} commands.",
            markdown(["fault", "tried", *OUTCOMES.values()], by_fault),
            markdown(["command", "steps", *(KINDS[kind] for kind in tried), "wrong"], by_command) + "\n",
        )
    )
