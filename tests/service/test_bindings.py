"""A session is resumed with its history where it is bound to the same, and else begins anew."""

import shutil
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from airboss.errors import AirbossError
from airboss.harness.binding import START_OVER
from airboss.harness.switching import Switch
from airboss.model.lineage_events import SessionRestarted
from airboss.provider_settings import Provider
from airboss.store.bindings import BindingStore
from tests.houses import on_a_file
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, House, house_in
from tests.trials import sampled


@pytest.fixture
async def stage() -> AsyncGenerator[Stage]:
    async with on_stage(Stage()) as stage:
        yield stage


def provider(stage: Stage, **changes: Any) -> dict[str, Any]:
    known = {"name": "house", "base_url": f"{stage.address}/v1", "models": ["stand-in", "other"]}
    return {"providers": (Provider.model_validate({**known, **changes}),)}


async def turn(house: House, session: str, words: str, turns: int) -> None:
    await house.sessions.prompt(session, words, ME)
    await house.until(session, "idle", turns=turns)


async def restarts(house: House, session: str) -> list[tuple[str, int]]:
    said = await house.story(session)
    return [(one.why, one.number) for one in said if isinstance(one, SessionRestarted)]


def told(stage: Stage) -> tuple[bool, bool, bool]:
    """Whether the last request had the first message and the second, and that it starts over."""
    request = str(stage.requests[-1]["messages"])
    return "say one" in request, "say two" in request, START_OVER[:40] in request


async def test_equal_is_resumed_and_another_service_or_a_lost_home_is_started_over(
    tmp_path: Path, stage: Stage
) -> None:
    state = tmp_path / "data" / "copilot-home" / "session-state"
    async with house_in(tmp_path, **provider(stage)) as house:
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        assert told(stage) == (True, False, False)
    async with house_in(tmp_path, **provider(stage)) as house:
        await house.sessions.resume(session, ME)
        await turn(house, session, "say two", 2)
        assert told(stage) == (True, True, False)
        assert await restarts(house, session) == []
        bound = (await house.sessions.setup(session)).binding
        assert (bound.number, bound.runtime, bound.fits) == (1, session, True)
        assert bound.parts["provider"] == "house"
        assert stage.address not in str(bound)
    async with on_stage(Stage()) as moved, house_in(tmp_path, **provider(moved)) as house:
        assert not (await house.sessions.setup(session)).binding.fits
        await house.sessions.resume(session, ME)
        view = await house.sessions.show(session)
        assert (view.runtime_id, view.id) == (f"{session}-2", session)
        why = "The address of its provider is different from before."
        assert await restarts(house, session) == [(why, 2)]
        await turn(house, session, "say three", 3)
        assert told(moved) == (False, False, True)
        assert (state / f"{session}-2").is_dir()
    shutil.rmtree(state)
    async with house_in(tmp_path, **provider(moved)) as house:
        await house.sessions.resume(session, ME)
        assert (await restarts(house, session))[1:] == [
            (f"The agent runtime has no record of session {session}-2 any more.", 3)
        ]
        kinds = await house.kinds(session)
        assert kinds[-3:] == ["session.resumed", "session.restarted", "session.ready"]
        await house.sessions.close(session, ME)
        await house.services.log.forget([session])
        assert list(state.glob("ses_*")) == []
        assert await BindingStore(house.services.log._database).newest() == []  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    "part", sampled(3, ["wire", "cwd", "kept", "identity", "home", "mode", "profile"])
)
async def test_each_other_part_starts_it_over_too(tmp_path: Path, stage: Stage, part: str) -> None:
    changes = {"wire": "responses"} if part == "wire" else {}
    async with house_in(tmp_path, **provider(stage)) as house:
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        if part == "kept":
            await house.services.log._database.write(  # pyright: ignore[reportPrivateUsage]
                lambda c: c.execute(text("UPDATE bindings SET parts = 'nonsense'"))
            )
    if part == "cwd":
        (tmp_path / "work").rename(tmp_path / "moved")
        (tmp_path / "work").symlink_to(tmp_path / "moved")
    roots = (tmp_path,)
    async with house_in(tmp_path, **provider(stage, **changes), roots=roots) as house:
        known, another = house.sessions.holder, {part: "another"}
        if part in ("identity", "home"):
            house.sessions.holder = lambda route, setup: replace(known(route, setup), **another)
        if part in ("mode", "profile"):  # they count for Copilot's own models only
            bindings = house.sessions.bindings
            assert bindings is not None
            row = await bindings.find(await house.sessions.show(session))
            assert row is not None
            await bindings.keep(replace(row, parts={**row.parts, **another}))
        await house.sessions.resume(session, ME)
        assert [number for _, number in await restarts(house, session)] == [2]
        await turn(house, session, "say two", 2)
        assert (await house.sessions.show(session)).state == "idle"


