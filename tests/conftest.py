"""What every test may ask for."""

import functools
import gc
import os
import sys
from collections.abc import Generator
from pathlib import Path

import httpcore2
import pytest

from tests.cost import FEWEST, cost_table, costs_by_file
from tests.nursery import PYTHON_VARIABLE, close_the_nursery, the_nursery
from tests.quick_command import quick_command_in
from tests.trials import is_left_out

# The keyring of whoever runs the tests is theirs. In the environment, so that commands heed it.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

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


def pytest_collection_finish() -> None:
    """Where somebody may start commands, the imports take nothing of the first one's time. And what
    is there by now stays: to look at all of it again and again took a tenth of the tests' work."""
    gc.collect()
    gc.freeze()
    if "tests.portal" in sys.modules:
        the_nursery().wait_until_ready()


def pytest_sessionfinish() -> None:
    """No command outlives the tests."""
    close_the_nursery()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    call: "pytest.CallInfo[None]",
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure is told with the code around it, which Python 3.11 cannot parse while it parses for
    another traceback: that of an object which is complained of when it is collected meanwhile. The
    whole run would end with an internal error instead of one test."""
    if call.excinfo is None:
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


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
    """The files that took longest, where many were run."""
    told = [one for kind in terminalreporter.stats.values() for one in kind]
    reports = [one for one in told if isinstance(one, pytest.TestReport)]
    if len(reports) >= FEWEST:
        terminalreporter.section("the slowest files")
        for line in cost_table(costs_by_file(reports)):
            terminalreporter.line(line)
