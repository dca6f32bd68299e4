"""What is told of the programs that were asked at moments of a session's life."""

from typing import Literal, TypeAlias

from airboss.model.words import Frozen, Words


class HookRan(Frozen):
    """A hook was asked. With an error it had no say: what it was asked about went on, but for a
    call of a tool, which was refused."""

    kind: Literal["hook.ran"] = "hook.ran"
    # Its name, such as `preToolUse`.
    hook: Words
    # The program: a file, or a file and a function.
    program: Words
    milliseconds: int
    decided: Literal["nothing", "changed", "blocked", "asked"] = "nothing"
    reason: Words | None = None
    error: Words | None = None
    tool: Words | None = None
    # The sub-agent that it was about.
    agent: Words | None = None


HookEvent: TypeAlias = HookRan
