"""`--help`: every command under one heading, with an example that could be typed as it is."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from airboss.cli.help_pages import EXAMPLES, SECTIONS
from airboss.cli.main import app
from tests.portal import Portal

ROOT: Any = get_command(app)


def every_command() -> Iterator[tuple[str, Any, Any]]:
    """By its words, with the context that it is called in."""
    context = ROOT.make_context("airboss", [], resilient_parsing=True)
    for name in ROOT.commands:
        command = ROOT.get_command(context, name)
        yield name, command, context
        if hasattr(command, "commands"):
            inside = command.make_context(name, [], parent=context, resilient_parsing=True)
            for part in command.commands:
                yield f"{name} {part}", command.get_command(inside, part), inside


COMMANDS = list(every_command())


def test_every_command_is_under_exactly_one_heading() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(ROOT.commands)


def test_the_page_has_the_same_groups() -> None:
    page = (Path(__file__).parents[2] / "docs/command-line.md").read_text("utf-8")
    listed = page.partition("## Commands")[2].partition("\n## ")[0]
    for title, names in SECTIONS.items():
        group = listed.partition(f"**{title}**")[2].partition("**")[0]
        assert [name for name in names if f"`airboss {name}" not in group] == []


@pytest.mark.parametrize(("name", "command", "parent"), COMMANDS, ids=[c[0] for c in COMMANDS])
def test_the_example_of_a_command_is_in_its_help_and_is_right(
    name: str, command: Any, parent: Any
) -> None:
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    shown = command.get_help(context)
    assert f"Example:\n    {EXAMPLES[name]}" in shown
    words = shlex.split(EXAMPLES[name], comments=True)
    assert words[: len(name.split()) + 1] == ["airboss", *name.split()]
    if not hasattr(command, "commands"):
        # Refused for what no such command takes.
        command.make_context(name, words[len(name.split()) + 1 :], parent=parent)


def test_the_list_of_commands_is_grouped_and_no_line_of_it_is_cut(nowhere: Portal) -> None:
    shown = nowhere.run("--help", COLUMNS="80").stdout
    for title in SECTIONS:
        assert f"\n{title}:\n" in shown
    assert "..." not in shown.partition("The server:")[2]
    assert "--install-completion" in shown


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("airboss st", ["status", "stop"]), ("airboss token si", ["signins", "signout"])],
)
def test_a_shell_completes_commands(nowhere: Portal, typed: str, offered: list[str]) -> None:
    """As the script asks that `airboss --show-completion` prints."""
    asked = {
        "_AIRBOSS_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    program = Path(sys.executable).with_name("airboss")
    done = subprocess.run(
        [program], env={**nowhere.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == offered
