"""What somebody types in a conversation: commands, and messages that look like them."""

import pytest

from airboss.cli.session.completing import Completing
from airboss.cli.session.typed import Typed, typed


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/help", Typed("help")),
        ("/", Typed("help")),
        ("/queue ", Typed("list")),
        ("/rename A better name", Typed("rename", "A better name")),
        ("/files fo", Typed("files", "fo")),
        ("/steer go left", Typed("steer", "go left")),
        ("/hlep", Typed("command", "/hlep")),
        ("/deploy to staging", Typed("command", "/deploy to staging")),
        ("/steer", Typed("unknown", "/steer")),
        ("/etc/hosts", Typed("queue", "/etc/hosts")),
        ("/hlep me", Typed("command", "/hlep me")),
        (" /hlep", Typed("queue", " /hlep")),
        ("hello", Typed("queue", "hello")),
    ],
)
def test_a_line_is_a_command_or_a_message(line: str, said: Typed) -> None:
    assert typed(line) == said


def proposals(completing: Completing, word: str) -> list[str]:
    found: list[str] = []
    while (one := completing(word, len(found))) is not None:
        found.append(one)
    return found


def test_tab_completes_commands_and_files_behind_an_at() -> None:
    completing = Completing(lambda letters: [f"src/{letters}llow.py"])
    assert proposals(completing, "/re") == ["/review ", "/rename "]
    assert proposals(completing, "@fo") == ["@src/follow.py "]
    assert proposals(completing, "fo") == []
