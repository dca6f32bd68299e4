"""A house that the tests of a module share, each with a project of its own."""

import re
from collections.abc import AsyncGenerator

import pytest

from tests.extensions.hosted import Hosted, hosted_in


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def shared(
    tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncGenerator[Hosted]:
    async with hosted_in(tmp_path_factory.mktemp("hosted")) as hosted:
        yield hosted


@pytest.fixture
def hosted(shared: Hosted, request: pytest.FixtureRequest) -> Hosted:
    return shared.apart(re.sub(r"\W+", "-", request.node.name)[:80])
