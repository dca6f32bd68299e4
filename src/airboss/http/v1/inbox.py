"""The inbox over v1: what waits for a person, and what the person says."""

from typing import Annotated, Literal

from fastapi import Query, Response
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router, UseAsker
from airboss.http.services import UseDecisions, UseInbox, Who
from airboss.http.sse import EventStream
from airboss.http.v1.streams import (
    SERVER_SENT,
    After,
    EventPage,
    LastEventId,
    RequestBody,
    event_page,
    first_seq,
)
from airboss.model.inbox_events import INBOX, Decision, InboxItem, ItemSettled

router = Router(prefix="/api/v1/inbox", tags=["inbox"])


class Waiting(BaseModel):
    """What waits, oldest first, as of `seq`: follow the stream from there."""

    items: list[InboxItem]
    seq: int


class Decide(RequestBody):
    """`words` are told to the agent with a no; of a plan, they are the changes to it, or why it is
    rejected. `approve` and `reject` are for plans. `option` is one of the item's `options`, by its
    id: what “always” means, where not the narrowest."""

    choice: Decision
    words: str = Field(default="", max_length=20_000)
    option: str | None = Field(default=None, min_length=1, max_length=100)


class AnswerQuestion(RequestBody):
    """A choice by its number or its label, words of one's own, or a form's fields as JSON."""

    answer: str = Field(max_length=100_000)


@router.get("")
async def list_inbox(
    inbox: UseInbox,
    session: Annotated[str | None, Query(max_length=100)] = None,
    run: Annotated[str | None, Query(max_length=100)] = None,
    kind: Literal["approval", "question", "limit", "plan", "switch", "sign-in"] | None = None,
) -> Waiting:
    """List what is waiting for a person, oldest first. Filter by session, run or kind."""
    view = await inbox.show()
    items = [
        item
        for item in view.items
        if session in {None, item.session}
        and run in {None, item.run}
        and (kind is None or item.asked.kind.startswith(kind))
    ]
    return Waiting(items=items, seq=view.seq)


@router.get("/events", response_model=EventPage)
async def inbox_events(
    inbox: UseInbox, after: After = 0, limit: Annotated[int, Query(ge=1, le=1000)] = 200
) -> Response:
    """List inbox events in order. Continue after `next_after` while there are more."""
    page = await inbox.events(after, limit)
    return event_page(page, after, (await inbox.show()).seq)


@router.get("/stream", **SERVER_SENT)
async def follow_inbox(
    inbox: UseInbox, after: After = 0, last_event_id: LastEventId = None
) -> Response:
    """Follow the inbox as server-sent events."""
    return EventStream(inbox.log, INBOX, first_seq(last_event_id, after))


@router.post(
    "/{item}/decision",
    responses={422: refused("This item cannot be decided in this way. The answer lists the ways.")},
)
async def decide(item: str, asked: Decide, decisions: UseDecisions, asker: UseAsker) -> ItemSettled:
    """Decide an item. Only the first decision counts; later ones are told what it was. `allow-
    always` writes a rule and needs the role `own`, and so does to trust an extension."""
    if asked.choice == "allow-always":
        asker.must_have("own", "it writes a rule")
    if asked.choice != "deny" and await decisions.trusts_code(item):
        asker.must_have("own", "it lets an extension run")
    return await decisions.decide(item, asked.choice, asker.name, asked.words, asked.option)


@router.post("/{item}/answer", responses={422: refused("This is not a valid answer.")})
async def answer(
    item: str, asked: AnswerQuestion, decisions: UseDecisions, who: Who
) -> ItemSettled:
    """Answer a question. An invalid answer is refused, and the question stays open."""
    return await decisions.answer(item, asked.answer, who)


@router.post("/{item}/decline")
async def decline(item: str, decisions: UseDecisions, who: Who) -> ItemSettled:
    """Decline to answer a question, or to sign in. The agent is told so, and continues."""
    return await decisions.decline(item, who)
