"""Sessions over v1: what people change of one that is there, and its history made shorter."""

from dataclasses import asdict
from typing import Annotated

from pydantic import BaseModel, Field, StrictBool

from airboss.harness.switching import Switch
from airboss.http.description import refused
from airboss.http.roles import Router, UseAsker
from airboss.http.services import UseSessions, Who
from airboss.http.v1.streams import ModelName, RequestBody
from airboss.http.v1.wider_permissions import must_be_granted, must_be_granted_to_copy
from airboss.model.ids import PromptId
from airboss.model.views import SessionView
from airboss.service.forked_sessions import ForkWish
from airboss.service.session_notes import LONGEST_NAME, noted
from airboss.session_keys import Effort
from airboss.settings import Policy

router = Router(prefix="/api/v1/sessions", tags=["sessions"])


class ChangeSession(RequestBody):
    """What people note about a session: a name of one line, and whether it is pinned. And what it
    goes on with from its next turn on: a model, an effort that it offers, permissions, and one of
    its agents."""

    title: str | None = Field(default=None, min_length=1, max_length=LONGEST_NAME)
    pinned: StrictBool | None = None
    model: ModelName = None
    reasoning_effort: Annotated[Effort | None, Field(alias="reasoningEffort")] = None
    permissions: Policy | None = None
    # One of the session's agents; no letters: none of them.
    agent: str | None = Field(default=None, max_length=64)

    @property
    def switch(self) -> Switch:
        return Switch(self.model, self.reasoning_effort, self.permissions, self.agent)


class CompactSession(RequestBody):
    """What the summary is to dwell on, where somebody says so."""

    # The runtime takes 4000, and counts a character outside of the first plane twice.
    instructions: str | None = Field(default=None, min_length=1, max_length=2000)


class CompactionResult(BaseModel):
    """Tokens of the context before and after, and how many messages the summary stands for. Not
    `compacted`: there was nothing to compact, or somebody `stopped` it."""

    compacted: bool
    before: int | None = None
    after: int | None = None
    removed: int = 0
    stopped: bool = False


@router.patch(
    "/{session}",
    responses={
        409: refused(
            "The session is closed, and something else than its name was to change; or it would "
            "enter or leave a cage, which only a fork does."
        ),
        422: refused(
            "Nothing is said, there is no such model or agent, or the model does not offer the "
            "effort."
        ),
    },
)
async def change_session(
    session: str, asked: ChangeSession, sessions: UseSessions, who: Who, by: UseAsker
) -> SessionView:
    """Rename, pin or switch a session, open or not. A new model, effort or policy takes effect with
    the next turn. Fields that are left out do not change. Wider permissions need `own`."""
    switch = asked.switch
    if asked.permissions:
        view = await sessions.show(session)
        must_be_granted(sessions, asked.permissions, view.policy, by, view.cage_profile)
    said = (asked.title, asked.pinned) != (None, None) or switch == Switch()
    notes = noted(asked.title, asked.pinned, who, sessions.redactor) if said else []
    if switch != Switch():
        await sessions.switch(session, switch, who)
    return await sessions.say_of(session, *notes) if notes else await sessions.show(session)


@router.post(
    "/{session}/compact",
    responses={409: refused("The agent works, or the session is not open.")},
)
async def compact_session(
    session: str, sessions: UseSessions, who: Who, asked: CompactSession | None = None
) -> CompactionResult:
    """Replaces the history of an idle session by a summary that its model writes, within three
    minutes. What is asked for meanwhile waits. `abort` stops it; all is then as it was."""
    done = await sessions.compact(session, asked and asked.instructions, who)
    if done is None:
        return CompactionResult(compacted=False)
    return CompactionResult(compacted=done.removed > 0, **asdict(done))


class ForkSession(RequestBody):
    """The request before which the copy ends; without one, all of the session is copied. With other
    permissions the copy enters a cage (`caged`), or leaves it (all others)."""

    before: str | None = Field(default=None, min_length=1, max_length=64)
    permissions: Policy | None = None


@router.post(
    "/{session}/fork",
    status_code=201,
    responses={
        404: refused("There is no such session, or no such request in it that the agent began."),
        409: refused("The agent works, something waits, it is closed, or the history is gone."),
    },
)
async def fork_session(
    session: str, sessions: UseSessions, who: Who, by: UseAsker, asked: ForkSession | None = None
) -> SessionView:
    """Starts a new session as a copy of an idle or interrupted one, with its history, who said
    what, and its images. Both say so (`session.forked`). What was used and allowed is not
    copied."""
    before = PromptId(asked.before) if asked and asked.before else None
    permissions = asked.permissions if asked else None
    if permissions:
        must_be_granted_to_copy(sessions, permissions, await sessions.show(session), by)
    return await sessions.fork(session, ForkWish(before, permissions), who)
