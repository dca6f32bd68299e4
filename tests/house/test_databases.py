"""What a database says in its own way stands in the modules that bear its name."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src/airboss"
DIALECTS = "sqlalchemy.dialects"


def uses_dialect(source: str) -> bool:
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if any(f"{name}.".startswith(f"{DIALECTS}.") for name in names):
            return True
    return False


def test_only_the_modules_of_a_database_know_its_dialect() -> None:
    using = [path for path in ROOT.rglob("*.py") if uses_dialect(path.read_text("utf-8"))]
    assert {path.parent for path in using} == {ROOT / "store"}
    assert {path.stem.partition("_")[0] for path in using} <= {"sqlite", "postgres"}


def test_it_is_noticed_however_it_is_imported() -> None:
    assert uses_dialect("from sqlalchemy.dialects.sqlite import insert")
    assert uses_dialect("from sqlalchemy.dialects import postgresql")
    assert uses_dialect("import sqlalchemy.dialects.sqlite as sqlite")
    assert not uses_dialect("from sqlalchemy import insert")
