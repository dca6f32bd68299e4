"""A real runtime with more to say than anybody can hold: heard in part, and in little memory."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psutil
import pytest

from airboss.model.events import MessageEnded, ToolDelta, ToolEnded
from airboss.model.excerpt import MOST_CHARACTERS, mark_of
from airboss.runtime.frames import TOO_LARGE, PassedOver, read_message
from airboss.runtime.hooks import Pass, ToolUse
from airboss.runtime.signals import TurnFailed, TurnIdle
from tests.runtime.conftest import Flight, Listener
from tests.trials import sampled, share, trial

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

# More than the memory may grow by, in any case.
SIZE = share(50_000_000, 100_000_000)


@dataclass
class Witness:
    """How long the loop was held, and how far the memory of this process grew. What others take of
    the processors meanwhile is not counted."""

    held: float = 0.0
    most: int = 0
    before: int = field(default_factory=lambda: psutil.Process().memory_info().rss)

    @property
    def grown(self) -> float:
        return (self.most - self.before) / 1e6

    async def watch(self) -> None:
        own = psutil.Process()
        while True:
            began = time.thread_time()
            await asyncio.sleep(0.005)
            self.held = max(self.held, time.thread_time() - began)
            self.most = max(self.most, own.memory_info().rss)


@asynccontextmanager
async def watched() -> AsyncGenerator[Witness]:
    witness = Witness()
    task = asyncio.create_task(witness.watch())
    try:
        yield witness
    finally:
        task.cancel()


@dataclass
class Gate:
    """Notes what passes."""

    uses: list[ToolUse] = field(default_factory=list[ToolUse])

    async def before(self, use: ToolUse) -> Pass:
        self.uses.append(use)
        return Pass()

    def hear(self, said: object) -> None:
        assert said


@trial
@pytest.mark.alone
@pytest.mark.parametrize(
    "command",
    sampled(1, [f"head -c {SIZE} /dev/zero | tr '\\0' x", f"yes | head -c {SIZE}"]),
    ids=["one line", "many lines"],
)
async def test_a_flood_of_one_command_holds_neither_loop_nor_memory(
    flight: Flight, listener: Listener, command: str
) -> None:
    session = await flight.session(listener)
    async with watched() as witness:
        await session.send(f"shell {command}")
        await listener.until_over(60)
    [ended] = listener.all(ToolEnded)
    assert ended.left_out is not None
    kept = len(ended.text) - len(mark_of(ended.left_out))
    assert kept + ended.left_out == SIZE
    assert MOST_CHARACTERS - 200 < len(ended.text) <= MOST_CHARACTERS
    assert "".join(delta.text for delta in listener.all(ToolDelta)) == ended.text
    assert witness.grown < 40
    assert witness.held < 0.1


@trial
@pytest.mark.alone
async def test_others_are_heard_while_a_command_floods(flight: Flight, listener: Listener) -> None:
    flooding, other = await flight.session(listener), Listener()
    quiet = await flight.session(other)
    await flooding.send(f"shell yes | head -c {SIZE}")
    await listener.until(ToolDelta)
    began = time.monotonic()
    await quiet.send("say I am here")
    await other.until(TurnIdle, 30)
    assert time.monotonic() - began < 5
    assert not listener.all(TurnIdle)
    await listener.until_over(60)


async def test_an_edit_of_a_large_file_is_asked_for_and_made(
    flight: Flight, listener: Listener
) -> None:
    """The runtime sends the file seven times: 68 MB for one line."""
    file = flight.folder / "large.txt"
    file.write_text("needle\n" + "some line of text\n" * 600_000, encoding="utf-8")
    gate = Gate()
    session = await flight.session(listener, gate=gate)
    async with watched() as witness:
        arguments = '{"path": "large.txt", "old_str": "needle", "new_str": "thread"}'
        await session.send(f"call edit {arguments}")
        await listener.until_over(90)
    [asked_for] = listener.permissions
    assert "-needle\n+thread\n" in asked_for.raw["diff"]
    assert asked_for.gaps == {"newFileContents", "fileEdits"}
    assert asked_for.raw["newFileContents"].startswith("thread\nsome line")
    assert file.read_text(encoding="utf-8").startswith("thread\nsome line")
    assert [use.tool for use in gate.uses] == ["edit"]
    assert witness.grown < 60


async def test_a_call_that_is_too_large_to_be_checked_is_refused_in_words(
    flight: Flight, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = partial(read_message, most=100_000)
    monkeypatch.setattr("airboss.runtime.sdk_wire.read_message", small)
    gate = Gate()
    session = await flight.session(listener, gate=gate)
    text = "x" * 200_000
    await session.send(f'call create {{"path": "made.txt", "file_text": "{text}"}}')
    await listener.until_over(60)
    [ended] = listener.all(ToolEnded)
    assert ended.error
    assert TOO_LARGE in ended.error.message
    assert not gate.uses
    assert not (flight.folder / "made.txt").exists()
    assert listener.all(MessageEnded)[-1].text == "done"


async def test_a_message_that_cannot_be_made_small_ends_one_turn_in_words(
    flight: Flight, listener: Listener
) -> None:
    session, other = await flight.session(listener), Listener()
    await flight.session(other)
    wire: Any = (await flight.runtime.process()).wire
    said = PassedOver(99_000_000, "session.event", None, session.id, "tool.execution_complete")
    wire._hear(None, said)
    failed = await listener.until(TurnFailed)
    assert failed.name == "MessageTooLarge"
    assert failed.message == "The agent runtime said something of 99 MB, too large to be read."
    wire._hear(None, PassedOver(9, "session.event", None, session.id, "model.messages_snapshot"))
    await asyncio.sleep(0.05)
    assert len(listener.all(TurnFailed)) == 1
    assert not other.told
