"""Sessions of the real runtime in cages, and what their model was told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from airboss.cage_settings import CageProfile
from airboss.harness.providers import Upstream
from airboss.harness.proxy import ProviderProxy
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.cage.doors import CageDoors
from airboss.runtime.cage.launch import CageNews
from airboss.runtime.cage.plan import CageKind, CagePlan, cage_key
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from tests.runtime.conftest import Flight, Listener


def always(doors: CageDoors) -> Callable[[CagePlan], CageDoors]:
    def these(_: CagePlan) -> CageDoors:
        return doors

    return these


@dataclass
class Yard:
    """A pool whose sessions are in cages: they hand their calls to the model over."""

    flight: Flight
    data: Path
    kind: CageKind = "strong"
    news: list[CageNews] = field(default_factory=list[CageNews])
    proxy: ProviderProxy = field(default_factory=ProviderProxy)
    pool: Pool = field(init=False)

    def __post_init__(self) -> None:
        plan = replace(
            self.flight.runtime.plan,
            data=self.data,
            request_handler=self.proxy.answer_handed,
            hear_cage=self.news.append,
        )
        self.pool = Pool(plan, PoolKey("default", self.data / "copilot-home", "byok"))

    def key(self, owner: str = "chat", **terms: Any) -> PoolKey:
        cwd = self.flight.folder
        key = cage_key("default", cwd, "default", owner)
        plan = CagePlan(self.kind, "default", CageProfile(**terms), cwd, key)
        return PoolKey("default", self.data / "copilot-home", "byok", cage=plan)

    async def session(
        self, listener: Listener, key: PoolKey | None = None, **changes: Any
    ) -> RuntimeSession:
        provider = self.flight.stage.provider
        upstream = Upstream("stand-in", provider["base_url"], allows_private=True)
        lent = await self.proxy.lend(upstream, handed=True)
        request = SessionRequest(
            id=new_session_id(),
            cwd=self.flight.folder,
            model="stand-in",
            hear=listener.hear,
            decide=listener.decide,
            redactor=Redactor(),
            provider={**provider, "base_url": lent.url},
            place=key or self.key(),
        )
        return await self.pool.open(replace(request, **changes))

    async def stop(self) -> None:
        await self.pool.stop()
        await self.proxy.close()

    @property
    def pid(self) -> int:
        assert self.pool.pid is not None
        return self.pool.pid


async def said(
    session: RuntimeSession, listener: Listener, prompt: str, seconds: float = 15
) -> None:
    listener.told.clear()
    await session.send(prompt)
    await listener.until_over(seconds)


def last_output(flight: Flight) -> str:
    """What the model was told of the last tool."""
    messages = flight.stage.requests[-1]["messages"]
    return next(str(one["content"]) for one in reversed(messages) if one["role"] == "tool")
