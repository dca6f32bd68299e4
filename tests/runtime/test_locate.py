"""Where the agent runtime is looked for, and what is said when it is nowhere."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from airboss.errors import RuntimeMissing
from airboss.runtime.locate import (
    CLI_VERSION,
    NATIVE_NAME,
    SDK_VERSION,
    SINGLE_NAME,
    Located,
    cache_folder,
    fallback,
    locate,
    native_in,
    platform_name,
)


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"AIRBOSS_CACHE": str(tmp_path / "ours"), "XDG_CACHE_HOME": str(tmp_path / "xdg")}


def test_the_pair_is_the_pair_that_the_sdk_was_made_for() -> None:
    from copilot._cli_version import CLI_VERSION as MADE_FOR

    assert (version("github-copilot-sdk"), MADE_FOR) == (SDK_VERSION, CLI_VERSION)


def test_each_place_comes_before_the_next(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(RuntimeMissing, match="airboss setup"):
        locate(None, environ)
    sdk = tmp_path / "xdg/github-copilot-sdk/cli" / CLI_VERSION / "prebuilds" / platform_name()
    assert locate(None, environ | {"here": str(put(sdk / NATIVE_NAME))}).source == "the SDK's cache"
    single = put(cache_folder(environ) / SINGLE_NAME)
    assert locate(None, environ) == Located(single, "our cache", native=False)
    native = put(native_in(cache_folder(environ)))
    assert locate(None, environ) == Located(native, "our cache", native=True)
    environ["COPILOT_CLI_PATH"] = str(put(tmp_path / "named"))
    assert locate(None, environ).path == tmp_path / "named"
    chosen = put(tmp_path / "chosen" / NATIVE_NAME)
    assert locate(chosen, environ) == Located(chosen, "the setting", native=True)


def test_a_named_runtime_that_is_not_there_is_an_error_and_no_other_is_taken(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    put(native_in(cache_folder(environ)))
    with pytest.raises(RuntimeMissing, match=r"nowhere.*the setting"):
        locate(tmp_path / "nowhere", environ)
    environ["COPILOT_CLI_PATH"] = str(tmp_path / "gone")
    with pytest.raises(RuntimeMissing, match=r"gone.*COPILOT_CLI_PATH"):
        locate(None, environ)
    put(tmp_path / "gone").chmod(0o644)
    with pytest.raises(RuntimeMissing, match="not executable"):
        locate(None, environ)


def test_only_the_native_runtime_of_our_cache_has_a_fallback(environ: dict[str, str]) -> None:
    native = Located(put(native_in(cache_folder(environ))), "our cache", native=True)
    assert fallback(native) is None
    single = put(cache_folder(environ) / SINGLE_NAME)
    assert fallback(native) == Located(single, "our cache", native=False)
    assert fallback(Located(native.path, "the setting", native=True)) is None


def test_the_light_modules_do_not_load_the_sdk() -> None:
    names = ("locate", "install", "sweep", "signals", "translate", "permission", "environment")
    lines = [f"import airboss.runtime.{name}" for name in (*names, "agent_runtime", "session")]
    check = "import sys; assert 'copilot' not in sys.modules"
    subprocess.run([sys.executable, "-c", "\n".join([*lines, check])], check=True)
