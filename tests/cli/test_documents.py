"""Every command that a document names, in a block or in its text, is one that the command line
takes. The guides (`tests/cli/guides`) run those in blocks."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from airboss.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for where in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in ROOT.glob(where)
)
ALL = typer.main.get_command(app)
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
# At the beginning of a line, behind a prompt, a pipe, `&&`, variables or a path.
_COMMAND = re.compile(r"(?:^|[|&] ?|\$ |=\S* |bin/) *(airboss [a-z-][^\n|&;<>]*)", re.MULTILINE)
_INLINE = re.compile(r"`(airboss [^`\n]+)`")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where `--install-completion` of a page writes."""
    monkeypatch.setenv("HOME", str(tmp_path))


def commands_of(page: str) -> set[str]:
    fences = _FENCE.findall(page)
    rest = _FENCE.sub("", page)
    found = {line for fence in fences for line in _COMMAND.findall(fence)}
    return found | set(_INLINE.findall(rest))


def wrong_with(line: str) -> str | None:
    """What the command line says of it. What a page leaves out of a command is not wrong: its
    arguments, where it only names the command, and `…` for a value. Of `this|that` it is `this`."""
    line = re.sub(r"[\[\]]|>.*|(?<=\w)\|\S+", "", line)
    words = shlex.split(line, comments=True)[1:]
    command = ALL
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    if isinstance(command, TyperGroup) and not words:
        return None  # it shows its help
    if isinstance(command, TyperGroup) and not words[0].startswith("-"):
        return f"there is no command {words[0]}"
    try:
        command.make_context("airboss", [*words])
    except (typer.Exit, SystemExit):  # it has shown its help, or the version
        return None
    except TyperException as wrong:
        is_left_out = isinstance(wrong, typer.BadParameter) and "…" in words
        is_left_out = is_left_out or bool(re.search("^Missing|requires an arg", str(wrong)))
        return None if is_left_out else str(wrong)
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_document_names_commands_that_exist(page: Path) -> None:
    named = commands_of(page.read_text("utf-8"))
    assert {line: wrong for line in sorted(named) if (wrong := wrong_with(line))} == {}


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert commands_of("```\n$ airboss flee --now\n```\n") == {"airboss flee --now"}
    assert commands_of("say `airboss run x`") == {"airboss run x"}
    assert commands_of("```\nA=b airboss link\n0 2 * * * ~/bin/airboss runs\n```") == {
        "airboss link",
        "airboss runs",
    }
    assert wrong_with("airboss flee --now") == "there is no command flee"
    assert wrong_with("airboss run x --now") == "No such option: --now"
    assert wrong_with("airboss run x y") == "Got unexpected extra argument(s) (y)"
    assert "'king' is not one of" in (wrong_with("airboss token add ci --role king") or "")
    assert wrong_with("airboss token add ci --role view --until 90d # ninety days") is None
    assert wrong_with("airboss run") is None, "a mention"
