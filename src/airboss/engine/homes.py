"""Where the engine keeps how far runs have got: what each of its databases has to offer.

A file beside one server's data (`local_file.py`), or a schema in the database that several
machines share (`shared_schema.py`).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeVar

from airboss.engine.dbos_internals import WorkflowRows
from airboss.errors import StoreUnavailable

# What DBOS is told, and for ever the same: it leaves rows of another version asleep.
ENGINE_VERSION: Final = "walk-1"
# Bumped by hand when the same tree is walked in other steps. Who takes up a run on a database that
# several machines share has its walk among these; a release knows that of the one before, too.
WALK: Final = "walk-1"
WALKS: Final = (WALK,)

T = TypeVar("T")


class EngineHome(Protocol):
    """Every method but `config` reads or writes the database: none belongs on the event loop."""

    @property
    def executor(self) -> str:
        """Whose workflows are taken up when the engine is launched."""
        ...

    @property
    def queue(self) -> str | None:
        """By which this worker, and nobody else, takes up workflows of others; None where there
        are no others."""
        ...

    def prepare(self) -> None:
        """The tables are there, and up to date."""
        ...

    def config(self, threads: int) -> Mapping[str, Any]:
        """What DBOS is told of its database."""
        ...

    def asked(
        self, ask: Callable[[WorkflowRows], T], unknown: T, *, is_frequent: bool = False
    ) -> T:
        """What `ask` answers, in one transaction; `unknown` where nothing was kept yet. What is
        asked each second is `frequent`."""
        ...

    def close(self) -> None:
        """Behind the last question."""
        ...

    def in_words(self, error: BaseException) -> StoreUnavailable | None:
        """Trouble of the database; None where it is a fault of ours."""
        ...
