"""Nobody writes who does not hold: a server that counts as lost, or whose stream went to another,
writes nothing any more, whatever it still believes."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from sqlalchemy import select, update

from airboss.errors import Conflict, StoreUnavailable
from airboss.log.log import EventLog
from airboss.model.audit_events import AUDIT
from airboss.model.events import SessionIdle, SessionOpened, SessionReady
from airboss.model.ids import ItemId, SessionId
from airboss.model.inbox import InboxView
from airboss.model.inbox_events import INBOX, InboxArrived, InboxItem, InboxSettled, QuestionAsked
from airboss.store.database import Database
from airboss.store.dialect import Fenced
from airboss.store.machine_tables import workers
from airboss.store.ownership import Ownership
from airboss.store.tables import views
from tests.databases import NewDatabase, on_postgres

STREAM = "ses_one"
OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")

pytestmark = on_postgres


@dataclass
class Server:
    """One of several on a database."""

    log: EventLog
    database: Database
    ownership: Ownership
    fenced: list[Fenced]


@asynccontextmanager
async def servers(new_database: NewDatabase, *names: str) -> AsyncGenerator[list[Server]]:
    async with AsyncExitStack() as stack:
        made: list[Server] = []
        for name in names:
            database = new_database()
            await database.open()
            stack.push_async_callback(database.close)
            row = {"id": name, "place": name, "name": name, "host": "h", "pid": 1, "version": "v"}
            put = workers.insert().values(**row, state="alive")
            await database.write(lambda c, put=put: c.execute(put) and None)
            told: list[Fenced] = []
            ownership = Ownership(name, told.append)
            log = EventLog(database, None, ownership=ownership)
            await stack.enter_async_context(log.running())
            made.append(Server(log, database, ownership, told))
        yield made


async def lose(server: Server, name: str) -> None:
    gone = update(workers).where(workers.c.id == name).values(state="lost")
    await server.database.write(lambda c: c.execute(gone) and None)


async def test_a_stream_goes_to_another_only_when_its_owner_is_lost_and_stays_there(
    new_database: NewDatabase,
) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        zombie = first.log.new_writer(STREAM)
        await zombie.commit(OPENED)
        with pytest.raises(Conflict, match="belongs to the worker first"):
            await second.log.writer(STREAM)
        await lose(second, "first")
        taker = await second.log.writer(STREAM)
        assert (await taker.commit(SessionReady())).seq == 2
        with pytest.raises(StoreUnavailable, match="the worker first counts as lost"):
            await zombie.commit(SessionIdle())
        assert len(first.fenced) == 1
        assert (await taker.commit(SessionReady())).seq == 3
        kinds = [one.event.kind for one in await second.log.after(STREAM, 0)]
        assert kinds == ["session.opened", "session.ready", "session.ready"]


async def test_who_lives_but_has_lost_a_stream_writes_its_others(
    new_database: NewDatabase,
) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        gone, own = first.log.new_writer(STREAM), first.log.new_writer("ses_own")
        await first.log.commit(gone.line(OPENED), own.line(OPENED))
        take = "UPDATE streams SET owner = 'second', epoch = epoch + 1 WHERE stream = 'ses_one'"
        await second.database.write(lambda c: c.exec_driver_sql(take) and None)
        own.say(SessionIdle())
        taken: list[str] = []
        first.ownership.on_taken = taken.append
        with pytest.raises(StoreUnavailable, match="has another owner"):
            await gone.commit(SessionReady())
        assert (first.fenced, taken) == ([], [STREAM]), "it goes on without this stream"
        before = first.ownership.fenced
        gone.say(SessionIdle())
        with pytest.raises(StoreUnavailable, match="Look there"):
            await gone.commit(SessionReady())
        assert first.ownership.fenced == before, "and does not try it again"
        assert (await own.commit(SessionReady())).seq == 3
        assert len(await second.log.after(STREAM, 0)) == 1
        await lose(first, "second")
        again = await first.log.writer(STREAM)
        assert (await again.commit(SessionReady())).seq == 2


async def test_what_another_server_goes_on_with_is_not_deleted(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        await first.log.new_writer(STREAM).commit(OPENED)
        with pytest.raises(Conflict, match="ses_one goes on again"):
            await second.log.forget([STREAM, "ses_other"], STREAM)
        assert len(await second.log.after(STREAM, 0)) == 1


async def test_commits_that_a_failover_lost_end_the_writer(new_database: NewDatabase) -> None:
    async with servers(new_database, "first") as (first,):
        writer = first.log.new_writer(STREAM)
        await writer.commit(OPENED, SessionReady())
        for lost in ("UPDATE streams SET head = 1", "DELETE FROM events WHERE seq = 2"):
            await first.database.write(lambda c, lost=lost: c.exec_driver_sql(lost) and None)
        with pytest.raises(StoreUnavailable, match="another head"):
            await writer.commit(SessionIdle())
        assert first.fenced == []
        again = await first.log.writer(STREAM)
        assert (await again.commit(SessionIdle())).seq == 2, "it begins anew from there"


async def test_everybody_writes_in_shared_streams_and_no_number_is_used_twice(
    new_database: NewDatabase,
) -> None:
    async with servers(new_database, "first", "second") as both:
        writers = [await one.log.writer(AUDIT) for one in both]

        async def talk(number: int) -> None:
            for _ in range(20):
                await writers[number].commit(SessionReady() if number else SessionIdle())

        async with anyio.create_task_group() as group:
            group.start_soon(talk, 0)
            group.start_soon(talk, 1)
        for server in both:
            found = await server.log.after(AUDIT, 0, 100)
            assert [one.seq for one in found] == list(range(1, 41))
            kinds = [one.event.kind for one in found]
            assert (kinds.count("session.ready"), kinds.count("session.idle")) == (20, 20)


async def test_an_older_server_keeps_what_a_newer_one_wrote_in_the_list_of_all_that_waits(
    new_database: NewDatabase,
) -> None:
    async with servers(new_database, "first") as [server]:
        inbox = await server.log.writer(INBOX)

        async def arrives(name: str) -> None:
            asked = QuestionAsked(item=ItemId(name), question="Which?")
            item = InboxItem(id=asked.item, session=SessionId(STREAM), asked=asked, asked_at=1)
            await inbox.commit(InboxArrived(item=item))

        async def written() -> dict[str, Any]:
            body = select(views.c.body).where(views.c.stream == INBOX)
            return json.loads(await server.database.read(lambda c: c.execute(body).scalar_one()))

        for name in ("itm_1", "itm_2"):
            await arrives(name)
        newer = await written()
        newer["mood"] = "calm"
        newer["items"][1]["asked"]["colour"] = "red"
        strange = {"id": "itm_x", "session": STREAM, "asked_at": 1, "asked": {"kind": "new.asked"}}
        newer["items"].append(strange)
        put = update(views).where(views.c.stream == INBOX).values(body=json.dumps(newer))
        await server.database.write(lambda c: c.execute(put) and None)
        await arrives("itm_3")
        settled = InboxSettled(item=ItemId("itm_1"), session=SessionId(STREAM), outcome="answered")
        await inbox.commit(settled)
        found = await written()
        assert found["mood"] == "calm"
        assert [one["id"] for one in found["items"]] == ["itm_2", "itm_x", "itm_3"]
        assert found["items"][0] == newer["items"][1]
        assert found["items"][1] == strange
        view = await server.log.view(INBOX)
        assert isinstance(view, InboxView)
        assert [one.id for one in view.items] == ["itm_2", "itm_3"]


async def test_the_inbox_of_all_is_folded_from_what_all_said(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as both:
        for number, server in enumerate((*both, *both)):
            inbox = await server.log.writer(INBOX)
            asked = QuestionAsked(item=ItemId(f"itm_{number}"), question="Which?")
            item = InboxItem(id=asked.item, session=SessionId(STREAM), asked=asked, asked_at=1)
            await inbox.commit(InboxArrived(item=item))
        view = await both[1].log.view(INBOX)
        assert isinstance(view, InboxView)
        assert [one.id for one in view.items] == [ItemId(f"itm_{n}") for n in range(4)]
