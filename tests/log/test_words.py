"""Who says a word in a stream that nobody has does not keep it, and nobody claims who is lost."""

import pytest

from airboss.errors import OwnedElsewhere
from airboss.log.writer import commit, now_ms
from airboss.model.events import SessionIdle, SessionReady
from airboss.model.ids import ItemId, SessionId
from airboss.model.inbox_events import INBOX, InboxArrived, InboxItem, QuestionAsked
from airboss.model.run_events import RunAccepted, RunEnded
from tests.databases import NewDatabase, on_postgres
from tests.log.test_fence import OPENED, STREAM, Server, lose, servers

pytestmark = on_postgres
ASKED = QuestionAsked(item=ItemId("itm_1"), question="Which?")


async def owner_of(server: Server) -> tuple[str | None, int]:
    asked = "SELECT owner, epoch FROM streams WHERE stream = 'ses_one'"
    row = await server.database.read(lambda c: c.exec_driver_sql(asked).one())
    return row.owner, row.epoch


async def left_by_nobody(server: Server) -> None:
    writer = server.log.new_writer(STREAM)
    await writer.commit(OPENED)
    free = "UPDATE streams SET owner = NULL"
    await server.database.write(lambda c: c.exec_driver_sql(free) and None)


async def test_what_nobody_has_is_nobodys_again_behind_a_word(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        await left_by_nobody(first)
        async with second.log.word(STREAM) as writer:
            assert (await writer.commit(SessionReady())).seq == 2
            assert await owner_of(second) == ("second", 2)
        assert await owner_of(second) == (None, 2)
        assert not second.log.is_own(STREAM)
        async with first.log.word(STREAM) as writer:
            assert (await writer.commit(SessionIdle())).seq == 3


async def test_who_goes_on_with_a_stream_keeps_it_behind_a_word(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        await left_by_nobody(first)
        async with second.log.word(STREAM) as writer, second.log.word(STREAM) as again:
            await writer.commit(SessionReady())
            goes_on = await second.log.writer(STREAM)
            await again.commit(SessionReady())
        assert (await owner_of(second))[0] == "second"
        await goes_on.commit(SessionIdle())
        async with second.log.word(STREAM) as writer:
            await writer.commit(SessionReady())
        assert (await owner_of(second))[0] == "second", "it had it before"


async def test_a_server_that_counts_as_lost_claims_nothing(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        await left_by_nobody(first)
        await lose(second, "first")
        with pytest.raises(OwnedElsewhere, match="the worker first counts as lost"):
            await first.log.writer(STREAM)
        assert await owner_of(second) == (None, 1)
        assert len(first.fenced) == 1, "it ends itself"


async def test_no_stream_goes_back_in_time_where_clocks_differ(new_database: NewDatabase) -> None:
    async with servers(new_database, "first", "second") as (first, second):
        ahead = now_ms() + 3_600_000
        item = InboxItem(id=ItemId("itm_1"), session=SessionId(STREAM), asked=ASKED, asked_at=1)
        inbox = (await first.log.writer(INBOX)).line(InboxArrived(item=item))
        await commit(first.log.new_writer(STREAM).line(OPENED), inbox, at=ahead)
        await lose(second, "first")
        for name in (STREAM, INBOX):
            await (await second.log.writer(name)).commit(SessionReady())
            assert [one.at for one in await second.log.after(name, 0)] == [ahead, ahead]


async def test_a_run_that_ends_waits_for_nobody_from_that_moment_on(
    new_database: NewDatabase,
) -> None:
    async with servers(new_database, "first") as (first,):
        run = RunAccepted(job="j", entry="0" * 64, cwd="/", user_input="", who="me")
        writer = first.log.new_writer("run_one")
        await writer.commit(run)
        offer = "INSERT INTO work (run, key, walk) VALUES ('run_one', 'one', 'w')"
        await first.database.write(lambda c: c.exec_driver_sql(offer) and None)
        await writer.commit(RunEnded(outcome="failed", reason="It did."))
        left = "SELECT count(*) FROM work"
        assert await first.database.read(lambda c: c.exec_driver_sql(left).scalar()) == 0
