"""Portals that many tests share, each with a script, and somebody who uses them."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from tests.contract.guest import Guest
from tests.contract.task_guest import TaskGuest, install_tasks, portal_for_tests_in
from tests.portal import Portal

SCRIPT = Path(__file__).with_name("script.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def shared_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One for all who leave it as it is, under the policy that is the default."""
    portal = Portal(tmp_path_factory.mktemp("contract"), script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture(scope="session")
def approving_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One whose agents may do everything."""
    options = ("--permissions", "approve-all")
    portal = Portal(tmp_path_factory.mktemp("approving"), options, SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def own_task_portal(tmp_path: Path) -> Iterator[Portal]:
    """Like `task_portal`, and a test may stop it and start it again."""
    portal = portal_for_tests_in(tmp_path)
    portal.start()
    asyncio.run(install_tasks(portal))
    yield portal
    portal.stop()


@pytest.fixture(scope="session")
def task_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """One in test mode, with the entry of the tests about tasks."""
    portal = portal_for_tests_in(tmp_path_factory.mktemp("tasks"))
    portal.start()
    asyncio.run(install_tasks(portal))
    yield portal
    portal.stop()


@pytest.fixture
def own_portal(tmp_path: Path) -> Iterator[Portal]:
    """One that a test may stop, kill and start again."""
    portal = Portal(tmp_path, script=SCRIPT)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(shared_portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(shared_portal) as guest:
        yield guest


@pytest.fixture
async def tasker(task_portal: Portal, anyio_backend: str) -> AsyncGenerator[TaskGuest]:
    async with TaskGuest.of(task_portal) as guest:
        yield guest


@pytest.fixture
async def approved(approving_portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(approving_portal) as guest:
        yield guest
