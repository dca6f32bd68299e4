"""How full a session's context is, and how its history is made shorter."""

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


ContextEvent: TypeAlias = ContextMeasured | CompactionStarted | CompactionEnded
