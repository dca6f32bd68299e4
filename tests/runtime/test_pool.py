"""Several runtimes of one server, each a real process with sessions of its own."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from airboss.cage_settings import CageProfile
from airboss.errors import RuntimesBusy, RuntimeUnavailable
from airboss.model.ids import new_session_id
from airboss.model.redaction import Redactor
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.runtime.signals import RuntimeLost
from tests.runtime.conftest import Flight, Listener, soon


@dataclass
class Berth:
    """A pool, and sessions on it by the name of an identity."""

    pool: Pool
    flight: Flight
    data: Path

    def key(self, identity: str, **changes: Any) -> PoolKey:
        home = self.data / "homes" / identity / "copilot"
        return replace(PoolKey(identity, home, "byok"), **changes)

    async def session(self, listener: Listener, key: PoolKey) -> RuntimeSession:
        request = SessionRequest(
            id=new_session_id(),
            cwd=self.flight.folder,
            model="stand-in",
            hear=listener.hear,
            decide=listener.decide,
            redactor=Redactor(),
            provider=self.flight.stage.provider,
            place=key,
        )
        return await self.pool.open(request)

    async def start(self, key: PoolKey) -> int:
        async with self.pool.use(key) as runtime:
            pid = (await runtime.status()).pid
            assert pid is not None
            return pid


@pytest.fixture
async def berth(flight: Flight, tmp_path: Path) -> AsyncGenerator[Berth]:
    data = tmp_path / "data"
    plan = replace(flight.runtime.plan, data=data)
    pool = Pool(plan, PoolKey("default", data / "copilot-home", "byok"), most=2)
    yield Berth(pool, flight, data)
    await pool.stop()
    await pool.stop()


async def test_fifty_who_ask_at_once_get_one_process(berth: Berth) -> None:
    key = berth.key("one")
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(berth.start(key)) for _ in range(50)]
    assert len({task.result() for task in asked}) == 1
    assert (berth.pool.starts, berth.pool.restarts) == (1, 0)
    assert oct(key.home.stat().st_mode)[-3:] == "700"
    assert (berth.data / "runtimes").is_dir(), "what is noted of processes is in the data folder"


async def test_a_death_is_told_to_its_own_sessions_only(berth: Berth) -> None:
    first, second = Listener(), Listener()
    await berth.session(first, berth.key("one"))
    other = await berth.session(second, berth.key("two"))
    pids = {state.key.identity: state.pid for state in berth.pool.states}
    assert len(set(pids.values())) == 2
    await other.send("wait these words")
    os.kill(pids["one"] or 0, signal.SIGKILL)
    await first.until(RuntimeLost)
    assert other.alive
    await other.abort()
    second.told.clear()
    await other.send("say still here")
    await second.until_over()
    assert not second.all(RuntimeLost)
    assert [state.key.identity for state in berth.pool.states] == ["two"]


async def test_only_a_process_in_a_cage_hands_its_calls_over(berth: Berth) -> None:
    async def serve(*_: object) -> None:
        raise AssertionError("Nobody called.")

    berth.pool.plan = replace(berth.pool.plan, request_handler=serve)
    for key, handler in ((berth.key("one"), None), (berth.key("two", cage="strict"), serve)):
        async with berth.pool.use(key) as runtime:
            assert runtime.plan.request_handler is handler


async def test_there_are_only_so_many_and_the_idlest_goes_first(berth: Berth) -> None:
    one, two, three = (berth.key(name) for name in ("one", "two", "three"))
    held = await berth.session(Listener(), one)
    older = await berth.start(two)
    assert await berth.start(three) != older
    assert {state.key for state in berth.pool.states} == {one, three}
    busy = await berth.session(Listener(), three)
    with pytest.raises(RuntimesBusy, match="All 2 agent runtimes are in use"):
        await berth.start(two)
    with pytest.raises(RuntimesBusy):
        await berth.pool.must_have_room(two)
    plan = CagePlan("strong", "default", CageProfile(), berth.flight.folder, "k")
    caged = berth.key("two", cage=plan)
    await berth.start(caged)  # such are not counted
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        waiting = group.create_task(berth.pool.room())
        await asyncio.sleep(0)
        await busy.close()
        await waiting
    await berth.start(two)
    assert held.alive
    assert {state.key for state in berth.pool.states} == {one, two, caged}


async def test_who_is_idle_ends_and_the_next_has_a_new_one(berth: Berth) -> None:
    berth.pool.idle_seconds = 0.05
    key = berth.key("one")
    session = await berth.session(Listener(), key)
    await asyncio.sleep(0.2)
    (state,) = berth.pool.states
    await session.close()
    assert await soon(lambda: not berth.pool.states)
    assert await berth.start(key) != state.pid
    assert (berth.pool.starts, berth.pool.restarts) == (2, 0)


async def test_one_that_has_served_its_time_is_replaced_when_it_is_idle(berth: Berth) -> None:
    berth.pool.most_sessions = 2
    key = berth.key("one")
    first, second = [await berth.session(Listener(), key) for _ in range(2)]
    (before,) = berth.pool.states
    await first.close()
    assert [state.pid for state in berth.pool.states] == [before.pid]
    await second.close()
    assert await berth.start(key) != before.pid, "who comes while it ends waits for the next"


async def test_one_that_has_grown_too_large_is_replaced_when_it_is_idle(berth: Berth) -> None:
    berth.pool.weighed_every, berth.pool.most_bytes = 1, 1
    key = berth.key("one")
    first, second = [await berth.session(Listener(), key) for _ in range(2)]
    (before,) = berth.pool.states
    await first.close()
    assert [state.pid for state in berth.pool.states] == [before.pid], "nobody is cut off"
    await second.close()
    await soon(lambda: not psutil.pid_exists(before.pid or 0))
    berth.pool.most_bytes = 1 << 40
    after = await berth.start(key)
    assert await berth.start(key) == after != before.pid


async def test_a_start_that_fails_is_told_to_all_and_not_kept(berth: Berth) -> None:
    plan, key = berth.pool.plan, berth.key("one")
    broken = berth.data / "broken"
    berth.data.mkdir(exist_ok=True)
    broken.write_text("#!/bin/sh\nexit 3\n", "utf-8")
    broken.chmod(0o755)
    berth.pool.plan = replace(plan, path=broken)
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_failure(berth, key)) for _ in range(3)]
    assert all("did not start" in task.result() for task in asked)
    berth.pool.plan = plan
    berth.pool.idle_seconds = 0.01
    async with berth.pool.use(berth.key("two")):
        pass
    assert await soon(lambda: not berth.pool.states)


async def _failure(berth: Berth, key: PoolKey) -> str:
    with pytest.raises(RuntimeUnavailable) as refused:
        await berth.start(key)
    return str(refused.value)


async def test_nothing_is_begun_once_it_stops(berth: Berth) -> None:
    pid = await berth.start(berth.key("one"))
    await berth.pool.stop()
    assert not psutil.pid_exists(pid)
    with pytest.raises(RuntimeUnavailable, match="The server is stopping"):
        await berth.start(berth.key("one"))
