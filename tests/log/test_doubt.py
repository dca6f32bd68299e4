"""Who was refused in doubt hears what came of it, as soon as anybody knows."""

import asyncio

import pytest

from airboss.errors import StoreAway, StoreUnavailable
from airboss.log.doubt import InDoubt, once_known
from airboss.log.log import EventLog
from airboss.model.events import SessionIdle, SessionOpened, SessionReady
from tests.log.doubt import away_in_a_commit, refused_in_doubt

STREAM = "ses_1"
OPENED = SessionOpened(model="m", cwd="/", policy="ask", who="me")


@pytest.mark.parametrize("refusal", [StoreUnavailable("It is full."), StoreAway("It is away.")])
def test_what_is_surely_not_written_is_known_at_once(refusal: StoreUnavailable) -> None:
    told: list[bool] = []
    once_known(refusal, told.append)
    assert told == [False]


@pytest.mark.parametrize("lands", [True, False])
async def test_what_nobody_knows_is_told_when_the_database_is_back(
    log: EventLog, lands: bool
) -> None:
    writer, other = log.new_writer(STREAM), log.new_writer("ses_2")
    await log.commit(writer.line(OPENED), other.line(OPENED))
    told: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def ask() -> None:
        try:
            await log.commit(writer.line(SessionReady()), other.line(SessionIdle()))
        except InDoubt as error:
            once_known(error, told.set_result)
            raise

    async with away_in_a_commit(log, STREAM, lands=lands):
        await refused_in_doubt(ask())
        await asyncio.sleep(0.2)
        assert not told.done()
    assert await asyncio.wait_for(told, 10) == lands
    await log.commit(writer.line(SessionIdle()))
    kinds = [said.event.kind for said in await log.after("ses_2", 0)]
    assert kinds == ["session.opened", "session.idle"][: 1 + lands]
