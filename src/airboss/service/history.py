"""What is left of sessions that have ended: it can be looked for, and deleted for good."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from airboss.errors import Conflict, Invalid
from airboss.harness.item_lines import no_longer_waits
from airboss.log.log import EventLog
from airboss.model.runs import RunView
from airboss.model.task_runs import TaskRunView
from airboss.model.views import SessionView
from airboss.model.words import Frozen
from airboss.service.session_ends import withdrawn
from airboss.service.sessions import Sessions
from airboss.service.verbs import at_owner, untold
from airboss.store.search import EVERYWHERE, LookIn, Owner, SearchHit, SearchIndex

if TYPE_CHECKING:
    from airboss.service.owners import Owners

_NEWEST: Final = 2**62
# The number of the last hit of a page.
HIT_CURSOR: Final = "^[0-9]{1,18}$"
_BEFORE, _BEHIND = 80, 200


class Snippet(Frozen):
    """Plain text: what stands before the first hit, the hit, and what stands behind it."""

    before: str
    hit: str
    after: str


class HitOwner(Frozen):
    """What a list shows it with, one of the three: the run of a job, else a task that was started
    by itself, else a person's session."""

    run: RunView | None = None
    task_run: TaskRunView | None = None
    session: SessionView | None = None


class Hit(Frozen):
    """An event in which something was found. `of` says what its stream is of, and `name` what a
    person knows that by: a session's title, a job's or a task's name. Of a task of a run, `work` is
    its number in the job, and `execution` says which of several, from 1."""

    stream: str
    of: Literal["session", "task", "run"]
    name: str
    session: str | None
    task_run: str | None
    run: str | None
    seq: int
    at: int
    kind: str
    snippet: Snippet
    owner: HitOwner
    work: int | None = None
    execution: int | None = None


class HitPage(Frozen):
    """Newest first. There may be more behind a page, also behind an empty one."""

    items: list[Hit]
    next_cursor: str | None


@dataclass
class History:
    """All that was said on this server."""

    log: EventLog
    sessions: Sessions
    index: SearchIndex
    # The way to sessions of other processes on the same database.
    owners: "Owners | None" = None

    async def search(
        self, text: str, cursor: str | None, limit: int, where: LookIn = EVERYWHERE
    ) -> HitPage:
        """What was said with all of these words, or with words that begin so; newest first."""
        plain = text.replace("\0", " ")  # an end of a text, to the index
        words = [word for word in plain.split() if any(letter.isalnum() for letter in word)]
        if not words:
            raise Invalid("Enter a word or a number to search for.")
        found = await self.index.page(words, _place(cursor), limit, where)
        items = [_hit(one, found.owners[one.stream]) for one in found.items]
        return HitPage(items=items, next_cursor=str(found.next_id) if found.next_id else None)

    @at_owner(again=untold)
    async def delete_session(self, session: str) -> None:
        """For good. What belongs to something else goes with that."""
        async with self.sessions.alone(session):
            await self.log.last_view(session)  # what it said a moment ago is written, then deleted
            view = await self.sessions.show(session)
            if self.sessions.is_open(session) or view.is_open:
                raise Conflict("The session is open. Close it first.")
            await self._must_be_its_own(view)
            await self.log.forget([view.id], view.id)
            gone = [no_longer_waits(view.id, settled) for settled in withdrawn(view.items)]
            self.sessions.inbox.say(*gone)

    async def _must_be_its_own(self, view: SessionView) -> None:
        if view.run is not None and await self.log.view(view.run) is not None:
            raise Conflict(
                f"The session belongs to the run {view.run}. Delete the run to delete it too."
            )
        if view.task is None:
            return
        task = await self.log.view(view.task)
        if task is not None and task.is_open:
            raise Conflict(
                f"The session belongs to the task run {view.task}. Stop the task run first."
            )


def _place(cursor: str | None) -> int:
    if cursor is None:
        return _NEWEST
    return int(cursor)


def _hit(found: SearchHit, owner: Owner) -> Hit:
    of: Literal["session", "task", "run"] = "session"
    if owner.kind != "session":
        of = "task" if owner.kind == "task" else "run"
    before, after = found.before, found.after
    if len(before) > _BEFORE:
        before = f"…{before[-_BEFORE:]}"
    if len(after) > _BEHIND:
        after = f"{after[:_BEHIND]}…"
    return Hit(
        stream=found.stream,
        of=of,
        name=owner.name,
        session=found.stream if of == "session" else None,
        task_run=found.stream if of == "task" else owner.task if of == "session" else None,
        run=found.stream if of == "run" else owner.run,
        seq=found.seq,
        at=found.at,
        kind=found.kind,
        snippet=Snippet(before=before, hit=found.hit, after=after),
        owner=_shown_with(owner),
        work=owner.work,
        execution=owner.execution,
    )


def _shown_with(owner: Owner) -> HitOwner:
    match owner.top_kind:
        case "session":
            return HitOwner(session=SessionView.model_validate_json(owner.top_body, extra="ignore"))
        case "task":
            return HitOwner(
                task_run=TaskRunView.model_validate_json(owner.top_body, extra="ignore")
            )
        case "run":
            return HitOwner(run=RunView.model_validate_json(owner.top_body, extra="ignore"))
        case _:
            return HitOwner()
