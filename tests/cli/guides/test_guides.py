"""Every command, entry and program of the documents is run, page by page."""

import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cli.documents import Reader, blocks
from tests.cli.guides import (
    asking,
    command_line,
    entry_pages,
    first_steps,
    how_to,
    models,
    operating_pages,
)
from tests.cli.guides.excused import DRAWN, ELSEWHERE, EXCUSED
from tests.cli.guides.guide import ROOT, Guide, Visit, commands_of, follow
from tests.cli.guides.home import home_in
from tests.trials import whole_only

PARTS = (first_steps, asking, how_to, models, command_line, entry_pages, operating_pages)
GUIDES: dict[str, Guide] = {name: guide for part in PARTS for name, guide in part.GUIDES.items()}
DOCUMENTS = {
    file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
    for where in ("*.md", "docs/**/*.md", "examples/**/*.md", "bench/*.md", ".github/**/*.md")
    for file in sorted(ROOT.glob(where))
}
# The two longest: every command, and every field of an entry. In the trials alone.
LONG = ("docs/command-line.md", "docs/entry.md")
FOLLOWED = [name for name, page in DOCUMENTS.items() if blocks(page) and name not in ELSEWHERE]


def visit(page: str, guide: Guide, folder: Path) -> None:
    notes = folder / "notes"
    notes.mkdir()
    with home_in(folder, guide.script) as home, ExitStack() as kept:
        reader = Reader(home.work, home.environ, notes, codes=guide.codes, names=dict(guide.names))
        follow(page, guide, Visit(home, reader, kept))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=whole_only) if name in LONG else name for name in FOLLOWED],
)
def test_a_page_can_be_done_as_it_says(name: str, tmp_path: Path) -> None:
    guide = GUIDES.get(name, Guide())
    assert guide.unused(DOCUMENTS[name]) == []
    for program in guide.needs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    visit(DOCUMENTS[name], guide, tmp_path)


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("```sh\nairboss check nowhere.yaml\n```\n", "ended with"),
        ("```console\n$ echo yes\nno\n```\n", "does not say “no”"),
        ("```js\nrun();\n```\n", "Nobody uses this block"),
        ("```text\nIt said something.\n```\n", "Nobody uses this block"),
        ("```yaml\nmodels: {}\n```\n", "ended with"),
    ],
)
def test_what_cannot_be_done_is_noticed(page: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=wrong):
        visit(page, Guide(is_served=False), tmp_path)


def test_what_is_prepared_for_nothing_is_noticed() -> None:
    guide = Guide(codes={"false": 1}, names={"ID": "x"}, shown={"[Unit]": lambda _, __: None})
    assert sorted(guide.unused("```sh\ntrue\n```\n")) == ["ID", "[Unit]", "false"]


def test_what_is_done_elsewhere_is_as_much_as_it_was() -> None:
    for name, (test, count) in ELSEWHERE.items():
        assert (name, len(blocks(DOCUMENTS[name]))) == (name, count)
        assert (ROOT / test).exists()


def test_nothing_is_excused_that_no_page_has() -> None:
    said = {command.words for page in DOCUMENTS.values() for command in commands_of(page)}
    shown = [block.text for page in DOCUMENTS.values() for block in blocks(page)]
    assert EXCUSED.keys() - said == set()
    assert [one for one in DRAWN if not any(text.startswith(one) for text in shown)] == []
    assert GUIDES.keys() - DOCUMENTS.keys() == set()


def test_every_block_says_what_it_is_written_in() -> None:
    for name, page in DOCUMENTS.items():
        fences = re.findall(r"^ *```(.*)$", page, re.MULTILINE)
        assert "" not in fences[::2], name
        assert len(fences) == 2 * len(blocks(page)), f"a block of {name} is not read"


def test_make_still_has_what_is_excused() -> None:
    for words in [words for words in EXCUSED if words.startswith("make ")]:
        _, target = words.split()
        planned = subprocess.run(
            ["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert planned.stdout, words
