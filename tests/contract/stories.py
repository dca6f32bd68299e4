"""What must hold for every stream: blocks open once, add up, and are closed before idle."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from airboss.model.events import Recorded
from airboss.model.states import State

Told = dict[str, Any]

_KINDS = ("Reasoning", "Message", "ToolExecution")
_KEYS = {"Reasoning": "reasoningId", "Message": "messageId", "ToolExecution": "toolCallId"}
ARGUMENTS = {
    "onStartReasoning": {"reasoningId"},
    "onReasoning": {"reasoningId", "delta"},
    "onEndReasoning": {"reasoningId", "completeContent"},
    "onStartMessage": {"messageId"},
    "onMessage": {"messageId", "delta"},
    "onEndMessage": {"messageId", "completeContent"},
    "onStartToolExecution": {"toolCallId", "toolName", "toolArguments"},
    "onToolExecution": {"toolCallId", "delta"},
    "onEndToolExecution": {"toolCallId"},
    "onAgentStart": {"turnId"},
    "onAgentEnd": {"turnId"},
    "onIdle": set[str](),
}
OPTIONAL = {
    "onStartToolExecution": {"parentToolCallId"},
    "onEndToolExecution": {"result", "error"},
}


@dataclass
class Blocks:
    """What was said of each block."""

    open: dict[str, str] = field(default_factory=dict[str, str])
    ended: dict[str, str] = field(default_factory=dict[str, str])

    def start(self, block: str) -> None:
        assert block not in self.open, f"{block} was open"
        assert block not in self.ended, f"{block} began twice"
        self.open[block] = ""

    def add(self, block: str, text: str) -> None:
        assert text, f"an empty piece of {block}"
        self.open[block] += text

    def end(self, block: str, text: str | None) -> None:
        said = self.open.pop(block)
        assert text in (None, said)
        self.ended[block] = said


def check_callbacks(heard: Sequence[Told]) -> Blocks:
    """Responses of `live` from the beginning: exact arguments, blocks in order, turns in pairs."""
    blocks = Blocks()
    turn: str | None = None
    for told in heard:
        name = told.get("callback")
        if name is None:
            assert list(told) in (["sessionError"], ["error"]), told
            continue
        given = set(told) - {"callback"}
        assert ARGUMENTS[name] <= given <= ARGUMENTS[name] | OPTIONAL.get(name, set()), told
        assert all(value is not None for value in told.values()), told
        match name:
            case "onAgentStart":
                assert turn is None
                turn = told["turnId"]
            case "onAgentEnd":
                assert turn == told["turnId"]
                turn = None
            case "onIdle":
                assert turn is None
                assert not blocks.open
            case _:
                assert turn is not None, told
                _check_block(blocks, name, told)
    return blocks


def _check_block(blocks: Blocks, name: str, told: Told) -> None:
    what = next(kind for kind in _KINDS if name.endswith(kind))
    block = told[_KEYS[what]]
    if name.startswith("onStart"):
        blocks.start(block)
    elif not name.startswith("onEnd"):
        blocks.add(block, told["delta"])
    elif what == "ToolExecution":
        assert ("result" in told) != ("error" in told), told
        blocks.end(block, told["result"]["content"] if "result" in told else None)
    else:
        blocks.end(block, told["completeContent"])


def check_events(events: Iterable[Told], *, known: Iterable[Told] = ()) -> Blocks:
    """Events of a stream behind a point, where `known` are those up to it: every character of
    every block comes once, wherever reading began."""
    blocks, last = Blocks(), 0
    for told in known:
        last = _check_event(blocks, told, last)
    for told in events:
        last = _check_event(blocks, told, last)
    return blocks


def _check_event(blocks: Blocks, told: Told, last: int) -> int:
    assert set(told) == {"seq", "at", "event"}
    assert told["seq"] > last, f"{told['seq']} came after {last}"
    event = told["event"]
    what, _, verb = event["kind"].partition(".")
    if what in ("reasoning", "message", "tool"):
        match verb:
            case "started":
                blocks.start(event["block"])
            case "delta":
                assert event["offset"] == len(blocks.open[event["block"]])
                blocks.add(event["block"], event["text"])
            case _:
                blocks.end(event["block"], event["text"])
    elif event["kind"] == "session.idle":
        assert not blocks.open
    return told["seq"]


def without_deltas(events: Iterable[Told]) -> list[Told]:
    return [told for told in events if not told["event"]["kind"].endswith(".delta")]


def whole_texts(events: Iterable[Told]) -> list[tuple[str, str]]:
    """Each block's kind and whole text, in the order of their ends."""
    ends = [told["event"] for told in events if "text" in told["event"]]
    return [(end["kind"], end["text"]) for end in ends if end["kind"].endswith(".ended")]


def told(state: State, one: Told) -> str:
    """The digest of a state behind one more event."""
    state.tell(Recorded(one["seq"], one["at"], json.dumps(one["event"])))
    return state.digest()
