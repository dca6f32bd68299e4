"""Where Airboss itself lies, no cage writes."""

import os
import sys
from pathlib import Path

import pytest

import airboss
from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.own_code import own_code, refusal_to_work, refusal_to_write
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.cage.profile import refusals
from airboss.runtime.cage.system import system_facts

HOME = Path("/home/ann")


def test_package_interpreter_and_runtime_are_not_handed_in_to_be_written(tmp_path: Path) -> None:
    code = own_code({"AIRBOSS_CACHE": str(tmp_path / "cache/airboss")})
    package = Path(airboss.__file__).resolve().parent
    said = refusals(CageProfile(write=(str(tmp_path / "cache"),)), HOME, tmp_path / "data", code)
    assert "a part of Airboss itself is in it" in said[0]
    for place in (package, package / "harness", Path(sys.prefix).resolve()):
        assert refusal_to_write(place, code) == "it is a part of Airboss itself"
        assert refusal_to_work(place, code) == "it is a part of Airboss itself"
    assert refusal_to_write(tmp_path / "other", code) is None
    assert refusals(CageProfile(read=(str(package),)), HOME, tmp_path / "data", code) == ()


async def test_in_a_working_folder_they_are_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strong: None
) -> None:
    """The rest of the folder is worked in."""
    del strong
    work = tmp_path / "work"
    cache = work / "tools/cache/airboss"
    cache.mkdir(parents=True)
    monkeypatch.setenv("AIRBOSS_CACHE", str(cache))
    script = (
        "touch made tools/made tools/cache/made || echo closed; touch tools/cache/airboss/x; "
        f"for one in tools tools/cache tools/cache/airboss; do {system_facts().python} -c "
        "'import os, sys; os.rename(sys.argv[1], \"away\")' $one; done; ls"
    )
    plan = CagePlan("strong", "default", CageProfile(), work, "k")
    ended = await attempt(plan, tmp_path / "data", ("bash", "-c", script))
    assert ended.output == b"made\ntools\n", ended.errors
    assert os.listdir(cache) == []
    narrow = CagePlan("narrow", "default", CageProfile(), work, "k")
    with pytest.raises(CageUnavailable, match="a narrow cage cannot close that"):
        await attempt(narrow, tmp_path / "data", ("true",))
