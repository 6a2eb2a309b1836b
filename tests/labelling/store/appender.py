"""A client in a process of its own: appends to a task and says what was acknowledged, until somebody ends it.

It says when it is ready and waits for a line, so that several can begin together. It does what the pages do: a judgment
whose answer never came is sent again under the same id.
"""

from __future__ import annotations

import sys

from ranksift.labelling.judgments import Judgment
from ranksift.labelling.store import Moved, Store


def main(place: str, key: str, name: str, first: str, last: str) -> None:
    """Append what has the ids ``name`` and a number, from the first one to the last."""
    with Store.open(place) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        seen = 0
        for number in range(int(first), int(last) + 1):
            while True:
                judgment = Judgment("prefer", "d1", "d2", answer="left")
                try:
                    saved = store.append(key, f"{name}-{number}", judgment, after=seen)
                except Moved as moved:  # another one appends, too
                    seen = moved.judgments
                    continue
                seen = max(seen, saved.number)
                print(number, saved.number, flush=True)
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