async def test_a_switch_is_a_wish_and_keeps_the_history(tmp_path: Path, stage: Stage) -> None:
    async with house_in(tmp_path, **provider(stage)) as house:
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
    async with house_in(tmp_path, **provider(stage)) as house:
        await house.sessions.switch(session, Switch(model="house/other"), ME)
        await house.sessions.resume(session, ME)
        await turn(house, session, "say two", 2)
        assert told(stage) == (True, True, False)
        assert await restarts(house, session) == []
        assert (await house.sessions.setup(session)).binding.parts["model"] == "other"


async def test_one_of_an_earlier_version_is_resumed_and_bound_by_then(
    tmp_path: Path, stage: Stage
) -> None:
    async with house_in(tmp_path, **provider(stage)) as house:
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        await house.services.log._database.write(  # pyright: ignore[reportPrivateUsage]
            lambda c: c.execute(text("DELETE FROM bindings"))
        )
    async with house_in(tmp_path, **provider(stage)) as house:
        await house.sessions.resume(session, ME)
        await turn(house, session, "say two", 2)
        assert told(stage) == (True, True, False)
        assert (await house.sessions.setup(session)).binding.parts["model"] == "stand-in"


async def test_a_restart_that_was_not_told_is_told_by_the_next_one(
    tmp_path: Path, stage: Stage
) -> None:
    """The runtime dies between the opening of the new one and the word on it."""
    async with house_in(tmp_path, **provider(stage)) as house:
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
    async with on_stage(Stage()) as moved, house_in(tmp_path, **provider(moved)) as house:
        opened = house.lose_what_is_opened()
        with pytest.raises(AirbossError):
            await house.sessions.resume(session, ME)
        assert await restarts(house, session) == []
        house.sessions.open_session = opened
        await house.sessions.resume(session, ME)
        assert [number for _, number in await restarts(house, session)] == [2]
        await turn(house, session, "say two", 2)
        assert told(moved) == (False, True, True)


NO_ROOM = """
CREATE TRIGGER no_room BEFORE INSERT ON bindings BEGIN SELECT RAISE(ABORT, 'no room'); END
"""


@on_a_file
async def test_a_binding_that_cannot_be_kept_stops_nothing(tmp_path: Path, stage: Stage) -> None:
    async with house_in(tmp_path, **provider(stage)) as house:
        await house.services.log._database.write(lambda c: c.execute(text(NO_ROOM)))  # pyright: ignore[reportPrivateUsage]
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        bindings = house.sessions.bindings
        assert bindings is not None
        view = await house.sessions.show(session)
        assert await bindings.find(view) is not None
        assert await bindings.store.find(session, 1) is None, "in memory only"
        house.kill_runtime()
        await house.until(session, "interrupted")
        await house.sessions.resume(session, ME)
        await turn(house, session, "say two", 2)
        assert await restarts(house, session) == []


@on_a_file
async def test_a_binding_that_cannot_be_read_just_now_is_not_forgotten(
    tmp_path: Path, stage: Stage
) -> None:
    async with house_in(tmp_path, **provider(stage)) as house:
        write, bindings = house.services.log._database.write, house.sessions.bindings  # pyright: ignore[reportPrivateUsage]
        assert bindings is not None
        session = (await house.sessions.start("house/stand-in", str(house.work), ME)).id
        await turn(house, session, "say one", 1)
        house.kill_runtime()
        await house.until(session, "interrupted")
        bound = await bindings.store.find(session, 1)
        assert bound is not None
        await write(lambda c: c.execute(text("ALTER TABLE bindings RENAME TO away")))
        await house.sessions.resume(session, ME)
        await write(lambda c: c.execute(text("ALTER TABLE away RENAME TO bindings")))
        assert await restarts(house, session) == []
        assert await bindings.store.find(session, 1) == bound
        await turn(house, session, "say two", 2)
