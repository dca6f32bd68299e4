"""Which database the services of a test are on: a file in their data folder, or a PostgreSQL of
their own. One switch for all tests that open services."""

import gc
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

import pytest
from dbos import DBOS

from airboss.engine.homes import EngineHome
from airboss.engine.local_file import FILE, LocalFile
from airboss.engine.shared_schema import SharedSchema
from tests.databases import POSTGRES, SQLITE, make_tables
from tests.postgres import Postgres
from tests.trials import whole_only

# For a test of what only the file of one server has.
on_a_file: Final = pytest.mark.on_a_file
LEAVES_CONNECTION: Final = pytest.mark.filterwarnings(
    "ignore:.*was deleted while still open:ResourceWarning"
)
# A process of tests may be kept waiting for longer than a server is.
_LEASE_SECONDS: Final = 120


@dataclass
class Houses:
    """Of the tests of this process, which come one after the other."""

    postgres: Postgres | None = None
    _template: str = ""
    _names: dict[Path, str] = field(default_factory=dict[Path, str])

    def begin(self, postgres: Postgres) -> None:
        """Before a loop runs: the tables of a template are made in one of its own."""
        self.postgres, self._template = postgres, postgres.template("houses", _prepare)

    def settings(self, data: Path) -> dict[str, Any]:
        """What the services of this data folder are told: those of one folder share a database."""
        if self.postgres is None:
            return {}
        if data not in self._names:
            self._names[data] = self.postgres.new_database(self._template)
        url = self.postgres.url(self._names[data])
        return {"database": url, "lease_seconds": _LEASE_SECONDS}

    def engine_home(self, data: Path) -> EngineHome:
        """Where the engine of these services keeps its rows."""
        if self.postgres is None:
            return LocalFile(data / FILE)
        return SharedSchema(self.postgres.url(self._names[data]), "wrk_test", "own_test")

    def end(self) -> None:
        # What a thread of DBOS has out when DBOS ends goes back to a pool that is gone.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        for name in self._names.values():
            if self.postgres is not None:
                self.postgres.drop(name)
        self._names.clear()
        self.postgres = None


HOUSES: Final = Houses()


def _prepare(url: str) -> None:
    make_tables(url)
    DBOS.migrate(url)


def parametrize_houses(metafunc: pytest.Metafunc, both: frozenset[str]) -> None:
    """Each test that opens services runs on both databases in the trials; of these modules, in the
    tests, too."""
    if "houses_on" not in metafunc.fixturenames:
        return
    module = cast("ModuleType", metafunc.module)  # pyright: ignore[reportUnknownMemberType]
    is_whole = module.__name__.rpartition(".")[2] in both
    marks = (LEAVES_CONNECTION,) if is_whole else (LEAVES_CONNECTION, whole_only)
    other = pytest.param(POSTGRES, marks=marks)
    opens = {"house_in", "task_house_in"} & {*vars(module)}
    opens |= {"tasks", "house"} & {*metafunc.fixturenames}
    is_on_a_file = metafunc.definition.get_closest_marker("on_a_file") is not None
    chosen = [SQLITE] if is_on_a_file or not opens else [SQLITE, other]
    metafunc.parametrize("houses_on", chosen, indirect=True, scope="module")
