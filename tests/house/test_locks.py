"""The locks pin everything and name no registry: everybody installs from their own."""

import json
import re
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from airboss.runtime import locate

ROOT = Path(__file__).parents[2]
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock.read_text("utf-8"), re.MULTILINE))


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("lock", REQUIREMENTS, ids=lambda lock: lock.name)
def test_a_python_lock_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text("utf-8")
    assert len(pins(lock)) > 30
    assert text.count("==") <= text.count("--hash=sha256:")
    assert "://" not in text
    assert "--index" not in text
    assert "--extra-index" not in text
    assert "--find-links" not in text


@pytest.mark.parametrize("folder", ["web", "tests/clients"])
def test_a_lock_of_npm_has_no_address(folder: str) -> None:
    lock = json.loads((ROOT / folder / "package-lock.json").read_text("utf-8"))
    packages: dict[str, dict[str, Any]] = lock["packages"]
    assert len(packages) > 50
    assert [name for name, package in packages.items() if "resolved" in package] == []
    thanked = [{**package, "funding": None} for package in packages.values()]
    assert "://" not in json.dumps(thanked)


def test_both_python_locks_agree() -> None:
    run, dev = pins(ROOT / "requirements/run.txt"), pins(ROOT / "requirements/dev.txt")
    assert {name: pin for name, pin in run.items() if dev.get(name) != pin} == {}


def test_the_sdk_and_the_cli_are_a_matching_pair() -> None:
    """They speak a protocol of their own; another pair was never tried here."""
    assert "github-copilot-sdk==1.0.25" in project()["dependencies"]
    assert pins(ROOT / "requirements/run.txt")["github-copilot-sdk"] == "1.0.25"
    assert version("github-copilot-sdk") == "1.0.25"
    assert locate.CLI_VERSION == "1.0.102"
    assert f'= "{locate.CLI_VERSION}"' in what_the_sdk_says()


def what_the_sdk_says() -> str:
    """Read, not imported: the SDK takes seconds to load."""
    sdk = find_spec("copilot")
    assert sdk is not None
    assert sdk.origin is not None
    return Path(sdk.origin).with_name("_cli_version.py").read_text("utf-8")
