"""What a session has in mind: how full its context is, how that is made shorter, with what it goes
on, and what was asked beside."""

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


class AsideAnswered(Frozen):
    """A question beside the work was answered from the session's history, which it is no part of.
    Whoever asked has the answer when this is said."""

    kind: Literal["aside.answered"] = "aside.answered"
    who: Words
    question: Words
    answer: Words


class SessionChanged(Frozen):
    """Somebody wants the session to go on with another model, effort, policy or agent, from its
    next turn on. What is left out stays; an agent of no letters is none of those that it has.
    With `instead_of` the model was at its rate limit: the turn goes on with another one now, and
    the session returns to it by itself."""

    kind: Literal["session.changed"] = "session.changed"
    model: Words | None = None
    reasoning_effort: Words | None = None
    policy: Words | None = None
    agent: Words | None = None
    who: Words
    instead_of: Words | None = None


ContextEvent: TypeAlias = ContextMeasured | CompactionStarted | CompactionEnded | SessionChanged
