"""Work in the background: it has a name and an owner, and a failure of it is seen."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import Callable
from contextvars import Context, ContextVar

import pytest

from airboss.background import FAILURES, Background, BackgroundClosed, ignore_failure


class Broken(Exception):
    """What goes wrong in these tests."""


async def fail() -> None:
    raise Broken("the disk is on fire")


async def for_ever() -> None:
    await asyncio.Event().wait()


async def set_soon(event: asyncio.Event) -> None:
    await asyncio.sleep(0.01)
    event.set()


async def ignore_cancelling(stubborn: asyncio.Event) -> None:
    while not stubborn.is_set():
        with contextlib.suppress(asyncio.CancelledError):
            await stubborn.wait()


def complaints(caught: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caught.records if record.levelno >= logging.WARNING]


async def test_a_failure_is_logged_with_its_name_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = FAILURES.get("kitchen", 0)
    background = Background("kitchen", "of room 12")
    background.start(fail(), "toast")
    await background.close()
    assert complaints(caplog) == ["kitchen of room 12 toast failed"]
    assert caplog.records[0].exc_info
    assert FAILURES["kitchen"] == before + 1


async def test_a_failure_leaves_the_others_alone() -> None:
    done = asyncio.Event()
    async with Background("kitchen") as background:
        background.start(fail())
        background.start(set_soon(done))
    assert done.is_set()


async def test_a_failure_that_its_caller_hears_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = FAILURES.get("kitchen", 0)
    async with Background("kitchen") as background:
        with pytest.raises(Broken):
            await background.call(fail(), "toast")
    assert complaints(caplog) == []
    assert FAILURES.get("kitchen", 0) == before


async def test_what_is_left_behind_may_fail_unheard(caplog: pytest.LogCaptureFixture) -> None:
    background = Background("kitchen")
    background.call(fail()).add_done_callback(ignore_failure)
    await background.close()
    del background
    gc.collect()  # asyncio complains of a failure that nobody asked for when its task is gone
    assert complaints(caplog) == []


async def test_being_cancelled_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    before = FAILURES.get("kitchen", 0)
    background = Background("kitchen")
    task = background.start(for_ever())
    await background.close(cancel=True)
    assert task.cancelled()
    assert complaints(caplog) == []
    assert FAILURES.get("kitchen", 0) == before


async def test_work_without_a_name_has_that_of_its_function() -> None:
    async with Background("kitchen") as background:
        task = background.start(set_soon(asyncio.Event()))
        assert task.get_name() == "kitchen set_soon"


async def test_closing_waits_for_what_runs_and_for_what_that_begins() -> None:
    background, done = Background("kitchen"), asyncio.Event()

    async def begin_another() -> None:
        await asyncio.sleep(0)
        background.start(set_soon(done))

    background.start(begin_another())
    await background.wait()
    assert done.is_set()
    background.start(set_soon(again := asyncio.Event()))
    await background.close()
    assert again.is_set()


async def test_closing_waits_for_what_cleans_up_after_being_cancelled() -> None:
    background, cleaned = Background("kitchen"), asyncio.Event()

    async def work() -> None:
        try:
            await for_ever()
        finally:
            await set_soon(cleaned)

    background.start(work())
    await asyncio.sleep(0)
    await background.close(cancel=True)
    assert cleaned.is_set()


async def test_what_takes_too_long_to_finish_is_cancelled() -> None:
    background = Background("kitchen")
    task = background.start(for_ever())
    await background.close(seconds=0.01)
    await asyncio.wait({task}, timeout=1)
    assert task.cancelled()


async def test_what_ignores_being_cancelled_is_named_and_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    background, enough = Background("kitchen"), asyncio.Event()
    task = background.start(ignore_cancelling(enough), "kettle")
    await asyncio.sleep(0)
    await background.close(cancel=True, seconds=0.01)
    assert complaints(caplog) == ["Canceled, but still running after 0.01 s: kitchen kettle"]
    enough.set()
    await task


@pytest.mark.parametrize("how", [Background.start, Background.call])
async def test_nothing_is_begun_after_the_end(
    how: Callable[..., object], recwarn: pytest.WarningsRecorder
) -> None:
    background = Background("kitchen")
    await background.close()
    await background.close()
    with pytest.raises(BackgroundClosed, match="kitchen has ended"):
        how(background, for_ever())
    gc.collect()
    assert list(recwarn) == []  # none that the work was never awaited


async def test_what_the_next_server_does_is_begun_only_before_the_end() -> None:
    background, begun, late = Background("kitchen"), asyncio.Event(), asyncio.Event()
    background.start_if_open(set_soon(begun))
    await background.close()
    background.start_if_open(set_soon(late))
    await asyncio.sleep(0.02)
    assert begun.is_set()
    assert not late.is_set()


async def test_nothing_is_begun_while_the_end_is_waited_for() -> None:
    background, done = Background("kitchen"), asyncio.Event()

    async def begin_another() -> None:
        await asyncio.sleep(0.01)
        with pytest.raises(BackgroundClosed):
            background.start(for_ever())
        done.set()

    background.start(begin_another())
    await background.close()
    assert done.is_set()


async def test_work_may_close_its_own_owner() -> None:
    background, closed = Background("kitchen"), asyncio.Event()
    other = background.start(for_ever())

    async def close() -> None:
        await background.close(cancel=True)
        closed.set()

    await background.start(close())
    assert closed.is_set()
    assert other.cancelled()


async def test_only_what_has_the_name_is_cancelled() -> None:
    background = Background("kitchen")
    toast, tea = background.start(for_ever(), "toast"), background.start(for_ever(), "tea")
    background.cancel("toast")
    await asyncio.wait({toast})
    assert toast.cancelled()
    assert not tea.done()
    await background.close(cancel=True)


async def test_a_block_that_fails_cancels_what_it_began() -> None:
    tasks: list[asyncio.Task[None]] = []

    async def block() -> None:
        async with Background("kitchen") as background:
            tasks.append(background.start(for_ever()))
            raise Broken

    with pytest.raises(Broken):
        await block()
    assert tasks[0].cancelled()


@pytest.mark.parametrize("is_at_the_end", [False, True])
async def test_an_owner_that_is_cancelled_takes_its_work_along(*, is_at_the_end: bool) -> None:
    tasks: list[asyncio.Task[None]] = []

    async def owner() -> None:
        async with Background("kitchen") as background:
            tasks.append(background.start(for_ever()))
            if not is_at_the_end:
                await for_ever()

    owning = asyncio.create_task(owner())
    await asyncio.sleep(0.01)
    owning.cancel()
    await asyncio.wait({owning}, timeout=1)
    assert owning.cancelled()
    assert tasks[0].cancelled()


async def test_a_caller_who_stops_waiting_for_the_end_stops_waiting() -> None:
    background = Background("kitchen")
    task = background.start(for_ever())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await background.close()
    assert not task.done()
    await background.close(cancel=True)


async def test_work_has_the_context_that_it_is_given() -> None:
    room: ContextVar[str] = ContextVar("room", default="none")
    room.set("12")

    async def look() -> str:
        return room.get()

    async with Background("kitchen") as background:
        assert await background.call(look()) == "12"
        assert await background.call(look(), context=Context()) == "none"
