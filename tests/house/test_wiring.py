"""How the house is put together: nobody is made with who is made with them, and a protocol with one
class behind it marks a border between layers; elsewhere it only hides that class."""

import tomllib
from pathlib import Path

import pytest

from tests.house.wiring import LAYERS, WiredClass, classes_below, cycles, implementers

ROOT = Path(__file__).parents[2]
# Borders inside a layer, and the contract of import-linter that makes each one.
INSIDE = {"Executor": "executor"}


@pytest.fixture(scope="module")
def found() -> dict[str, WiredClass]:
    return classes_below(ROOT / "src/airboss")


def test_a_protocol_with_one_implementer_is_implemented_in_a_layer_above(
    found: dict[str, WiredClass],
) -> None:
    protocols = [one for one in found.values() if one.is_protocol]
    assert {one.name for one in protocols} >= {"Executor", "AgentSessions", "Pause"}
    for protocol in protocols:
        known = implementers(protocol, found)
        assert known, f"nobody is a {protocol.name}"
        if len(known) == 1 and protocol.name not in INSIDE:
            is_above = LAYERS.index(known[0].layer) < LAYERS.index(protocol.layer)
            assert is_above, f"{protocol.name} is {known[0].name}: name that"


def test_a_border_inside_a_layer_is_checked_by_a_contract() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = {one["id"] for one in settings["tool"]["importlinter"]["contracts"]}
    assert set(INSIDE.values()) <= contracts


def test_nobody_is_made_with_who_is_made_with_them(found: dict[str, WiredClass]) -> None:
    assert cycles(found) == []


def test_a_cycle_by_way_of_a_protocol_is_found(tmp_path: Path) -> None:
    for layer in LAYERS:
        (tmp_path / layer).mkdir()
    (tmp_path / "engine/engine.py").write_text(
        "class Executor(Protocol):\n    def run(self, name: str) -> None: ...\n"
        "class Engine:\n    def __init__(self, executor: Executor) -> None: ...\n",
        encoding="utf-8",
    )
    (tmp_path / "service/runs.py").write_text(
        "@dataclass\nclass Runs:\n    make: 'Callable[[Runs], Engine]'\n"
        "@dataclass\nclass Tasks:\n    runs: Runs\n    def run(self, name: str) -> None: ...\n",
        encoding="utf-8",
    )
    assert cycles(classes_below(tmp_path)) == ["Runs > Engine > Executor > Tasks > Runs"]
