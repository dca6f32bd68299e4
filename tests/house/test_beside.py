"""A module that has rules of its own has a test of its name, where the next owner looks first."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Those whose modules are all known by their tests.
FOLDERS = ("engine", "harness")
_RULES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match, ast.BoolOp)


def has_rules(source: str) -> bool:
    """Whether a function of it goes one way or another."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, functions)]
    return any(isinstance(part, _RULES) for function in found for part in ast.walk(function))


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_module_with_rules_has_a_test_of_its_name(folder: str) -> None:
    modules = sorted((ROOT / "src/airboss" / folder).glob("*.py"))
    ruling = [path.stem for path in modules if has_rules(path.read_text("utf-8"))]
    assert len(ruling) > 10, "nothing was found: the folder has moved"
    tests = {
        path.stem.removeprefix("test_") for path in (ROOT / "tests" / folder).glob("test_*.py")
    }
    assert [name for name in ruling if name not in tests] == []


def test_a_module_that_only_declares_has_none() -> None:
    assert not has_rules("class Executor(Protocol):\n    def work(self) -> None: ...\n")
    assert has_rules("def work(tired):\n    return None if tired else 1\n")
