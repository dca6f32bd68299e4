"""A protocol with one class behind it marks a border between layers; elsewhere it only hides it."""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/airboss"
# From the top to the bottom.
LAYERS = ("service", "engine", "harness")
# Borders inside a layer, and the contract of import-linter that makes each one.
INSIDE = {"Executor": "executor"}


@dataclass(frozen=True)
class Found:
    """A class, with what it can be asked for."""

    name: str
    layer: str
    bases: tuple[str, ...]
    members: frozenset[str]


def classes() -> dict[str, Found]:
    found: dict[str, Found] = {}
    for layer in LAYERS:
        for path in sorted((SOURCE / layer).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    bases = tuple(ast.unparse(base) for base in node.bases)
                    found[node.name] = Found(node.name, layer, bases, members_of(node))
    return found


def members_of(node: ast.ClassDef) -> frozenset[str]:
    names: list[str] = []
    for part in node.body:
        match part:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.append(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
            case _:
                pass
    return frozenset(name for name in names if not name.startswith("_"))


def implementers(protocol: Found, among: dict[str, Found]) -> list[Found]:
    """By what they have, as the type checker finds them."""

    def has(one: Found) -> frozenset[str]:
        return one.members.union(*(has(among[base]) for base in one.bases if base in among))

    others = [one for one in among.values() if "Protocol" not in one.bases]
    return [one for one in others if protocol.members <= has(one)]


def test_a_protocol_with_one_implementer_is_implemented_in_a_layer_above() -> None:
    found = classes()
    protocols = [one for one in found.values() if "Protocol" in one.bases]
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
