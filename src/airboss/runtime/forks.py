"""Copies a session on the runtime: all of its history, or what was before one of its requests."""

import asyncio
from datetime import UTC, datetime
from typing import Any, Final

from airboss.errors import Conflict
from airboss.runtime.gone_session import gone
from airboss.runtime.pool import Pool
from airboss.runtime.pool_key import PoolKey
from airboss.runtime.runtime_process import RuntimeProcess, RuntimeRefused

_FORK_SECONDS: Final = 60.0
_PAGE: Final = 1000
# The runtime writes its history a moment late.
_LATE_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.25


async def fork_session(
    pool: Pool, place: PoolKey, source: str, name: str, before: int | None
) -> str:
    """What the runtime calls the copy, which has this `name` in its files. `before` is when the
    turn of a request began (ms, UTC): the copy ends before that request."""
    async with pool.use(place) as runtime:
        return await _forked(await runtime.process(), source, name, before)


async def _forked(process: RuntimeProcess, source: str, name: str, before: int | None) -> str:
    from copilot.rpc import SessionsForkRequest

    try:
        event = None if before is None else await _request_since(process, source, before)
        asked = SessionsForkRequest(session_id=source, name=name, to_event_id=event)
        said = await process.ask(process.client.rpc.sessions.fork(asked), _FORK_SECONDS)
    except RuntimeRefused as error:
        raise gone(error, source) from error
    return said.session_id


async def _request_since(process: RuntimeProcess, session: str, at: int) -> str:
    """The runtime's event with the first request since then."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _LATE_SECONDS
    while (found := await _find(process, session, at)) is None:
        if loop.time() > end:
            raise Conflict(
                "The agent's history does not have this request. Fork the session at another one."
            )
        await asyncio.sleep(_LOOK_SECONDS)
    return found


async def _find(process: RuntimeProcess, session: str, at: int) -> str | None:
    from copilot.rpc import SessionsReadPersistedEventsRequest

    cursor: str | None = None
    while True:
        asked = SessionsReadPersistedEventsRequest(session_id=session, cursor=cursor, max=_PAGE)
        page = await process.ask(process.client.rpc.sessions.read_persisted_events(asked))
        for event in page.events:
            known: Any = event
            raw: dict[str, Any] = known.to_dict()
            is_request = raw["type"] == "user.message" and not raw.get("agentId")
            if is_request and _milliseconds(str(raw["timestamp"])) >= at:
                return str(raw["id"])
        if not page.has_more:
            return None
        cursor = page.cursor


def _milliseconds(timestamp: str) -> int:
    said = datetime.fromisoformat(timestamp)
    return int((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp() * 1000)
