"""A rehearsal server, an HTTP client that has its key, and the real agent runtime."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import httpx2
import pytest

from airboss.runtime.rehearsal import RehearsalServer, parse_script

Serve: TypeAlias = Callable[[str], AbstractAsyncContextManager[httpx2.AsyncClient]]


@asynccontextmanager
async def serve_script(text: str) -> AsyncGenerator[httpx2.AsyncClient]:
    async with RehearsalServer(parse_script(text, "play.yaml")) as server:
        headers = {"authorization": f"Bearer {server.api_key}"}
        async with httpx2.AsyncClient(base_url=server.base_url, headers=headers) as client:
            yield client


@pytest.fixture
def serve() -> Serve:
    return serve_script


@pytest.fixture(scope="session")
def runtime_path() -> Path:
    if given := os.environ.get("COPILOT_CLI_PATH"):
        return Path(given)
    from airboss.runtime.locate import locate

    return Path(locate().path)
