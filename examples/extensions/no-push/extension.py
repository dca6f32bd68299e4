"""Refuses shell commands that push to git."""

import re
import shlex

from airboss.extension import Deny, ToolUse, hook

WHY = "Nobody pushes from here. Leave the branch as it is; a person looks at it and pushes."
# Options of git that take the next word, before the name of its command.
WITH_A_WORD = {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}


@hook.pre_tool_use(tools=["bash", "powershell"])
def no_push(use: ToolUse) -> Deny | None:
    return Deny(WHY) if pushes(str(use.arguments.get("command", ""))) else None


def pushes(command: str) -> bool:
    """Also where git has options, another path, or stands in a command of another shell."""
    try:
        words = list(shlex.shlex(command, posix=True, punctuation_chars=";&|()<>\n"))
    except ValueError:  # not to be read as words: rather a no too many
        return bool(re.search(r"\bgit\b.*\bpush\b", command, re.DOTALL))
    for at, word in enumerate(words):
        if word.rsplit("/", 1)[-1] == "git" and command_of_git(words[at + 1 :]) == "push":
            return True
        if word != command and re.search(r"\sgit\b|\bgit\s", word) and pushes(word):
            return True
    return False


def command_of_git(words: list[str]) -> str:
    rest = iter(words)
    for word in rest:
        if word in WITH_A_WORD:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""
