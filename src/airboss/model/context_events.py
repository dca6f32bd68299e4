"""How full a session's context is, how its history is made shorter, and what it goes on with."""

from typing import Literal, TypeAlias

from airboss.model.words import Frozen, Words


class ContextMeasured(Frozen):
    """How many tokens the next request to the model has, of so many that it takes. Said when that
    has changed by a hundredth of the limit, not at every call."""

    kind: Literal["context.measured"] = "context.measured"
    tokens: int
    limit: int


class CompactionStarted(Frozen):
    """The history begins to be replaced by a summary of it. `trigger` is the runtime's word for
    why: `manual` where a person (`who`) asked for it, `threshold` where it has got too long."""

    kind: Literal["compaction.started"] = "compaction.started"
    trigger: Words
    before: int | None = None
    who: Words | None = None


class CompactionEnded(Frozen):
    """`before` and `after` count the tokens of the context, `removed` the messages that the summary
    stands for: none where there was nothing to compact. With an error, all is as it was."""

    kind: Literal["compaction.ended"] = "compaction.ended"
    trigger: Words
    before: int | None = None
    after: int | None = None
    removed: int = 0
    error: Words | None = None


class SessionChanged(Frozen):
    """Somebody wants the session to go on with another model, effort or policy, from its next turn
    on. What is left out stays."""

    kind: Literal["session.changed"] = "session.changed"
    model: Words | None = None
    reasoning_effort: Words | None = None
    policy: Words | None = None
    who: Words


ContextEvent: TypeAlias = ContextMeasured | CompactionStarted | CompactionEnded | SessionChanged
