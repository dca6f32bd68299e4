"""Sessions over v1: start, list, show, ask, stop, resume, read and follow."""

from typing import Annotated, Final, Literal

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field, StrictInt

from airboss.harness.setup import Said
from airboss.http.description import refused
from airboss.http.roles import Asker, Router, UseAsker
from airboss.http.services import Use, UseEntries, UseSessions, Who
from airboss.http.sse import EventStream
from airboss.http.v1.streams import (
    ENDING,
    LARGEST_SEQ,
    LOOKED_FOR,
    After,
    Cursor,
    EventPage,
    Folder,
    ForPerson,
    LastEventId,
    ModelName,
    RequestBody,
    Time,
    event_page,
    first_seq,
)
from airboss.http.v1.wider_permissions import must_be_granted
from airboss.model.audit_events import Deleted
from airboss.model.cage_bounds import ServerCages
from airboss.model.limits import UsageLimits
from airboss.model.numbers import whole
from airboss.model.setup_bounds import widening
from airboss.model.views import QueuedPrompt, SessionStateName, SessionView
from airboss.service.audit import actor
from airboss.service.changes import Changes, changes_of
from airboss.service.entry_agents import said_of_entry
from airboss.service.pages import last_events, page_for_late
from airboss.service.session_plan import NewChat
from airboss.session_keys import SessionKeys
from airboss.settings import Policy
from airboss.store.views import Wanted

router = Router(prefix="/api/v1/sessions", tags=["sessions"])

# More than anybody counts to; beyond it numbers are no longer exact.
_LARGEST_AMOUNT: Final = 1e15

Position = Annotated[StrictInt, Field(ge=0, le=LARGEST_SEQ), whole]
Amount = Annotated[float, Field(ge=0, le=_LARGEST_AMOUNT, strict=True)]


class GivenLimits(RequestBody):
    """How much the session may use. What is left out has no limit."""

    turns: Amount | None = None
    tokens: Amount | None = None
    cost: Amount | None = None
    minutes: Amount | None = None
    idle_minutes: Amount | None = None


class StartSession(RequestBody, SessionKeys):
    """All may be left out: the default model, in the repository's root, without limits, and with
    what the settings say about sessions. What would go beyond that needs the role `own`."""

    model: ModelName = None
    cwd: Folder = None
    permissions: Policy | None = None
    # A person is asked where one is reached.
    limits: GivenLimits | None = None


class ChangePrompt(RequestBody):
    """What a request that waits is to say, or its place: 0 comes next."""

    text: str | None = Field(default=None, min_length=1)
    position: Position | None = None


class AskAside(RequestBody):
    """A question beside the work."""

    question: str = Field(min_length=1)


class Aside(BaseModel):
    """From the session's history, by the session's model."""

    answer: str


class Queue(BaseModel):
    """The requests that wait, in the order in which they will be worked on."""

    items: tuple[QueuedPrompt, ...]


class SessionList(BaseModel):
    """Sessions, newest first."""

    items: list[SessionView]
    next_cursor: str | None


@router.post(
    "",
    status_code=201,
    responses={422: refused("There is no such model, or agents may not work in that folder.")},
)
async def start_session(
    asked: StartSession,
    sessions: UseSessions,
    entries: UseEntries,
    who: Who,
    by: UseAsker,
    request: Request,
    response: Response,
) -> SessionView:
    """Start a session. It is ready when this returns. If the caller disconnects, it is closed."""
    limits = asked.limits and UsageLimits(**asked.limits.model_dump())
    keys, server = SessionKeys.of(asked), sessions.session_keys
    must_be_granted(sessions, asked.permissions, sessions.policy, by)
    own = _said(keys, server, by, sessions.cages.said)
    said = (*await said_of_entry(entries, keys, server), own)
    chat = NewChat(asked.model, asked.cwd, who, asked.permissions, limits, said=said)
    view = await sessions.start_chat(chat)
    if await request.is_disconnected():
        await sessions.close(view.id, who)  # nobody has learnt its id
    response.headers["Location"] = f"/api/v1/sessions/{view.id}"
    return view


def _said(keys: SessionKeys, server: SessionKeys, by: Asker, cages: ServerCages) -> Said:
    """Whoever may not widen is told so; and what no list of ours foresees does not count either."""
    for wish in widening(keys, server, cages):
        by.must_have("own", f"it asks {wish.what}")
    return Said(keys, may_widen=by.role == "own")


