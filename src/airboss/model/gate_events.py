"""What the tool gate says of a session: that its agent repeats itself, and what it refused."""

from typing import Literal, TypeAlias

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


GateEvent: TypeAlias = LoopNoticed | ToolVetoed
