"""One process of the hunt: case after case, a journal of the one in hand, a line of JSON for each that came to an end.

It is started by :mod:`tests.hunt.parent`, which learns from the journal on which case it crashed or hangs.
"""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.collection.plain import Refused
from tests.hunt.formats import FORMATS, Anything, Case, Files, case_of
from tests.hunt.plain import Unjudged
from tests.hunt.subjects import PEERS, CrashError, HangError, Subject, fair_expectation, subject_of

MEMORY = 4 << 30
#: Digits behind the point that trec_eval prints.
TOLERANCE = {"trec_eval": 6e-5}


def main(config: dict[str, Any]) -> None:
    """Work off ``config["numbers"]``."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    place = Path(config["place"])
    results = (place / "results").open("a", encoding="utf-8")
    journal = os.open(place / "journal", os.O_WRONLY | os.O_CREAT, 0o600)
    noise = os.open(place / "noise", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    os.dup2(noise, 1)
    os.dup2(noise, 2)
    warnings.simplefilter("ignore")
    subject = subject_of(config["subject"], config)

    def note(number: int, stage: str) -> None:
        os.pwrite(journal, f"{number} {stage}".ljust(40).encode(), 0)

    for number in config["numbers"]:
        note(number, "make")
        case = case_of(config["seed"], number)
        put(case.files, place / "case")
        note(number, "judge")
        wanted, wrong = judged(case, config["subject"]) if config["judge"] else (Anything(), "")
        note(number, "read")
        outcome, detail = outcome_of(case, config["subject"], subject, place / "case", wanted, wrong)
        heard = os.fstat(noise).st_size
        if heard:
            if outcome in ("right", "unjudged", "refused") and config["subject"] not in PEERS:
                outcome, detail = "noise", os.pread(noise, 300, 0).decode("utf-8", "replace")
            os.ftruncate(noise, 0)
        line = {"case": number, "format": case.format, "outcome": outcome, "detail": detail[:300]}
        results.write(json.dumps(line) + "\n")
        results.flush()


def put(files: Files, folder: Path) -> None:
    """These files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def judged(case: Case, subject: str) -> tuple[Any, str]:
    """What the files say, and why they are to be refused, if they are."""
    try:
        if subject in PEERS:
            return fair_expectation(case)
        return FORMATS[case.format].expect(case.files), ""
    except Unjudged:
        return Anything(), ""
    except Refused as reason:
        return None, str(reason) or "refused"


def outcome_of(case: Case, name: str, subject: Subject, folder: Path, wanted: Any, wrong: str) -> tuple[str, str]:
    """What came of a case, in a word, and what is to be said of it."""
    peer = name in PEERS
    try:
        found = subject(case.format, folder)
    except CrashError as error:
        return "crash", str(error)
    except HangError as error:
        return "hang", str(error)
    except Exception as error:
        if case.files == case.genuine:
            return "exception", f"a genuine file is refused: {error}"
        return refusal(error, peer, folder)
    except BaseException as error:  # what polars calls a panic
        return "exception", f"{type(error).__name__}: {error}"
    if isinstance(wanted, Anything):
        return "unjudged", ""
    if peer:
        found = {query: found.get(query) for query in wanted}
    if (peer or not wrong) and same(found, wanted, TOLERANCE.get(name, 1e-9)):
        return ("unharmed", wrong) if wrong else ("right", "")
    if peer:
        return "different", wrong or "a sound file is read otherwise"
    return "different", wrong or first_difference(found, wanted)


def refusal(error: Exception, peer: bool, folder: Path) -> tuple[str, str]:
    """A refusal in one line that names the file, or something else.

    Of other tools every ValueError is taken for a refusal, and so is a failed assertion, whether or not it says what
    is wrong.
    """
    message = f"{type(error).__name__}: {error}"
    if peer:
        return ("refused" if isinstance(error, ValueError | AssertionError | Refused) else "exception"), message
    if type(error).__name__ != "InputError":
        return "exception", message
    if "\n" in str(error) or str(folder.parent) not in str(error):
        return "exception", f"an error that does not name the file in one line: {error}"
    return "refused", str(error)


def same(found: Any, wanted: Any, tolerance: float) -> bool:
    """Whether two values are equal, numbers nearly; a missing one is None or NaN."""
    if isinstance(wanted, Anything):
        return True
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and found.keys() == wanted.keys()
            and all(same(found[key], wanted[key], tolerance) for key in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list | tuple)
            and len(found) == len(wanted)
            and all(same(f, w, tolerance) for f, w in zip(found, wanted, strict=True))
        )
    if wanted is None:
        return found is None or found != found
    if isinstance(wanted, bool) or isinstance(found, bool) or not isinstance(wanted, int | float):
        return type(found) is type(wanted) and bool(found == wanted)
    if not isinstance(found, int | float):
        return False
    return found == wanted or math.isclose(found, wanted, rel_tol=tolerance, abs_tol=max(tolerance, 1e-12))


def first_difference(found: Any, wanted: Any) -> str:
    """Where two values begin to differ."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        key = next(key for key in wanted if not same(found[key], wanted[key], 1e-9))
        return f"{key}: {first_difference(found[key], wanted[key])}"
    return f"{str(found)[:120]} where it is {str(wanted)[:120]}"


def numbers_of(subject: str, numbers: Iterable[int], order: list[str]) -> list[int]:
    """The cases that a subject can read: of other tools those in TREC's text."""
    return [n for n in numbers if subject not in PEERS or order[n % len(order)] == "trec"]
