"""Which of the settings' accounts a session on the real runtime has."""

from pathlib import Path

import pytest

from airboss.account_settings import Account
from airboss.model.events import TurnEnded
from tests.runtime.copilot_service import Stage, on_stage
from tests.service.house import ME, house_in

BOTH = tuple(Account(name=name, token_variable=name.upper()) for name in ("first", "second"))


async def test_the_first_that_does_not_rest_is_taken_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(Stage()) as stage:
        for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
            monkeypatch.setenv(name, stage.address)
        for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(tmp_path / name))
        monkeypatch.setenv("FIRST", "first-token-1")
        monkeypatch.setenv("SECOND", "second-token-1")
        async with house_in(tmp_path, accounts=BOTH) as house:
            accounts = house.sessions.accounts
            first = await house.sessions.start("gpt-5-mini", str(house.work), ME)
            accounts.rest("first", "its quota is used up")
            second = await house.sessions.start("gpt-5-mini", str(house.work), ME)
            assert (first.account, second.account) == ("first", "second")
            assert [one.sessions for one in accounts.states()] == [1, 1]
            await house.sessions.close(first.id, ME)
            assert [one.sessions for one in accounts.states()] == [0, 1]


async def test_a_token_that_is_refused_is_asked_for_again_by_the_next_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only account has tokens that last for an hour: its command prints the next one."""
    file = tmp_path / "token"
    file.write_text("token-of-the-first-hour", "utf-8")
    accounts = (Account(name="work", token_command=("cat", str(file))),)
    async with on_stage(Stage()) as stage:
        for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
            monkeypatch.setenv(name, stage.address)
        for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            monkeypatch.setenv(name, str(tmp_path / name))
        async with house_in(tmp_path, accounts=accounts) as house:
            session = (await house.sessions.start("gpt-5-mini", str(house.work), ME)).id

            async def outcome(text: str) -> str:
                turns = (await house.sessions.show(session)).turns
                await house.sessions.prompt(session, text, ME)
                await house.until(session, "idle", "interrupted", turns=turns + 1)
                ended = [one for one in await house.story(session) if isinstance(one, TurnEnded)]
                return str(ended[-1].outcome)

            assert await outcome("say hello") == "done"
            stage.refused = frozenset({"token-of-the-first-hour"})
            assert await outcome("say it again") == "failed"
            assert await outcome("say it again") == "failed", "the command has no other yet"
            file.write_text("token-of-the-second-hour", "utf-8")
            assert await outcome("say thanks") == "done"
            assert "Bearer token-of-the-second-hour" in stage.tokens
