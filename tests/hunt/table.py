"""What a hunt found, as the tables of a page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.hunt.formats import FORMATS
from tests.hunt.parent import Found
from tests.hunt.subjects import PEERS, RANKSIFT

BEGIN, END = "<!-- made by python -m tests.hunt --write: begin -->", "<!-- end -->"
OWN = {
    "right": "value right", "unjudged": "value, not compared", "refused": "refused in one line", "crash": "crash",
    "hang": "hang", "exception": "other exception", "noise": "foreign text on stderr",
    "different": "silently different",
}  # fmt: skip
SHARED = {
    "right": "value right", "unharmed": "damaged, value unharmed", "unjudged": "value, not compared",
    "refused": "refused", "crash": "crash", "hang": "hang", "exception": "other exception",
    "different": "silently different",
}  # fmt: skip


def page(found: Found, command: str, cases: int) -> str:
    """Both tables in Markdown, under the command that made them."""
    parts = [f"`{command}`: {cases:,} cases."]
    subjects = {subject for subject, _, _ in found.counts}
    if RANKSIFT in subjects:
        rows = [
            [form.label, *(found.total(RANKSIFT, outcome, kind) for outcome in OWN)] for kind, form in FORMATS.items()
        ]
        rows.append(["together", *(found.total(RANKSIFT, outcome) for outcome in OWN)])
        parts.append(markdown(["RankSift", *OWN.values()], rows))
    others = [peer for peer in PEERS if peer in subjects]
    if others:
        who = [RANKSIFT] * (RANKSIFT in subjects) + others
        rows = [[subject, *(found.total(subject, outcome, "trec") for outcome in SHARED)] for subject in who]
        parts.append("The cases in TREC text, and the tools that read it:")
        parts.append(markdown(["", *SHARED.values()], rows))
        reasons = Counter(
            (failure["subject"], failure["detail"])
            for failure in found.failures
            if failure["outcome"] == "different" and failure["subject"] in PEERS
        )
        kinds = sorted({reason for _, reason in reasons})
        if kinds:
            parts.append("What stood in the files that gave a silently different value:")
            parts.append(markdown(["", *others], [[kind, *(reasons[peer, kind] for peer in others)] for kind in kinds]))
    return "\n\n".join(parts) + "\n"


def markdown(names: list[str], rows: list[list[str | int]]) -> str:
    """A table; the numbers to the right."""
    lines = [names, ["---", *["---:"] * (len(names) - 1)]]
    lines += [[cell if isinstance(cell, str) else f"{cell:,}" for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_between_marks(path: Path, text: str, mark: str = BEGIN) -> None:
    """Put the tables into a page, in the place of those that stand there."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{path}: {mark} or {END} is missing")
    path.write_text(f"{before}{mark}\n\n{text}\n{END}{after}", encoding="utf-8")
