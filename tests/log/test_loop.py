"""The event loop is never held: blockbuster raises where a file or a database is used on it."""

from blockbuster import blockbuster_ctx

from airboss.log.log import EventLog
from airboss.model.events import Recorded, SessionIdle
from tests.log.conftest import OpenLog
from tests.log.truth import Truth, begin, read_all

STREAM = "ses_loop"


async def speak(log: EventLog, truth: Truth) -> list[Recorded]:
    writer = await begin(log, STREAM, truth)
    async with log.follow(STREAM, 0) as follower:
        heard = await follower.next(1.0)
        writer.say(truth.start("m"))
        for number in range(200):
            writer.say(truth.delta("m", f"{number} "))
        heard += await follower.next(1.0)
        await writer.commit(truth.end("m"), truth.other(SessionIdle()))
        while follower.seq < truth.seq:
            heard += await follower.next(1.0)
    writer.release()
    return heard


async def test_nothing_that_the_log_does_holds_the_event_loop(open_log: OpenLog) -> None:
    truth = Truth()
    with blockbuster_ctx():
        async with open_log() as log:
            truth.check(0, await speak(log, truth))
            truth.check(0, await read_all(log, STREAM, 0, 50))
            assert (await log.view(STREAM)) is not None
        async with open_log() as log:  # opens what another server left
            truth.check(0, await read_all(log, STREAM, 0, 50))
            assert (await log.writer(STREAM)).left_open == ()
