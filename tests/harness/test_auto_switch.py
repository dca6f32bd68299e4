"""Who decides where a model is at its rate limit: another account first, then a person."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

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


@pytest.fixture
async def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[House]:
    async with on_stage(Stage(busy=frozenset({MODEL}))) as stage:
        for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
            monkeypatch.setenv(name, stage.address)
        for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(tmp_path / name))
        monkeypatch.setenv("FIRST", "first-token-0123456789")
        monkeypatch.setenv("SECOND", "second-token-0123456789")
        async with house_in(tmp_path, accounts=ACCOUNTS) as house:
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
