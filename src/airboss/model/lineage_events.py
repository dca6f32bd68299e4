"""Where a session's history comes from: begun anew on the runtime, or copied from another one."""

from typing import Literal, TypeAlias

from airboss.model.ids import PromptId, SessionId
from airboss.model.words import Frozen, Words


class SessionRestarted(Frozen):
    """The agent begins anew and knows nothing of what was said before, since its runtime has lost
    the history or may not use it. `number` counts the runtime's sessions that this one has had."""

    kind: Literal["session.restarted"] = "session.restarted"
    why: Words
    number: int


class SessionForked(Frozen):
    """Said in both sessions: the new one began as a copy of the other (`source`), which says with
    which one (`copy_id`). Without `before` all of it was copied, else what was before that request.
    `runtime` is the runtime's own name for the new session."""

    kind: Literal["session.forked"] = "session.forked"
    who: Words
    source: SessionId | None = None
    copy_id: SessionId | None = None
    before: PromptId | None = None
    runtime: Words | None = None


LineageEvent: TypeAlias = SessionRestarted | SessionForked
