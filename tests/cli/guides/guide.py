"""A page of the documentation, and what has to be around it so that all of it can be done."""

import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from airboss.extension.testing import load
from airboss.runtime.rehearsal import load_script
from airboss.settings import Settings, load_settings
from tests.cli.documents import Block, Command, Reader, blocks, commands
from tests.cli.guides.excused import DRAWN, EXCUSED
from tests.cli.guides.home import Home

ROOT = Path(__file__).parents[3]


@dataclass
class Visit:
    """One person who does what a page says, in their home."""

    home: Home
    reader: Reader
    # What ends with the visit.
    kept: ExitStack

    def said(self, words: str) -> str:
        """What a command of the test's own says."""
        return self.reader.run(words)

    def write(self, name: str, text: str) -> Path:
        file = self.reader.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file


Act = Callable[[Visit], None]
# What a block is for, given its text.
Use = Callable[[Visit, str], None]


@dataclass(frozen=True)
class Guide:
    """Commands are named by their words, blocks by how they begin."""

    script: str | None = None
    # Whether a server runs already when somebody opens this page.
    is_served: bool = True
    # Programs that not every machine has.
    needs: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    before: Mapping[str, Act] = field(default_factory=dict[str, Act])
    instead: Mapping[str, Act] = field(default_factory=dict[str, Act])
    shown: Mapping[str, Use] = field(default_factory=dict[str, Use])
    codes: Mapping[str, int] = field(default_factory=dict[str, int])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    after: Act = lambda _: None

    def unused(self, page: str) -> list[str]:
        """What is prepared for something that the page does not have."""
        said = {command.words for command in commands_of(page)}
        named = {*self.before, *self.instead, *self.codes}
        texts = [block.text for block in blocks(page)]
        return [
            *(named - said),
            *(name for name in self.names if not any(name in text for text in texts)),
            *(begun for begun in self.shown if not any(text.startswith(begun) for text in texts)),
        ]

    def user_of(self, block: Block) -> Use | None:
        return next(
            (use for begun, use in self.shown.items() if block.text.startswith(begun)), None
        )


def commands_of(page: str) -> list[Command]:
    shells = [block for block in blocks(page) if block.language in ("sh", "console")]
    return [command for block in shells for command in commands(block)]


def follow(page: str, guide: Guide, visit: Visit) -> None:
    """Every block of the page, from the first to the last."""
    for name, text in guide.files.items():
        visit.write(name, text)
    if guide.is_served:
        visit.home.serve()
    for block in blocks(page):
        if any(block.text.startswith(begun) for begun in DRAWN):
            continue
        if use := guide.user_of(block):
            use(visit, block.text)
        elif block.language in ("sh", "console"):
            for command in commands(block):
                _do(command, guide, visit)
        else:
            _use(block, visit)
    guide.after(visit)


def _do(command: Command, guide: Guide, visit: Visit) -> None:
    words = command.words
    if words in EXCUSED:
        return
    if words in guide.before:
        guide.before[words](visit)
    if words in guide.instead:
        guide.instead[words](visit)
    elif _is_serve(words):
        reader = visit.reader
        visit.home.serve(reader.meant(words), reader.folder, reader.environ)
    else:
        visit.reader.do(command)


def _is_serve(words: str) -> bool:
    return words.startswith("airboss serve")


def _use(block: Block, visit: Visit) -> None:
    """What can be used without a word about it."""
    file = visit.write(block.title or f"shown.{block.language}", block.text)
    match block.language:
        case "toml":
            assert tomllib.loads(block.text)
            assert isinstance(load_settings(file, {}), Settings)
        case "yaml" if "rules" in yaml.safe_load(block.text):
            assert load_script(file).rules
        case "yaml":
            visit.said(f"airboss check {file.name}")
        case "python" if file.name == "extension.py":
            load(file).close()
        case "js" if file.name == "extension.mjs":
            visit.said(f"node --check {file}")
        case "python" if file.name.startswith("test_"):
            visit.said(f"{sys.executable} -m pytest -q -p no:cacheprovider {file}")
        case _:
            raise AssertionError(f"Nobody uses this block:\n{block.text}")
