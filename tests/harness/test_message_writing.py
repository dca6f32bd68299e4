"""Messages on their way into the log: held while a hook is asked, and in order."""

import os
from pathlib import Path
from typing import Any

import pytest

from airboss.harness.hooks import SessionHooks
from airboss.harness.message_writing import MessageWriting
from airboss.model.events import Event, MessageDelta, MessageEnded, MessageStarted
from airboss.model.setup import HookSetup
from airboss.runtime.hook_process import HookPrograms
from airboss.runtime.signals import Signal, TurnIdle
from tests.harness.states import REDACTOR

pytestmark = pytest.mark.anyio

SPOKEN = (
    MessageStarted(block="m"),
    MessageDelta(block="m", offset=0, text="hello"),
    MessageEnded(block="m", text="hello"),
    TurnIdle(),
)


def writing(folder: Path, words: str | None, heard: "list[Event | Signal]") -> MessageWriting:
    hooks = None
    if words is not None:
        hook = HookSetup(hook="beforeMessageWrite", command=("sh", "-c", words))
        programs = HookPrograms({"PATH": os.environ["PATH"]}, folder)
        hooks = SessionHooks([hook], programs, REDACTOR, dict[str, Any], lambda _: None)
    return MessageWriting(hooks, REDACTOR, heard.append, 1000)


async def told(folder: Path, words: str | None) -> "list[Event | Signal]":
    heard: list[Event | Signal] = []
    way = writing(folder, words, heard)
    for said in SPOKEN:
        way.say(said)
    if way.hooks is not None:
        assert heard == [], "nothing is seen before the hook has answered"
        await way.hooks.beside.wait(10)
    return heard


async def test_without_a_hook_nothing_waits(tmp_path: Path) -> None:
    assert await told(tmp_path, None) == list(SPOKEN)


async def test_a_message_is_written_as_its_hook_leaves_it(tmp_path: Path) -> None:
    assert await told(tmp_path, "true") == list(SPOKEN)
    assert await told(tmp_path, """echo '{"modifiedText": "bye"}'""") == [
        MessageStarted(block="m"),
        MessageDelta(block="m", offset=0, text="bye"),
        MessageEnded(block="m", text="bye"),
        TurnIdle(),
    ]


async def test_after_a_no_the_reason_stands_in_its_place(tmp_path: Path) -> None:
    [_, _, ended, _] = await told(tmp_path, "echo 'Hush.' >&2; exit 2")
    assert isinstance(ended, MessageEnded)
    assert ended.text == "[A hook kept this message from being written: Hush.]"
