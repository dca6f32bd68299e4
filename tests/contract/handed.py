"""A real runtime that has no address of any service: all its calls are handed over to the proxy."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from airboss.harness.accounts import Grant
from airboss.harness.lent_account import CopilotService, LentAccount
from airboss.harness.lent_address import LentAddress
from airboss.harness.providers import PLACEHOLDER_KEY, Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.harness.user_door import UserDoor
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.agent_runtime import Runtime, RuntimePlan
from airboss.runtime.handed_calls import caged_environment
from airboss.runtime.session import RuntimeSession, open_session
from airboss.runtime.session_request import SessionRequest
from tests.runtime.conftest import Listener
from tests.runtime.copilot_service import Stage

KEY = "key-of-the-house-0123456789"
# A name that nobody can look up: what is not handed over fails.
NOWHERE = "http://127.0.0.1:9"


@dataclass
class HandedFlight:
    """The runtime, the proxy that makes its calls, and the service behind that."""

    runtime: Runtime
    proxy: ProviderProxy
    stage: Stage
    folder: Path
    # Connections to the door that answers who the account is.
    knocks: list[int]

    def upstream(self, name: str = "house", url: str | None = None) -> Upstream:
        key = {"authorization": f"Bearer {KEY}"}
        return Upstream(name, url or f"{self.stage.address}/v1", key, allows_private=True)

    async def lend(self, url: str | None = None, name: str = "house") -> LentAddress:
        return await self.proxy.lend(self.upstream(name, url), handed=True)

    def lend_account(self, token: str) -> LentAccount:
        return self.proxy.lend_account(Grant("someone", token=token))

    async def session(self, listener: Listener, **changes: Any) -> RuntimeSession:
        request = SessionRequest(
            id=new_session_id(),
            cwd=self.folder,
            model="stand-in",
            hear=listener.hear,
            decide=listener.decide,
            redactor=Redactor(),
        )
        return await open_session(self.runtime, replace(request, **changes))


def provider(lent: LentAddress, **more: Any) -> dict[str, Any]:
    return {"type": "openai", "base_url": lent.url, "api_key": PLACEHOLDER_KEY, **more}


@contextlib.asynccontextmanager
async def handed_flight(stage: Stage, tmp_path: Path) -> AsyncGenerator[HandedFlight]:
    (tmp_path / "work").mkdir()
    proxy = ProviderProxy(copilot=CopilotService(stage.address, stage.address))
    door, knocks = UserDoor(proxy), list[int]()

    async def opened(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        knocks.append(1)
        await door.serve(reader, writer)

    server = await asyncio.start_server(opened, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    places = ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    environ = {**os.environ, **{name: str(tmp_path / name) for name in places}}
    plan = RuntimePlan(
        home=tmp_path / "copilot-home",
        owner=f"test-{tmp_path.name}-{os.getpid()}",
        environ={**environ, **caged_environment(port)},
        request_handler=proxy.answer_handed,
    )
    runtime = Runtime(plan)
    try:
        yield HandedFlight(runtime, proxy, stage, tmp_path / "work", knocks)
    finally:
        await runtime.stop()
        await proxy.close()
        server.close()
