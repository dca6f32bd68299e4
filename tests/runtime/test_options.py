"""What is said about a session, in the SDK's words, and what comes of it on the real runtime."""

from typing import Any

import pytest

from airboss.model.setup import ContextSetup, Setup
from airboss.runtime.signals import TurnIdle
from tests.runtime.conftest import Flight, Listener

pytestmark = pytest.mark.anyio

# A bare request has about 9,000.
FITTING = 14_000


async def requests_of(flight: Flight, listener: Listener, **context: Any) -> int:
    """How many the model got in four turns, with a context that is soon full."""
    provider = {**flight.stage.provider, "max_prompt_tokens": FITTING}
    setup = Setup(context=ContextSetup(**context))
    session = await flight.session(listener, provider=provider, setup=setup)
    for _ in range(4):
        listener.told.clear()
        await session.send(f"say hello {'and a lot more ' * 100}")
        await listener.until(TurnIdle)
    await session.close()
    return len(flight.stage.requests)


async def test_a_long_conversation_is_summarized_from_the_share_on_that_was_said(
    flight: Flight, listener: Listener
) -> None:
    assert await requests_of(flight, listener, compact_at=0.3, block_at=0.4) > 4


async def test_one_that_is_not_infinite_is_never_summarized(
    flight: Flight, listener: Listener
) -> None:
    said = {"compact_at": 0.3, "block_at": 0.4}
    assert await requests_of(flight, listener, infinite=False, **said) == 4


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the SDK asks the runtime about sessions, in order."""
    from copilot._jsonrpc import JsonRpcClient

    sdk: Any = JsonRpcClient
    ask, methods = sdk.request, list[str]()

    def noted(client: object, method: str, *rest: Any, **named: Any) -> Any:
        if method.startswith("session."):
            methods.append(method)
        return ask(client, method, *rest, **named)

    monkeypatch.setattr(sdk, "request", noted)
    return methods


async def test_a_session_is_opened_and_resumed_with_one_question_each(
    flight: Flight, listener: Listener, asked: list[str]
) -> None:
    session = await flight.session(listener)
    assert asked == ["session.create"]
    await session.close()
    asked.clear()

    await flight.session(listener, id=session.id, resume=True)
    assert asked == ["session.resume"]
