"""What every test may ask for."""

import functools
import gc
import os
import signal
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import httpcore2
import pytest

from tests.cost import FEWEST, cost_table, costs_by_file
from tests.heap import settle
from tests.nursery import PYTHON_VARIABLE, close_the_nursery, the_nursery
from tests.quick_command import quick_command_in
from tests.trials import is_left_out

if TYPE_CHECKING:
    from airboss.store.database import Database
    from tests.databases import NewDatabase
    from tests.postgres import Postgres

# The keyring of whoever runs the tests is theirs. In the environment, so that commands heed it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

# What a test that failed has at least to end what it began.
LEAST_SECONDS = 10

# Each client, and each request without one, would read the system's certificates: 25 ms of work.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> Generator[dict[str, str]]:
    """For the environment of a command: servers that it starts come out of the nursery, too."""
    with quick_command_in(tmp_path_factory.mktemp("quick")) as folder:
        yield {PYTHON_VARIABLE: str(folder / "python")}


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> "Generator[Postgres]":
    """A real server, for the tests of this process."""
    from tests.postgres import running_postgres

    base = tmp_path_factory.getbasetemp()
    with running_postgres(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) as server:
        yield server


@pytest.fixture
def postgres_url(postgres: "Postgres") -> Generator[str]:
    """An empty database for one test."""
    name = postgres.new_database()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept_in(request: pytest.FixtureRequest) -> str:
    """Which database a test has that runs on both."""
    return request.param


@pytest.fixture(scope="module")
def houses_on(request: pytest.FixtureRequest) -> Generator[None]:
    """The database of all services that a test opens, by `tests/houses.py`."""
    from tests.databases import POSTGRES
    from tests.houses import HOUSES

    if request.param == POSTGRES:
        HOUSES.begin(request.getfixturevalue("postgres"))
    yield
    HOUSES.end()


@pytest.fixture
def new_database(
    kept_in: str, tmp_path: Path, request: pytest.FixtureRequest
) -> "Generator[NewDatabase]":
    """Makes databases of one and the same store, not opened yet."""
    from tests.databases import SQLITE, databases_in, databases_on

    if kept_in == SQLITE:
        opened = databases_in(tmp_path)
    else:
        opened = databases_on(request.getfixturevalue("postgres"))
    with opened as made:
        yield made


@pytest.fixture
async def database(new_database: "NewDatabase") -> "AsyncGenerator[Database]":
    """One of them, open."""
    made = new_database()
    await made.open()
    yield made
    await made.close()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Nothing of what is collected goes away, so nothing is looked for: a fifth of the work."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Where somebody may start commands, the imports take nothing of the first one's time. And what
    is there by now stays: to look at all of it again and again took a tenth of the tests' work."""
    settle()
    if "tests.portal" in sys.modules and not session.config.option.collectonly:
        the_nursery().wait_until_ready()


def pytest_sessionfinish() -> None:
    """No command outlives the tests."""
    close_the_nursery()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    call: "pytest.CallInfo[None]",
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure is told with the code around it, which Python 3.11 cannot parse while it parses for
    another traceback: that of an object which is complained of when it is collected meanwhile. And
    the time of the test may end while it is told. Either would end the whole run with an internal
    error instead of one test."""
    if call.excinfo is None:
        return (yield)
    gc.disable()
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        return (yield)
    finally:
        gc.enable()
        if left:  # for what the test leaves behind
            signal.setitimer(signal.ITIMER_REAL, max(left, LEAST_SECONDS))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What only the trials have is left out, unless somebody asks for that one alone."""
    left_out = [item for item in items if is_left_out(item)]
    if len(left_out) < len(items):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]
    _sort(items)


def _sort(items: list[pytest.Item]) -> None:
    """The file in which one may take longest begins first: nobody waits for it at the end. A file
    stays together, with what its tests share."""
    longest: dict[Path, float] = {}
    for item in items:
        longest[item.path] = max(longest.get(item.path, 0), _seconds(item))
    items.sort(key=lambda item: longest[item.path], reverse=True)


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return marker.args[0] if marker else 60


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was not tried for want of a program, and the files that took longest, where many were
    run."""
    told = [one for kind in terminalreporter.stats.values() for one in kind]
    reports = [one for one in told if isinstance(one, pytest.TestReport)]
    if without := sum(one.skipped and "make postgres" in str(one.longrepr) for one in reports):
        terminalreporter.line(f"{without} tests need PostgreSQL and were skipped: make postgres")
    if len(reports) >= FEWEST:
        terminalreporter.section("the slowest files")
        for line in cost_table(costs_by_file(reports)):
            terminalreporter.line(line)
