"""A gate on the real runtime: every call passes it, and what goes wrong in it is a no."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from airboss.harness.builtin_tools import BUILT_IN
from airboss.harness.tools import JOB_TOOL_OFFERS
from airboss.model.events import ToolEnded, ToolStarted
from airboss.runtime.hooks import Pass, ToolOutcome, ToolUse, Veto, outcome_of
from airboss.runtime.permission import PermissionAnswer
from airboss.runtime.runtime_process import RuntimeProcess
from airboss.runtime.signals import Compacted, TurnIdle
from airboss.runtime.tools import ToolOffer
from tests.runtime.conftest import Flight, Listener
from tests.runtime.test_sweep import started
from tests.trials import sampled

pytestmark = pytest.mark.anyio

Answer = Callable[[ToolUse], object]


def yes(_: ToolUse) -> object:
    return Pass()


@dataclass
class Porter:
    """A gate whose answers a test chooses."""

    answer: Answer = yes
    uses: list[ToolUse] = field(default_factory=list[ToolUse])
    heard: list[object] = field(default_factory=list[object])

    async def before(self, use: ToolUse) -> Any:
        self.uses.append(use)
        answer = self.answer(use)
        return await answer if asyncio.iscoroutine(answer) else answer

    def hear(self, said: ToolStarted | ToolEnded | Compacted) -> None:
        self.heard.append(said)
        if isinstance(said, ToolEnded) and said.text.startswith("broken"):
            raise LookupError("The porter stumbles.")

    @property
    def outcomes(self) -> list[tuple[str, ToolOutcome]]:
        """The tools whose calls came to an end, and what came of each."""
        tools = {said.block: said.name for said in self.heard if isinstance(said, ToolStarted)}
        ends = [said for said in self.heard if isinstance(said, ToolEnded)]
        return [(tools[end.block], outcome_of(tools[end.block], end)) for end in ends]


def weigh(given: Mapping[str, Any]) -> str:
    return f"{given.get('what')}: 3 kg"


SCALES = ToolOffer("weigh", "Weigh something.", {"type": "object", "properties": {}}, weigh)


async def asked(
    flight: Flight, listener: Listener, porter: Porter, text: str, **changes: Any
) -> list[dict[str, Any]]:
    """What the model was told last, when its turn is over."""
    session = await flight.session(listener, tools=(SCALES,), gate=porter, **changes)
    await session.send(text)
    await listener.until(TurnIdle)
    await session.close()
    return flight.stage.requests[-1]["messages"]


async def test_a_built_in_tool_passes_and_permission_is_still_asked_for(
    flight: Flight, listener: Listener
) -> None:
    porter = Porter()
    await asked(flight, listener, porter, "shell echo hi")
    assert [(use.tool, use.arguments["command"], use.agent) for use in porter.uses] == [
        ("bash", "echo hi", None)
    ]
    [(tool, outcome)] = porter.outcomes
    assert (tool, outcome.error, outcome.text[:3]) == ("bash", None, "hi\n")
    assert [asked_for.kind for asked_for in listener.permissions] == ["shell"]
    assert [type(told) for told in porter.heard] == [ToolStarted, ToolEnded]


async def test_a_tool_of_ours_passes(flight: Flight, listener: Listener) -> None:
    porter = Porter()
    await asked(flight, listener, porter, 'call weigh {"what": "an apple"}')
    assert porter.uses == [ToolUse("weigh", {"what": "an apple"})]
    assert [outcome.text for _, outcome in porter.outcomes] == ["an apple: 3 kg"]


async def test_all_processes_are_looked_at_for_an_agent_that_called_more_than_our_tools(
    flight: Flight,
) -> None:
    """A look takes milliseconds, and such an agent has started nothing."""
    left: list[bool] = []
    for text in ("say hello", 'call weigh {"what": "an apple"}', "shell true"):
        listener = Listener()
        session = await flight.session(listener, tools=(SCALES,), gate=Porter())
        with started("sleep 4731.1; true", COPILOT_AGENT_SESSION_ID=session.id) as marked:
            await session.send(text)
            await listener.until(TurnIdle)
            await session.close()
            left.append(marked.poll() is None)
    assert left == [True, True, False]


async def test_a_sub_agents_calls_pass_and_say_whose_they_are(
    flight: Flight, listener: Listener
) -> None:
    porter = Porter()
    await asked(flight, listener, porter, "agent shell echo below")
    assert [(use.tool, use.agent is None) for use in porter.uses] == [
        ("task", True),
        ("bash", False),
    ]
    assert [tool for tool, _ in porter.outcomes] == ["bash", "task"]
    below = {told.name: told.parent for told in porter.heard if isinstance(told, ToolStarted)}
    assert (below["task"], below["bash"] is None) == (None, False)


async def test_a_sub_agents_call_can_be_refused(flight: Flight, listener: Listener) -> None:
    porter = Porter(lambda use: Veto("Not you.") if use.agent else Pass())
    target = flight.folder / "made-below"
    await asked(flight, listener, porter, f"agent shell touch {target}")
    assert not target.exists()
    assert listener.permissions == []


async def test_a_refused_call_does_not_run_and_the_model_is_told_why(
    flight: Flight, listener: Listener
) -> None:
    """GATE-3, GATE-4."""
    target = flight.folder / "made"
    porter = Porter(lambda _: Veto("Not again."))
    messages = await asked(flight, listener, porter, f"shell touch {target}")
    assert not target.exists()
    assert listener.permissions == [], "nobody is asked for what is refused anyway"
    [ended] = listener.all(ToolEnded)
    assert ended.error is not None
    assert (ended.error.code, ended.error.message) == (
        "denied",
        "Denied by preToolUse hook: Not again.",
    )
    assert messages[-1]["content"] == "Denied by preToolUse hook: Not again."
    [(_, outcome)] = porter.outcomes
    assert outcome.error == ended.error.message


async def test_changed_arguments_are_what_runs_and_what_permission_is_asked_for(
    flight: Flight, listener: Listener
) -> None:
    """GATE-5: changing is not allowing."""
    listener.answer = PermissionAnswer(allowed=False, reason="No.")
    porter = Porter(lambda use: Pass({**use.arguments, "command": "echo changed"}))
    await asked(flight, listener, porter, "shell echo hi")
    assert [asked_for.command for asked_for in listener.permissions] == ["echo changed"]
    listener.answer = PermissionAnswer(allowed=True, reason="")
    again = Listener()
    await asked(flight, again, porter, "shell echo hi")
    assert porter.outcomes[-1][1].text.startswith("changed")
    assert again.all(ToolEnded)[0].text.startswith("changed")


async def test_a_refused_permission_is_an_outcome(flight: Flight, listener: Listener) -> None:
    listener.answer = PermissionAnswer(allowed=False, reason="No.")
    porter = Porter()
    await asked(flight, listener, porter, "shell echo hi")
    [(tool, outcome)] = porter.outcomes
    assert (tool, outcome.error is None) == ("bash", False)


async def test_a_call_that_is_cut_off_has_an_outcome_too(
    flight: Flight, listener: Listener
) -> None:
    """GATE-6: on every way on which a call can end, also where the runtime does not say so."""
    porter = Porter()
    session = await flight.session(listener, gate=porter)
    await session.send("shell sleep 20")
    await listener.until(ToolStarted)
    await session.close()
    assert [(tool, outcome.error is None) for tool, outcome in porter.outcomes] == [("bash", False)]
    stopped = Porter()
    session = await flight.session(again := Listener(), gate=stopped)
    await session.send("shell sleep 20")
    await again.until(ToolStarted)
    await session.abort()
    assert [tool for tool, _ in stopped.outcomes] == ["bash"]


async def test_a_note_reaches_the_model_behind_the_result(
    flight: Flight, listener: Listener
) -> None:
    """LOOP-10 (c)."""
    porter = Porter(lambda _: Pass(note="You repeat yourself."))
    messages = await asked(flight, listener, porter, 'call weigh {"what": "an apple"}')
    assert messages[-2]["content"] == "an apple: 3 kg"
    assert messages[-1]["content"].endswith("You repeat yourself.")


async def test_a_tool_that_does_not_exist_is_told_as_missing(
    flight: Flight, listener: Listener
) -> None:
    """LOOP-5: the unknown tool is known by what the runtime says of it."""
    porter = Porter()
    await asked(flight, listener, porter, 'call fly {"to": "the moon"}')
    assert [outcome.is_missing for _, outcome in porter.outcomes] == [True]
    other = Porter()
    await asked(flight, Listener(), other, f'call view {{"path": "{flight.folder}/gone"}}')
    assert [(one.is_missing, one.error) for _, one in other.outcomes] == [
        (False, "Path does not exist")
    ]


def raises(_: ToolUse) -> object:
    raise LookupError("Out of the blue.")


async def hangs() -> object:
    await asyncio.sleep(60)
    return Pass()


NONSENSE = (None, True, "allow", {"permissionDecision": "allow"}, Pass(arguments="text"))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "answer", sampled(2, [raises, *NONSENSE]), ids=["raises", *map(str, NONSENSE)]
)
async def test_a_gate_that_fails_or_answers_nonsense_refuses(
    flight: Flight, listener: Listener, answer: object
) -> None:
    """GATE-2: the runtime by itself would let nearly all of these pass."""
    target = flight.folder / "made"
    porter = Porter(raises if answer is raises else lambda _: answer)
    await asked(flight, listener, porter, f"shell touch {target}")
    assert not target.exists()
    [ended] = listener.all(ToolEnded)
    assert ended.error is not None
    assert "could not check this call" in ended.error.message


async def test_a_gate_that_fails_behind_a_call_changes_nothing(
    flight: Flight, listener: Listener
) -> None:
    """GATE-6: neither the call nor what is told of it."""
    await asked(flight, listener, Porter(), 'call weigh {"what": "broken"}')
    assert [ended.text for ended in listener.all(ToolEnded)] == ["broken: 3 kg"]


async def test_the_runtime_waits_for_a_slow_gate(flight: Flight, listener: Listener) -> None:
    """GATE-7: so it is on us to give up."""

    async def slow() -> object:
        await asyncio.sleep(3)
        return Veto("Too late for this.")

    target = flight.folder / "made"
    await asked(flight, listener, Porter(lambda _: slow()), f"shell touch {target}")
    assert not target.exists()


async def test_a_turn_can_be_stopped_while_its_gate_thinks(
    flight: Flight, listener: Listener
) -> None:
    """The runtime would wait for it: nobody else is asked any more."""
    session = await flight.session(listener, gate=Porter(lambda _: hangs()))
    await session.send(f"shell touch {flight.folder / 'made'}")
    await listener.until(ToolStarted)
    async with asyncio.timeout(10):
        await session.abort()
    assert (await listener.until(TurnIdle)).aborted
    assert not (flight.folder / "made").exists()
    again = Listener()
    await session.close()
    await asked(flight, again, Porter(), "shell echo hi", id=session.id, resume=True)
    assert again.all(ToolEnded)[0].text.startswith("hi")


async def test_a_session_can_be_closed_while_its_gate_thinks(
    flight: Flight, listener: Listener
) -> None:
    session = await flight.session(listener, gate=Porter(lambda _: hangs()))
    await session.send(f"shell touch {flight.folder / 'made'}")
    await listener.until(ToolStarted)
    async with asyncio.timeout(10):
        await session.close()
    assert not (flight.folder / "made").exists()


async def test_a_resumed_session_has_its_gate_again(flight: Flight, listener: Listener) -> None:
    session = await flight.session(listener)
    await session.send("say hi")
    await listener.until(TurnIdle)
    await session.close()
    porter = Porter(lambda _: Veto("Not again."))
    await asked(flight, Listener(), porter, "shell echo hi", id=session.id, resume=True)
    assert [use.tool for use in porter.uses] == ["bash"]


# The walk.

# Each of these families is offered other tools.
MODELS = ("stand-in", "gpt-5-codex", "claude-sonnet-4.5")


async def listed(flight: Flight) -> set[str]:
    """What the runtime says that it has."""

    async def ask(process: RuntimeProcess) -> set[str]:
        from copilot import rpc

        answer = await process.client.rpc.tools.list(rpc.ToolsListRequest())
        return {tool.name for tool in answer.tools}

    return await flight.runtime.on_process(ask)


# Those that every session may call; `agent` of the stand-in is the one with most tools.
AGENTS = ("explore", "task", "general-purpose", "code-review", "research", "security-review")


async def offered(flight: Flight, model: str, **changes: Any) -> set[str]:
    """What it offers to a model and to its sub-agents, and what it says that it does."""
    listener = Listener()
    session = await flight.session(listener, model=model, tools=JOB_TOOL_OFFERS, **changes)
    flight.stage.requests.clear()
    named = {"name": "h", "description": "h", "prompt": "say hi", "mode": "sync"}
    for agent in AGENTS:
        listener.told.clear()
        await session.send(f"call task {json.dumps({'agent_type': agent, **named})}")
        await listener.until(TurnIdle)
        assert [ended.error for ended in listener.all(ToolEnded)] == [None], agent
    said = await session._say(lambda to: to.tools.get_current_metadata())  # pyright: ignore[reportPrivateUsage]
    await session.close()
    tools = [tool for asked in flight.stage.requests for tool in asked["tools"]]
    return {tool[tool["type"]]["name"] for tool in tools} | {tool.name for tool in said.tools or ()}


async def test_every_tool_that_the_runtime_has_is_classified_and_passes_the_gate(
    flight: Flight,
) -> None:
    """One that a new version adds fails here until somebody has looked at it."""
    tools = await listed(flight)
    for model in MODELS:
        tools |= await offered(flight, model)
    copilots: dict[str, Any] = {"provider": None, "github_token": "a-token"}
    tools |= await offered(flight, "claude-sonnet-4.5", **copilots)
    ours = {offer.name for offer in JOB_TOOL_OFFERS}
    assert ours <= tools, "the job tools are offered like all others"
    assert tools - ours - set(BUILT_IN) == set(), "classify these in harness/builtin_tools.py"
    assert not any("-" in name for name in {*ours, *BUILT_IN}), "so are those of MCP servers named"
    below = {"fetch_copilot_cli_documentation"}  # offered to sub-agents only
    for name in sorted(tools - below):
        porter, listener = Porter(lambda _: Veto("Only a walk.")), Listener()
        model = "gpt-5-codex" if name in {"apply_patch", "rg"} else "stand-in"
        session = await flight.session(listener, model=model, tools=JOB_TOOL_OFFERS, gate=porter)
        await session.send(f"call {name} {json.dumps({})}")
        await listener.until(TurnIdle)
        await session.close()
        assert [use.tool for use in porter.uses] == [name]
        assert [ended.error is not None for ended in listener.all(ToolEnded)] == [True], name
        assert listener.permissions == [], name
