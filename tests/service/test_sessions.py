"""Sessions on the real runtime, where two things happen at the same time."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable
from pathlib import Path

import pytest

from airboss.errors import (
    Conflict,
    Invalid,
    NotFound,
    RuntimeMissing,
    RuntimeUnavailable,
    StoreUnavailable,
    TooMuch,
)
from airboss.model.events import PromptAccepted, SessionOpened, SessionReady, TurnStarted
from airboss.model.ids import PromptId, TurnId, new_session_id
from tests.houses import on_a_file
from tests.log.conftest import log_in
from tests.log.test_trouble import (
    fill,
    small_disk,  # noqa: F401  # pyright: ignore[reportUnusedImport]  # a fixture
)
from tests.service.house import ME, House, house_in


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with house_in(tmp_path) as house:
        yield house


async def test_a_session_whose_runtime_died_while_it_opened_is_closed_not_idle(
    house: House,
) -> None:
    opened = house.lose_what_is_opened()
    with pytest.raises(RuntimeUnavailable, match="died"):
        await house.start()
    page = await house.sessions.page((), None, 10)
    assert [view.state for view in page.items] == ["closed"]
    kinds = await house.kinds(page.items[0].id)
    assert kinds == ["session.opened", "session.interrupted", "session.closed"]
    assert house.sessions.open_count() == (0, 0)
    house.sessions.open_session = opened
    assert (await house.start()).state == "idle"


async def test_a_session_whose_runtime_died_while_it_was_resumed_can_be_resumed_again(
    house: House,
) -> None:
    session = (await house.start()).id
    await house.sessions.prompt(session, "hello", ME)
    await house.until(session, "idle", turns=1)
    await asyncio.sleep(1)  # so long the runtime takes to have it on disk
    house.kill_runtime()
    await house.until(session, "interrupted")
    opened = house.lose_what_is_opened()
    with pytest.raises(RuntimeUnavailable, match="died"):
        await house.sessions.resume(session, ME)
    assert (await house.sessions.show(session)).state == "interrupted"
    house.sessions.open_session = opened
    assert (await house.sessions.resume(session, ME)).state == "idle"
    await house.sessions.prompt(session, "hello", ME)
    await house.until(session, "idle", turns=2)


async def test_the_loss_of_the_runtime_right_behind_a_request_is_told_once(house: House) -> None:
    session = (await house.start()).id
    await house.sessions.prompt(session, "hello", ME)
    house.kill_runtime()  # behind the acceptance: a loss that is noticed before it is a refusal
    await house.until(session, "interrupted", "closed")
    kinds = (await house.kinds(session))[3:]
    assert kinds in (
        ["turn.started", "turn.ended", "session.interrupted"],
        ["session.interrupted"],  # it was noticed before the request was begun
    )
    assert house.sessions.open_count() == (0, 0)


async def test_requests_that_come_while_a_session_is_resumed_are_worked_on_once(
    house: House,
) -> None:
    session = (await house.start()).id
    await house.sessions.prompt(session, "hello", ME)
    await house.until(session, "idle", turns=1)
    await asyncio.sleep(1)
    await house.sessions.prompt(session, "hello", ME)
    await house.sessions.prompt(session, "hello", ME)
    house.kill_runtime()
    await house.until(session, "interrupted")

    async def insist() -> None:
        for _ in range(200):
            try:
                await house.sessions.prompt(session, "hello", ME)
            except Conflict:
                await asyncio.sleep(0.005)
            else:
                return

    async with asyncio.TaskGroup() as group:
        group.create_task(house.sessions.resume(session, ME))
        for _ in range(4):
            group.create_task(insist())
    await house.until(session, "idle", turns=7)
    story = await house.story(session)
    accepted = [event.prompt for event in story if isinstance(event, PromptAccepted)]
    begun = [event.prompt for event in story if isinstance(event, TurnStarted)]
    assert Counter(begun) == Counter(accepted)
    assert len(accepted) == 7


async def test_a_session_is_closed_while_it_starts(house: House) -> None:
    starting = asyncio.create_task(house.start())
    async with asyncio.timeout(10):
        page = await house.sessions.page((), None, 1)
        while not page.items:
            await asyncio.sleep(0.005)
            page = await house.sessions.page((), None, 1)
    session = page.items[0].id
    assert page.items[0].state == "opening"
    closed = await house.sessions.close(session, ME)
    assert closed.state == "closed"
    assert (await starting).id == session
    assert (await house.kinds(session)).count("session.closed") == 1
    assert house.sessions.open_count() == (0, 0)


async def test_closing_resuming_and_stopping_at_once_ends_in_one_clear_state(
    house: House,
) -> None:
    sessions = [(await house.start()).id for _ in range(4)]
    for session in sessions:
        await house.sessions.prompt(session, "take your time", ME)
    house.kill_runtime()

    async def quietly(work: Awaitable[object]) -> None:
        with contextlib.suppress(Conflict, RuntimeUnavailable):
            await work

    async with asyncio.timeout(15), asyncio.TaskGroup() as group:
        for session in sessions:
            group.create_task(quietly(house.sessions.close(session, ME)))
            group.create_task(quietly(house.sessions.resume(session, ME)))
            group.create_task(quietly(house.sessions.abort(session)))
            group.create_task(quietly(house.sessions.close(session, ME)))
        group.create_task(quietly(house.sessions.stop()))
    for session in sessions:
        assert (await house.sessions.show(session)).state == "closed"
        assert (await house.kinds(session)).count("session.closed") == 1
    assert house.sessions.open_count() == (0, 0)
    assert not house.sessions._locks  # pyright: ignore[reportPrivateUsage]


async def ask_until_full(house: House, session: str) -> None:
    """SQLite's own log may have room for some more."""
    for _ in range(500):
        await house.sessions.prompt(session, "hello" * 200, ME)


