"""A name says one thing: no two classes of the package share one. What authors of extensions import
has plain names of its own, in a kit that knows nothing of the rest."""

import ast
from collections import defaultdict
from pathlib import Path

import airboss.extension

ROOT = Path(__file__).parents[2]


def classes_below(folder: Path) -> dict[str, list[str]]:
    """Where each class is, by its name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(f"{path.relative_to(folder)}:{node.lineno}")
    return dict(found)


def test_no_class_name_is_there_twice() -> None:
    found = classes_below(ROOT / "src/airboss")
    assert len(found) > 300, "nothing was found: the folder has moved"
    kit = set(airboss.extension.__all__)
    inside = {
        name: [place for place in places if name not in kit or not place.startswith("extension/")]
        for name, places in found.items()
    }
    assert {name: places for name, places in inside.items() if len(places) > 1} == {}
