"""What every test may ask for."""

import functools
import gc
import sys
from collections.abc import Generator

import httpcore2
import pytest

from tests.cost import FEWEST, cost_table, costs_by_file
from tests.nursery import close_the_nursery, the_nursery

# Each client, and each request without one, would read the system's certificates: 25 ms of work.
httpcore2.default_ssl_context = functools.cache(httpcore2.default_ssl_context)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_collection_finish() -> None:
    """Where somebody may start commands, the imports take nothing of the first one's time."""
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who may take longest begins first: nobody waits for it at the end."""
    items.sort(key=_seconds, reverse=True)


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
