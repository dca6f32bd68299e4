"""A session that begins as a copy of another: its agent knows the history, and so do people."""

import asyncio
from pathlib import Path

import pytest

from airboss.errors import Conflict, NotFound, RuntimeUnavailable
from airboss.harness.prompts import Extras
from airboss.model.events import PromptAccepted
from airboss.model.ids import PromptId
from airboss.model.lineage_events import SessionForked
from airboss.model.usage import Usage
from airboss.runtime.pool_key import PoolKey
from airboss.service.forked_sessions import ForkWish
from airboss.store.bindings import BindingRow
from airboss.store.images import Picture
from tests.contract.test_v1_images import png
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, House, house_in
from tests.service.test_bindings import provider, turn

PNG = png()


def known(stage: Stage) -> set[str]:
    """What of the conversation the last request had."""
    said = str(stage.requests[-1]["messages"])
    return {word for word in ("one", "two", "three", "four") if f"say {word}" in said}


async def prompts(house: House, session: str) -> dict[str, PromptAccepted]:
    return {
        event.text: event
        for event in await house.story(session)
        if isinstance(event, PromptAccepted)
    }


async def test_a_copy_knows_all_or_what_was_before_and_goes_its_own_way(tmp_path: Path) -> None:
    async with on_stage(Stage()) as stage, house_in(tmp_path, **provider(stage)) as house:
        source = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        more = Extras(pictures=(Picture("image/png", PNG),))
        await house.sessions.prompt(source, "say one", "ann", more=more)
        await house.until(source, "idle", turns=1)
        await turn(house, source, "say two", 2)
        whole = await house.sessions.fork(source, ForkWish(), "bob")
        assert (whole.state, whole.forked_from, whole.who) == ("idle", source, "bob")
        assert (whole.turns, whole.usage, whole.title) == (2, Usage(), "say one")
        asked = await prompts(house, whole.id)
        assert {said: one.who for said, one in asked.items()} == {"say one": "ann", "say two": ME}
        images = asked["say one"].images
        assert images
        picture = await house.sessions.images.read(whole.id, images[0].id)  # pyright: ignore[reportOptionalMemberAccess]
        assert picture.data == PNG
        await turn(house, whole.id, "say three", 3)
        assert known(stage) == {"one", "two", "three"}
        before = (await prompts(house, source))["say two"].prompt
        part = await house.sessions.fork(source, ForkWish(before), "bob")
        assert list(await prompts(house, part.id)) == ["say one"]
        await turn(house, part.id, "say four", 2)
        assert known(stage) == {"one", "four"}
        told = [one for one in await house.story(source) if isinstance(one, SessionForked)]
        assert [(one.copy_id, one.before) for one in told] == [
            (whole.id, None),
            (part.id, before),
        ]
        await turn(house, source, "say three", 3)
        assert known(stage) == {"one", "two", "three"}, "the other one is as it was"
        with pytest.raises(NotFound):
            await house.sessions.fork(source, ForkWish(PromptId("pro_none")), ME)
        await house.sessions.prompt(source, "wait a moment", ME)
        await house.until(source, "working")
        with pytest.raises(Conflict):
            await house.sessions.fork(source, ForkWish(), ME)
    async with on_stage(Stage()) as stage, house_in(tmp_path, **provider(stage)) as house:
        view = await house.sessions.show(part.id)
        assert (view.state, view.runtime_id == part.id) == ("interrupted", False)
        again = await house.sessions.fork(part.id, ForkWish(), ME)
        assert again.restart_number == 2, "the copy of what is bound elsewhere starts over"
        await house.sessions.close(part.id, ME)
        state = tmp_path / "data" / "copilot-home" / "session-state"
        assert (state / view.runtime_id).is_dir()
        await house.services.log.forget([part.id])
        assert not (state / view.runtime_id).exists()
        await house.sessions.close(source, ME)
        with pytest.raises(Conflict, match="closed"):
            await house.sessions.fork(source, ForkWish(before), ME)


async def test_a_copy_under_a_name_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    async with on_stage(Stage()) as stage, house_in(tmp_path, **provider(stage)) as house:
        source = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, source, "say one", 1)

        async def named(place: PoolKey, session: str, name: str, before: int | None) -> str:
            del place, session, name, before
            return "../../session-state"

        house.sessions.fork_on_runtime = named
        with pytest.raises(RuntimeUnavailable, match="a name that cannot be used"):
            await house.sessions.fork(source, ForkWish(), ME)
        assert [one.id for one in (await house.sessions.page((), None, 10)).items] == [source]


async def test_a_server_that_ends_in_the_middle_leaves_nothing_half(tmp_path: Path) -> None:
    async with on_stage(Stage()) as stage, house_in(tmp_path, **provider(stage)) as house:
        source = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, source, "say one", 1)
        fork = house.sessions.fork_on_runtime
        assert fork is not None
        reached = asyncio.Event()

        async def fork_and_hang(place: PoolKey, session: str, name: str, before: int | None) -> str:
            await fork(place, session, name, before)
            reached.set()
            await asyncio.sleep(60)
            return ""

        house.sessions.fork_on_runtime = fork_and_hang
        state = tmp_path / "data" / "copilot-home" / "session-state"
        asked = asyncio.ensure_future(house.sessions.fork(source, ForkWish(), ME))
        await reached.wait()
        assert len(list(state.glob("*/workspace.yaml"))) == 2
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        assert len(list(state.glob("*/workspace.yaml"))) == 1
        # As after `kill -9`: the copy lies there, and nobody was told.
        half = source[:-1] + ("0" if source[-1] != "0" else "1")
        await fork(house.sessions.homes.key("default", None), source, half, None)
        assert house.sessions.bindings is not None
        await house.sessions.bindings.store.keep(BindingRow(half, 0, "", "m", {}))
    async with on_stage(Stage()) as stage, house_in(tmp_path, **provider(stage)) as house:
        assert len(list(state.glob("*/workspace.yaml"))) == 1
        assert await house.sessions.bindings.store.half_forks() == []  # pyright: ignore[reportOptionalMemberAccess]
        assert "session.forked" not in await house.kinds(source)
