"""What the documents say exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for where in ("*", "docs/**/*", "examples/**/*") for path in ROOT.glob(f"{where}.md")
)
# Its rows are as long as the names of the types in them.
GENERATED = {ROOT / "docs/events.md"}
WRITTEN = [page for page in PAGES if page not in GENERATED]
WIDTH = 120
TARGETS = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def test_the_readme_has_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make run" in readme
    assert "make test" in readme


def test_every_command_is_explained_to_those_who_work_here() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert {target for target in TARGETS if f"`make {target}`" not in guide} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"`make ([a-z]+)", page.read_text("utf-8")))
    assert named - TARGETS == set()


def test_every_test_that_the_security_page_names_exists() -> None:
    page = (ROOT / "docs/security.md").read_text("utf-8")
    named = set(re.findall(r"`(?:tests/[\w/]*)?(test_\w+\*?\.py)`", page))
    assert len(named) > 20
    assert {name for name in named if not list((ROOT / "tests").rglob(name))} == set()


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_line_of_a_document_is_longer_than_the_width(page: Path) -> None:
    lines = enumerate(page.read_text("utf-8").splitlines(), start=1)
    assert [f"{page.name}:{number}" for number, line in lines if len(line) > WIDTH] == []
