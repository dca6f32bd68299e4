"""Which worker can work on which run: it has the run's folder and its labels, and a place is free.

The database asks the same of what waits (`store/claims.py`); a test compares the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from airboss.model.runs import LoneRunView, RunView


@dataclass(frozen=True)
class Needs:
    """What it takes to work on a run."""

    # The name of the shared folder that it works below; None: only its own place has its folder.
    root: str | None
    # The data folder's id of the machine that its folder is on.
    place: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Abilities:
    """What a worker has."""

    place: str
    roots: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    walks: tuple[str, ...] = ()

    def fits(self, needs: Needs) -> bool:
        has_folder = needs.place == self.place or needs.root in self.roots
        return has_folder and needs.labels <= frozenset(self.labels)


def places_of(view: RunView) -> int:
    """How many places of a worker a run needs: one for each task that works, and one while none
    does. While it waits for people alone, and in a session that somebody lent, it needs none."""
    if isinstance(view, LoneRunView) and view.session is not None:
        return 0
    working = [work for work in view.running if not work.for_person]
    return len(working) if view.running else 1


def free_places(count: int, open_runs: Iterable[RunView]) -> int:
    """Of `count` places; less than none where runs have more tasks at once than that."""
    return count - sum(places_of(view) for view in open_runs)
