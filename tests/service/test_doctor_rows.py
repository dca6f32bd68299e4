"""The doctor's rows about hooks and bindings, in front of real programs and sessions."""

from pathlib import Path
from typing import Any

from airboss.provider_settings import Provider, ProviderModel
from airboss.service.doctor_checks import Check
from airboss.session_keys import SessionSettings
from airboss.store.bindings import BindingRow
from tests.service.house import ME, House, house_in


def script(folder: Path, name: str, body: str) -> Path:
    file = folder / name
    file.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    file.chmod(0o755)
    return file


def hooked(*programs: Path) -> dict[str, Any]:
    hooks = {"pre_tool_use": [{"command": [str(one)], "seconds": 3} for one in programs]}
    return {"session": SessionSettings.model_validate({"hooks": hooks})}


async def row(house: House, name: str, *, deep: bool = False) -> Check:
    rows = house.services.status.rows
    assert rows is not None
    return await rows.rows(deep=deep)[name]()


async def test_programs_of_hooks_are_looked_for_and_asked_where_somebody_wants_that(
    tmp_path: Path,
) -> None:
    heard = tmp_path / "heard"
    good = script(tmp_path, "good.sh", f"cat > {heard}; echo '{{}}'")
    no = script(tmp_path, "no.sh", "echo Never. >&2; exit 2")
    async with house_in(tmp_path, **hooked(good, no)) as house:
        assert (await row(house, "hooks")).summary == "2 hooks, all programs found"
        assert not heard.exists(), "looking runs nothing"
        assert (await row(house, "hooks", deep=True)).summary == "2 hooks, all programs answered"
        assert '"airboss": {"doctor": true}' in heard.read_text("utf-8")
        good.write_text("#!/bin/sh\nexit 3\n", "utf-8")
        failed = await row(house, "hooks", deep=True)
        assert (failed.state, failed.summary) == ("fail", "1 hook cannot be used.")
        assert failed.detail.startswith("settings: session.hooks.preToolUse[0]: It ended with")
        good.chmod(0o644)
        no.unlink()
        failed = await row(house, "hooks")
        assert (failed.state, failed.summary) == ("fail", "2 hooks cannot be used.")
        assert "is not executable" in failed.detail
        assert "There is no program" in failed.detail
        assert failed.remedy
    async with house_in(tmp_path) as house:
        assert (await row(house, "hooks")).summary == "No hooks are configured."


async def test_servers_of_the_settings_are_looked_for(tmp_path: Path) -> None:
    servers = {"shell": {"command": ["sh"]}, "wiki": {"url": "http://127.0.0.1:1/mcp"}}
    keys = SessionSettings.model_validate({"mcp_servers": servers})
    async with house_in(tmp_path, session=keys) as house:
        found = await row(house, "mcp-servers")
        assert (found.state, found.summary) == (
            "warn",
            "Not there: wiki: 127.0.0.1:1 does not answer.",
        )
    async with house_in(tmp_path) as house:
        assert (await row(house, "mcp-servers")).summary == "No MCP servers are configured."


async def test_sessions_without_a_model_are_named_and_only_what_is_ours_is_removed(
    tmp_path: Path,
) -> None:
    house_model = Provider(
        name="house", base_url="http://127.0.0.1:9/v1", models=(ProviderModel(id="m"),)
    )
    async with house_in(tmp_path, providers=(house_model,)) as house:
        kept = (await house.sessions.start("house/m", str(house.work), ME)).id
        gone = (await house.sessions.start("house/m", str(house.work), ME)).id
        assert (await row(house, "bindings")).state == "ok"
    async with house_in(tmp_path) as house:
        found = await row(house, "bindings")
        assert (found.state, kept in found.detail, gone in found.detail) == ("warn", True, True)
        assert "airboss switch" in found.remedy
        bindings, rows = house.sessions.bindings, house.services.status.rows
        assert bindings is not None
        assert rows is not None
        assert await rows.repair() == []
        await house.sessions.close(gone, ME)
        await house.services.history.delete_session(gone)
        assert await bindings.store.orphans() == [], "a session takes its bindings along"
        await bindings.store.keep(BindingRow("ses_gone", 1, "ses_gone", "m", {}))
        await house.sessions.close(kept, ME)
        found = await row(house, "bindings")
        assert found.summary == "Deleted sessions of which something is still kept: 1."
        assert await rows.repair() == ["Removed what was kept for deleted sessions: 1."]
        assert {one.session for one in await bindings.store.newest()} == {kept}
        assert (await row(house, "bindings")).state == "ok"
