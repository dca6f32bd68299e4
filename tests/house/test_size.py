"""A module that grows past its measure is split along a noun."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE_LINES = 400
TEST_LINES = 600


def code_below(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for suffix in ("py", "ts", "tsx", "css")
        for path in (ROOT / folder).rglob(f"*.{suffix}")
        if not {"static", "node_modules"} & set(path.parts) and not path.name.endswith(".gen.ts")
    )


def too_long(paths: list[Path], limit: int) -> dict[str, int]:
    sizes = {str(path.relative_to(ROOT)): path.read_text("utf-8").count("\n") for path in paths}
    return {name: lines for name, lines in sizes.items() if lines > limit}


@pytest.mark.parametrize(
    ("folders", "limit"),
    [(("src", "web/src", "scripts", "bench"), SOURCE_LINES), (("tests",), TEST_LINES)],
)
def test_no_module_is_longer_than_one_can_read(folders: tuple[str, ...], limit: int) -> None:
    paths = code_below(*folders)
    assert paths, "nothing was found: the folders have moved"
    assert too_long(paths, limit) == {}


def test_tests_lie_where_their_subject_lies() -> None:
    packages = {path.parent.name for path in (ROOT / "src/airboss").glob("*/__init__.py")}
    across = {"contract", "crash", "e2e", "house", "security"}
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders - packages - across == set()
