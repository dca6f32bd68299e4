"""Which of the settings' accounts a session on the real runtime has."""

from pathlib import Path

import pytest

from airboss.account_settings import Account
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
