"""What every agent is told about the place that it works in: our tools, questions and approvals."""

from pathlib import Path
from typing import Final

from airboss.entry.places import find_repo_root
from airboss.entry.tools import JOB_TOOLS
from airboss.harness.cage_guests import is_in_cage
from airboss.harness.questions import ASK_USER
from airboss.model.setup import Setup
from airboss.model.tool_lists import allowed_by

# Far more than it is: it is read, and paid for, in every request.
MOST_CHARACTERS: Final = 2_000

_HEAD: Final = (
    "# Working in Airboss\n"
    "You work in a session of Airboss. People follow it on a page, often later, and not while you "
    "work. What you say last in a turn is your answer: make it complete by itself."
)
_ASK: Final = (
    f"- `{ASK_USER}` asks a person, and you wait until the answer comes. That may take hours. Use "
    "it for what you cannot find out yourself, and do not ask in your answer instead."
)
_NO_ASK: Final = (
    "- Nobody can be asked a question. Decide what is sensible, and say in your answer what you "
    "decided."
)
_JOB: Final = (
    "- {} report to the job that you work for. Call them only when the request tells you to, and "
    "then do call them: words alone do not count."
)
_APPROVAL: Final = (
    "- A tool call may have to wait for a person's approval, or may be refused by a policy or a "
    "hook. A refusal comes with its reason. Do not try to get the same done in another way: do "
    "without it, or say what you would need."
)
_DELEGATE: Final = (
    "- Agents that you hand work to have no more tools and no wider permissions than you. Tell "
    "them all that they need: they do not know this conversation."
)

_CAGE: Final = (
    "- You work in a cage: files outside of your folder are not there, or cannot be written. "
    "There is no network but by a proxy, which `HTTPS_PROXY` and `HTTP_PROXY` name; without them, "
    "none. A tool that cannot reach a host may ignore these variables: give it the proxy by an "
    "option of its own. A host that the proxy refuses (403) comes with the reason; if a person is "
    "asked about it, try again later."
)
_NO_GIT: Final = (
    "- Your folder is part of a git repository whose top lies outside of your cage, so git does "
    "not work here: nothing can be compared or committed. Do not make another repository. Say in "
    "your answer what you changed, so that a person can commit it."
)


def has_unseen_repository(setup: Setup, cwd: Path) -> bool:
    """Blocking. Whether the folder lies in a repository that its cage does not have."""
    top = find_repo_root(cwd)
    return top != cwd and not is_in_cage(setup, cwd, top / ".git")


def own_words(setup: Setup, *, lacks_git: bool = False) -> str | None:
    """For exactly the tools that the session has; None where its text replaces all others.
    `lacks_git`: its repository is not in its cage."""
    if setup.system_message is not None and setup.system_message.replace is not None:
        return None

    def has(tool: str) -> bool:
        return allowed_by(setup.tools.lists, tool)

    jobs = [f"`{name}`" for name in JOB_TOOLS if has(name)]
    lines = [
        _HEAD,
        _ASK if has(ASK_USER) else _NO_ASK,
        *([_JOB.format(", ".join(jobs))] if jobs else []),
        _APPROVAL,
        *([_CAGE] if setup.cage is not None else []),
        *([_NO_GIT] if lacks_git else []),
        *([_DELEGATE] if has("task") else []),
    ]
    return "\n".join(lines)