@on_a_file
async def test_a_close_that_a_full_disk_refused_can_be_asked_for_again(
    small_disk: Path,  # noqa: F811 - the fixture of this name
) -> None:
    async with house_in(small_disk) as house:
        session = (await house.start()).id
        filler = fill(small_disk)
        with pytest.raises(StoreUnavailable):
            await ask_until_full(house, session)
        for asked in (house.sessions.close(session, ME), house.start()):
            with pytest.raises(StoreUnavailable):
                await asked
        filler.unlink()
        assert await house.sessions.log.look_again() is None, "trouble counts until a write"
        assert (await house.sessions.close(session, ME)).state == "closed"
        assert (await house.start()).state == "idle"
        assert house.sessions.open_count() == (1, 0)


async def test_a_server_that_stops_starts_and_resumes_nothing(house: House) -> None:
    session = (await house.start()).id
    await house.sessions.stop()
    assert (await house.sessions.show(session)).state == "interrupted"
    for asked in (house.start(), house.sessions.resume(session, ME)):
        with pytest.raises(RuntimeUnavailable, match="The server is stopping"):
            await asked


async def test_more_sessions_than_allowed_are_refused_also_when_all_come_at_once(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, max_sessions=2) as house:

        async def start() -> bool:
            try:
                await house.start()
            except TooMuch:
                return False
            return True

        async with asyncio.TaskGroup() as group:
            tried = [group.create_task(start()) for _ in range(8)]
        assert sum(task.result() for task in tried) == 2
        assert house.sessions.open_count() == (2, 0)


async def test_without_a_runtime_a_start_says_so_and_leaves_a_closed_session(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, copilot_cli=tmp_path / "nowhere") as house:
        with pytest.raises(RuntimeMissing, match="There is no agent runtime"):
            await house.start()
        page = await house.sessions.page((), None, 10)
        assert [view.state for view in page.items] == ["closed"]


async def test_what_is_asked_of_no_session_or_without_words_is_refused(house: House) -> None:
    with pytest.raises(NotFound):
        await house.sessions.prompt("ses_x", "hello", ME)
    session = (await house.start()).id
    with pytest.raises(Invalid, match="must not be empty"):
        await house.sessions.prompt(session, " \n", ME)
    await house.sessions.close(session, ME)
    with pytest.raises(Conflict, match="The session is closed"):
        await house.sessions.prompt(session, "hello", ME)


@on_a_file
async def test_every_session_of_a_dead_server_is_interrupted_by_the_next(tmp_path: Path) -> None:
    """More than a page of them, some in the middle of a turn, with requests in their queues."""
    (tmp_path / "data").mkdir()
    opened = SessionOpened(model="rehearsal", cwd="/", policy="read-only", who=ME)
    prompt = PromptAccepted(prompt=PromptId("pro_1"), text="hello", who=ME)
    begun = TurnStarted(turn=TurnId("trn_1"))
    ids = [new_session_id() for _ in range(230)]
    async with log_in(tmp_path / "data") as log, asyncio.TaskGroup() as group:
        for session in ids:
            writer = await log.writer(session)
            group.create_task(writer.commit(opened, SessionReady(), prompt, begun))
    async with house_in(tmp_path) as house:
        page = await house.sessions.page(("interrupted",), None, 500)
        assert {view.id for view in page.items} == set(ids)
        assert (await house.kinds(ids[0]))[-2:] == ["turn.ended", "session.interrupted"]
        closed = await house.sessions.close(ids[0], ME)
        assert (closed.state, closed.queue) == ("closed", ())
        assert (await house.kinds(ids[0]))[-2:] == ["prompt.dropped", "session.closed"]
