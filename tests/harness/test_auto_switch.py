"""Who decides where a model is at its rate limit: another account first, then a person."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from airboss.harness import switching
from airboss.harness.switching import AUTO, Switch
from airboss.model.context_events import SessionChanged
from airboss.model.events import SessionError, TurnEnded
from airboss.model.inbox_events import ItemSettled, SwitchAsked
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, House, house_in
from tests.service.test_inbox import waiting

MODEL = "claude-sonnet-4.5"
ACCOUNTS = (
    {"name": "first", "token_variable": "FIRST"},
    {"name": "second", "token_variable": "SECOND"},
)


@asynccontextmanager
async def at_a_busy_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *accounts: dict[str, str]
) -> AsyncGenerator[tuple[House, Stage]]:
    async with on_stage(Stage(busy=frozenset({MODEL}))) as stage:
        for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
            monkeypatch.setenv(name, stage.address)
        for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(folder / name))
        monkeypatch.setenv("FIRST", "first-token-0123456789")
        monkeypatch.setenv("SECOND", "second-token-0123456789")
        async with house_in(folder, accounts=accounts) as house:
            yield house, stage


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[House]:
    async with at_a_busy_model(tmp_path, monkeypatch, *ACCOUNTS) as (house, _):
        yield house


async def test_another_account_comes_before_another_model_and_a_dead_runtime_withdraws_the_item(
    house: House,
) -> None:
    session = (await house.sessions.start(MODEL, str(house.work), ME)).id
    await house.sessions.prompt(session, "say one", ME)
    await house.until(session, "idle", turns=1)
    story = await house.story(session)
    [error] = [said for said in story if isinstance(said, SessionError)]
    assert (error.name, error.status) == ("AccountResting", 429)
    assert not [said for said in story if isinstance(said, SwitchAsked)]

    await house.sessions.prompt(session, "say two", ME)
    [item] = await waiting(house)
    assert isinstance(item.asked, SwitchAsked)
    assert (item.asked.model, item.asked.retry_seconds) == (MODEL, 600)
    house.kill_runtime()
    await house.until(session, "interrupted")
    story = await house.story(session)
    [gone] = [said for said in story if isinstance(said, ItemSettled)]
    assert (gone.outcome, gone.item) == ("cancelled", item.id)
    assert gone.reason is not None
    assert "Send the message again." in gone.reason
    assert [said.outcome for said in story if isinstance(said, TurnEnded)] == [
        "failed",
        "interrupted",
    ]


async def test_a_session_returns_to_its_own_model_once_that_takes_requests_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_a_busy_model(tmp_path, monkeypatch, ACCOUNTS[0]) as (house, stage):
        session = (await house.sessions.start(MODEL, str(house.work), ME)).id
        await house.sessions.prompt(session, "say one", ME)
        [item] = await waiting(house)
        await house.services.decisions.decide(item.id, "allow-once", "ada")
        view = await house.until(session, "idle", turns=1)
        assert (view.model, view.instead_of) == (AUTO, MODEL)
        # Ten minutes are not over yet.
        await house.sessions.prompt(session, "say two", ME)
        view = await house.until(session, "idle", turns=2)
        assert (view.model, view.instead_of) == (AUTO, MODEL)

        stage.busy = frozenset()
        monkeypatch.setattr(switching, "monotonic", lambda: time.monotonic() + 601)
        await house.sessions.prompt(session, "say three", ME)
        view = await house.until(session, "idle", turns=3)
        assert (view.model, view.instead_of) == (MODEL, None)
        story = await house.story(session)
        assert [said.models for said in story if isinstance(said, TurnEnded)] == [
            ("gpt-5-mini",),
            ("gpt-5-mini",),
            (MODEL,),
        ]
        assert [said for said in story if isinstance(said, SessionChanged)] == [
            SessionChanged(model=AUTO, instead_of=MODEL, who="ada"),
            SessionChanged(model=MODEL, who="airboss"),
        ]
        assert not [said for said in story if isinstance(said, SessionError)]


async def test_a_person_returns_sooner_and_a_resume_does_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with at_a_busy_model(tmp_path, monkeypatch, ACCOUNTS[0]) as (house, stage):
        house.sessions.auto_switch = "yes"
        session = (await house.sessions.start(MODEL, str(house.work), ME)).id
        other = (await house.sessions.start(MODEL, str(house.work), ME)).id
        for one in (session, other):
            await house.sessions.prompt(one, "say one", ME)
            view = await house.until(one, "idle", turns=1)
            assert (view.model, view.instead_of) == (AUTO, MODEL)
        stage.busy = frozenset()
        view = await house.sessions.switch(session, Switch(MODEL), ME)
        assert (view.model, view.instead_of) == (MODEL, None)
        await house.sessions.prompt(session, "say two", ME)
        await house.until(session, "idle", turns=2)
        stays = await house.sessions.switch(other, Switch(AUTO), ME)
        assert (stays.model, stays.instead_of) == (AUTO, None)
        story = await house.story(session)
        assert [said.models for said in story if isinstance(said, TurnEnded)][1] == (MODEL,)

        stage.busy = frozenset({MODEL})
        await house.sessions.prompt(session, "say three", ME)
        await house.until(session, "idle", turns=3)
        house.kill_runtime()
        assert (await house.until(session, "interrupted")).instead_of == MODEL
        stage.busy = frozenset()
        view = await house.sessions.resume(session, ME)
        assert (view.model, view.instead_of) == (MODEL, None)
        await house.sessions.prompt(session, "say four", ME)
        await house.until(session, "idle", turns=4)
        story = await house.story(session)
        assert [said.models for said in story if isinstance(said, TurnEnded)][3] == (MODEL,)
