"""What git does in the words of a command: which of it runs other programs or writes files.

Hooks, filters and aliases of the repository itself it does not look at.
"""

import re
from collections.abc import Sequence
from typing import Final

from airboss.harness.program_options import Argument, any_free, each

# In front of the command only these are harmless: others bring settings, and settings run programs.
_HARMLESS: Final = each(
    "-P -v --no-pager --version --no-optional-locks --no-replace-objects"
    " --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs"
)
_VALUED: Final = each(
    "-c -C --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source"
)
# What `git *` stands for. Any other name may be an alias, or a program of its own.
_ORDINARY: Final = each(
    "add am annotate apply bisect blame branch cat-file check-attr check-ignore checkout cherry"
    " cherry-pick clean commit config count-objects describe diff diff-files diff-index diff-tree"
    " fetch for-each-ref format-patch fsck gc grep log ls-files ls-remote ls-tree merge merge-base"
    " name-rev notes pull push range-diff rebase reflog remote reset restore rev-list rev-parse"
    " revert rm shortlog show show-branch show-ref stash status submodule switch symbolic-ref tag"
    " verify-commit verify-tag whatchanged worktree"
)
# What these are given, or what they find in the settings, they run.
_RUN_ANYTHING: Final = each(
    "citool credential daemon difftool filter-branch gui help hook imap-send instaweb maintenance"
    " mergetool p4 remote-ext remote-fd send-email shell svn upload-archive upload-pack"
    " receive-pack web--browse"
)
# Of these commands only so much is harmless; other words of theirs a rule has to spell out.
_ASK_ONLY: Final = {
    "bisect": each("start good bad new old skip reset log terms next"),
    "config": each("--get --get-all --get-regexp --list -l get list"),
    "remote": each("show get-url"),
    "submodule": each("status summary"),
    "worktree": each("list"),
}
# Spelled out or not: what follows is run, or is written into the settings.
_NEVER: Final = frozenset({("bisect", "run"), ("bisect", "visualize"), ("submodule", "foreach")})
# Long options, which git also knows by their beginnings.
_LONG: Final = (
    *("upload-pack", "receive-pack", "exec", "ext-diff", "textconv", "output", "output-directory"),
    *("open-files-in-pager", "extcmd", "template", "config", "separate-git-dir", "strategy"),
    *("unsafe-paths", "build-fake-ancestor", "git-dir", "work-tree", "exec-path", "config-env"),
)
_LONG_OF: Final = {
    "cat-file": ("filters",),
    "checkout-index": ("prefix",),
    "fast-export": ("export-marks", "import-marks"),
    "fast-import": ("export-marks", "import-marks", "export-pack-edges"),
    "push": ("repo", "push-option"),
    "read-tree": ("index-output",),
}
# Whole words that are also the beginning of a dangerous one; git takes them for themselves.
_THEMSELVES: Final = frozenset({"text"})
_LETTERS: Final = {
    "archive": "o",
    "clone": "uc",
    "fetch-pack": "u",
    "format-patch": "o",
    "grep": "O",
    "ls-remote": "u",
    "mailsplit": "o",
    "merge": "s",
    "pull": "s",
    "push": "o",
    "rebase": "xs",
}
# A repository in another folder has hooks of its own.
_REMOTES: Final = each("fetch ls-remote pull push")
_ELSEWHERE: Final = ("/", "./", "../", "~", "file:")
# Any other name may be a folder with a repository and its hooks, which a push runs.
_USUAL: Final = each("origin upstream")
_ON_A_SERVER = re.compile(r"[a-z+]++://|[\w.@-]++:")


def git_is_harmless(arguments: Sequence[Argument]) -> bool:
    at = 0
    while at < len(arguments) and arguments[at].text.startswith("-"):
        one = arguments[at]
        if one.is_free and one.text not in _HARMLESS:
            return False
        at += 2 if one.text in _VALUED else 1
        if any_free(arguments[at - 1 : at]) and one.text in _VALUED:
            return False
    if at >= len(arguments):
        return True
    command, rest = arguments[at], arguments[at + 1 :]
    if command.is_free and command.text not in _ORDINARY:
        return False
    if not any_free(rest):
        return True
    return command.text not in _RUN_ANYTHING and _is_harmless(command.text, rest)


def without_options(words: Sequence[str]) -> Sequence[str]:
    """The command that git is given, and all behind it."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _VALUED else 1
    return words[at:]


def _is_harmless(command: str, rest: Sequence[Argument]) -> bool:
    if command in _ASK_ONLY and not _only_asks(command, rest):
        return False
    if command == "push" and not _pushes_to_a_server(rest):
        return False
    for at, one in enumerate(rest):
        if one.is_free and (_is_risky(command, one.text) or _leads_elsewhere(command, one.text)):
            return False
        takes_next = _is_risky(command, one.text) and "=" not in one.text
        if takes_next and any_free(rest[at + 1 : at + 2]):
            return False
    return True


def _only_asks(command: str, rest: Sequence[Argument]) -> bool:
    """Judged by the first word that is no option, or that a wildcard stands for."""
    for one in rest:
        if one.text in ("-v", "--verbose"):
            continue
        if one.text in _ASK_ONLY[command]:
            return True
        if one.is_free:
            return False
        if not one.text.startswith("-"):
            return command != "config" and (command, one.text) not in _NEVER
    return True


def _pushes_to_a_server(rest: Sequence[Argument]) -> bool:
    to = next((one for one in rest if not one.text.startswith("-")), None)
    if to is None or not to.is_free:
        return True
    return to.text in _USUAL or _ON_A_SERVER.match(to.text) is not None


def _is_risky(command: str, text: str) -> bool:
    if text.startswith("--"):
        name = text[2:].partition("=")[0]
        known = (*_LONG, *_LONG_OF.get(command, ()))
        is_one = any(option.startswith(name) for option in known)
        return bool(name) and name not in _THEMSELVES and is_one
    return text.startswith("-") and any(one in text[1:] for one in _LETTERS.get(command, ""))


def _leads_elsewhere(command: str, text: str) -> bool:
    """`ext::` and the like name a program; a path names a repository with hooks. What git moves,
    it also moves among the hooks."""
    if command == "mv" and ".git" in text.lower():
        return True
    return "::" in text or (command in _REMOTES and text.startswith(_ELSEWHERE))
