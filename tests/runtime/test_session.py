"""Sessions on the real runtime: what is heard, what is asked, and what is left when they end."""

import json
import os
import time
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from airboss.errors import NotSignedIn, SessionGone
from airboss.model.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    ReasoningEnded,
    ToolDelta,
    ToolEnded,
    ToolResult,
    ToolStarted,
)
from airboss.model.ids import new_session_id
from airboss.runtime.permission import PermissionAnswer, PermissionRequest
from airboss.runtime.session import RuntimeSession
from airboss.runtime.signals import (
    ModelAnswered,
    ModelReplaced,
    Retrying,
    TurnBegan,
    TurnFailed,
    TurnIdle,
    UsageSeen,
)
from tests.runtime.conftest import Flight, Listener, running, soon

pytestmark = pytest.mark.anyio


async def test_a_turn_is_told_in_order_and_every_start_is_closed(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("think let me see ;; say Hello my friend")
    await listener.until(TurnIdle)
    kinds = [type(told).__name__ for told in listener.told]
    assert kinds == [
        "TurnBegan",
        "ContextMeasured",
        "ReasoningStarted",
        *["ReasoningDelta"] * 3,
        "MessageStarted",
        *["MessageDelta"] * 3,
        "UsageSeen",
        "MessageEnded",
        "ModelAnswered",
        "ReasoningEnded",
        "TurnIdle",
    ]
    deltas = listener.all(MessageDelta)
    assert [(delta.offset, delta.text) for delta in deltas] == [
        (0, "Hello "),
        (6, "my "),
        (9, "friend "),
    ]
    assert [end.text for end in listener.all(ReasoningEnded)] == ["let me see "]
    assert listener.all(MessageEnded)[0].text == "Hello my friend "
    assert listener.all(ModelAnswered) == [ModelAnswered("stand-in")]
    assert listener.all(UsageSeen) == [UsageSeen("stand-in", 10, 5, 0.0, sub_agent=False)]
    assert not await session.is_processing()
    await session.close()


async def test_a_request_that_is_not_wanted_by_then_is_not_put(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    assert await session.send("say never", is_wanted=lambda: False) is None
    await session.send("say hello")
    await listener.until(TurnIdle)
    assert [said.text.strip() for said in listener.all(MessageEnded)] == ["hello"]


async def test_a_tools_output_is_told_as_it_comes_and_adds_up_to_its_result(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("shell for i in 1 2 3; do echo line $i; sleep 0.1; done")
    await listener.until(TurnIdle)
    [started], [ended] = listener.all(ToolStarted), listener.all(ToolEnded)
    deltas = listener.all(ToolDelta)
    assert (started.name, json.loads(started.arguments)["description"]) == ("bash", "as asked")
    assert len(deltas) >= 3
    assert "".join(delta.text for delta in deltas) == ended.text
    assert ended.text.startswith("line 1\nline 2\nline 3\n")
    assert ended.result == ToolResult(content=ended.text)
    assert [(asked_for.kind, asked_for.command) for asked_for in listener.permissions] == [
        ("shell", "for i in 1 2 3; do echo line $i; sleep 0.1; done")
    ]


async def test_a_denied_tool_fails_with_the_reason_and_the_turn_goes_on(
    flight: Flight, listener: Listener
) -> None:
    listener.answer = PermissionAnswer(allowed=False, reason="Not on this server.")
    session = await flight.session(listener)
    await session.send("shell touch made-by-the-agent")
    await listener.until(TurnIdle)
    [ended] = listener.all(ToolEnded)
    assert ended.error is not None
    assert "Not on this server." in ended.error.message
    assert not (flight.folder / "made-by-the-agent").exists()
    assert listener.all(MessageEnded)[-1].text == "done"


class _Yes:
    """Nearly an answer."""

    allowed = "yes"
    reason = "Why not?"


async def test_a_decision_that_fails_or_is_nonsense_is_a_no(
    flight: Flight, listener: Listener
) -> None:
    """PERM-2, PERM-4: neither an exception nor anything but an exact yes gets through."""
    said: list[object] = [LookupError("gone"), None, True, "allow", _Yes(), {"allowed": True}]

    async def decide(_: PermissionRequest) -> object:
        answer = said[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    session = await flight.session(listener, decide=decide)
    while said:
        listener.told.clear()
        await session.send("shell touch made-by-the-agent")
        await listener.until(TurnIdle)
        assert listener.all(ToolEnded)[0].error is not None, said[0]
        said.pop(0)
    assert not (flight.folder / "made-by-the-agent").exists()


async def test_a_kind_of_permission_that_nobody_knows_is_asked_for_too(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    process = await flight.runtime.process()
    hear = process.wire.routes[session.id]

    def disguise(raw: Mapping[str, Any]) -> None:
        if raw["type"] == "permission.requested":
            raw = {**raw, "data": {**raw["data"], "permissionRequest": {"kind": "telepathy"}}}
        hear(raw)

    process.wire.routes[session.id] = disguise
    await session.send("shell echo hi")
    await listener.until(TurnIdle)
    assert [asked_for.kind for asked_for in listener.permissions] == ["telepathy"]


async def test_a_sub_agents_tools_are_told_below_its_call_and_its_words_are_not(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("agent shell echo from below")
    await listener.until(TurnIdle)
    parent, child = listener.all(ToolStarted)
    assert (parent.name, child.name, child.parent) == ("task", "bash", parent.block)
    assert child.block != parent.block
    assert len(listener.all(MessageStarted)) == 1
    assert {usage.sub_agent for usage in listener.all(UsageSeen)} == {True, False}


async def test_abort_ends_the_turn_and_what_detached_itself_from_it(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("shell setsid nohup sleep 4713.25 >/dev/null 2>&1 & sleep 4713.5")
    assert await soon(lambda: running("sleep 4713.25") and running("sleep 4713.5"))
    began = time.monotonic()
    await session.abort()
    assert time.monotonic() - began < 3
    assert listener.told[-1] == TurnIdle(aborted=True)
    assert running("sleep 4713") == []
    [ended] = listener.all(ToolEnded)
    assert ended.cut

    listener.told.clear()
    await session.send("say still here")
    await listener.until(TurnIdle)
    assert listener.all(MessageEnded)[0].text == "still here "
    await session.close()


async def test_close_in_a_turn_leaves_no_process_and_no_open_block(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("shell setsid nohup sleep 4714.25 >/dev/null 2>&1 & sleep 4714.5")
    assert await soon(lambda: running("sleep 4714.25"))
    await session.close()
    assert running("sleep 4714") == []
    assert listener.all(ToolEnded)[0].cut
    assert listener.told[-1] == TurnIdle(aborted=True)
    await session.close()


async def test_a_failing_service_is_a_failed_turn_and_the_session_goes_on(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("fail 400")
    await listener.until(TurnIdle)
    assert listener.all(TurnFailed) == [TurnFailed("query", "400 The service said no.", 400)]
    listener.told.clear()
    await session.send("say fine")
    await listener.until(TurnIdle)
    assert listener.all(TurnFailed) == []


async def test_a_cut_stream_is_closed_said_to_be_retried_and_told_anew(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("break one two ;; say three")
    await listener.until(TurnIdle)
    ended = [(end.text, end.cut) for end in listener.all(MessageEnded)]
    assert ended == [("one two ", True), ("three ", False)]
    assert listener.all(Retrying)


async def test_a_resumed_session_knows_its_history_and_an_unknown_one_is_gone(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("say remember the alamo")
    await listener.until(TurnIdle)
    await session.close()

    again = Listener()
    resumed = await flight.session(again, id=session.id, resume=True)
    await resumed.send("say yes")
    await again.until(TurnIdle)
    assert "remember the alamo" in json.dumps(flight.stage.requests[-1]["messages"])
    await resumed.close()
    with pytest.raises(SessionGone):
        await flight.session(Listener(), id=new_session_id(), resume=True)


async def test_instructions_that_were_changed_reach_the_next_session(flight: Flight) -> None:
    for word in ("the heron", "the magpie"):
        (flight.folder / "AGENTS.md").write_text(f"The bird of this house is {word}.\n", "utf-8")
        listener = Listener()
        session = await flight.session(listener)
        await session.send("say hello")
        await listener.until(TurnIdle)
        await session.close()
        seen = json.dumps(flight.stage.requests[-1]["messages"])
        assert f"The bird of this house is {word}." in seen
    assert "the heron" not in seen


async def deafen(flight: Flight, session: RuntimeSession, *kinds: str) -> None:
    """Fault injection: these events of the runtime never arrive."""
    process = await flight.runtime.process()
    hear = process.wire.routes[session.id]
    process.wire.routes[session.id] = lambda raw: None if raw["type"] in kinds else hear(raw)


async def test_a_turn_that_went_quiet_while_the_runtime_answers_pings_fails_in_words(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, quiet_limit=0.5)
    lost = ("assistant.message", "assistant.message_delta", "assistant.idle", "session.idle")
    await deafen(flight, session, *lost)
    await session.send("say something that never arrives")
    await listener.until(TurnIdle)
    [failed] = listener.all(TurnFailed)
    assert failed.name == "runtime_quiet"
    assert "0.5 s" in failed.message
    assert flight.runtime.starts == 1


async def test_an_end_that_was_missed_is_made_good(flight: Flight, listener: Listener) -> None:
    session = await flight.session(listener, quiet_limit=0.5)
    await deafen(flight, session, "session.idle")
    await session.send("say all is well")
    assert await listener.until(TurnIdle) == TurnIdle(aborted=False)
    assert listener.all(TurnFailed) == []
    assert listener.all(MessageEnded)[0].text == "all is well "


async def test_an_end_that_comes_late_does_not_end_the_next_turn(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, quiet_limit=0.5)
    await deafen(flight, session, "session.idle")
    await session.send("say first")
    await listener.until(TurnIdle)
    process = await flight.runtime.process()
    process.wire.routes[session.id] = session.hear
    listener.told.clear()
    await session.send("say second")
    session.hear({"type": "session.idle", "data": {}})
    await listener.until(TurnIdle)
    assert [ended.text for ended in listener.all(MessageEnded)] == ["second "]


async def test_a_long_silent_command_is_not_a_quiet_turn(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, quiet_limit=0.3)
    await session.send("shell sleep 1.5; echo late")
    await listener.until(TurnIdle)
    assert listener.all(TurnFailed) == []
    assert listener.all(ToolEnded)[0].text.startswith("late\n")


async def test_another_model_than_the_asked_one_is_named_in_every_turn(
    flight: Flight, listener: Listener
) -> None:
    copilots: dict[str, Any] = {"provider": None, "github_token": "made-up-token"}
    session = await flight.session(listener, model="made-up-model", **copilots)
    for _ in range(2):
        listener.told.clear()
        await session.send("say hi")
        await listener.until(TurnIdle)
        assert listener.told[0] == TurnBegan()
        [replaced] = listener.all(ModelReplaced)
        assert replaced.asked == "made-up-model"
        assert replaced.got in flight.stage.models

    kept = Listener()
    honest = await flight.session(kept, model="gpt-5-mini", **copilots)
    await honest.send("say hi")
    await kept.until(TurnIdle)
    assert kept.all(ModelReplaced) == []
    assert kept.all(ModelAnswered) == [ModelAnswered("gpt-5-mini")]
    assert set(flight.stage.tokens) == {"Bearer made-up-token"}


async def test_a_token_that_the_service_refuses_is_said_to_be_that(
    flight: Flight, listener: Listener
) -> None:
    flight.stage.refused = frozenset({"stale"})
    with pytest.raises(NotSignedIn):
        await flight.session(listener, model="gpt-5-mini", provider=None, github_token="stale")
    with pytest.raises(NotSignedIn):
        await flight.runtime.list_models("stale")


async def test_no_secret_of_the_server_is_in_the_environment_of_an_agents_shell(
    flight: Flight, listener: Listener, environ: dict[str, str]
) -> None:
    assert environ["GH_TOKEN"] == "from-the-server"
    copilots: dict[str, Any] = {"provider": None, "model": "gpt-5-mini"}
    session = await flight.session(listener, github_token="per-session-token-42", **copilots)
    await session.send("shell env")
    await listener.until(TurnIdle)
    result = listener.all(ToolEnded)[0].result
    assert result is not None
    seen = result.detailed_content or result.content
    assert "PATH=" in seen
    assert f"COPILOT_AGENT_SESSION_ID={session.id}" in seen
    assert "AIRBOSS_OWNER=" in seen
    for hidden in ("per-session-token-42", "from-the-server", "AIRBOSS_TOKEN", "SDK_AUTH_TOKEN"):
        assert hidden not in seen


@pytest.fixture
def environ() -> dict[str, str]:
    names = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "AIRBOSS_TOKEN", "MY_API_KEY")
    return {**os.environ, **dict.fromkeys(names, "from-the-server")}


async def test_three_thousand_deltas_arrive_whole_and_in_order(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener)
    await session.send("flood 3000")
    await listener.until(TurnIdle, 30)
    deltas = listener.all(MessageDelta)
    assert len(deltas) == 3000
    assert all(b.offset == a.offset + len(a.text) for a, b in pairwise(deltas))
    assert "".join(delta.text for delta in deltas) == listener.all(MessageEnded)[0].text


async def test_a_model_that_was_asked_for_later_is_not_taken_for_another(
    flight: Flight, listener: Listener
) -> None:
    copilots: dict[str, Any] = {"provider": None, "github_token": "made-up-token"}
    session = await flight.session(listener, model="gpt-5-mini", **copilots)
    await session.send("say one")
    await listener.until(TurnIdle)
    await session.set_model("claude-sonnet-4.5", None)
    listener.told.clear()
    await session.send("say two")
    await listener.until(TurnIdle)
    assert listener.all(ModelReplaced) == []
    assert flight.stage.requests[-1]["model"] == "claude-sonnet-4.5"
    await session.close()
