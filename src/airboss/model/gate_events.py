"""What stands in the way of a session's calls: the tool gate, and calls of others."""

from typing import Literal, TypeAlias

from airboss.model.ids import ItemId, SessionId
from airboss.model.words import Frozen, Words

# Why a call was not let through: `tool-loop`, the agent repeats itself; `policy` and `hook`, one of
# those said no or failed; `approval`, a person said no or could not be asked.
Denied: TypeAlias = Literal["tool-loop", "policy", "hook", "approval"]


class LoopNoticed(Frozen):
    """The agent repeats itself. With a warning its call goes on, and it is told the text."""

    kind: Literal["loop.noticed"] = "loop.noticed"
    level: Literal["warning", "critical"]
    # What noticed it: `unknown-tool`, `breaker`, `poll`, `ping-pong`, `repeat`, `errors` or
    # `after-compaction`.
    detector: Words
    tool: Words
    count: int
    text: Words


class ToolVetoed(Frozen):
    """A call was not let through; its tool did not run."""

    kind: Literal["tool.vetoed"] = "tool.vetoed"
    tool: Words
    # The block of the call, where it had begun to be told.
    block: Words | None = None
    reason: Words
    denied: Denied


class ToolWaiting(Frozen):
    """A call waits until an approval is decided that another call waits for, mostly in another
    session: both edit the same file, and the agent runtime lets one at a time at it."""

    kind: Literal["tool.waiting"] = "tool.waiting"
    block: Words
    # What is to be decided, and where it is asked.
    item: ItemId
    title: Words
    session: SessionId
    session_title: Words = ""


class ToolGoing(Frozen):
    """It waits no longer for that."""

    kind: Literal["tool.going"] = "tool.going"
    block: Words


GateEvent: TypeAlias = LoopNoticed | ToolVetoed
WaitEvent: TypeAlias = ToolWaiting | ToolGoing
