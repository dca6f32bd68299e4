"""A chat in which nobody works gives its cage back, and goes on in another one."""

import asyncio
from pathlib import Path
from typing import Any

from airboss.model.cage_events import CageClosed
from tests.runtime.conftest import soon
from tests.service.house import ME, house_in
from tests.service.test_caged_sessions import cages_open, start, strong, turn


@strong
async def test_an_idle_chat_gives_its_cage_back_and_the_next_message_opens_it_again(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        free = await start(house)
        session = await start(house, policy="caged")
        await turn(house, session, 1)
        talks: Any = house.sessions
        talk = talks._open[session]
        assert not await talks._open[free].rest.rest(), "it has no cage"
        assert cages_open(house) == 1
        assert await talk.rest.rest()
        assert cages_open(house) == 0
        view = await house.sessions.show(session)
        assert (view.state, view.cage and view.cage.is_open) == ("idle", False)
        assert await turn(house, session, 2)
        view = await house.sessions.show(session)
        assert (view.cage and view.cage.is_open, view.restart_number) == (True, 0)
        story = await house.story(session)
        ends = [one.how for one in story if isinstance(one, CageClosed)]
        assert ends == ["Nobody worked in it for a while. The next message opens it again."]
        talk.rest.seconds = 0.2
        watching = asyncio.create_task(talk.rest.watch())
        assert await soon(lambda: cages_open(house) == 0)
        watching.cancel()
        await house.sessions.close(session, ME)


@strong
async def test_a_question_aside_wakes_it_too_and_a_closed_one_stays_asleep(tmp_path: Path) -> None:
    async with house_in(tmp_path, permissions="ask") as house:
        session = await start(house, policy="caged")
        await turn(house, session, 1)
        talks: Any = house.sessions
        talk = talks._open[session]
        assert await talk.rest.rest()
        assert await house.sessions.aside(session, "What did I say?", ME)
        assert cages_open(house) == 1
        assert await talk.rest.rest()
        await house.sessions.close(session, ME)
        assert (await house.sessions.show(session)).state == "closed"
        assert cages_open(house) == 0
