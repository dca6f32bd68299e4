"""A server for the commands: one for all who only ask it, one's own for who stops it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal import Portal


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("portal"))
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def own_portal(tmp_path: Path) -> Iterator[Portal]:
    portal = Portal(tmp_path)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
def nowhere(tmp_path: Path) -> Portal:
    """A data folder that no server runs on."""
    return Portal(tmp_path)
