"""What Tab completes in a conversation: commands at the beginning of a line, files behind `@`."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from airboss.cli.session.typed import COMMANDS
from airboss.cli.trouble import Trouble

_MOST = 50


@dataclass
class Completing:
    """Asked by the line's editor, once for each proposal, with 0, 1, 2 …"""

    files: Callable[[str], list[str]]
    _found: list[str] = field(default_factory=list[str])

    def __call__(self, word: str, place: int) -> str | None:
        if place == 0:
            self._found = self._look(word)
        return self._found[place] if place < len(self._found) else None

    def _look(self, word: str) -> list[str]:
        if word.startswith("/"):
            names = [command.partition(" ")[0] for command in COMMANDS]
            return [f"{name} " for name in names if name.startswith(word)]
        if not word.startswith("@"):
            return []
        with contextlib.suppress(Trouble):  # nothing is proposed where nobody answers
            return [f"@{path} " for path in self.files(word[1:])[:_MOST]]
        return []


def complete_with(readline: Any, completing: Completing) -> None:
    readline.set_completer_delims(" \t\n")
    readline.set_completer(completing)
    # The line's editor of macOS has its own language.
    is_editline = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_editline else "tab: complete")