@router.get("")
async def list_sessions(
    sessions: UseSessions,
    state: Annotated[list[SessionStateName], Query()] = [],  # noqa: B006 - FastAPI reads it, nobody writes
    model: Annotated[str | None, Query(max_length=400)] = None,
    of: Annotated[Literal["person", "task"] | None, Query(description="Whom it works for.")] = None,
    for_person: ForPerson = False,
    pinned: Annotated[bool, Query(description="Only those that are pinned.")] = False,
    since: Time = None,
    until: Time = None,
    text: Annotated[str | None, LOOKED_FOR] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SessionList:
    """List sessions, newest first; started from `since` on and before `until`, with `text` in the
    title, the folder or the id. A cursor stays valid while new sessions arrive."""
    wanted = Wanted(
        model=model,
        of=of,
        for_person=for_person,
        pinned=pinned,
        since=since,
        until=until,
        text=text,
    )
    page = await sessions.page(tuple(state), cursor, limit, wanted)
    return SessionList(items=page.items, next_cursor=page.next_cursor)


@router.get("/{session}")
async def show_session(session: str, sessions: UseSessions) -> SessionView:
    """Show a session as of its `seq`. To miss and repeat nothing, stream from that seq."""
    return await sessions.show(session)


@router.delete("/{session}", status_code=204)
async def delete_session(session: str, use: Use) -> None:
    """Permanently delete a session and its transcript. An open one is refused, and so is one that
    belongs to a run: delete the run instead."""
    await use.history.delete_session(session)
    await use.audit.write(Deleted(by=actor(), stream=session))


@router.post("/{session}/asides")
async def ask_aside(session: str, asked: AskAside, sessions: UseSessions, who: Who) -> Aside:
    """Ask a side question, answered from the session's history within a minute, without tools. A
    running turn continues, and the history does not change."""
    return Aside(answer=await sessions.aside(session, asked.question, who))


@router.get("/{session}/queue")
async def show_queue(session: str, sessions: UseSessions) -> Queue:
    """List the queued messages, and who sent them."""
    return Queue(items=await sessions.queue(session))


@router.patch("/{session}/queue/{prompt}")
async def change_queued(
    session: str, prompt: str, asked: ChangePrompt, sessions: UseSessions, who: Who
) -> Queue:
    """Change a queued message, until it is delivered. Messages of a task cannot be changed."""
    items = await sessions.change(session, prompt, asked.text, asked.position, who)
    return Queue(items=items)


@router.delete("/{session}/queue/{prompt}")
async def drop_queued(session: str, prompt: str, sessions: UseSessions, who: Who) -> Queue:
    """Remove a queued message, until it is delivered. Messages of a task cannot be removed."""
    return Queue(items=await sessions.drop(session, prompt, who))


@router.delete("/{session}/queue")
async def clear_queue(session: str, sessions: UseSessions, who: Who) -> Queue:
    """Remove all messages that people queued. Messages of tasks stay."""
    return Queue(items=await sessions.drop(session, None, who))


@router.post("/{session}/abort")
async def abort_turn(session: str, sessions: UseSessions) -> SessionView:
    """Stop the running turn and everything it started. Queued messages come next."""
    return await sessions.abort(session)


@router.post("/{session}/close")
async def close_session(session: str, sessions: UseSessions, who: Who) -> SessionView:
    """Close a session. Queued messages are dropped. Closing it again has no effect."""
    return await sessions.close(session, who)


@router.post("/{session}/resume")
async def resume_session(session: str, sessions: UseSessions, who: Who) -> SessionView:
    """Resume an interrupted session with its history, if the runtime still has it."""
    return await sessions.resume(session, who)


@router.get("/{session}/events", response_model=EventPage)
async def read_events(
    session: str,
    sessions: UseSessions,
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    compact: Annotated[
        bool, Query(description="Without the deltas of blocks that have ended.")
    ] = False,
    last: Annotated[
        int | None,
        Query(ge=1, le=1000, description="Only the last N events without deltas; compact."),
    ] = None,
) -> Response:
    """List events of a session in order. Continue after `next_after` while there are more."""
    view = await sessions.show(session)
    if last is not None:
        page = await last_events(sessions.log, session, last)
    elif compact:
        page = await page_for_late(sessions.log, session, after, limit)
    else:
        page = await sessions.events(session, after, limit)
    return event_page(page, after, view.seq)


@router.get("/{session}/changes")
async def show_changes(session: str, sessions: UseSessions) -> Changes:
    """The files that the agent changed with its tools for that, each with what was changed, edit
    by edit. What its commands did to files is not known."""
    return await changes_of(sessions.log, await sessions.show(session))


@router.get("/{session}/stream", **ENDING)
async def follow_events(
    session: str,
    sessions: UseSessions,
    after: After = 0,
    last_event_id: LastEventId = None,
) -> Response:
    """Follow a session as server-sent events, from any point until it is closed (`end`). The id is
    the seq; `Last-Event-ID` takes precedence over `after`. There is a `heartbeat` every 10 s."""
    await sessions.show(session)
    return EventStream(sessions.log, session, first_seq(last_event_id, after), last_event_id)
