"""What the server says of itself, with everything in order and with something missing."""

import shutil
from pathlib import Path

import pytest

from airboss.provider_settings import Provider, ProviderModel
from airboss.service.status import Check
from tests.service.house import ME, house_in

KEY = "key-of-the-house-0123456789"


def _by_id(checks: list[Check]) -> dict[str, Check]:
    return {check.id: check for check in checks}


async def test_every_check_says_what_it_found_and_how_long_it_took(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        before = await house.services.status.show(ME, "own")
        assert (before.runtime.state, before.runtime.pid) == ("stopped", None)
        assert (before.copilot.signed_in, before.copilot.how) == (None, "cli")
        checks = _by_id(await house.services.status.examine())
        assert list(checks) == [
            "store",
            "runtime",
            "sign-in",
            "accounts",
            "homes",
            "models",
            "providers",
            "entry",
            "exposure",
            "agents-user",
            "memory",
            "telemetry",
            "transcripts",
            "processes",
            "skills",
            "wishes",
            "hooks",
            "bindings",
            "mcp-servers",
            "extensions",
        ]
        assert all(check.summary and check.ms >= 0 for check in checks.values())
        for name in ("store", "runtime", "models", "providers", "entry", "exposure"):
            assert checks[name].state == "ok", checks[name]
        assert checks["sign-in"].state == "warn"
        assert "airboss account add" in checks["sign-in"].remedy
        assert checks["models"].summary == "1 from rehearsal"
        after = await house.services.status.show(ME, "own")
        assert (after.runtime.state, after.runtime.restarts) == ("running", 0)
        assert (after.copilot.signed_in, after.copilot.how) == (False, "none")


async def test_the_status_knows_who_is_signed_in_once_the_runtime_runs(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        await house.services.status.pool.status()
        status = await house.services.status.show(ME, "own")
        assert (status.copilot.signed_in, status.copilot.how) == (False, "none")


async def test_a_missing_runtime_is_told_by_status_and_doctor(tmp_path: Path) -> None:
    async with house_in(tmp_path, copilot_cli=tmp_path / "nowhere") as house:
        status = await house.services.status.show(ME, "own")
        assert status.runtime.state == "missing"
        assert "There is no agent runtime at" in status.runtime.detail
        checks = _by_id(await house.services.status.examine())
        assert checks["runtime"].state == "fail"
        assert checks["runtime"].summary == status.runtime.detail
        assert checks["models"].state == "ok"  # those of the rehearsal need none to be listed


async def test_a_token_is_named_by_its_variable_and_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GH_TOKEN", "gho_0123456789abcdefghijABCDEFGHIJ012345")
    monkeypatch.setenv("HOUSE_KEY", KEY)
    house_provider = Provider(
        name="house",
        base_url="http://127.0.0.1:9/v1",
        key_variable="HOUSE_KEY",
        models=(ProviderModel(id="m"),),
    )
    async with house_in(tmp_path, providers=(house_provider,)) as house:
        status = await house.services.status.show(ME, "own")
        assert (status.copilot.how, status.rehearsal.on) == ("GH_TOKEN", False)
        assert status.providers[0].key == "set"
        checks = _by_id(await house.services.status.examine())
        assert checks["providers"].detail == "Reached over http: house."
        told = status.model_dump_json()
        assert "gho_0123456789" not in told
        assert KEY not in told


async def test_a_data_folder_that_left_is_a_failed_check_and_no_failed_doctor(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path) as house:
        (tmp_path / "data").rename(tmp_path / "elsewhere")
        checks = _by_id(await house.services.status.examine())
        shutil.rmtree(tmp_path / "data", ignore_errors=True)
        (tmp_path / "elsewhere").rename(tmp_path / "data")
    assert checks["store"].state == "fail"
    assert checks["exposure"].state == "ok"
