"""How much could be lost by what an agent asks for, and what: a step of three and a sentence.

It is a help for people and decides nothing: a command can hide what it does, so that nothing here
makes anything allowed.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from airboss.harness.command_words import texts
from airboss.harness.patterns import LONGEST_COMMAND, host_of, is_assignment, pieces
from airboss.harness.rules import MORE
from airboss.model.inbox_events import Severity
from airboss.runtime.permission import PermissionRequest

_STEPS: Final[tuple[Severity, ...]] = ("low", "medium", "high")


@dataclass(frozen=True)
class Risk:
    severity: Severity
    sentence: str

    def over(self, other: "Risk") -> bool:
        return _STEPS.index(self.severity) > _STEPS.index(other.severity)


_UNKNOWN: Final = Risk(
    "medium", "Airboss does not know this program. It can do whatever you can do."
)
_READS: Final = Risk("low", "Only reads or prints something.")
_ELSEWHERE: Final = Risk("medium", "Names files outside the session's folder.")
_HIDDEN: Final = Risk("medium", "Part of it is known only when it runs.")
_OUT: Final = Risk("high", "Wants to work outside its limits.")
_REMOTE: Final = Risk("high", "Changes systems beyond this machine, which can affect others.")
_PUBLISHES: Final = Risk("high", "Publishes something. This cannot be undone.")
_DELETES: Final = Risk(
    "high", "Permanently deletes files. Only what was committed can be restored."
)
_DISK: Final = Risk("high", "Overwrites data on the disk itself. This cannot be undone.")
_ROOT: Final = Risk("high", "Runs with administrator rights.")
_NETWORK: Final = Risk("medium", "Talks to another computer: it can fetch files and send data.")
_INSTALLS: Final = Risk("medium", "Installs packages, which can run code from others.")
_SCRIPT: Final = Risk("medium", "Runs what the project's own scripts say.")
_TESTS: Final = Risk("low", "Runs the project's own tests or checks.")
_IN_PLACE: Final = Risk("medium", "Changes files in place.")
_MOVES: Final = Risk("medium", "Can overwrite files that have the same name.")
_ENDS: Final = Risk("medium", "Stops other programs.")
_RIGHTS: Final = Risk("high", "Changes who may read or change files, in whole folders.")
_SYSTEM: Final = Risk("high", "Changes what this machine runs automatically.")
_WAITS: Final = Risk("low", "Only waits.")
_MAKES: Final = Risk("low", "Creates folders or empty files.")
_STRANGER: Final = Risk("high", "Runs a program from the network that nobody has reviewed.")
_WRITES: Final = Risk("medium", "Writes its output to a file and overwrites what is there.")

_PROGRAMS: Final[dict[str, Risk]] = {
    name: risk
    for names, risk in (
        (
            "ls cat head tail less wc grep rg egrep fgrep pwd echo printf true false test which "
            "date seq sort uniq cut tr diff file stat du df env id whoami uname basename dirname "
            "tree jq cd pushd popd type realpath readlink nl tac column comm hostname ps",
            _READS,
        ),
        ("sleep wait", _WAITS),
        ("mkdir touch", _MAKES),
        ("pytest ruff mypy pyright tsc eslint biome vitest jest tox nox flake8 black", _TESTS),
        ("make just task npm pnpm yarn npx cargo go gradle mvn dotnet bundle rake", _SCRIPT),
        ("python python3 node deno bun ruby perl php sh bash zsh java", _SCRIPT),
        ("pip pip3 uv pipx apt apt-get brew dnf yum apk gem", _INSTALLS),
        ("curl wget ssh scp sftp rsync nc ncat telnet ftp ping dig", _NETWORK),
        ("sed awk patch tee", _IN_PLACE),
        ("mv cp ln install tar unzip zip", _MOVES),
        ("kill pkill killall", _ENDS),
        ("rm rmdir unlink shred", _DELETES),
        ("dd mkfs fdisk parted wipefs truncate", _DISK),
        ("sudo su doas pkexec", _ROOT),
        ("chmod chown chgrp", Risk("medium", "Changes who may read, change or run files.")),
        ("systemctl service crontab launchctl at shutdown reboot mount umount", _SYSTEM),
        ("terraform tofu kubectl helm aws gcloud az ansible pulumi", _REMOTE),
        ("twine", _PUBLISHES),
        (
            "docker podman",
            Risk("medium", "Runs or changes containers, which can reach your files."),
        ),
        ("psql mysql sqlite3 mongosh redis-cli", Risk("medium", "Can change or delete data.")),
    )
    for name in names.split()
}
_FORCE: Final = "Overwrites commits on the remote. Others can lose work."
_GIT: Final[tuple[tuple[str, Risk], ...]] = (
    (r"push\b.*\s(-f|--force\S*|--mirror|--delete|-d|\+\S+|:\S+)(\s|$)", Risk("high", _FORCE)),
    (r"push\b", Risk("medium", "Sends commits to the remote, where others see them.")),
    (r"reset\b.*--hard", Risk("high", "Discards uncommitted changes, and commits.")),
    (
        r"clean\b.*\s-\w*[fdxX]",
        Risk("high", "Deletes files that Git does not track. Git cannot restore them."),
    ),
    (r"(checkout|restore|switch)\b.*(\s--?(\s|$)|\s-f\b|--force|\s\.(\s|$)|--discard)", Risk(
        "high", "Discards uncommitted changes."
    )),
    (r"(branch|tag)\b.*\s(-D|-d|--delete)", Risk("medium", "Deletes a branch or a tag.")),
    (r"(rebase|filter-branch|filter-repo|commit\b.*--amend)", Risk(
        "medium", "Rewrites commits. The old ones are kept only for a while."
    )),
    (r"stash\s+(drop|clear)", Risk("high", "Deletes stashed changes.")),
    (r"(status|log|diff|show|blame|grep|ls-files|rev-parse|describe|branch|remote|tag)\b", _READS),
    (r"(add|commit|stash|merge|cherry-pick|mv|init|worktree|switch|checkout)\b", Risk(
        "low", "Changes the repository. Git can undo it."
    )),
    (r"(fetch|pull|clone|submodule)\b", _NETWORK),
)  # fmt: skip
# Of other programs, what is worse or better than the program in general.
_CASES: Final[tuple[tuple[str, Risk], ...]] = (
    (r"(npm|pnpm|yarn|cargo|poetry|uv|gem)\s+publish\b|gem\s+push\b", _PUBLISHES),
    (r"docker\s+push\b", _PUBLISHES),
    (r"gh\s+(release|repo|secret|workflow|pr\s+merge|api)\b", _REMOTE),
    (r"gh\b", _NETWORK),
    (r"(npm|pnpm|yarn|bundle)\s+(install|add|ci|i)\b", _INSTALLS),
    (r"go\s+(get|install)\b|cargo\s+install\b", _INSTALLS),
    (r"(npm|pnpm|yarn)\s+(run\s+)?(test|lint|typecheck|check)\b", _TESTS),
    (r"(cargo|go|dotnet|gradle|mvn)\s+(test|check|vet|clippy|fmt)\b", _TESTS),
    (r"(make|just)\s+(test|check|lint)\b", _TESTS),
    (r"python3?\s+-m\s+(pytest|unittest|mypy|ruff)\b", _TESTS),
    (r"uv\s+run\s+(pytest|ruff|mypy)\b", _TESTS),
    (r"find\b.*\s(-delete|-exec\w*\s+rm)\b", _DELETES),
    (r"find\b(?!.*\s-(exec|ok|fprint|fls))", _READS),
    (r"xargs\b.*\brm\b", _DELETES),
    (r"(chmod|chown|chgrp)\b.*\s-\w*R", _RIGHTS),
    (r"rm\b(?!.*\s-\w*[rR])(?!.*--recursive)(?!.*[*?])", Risk("medium", _DELETES.sentence)),
    (r"sed\b(?!.*\s(-\w*i|--in-place))", _READS),
    (r"awk\b", _READS),
    (r"terraform\s+(plan|fmt|validate|show)\b|kubectl\s+(get|describe|logs)\b", _NETWORK),
    (r"docker\s+(ps|images|logs|inspect)\b", _READS),
    (r"(pip3?|uv\s+pip)\s+(list|show|freeze)\b", _READS),
)  # fmt: skip
_PIPED_INTO_SHELL: Final = re.compile(
    r"\b(?:curl|wget)\b[^;\n]{0,2000}\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da|k)?sh\b"
)
_LONGEST_LOOKED_AT: Final = 8_192
_DECIDING: Final = re.compile(
    r"(^|/)(\.github/|\.gitlab-ci|\.git/|\.husky/|Makefile$|package\.json$|pyproject\.toml$|"
    r"Dockerfile|\.bashrc$|\.zshrc$|\.profile$|\.envrc$|conftest\.py$)"
)


_NAMED: Final = {
    "memory": Risk("low", "Is stored for later sessions."),
    "extension": Risk("high", "Runs this code on the server, with the rights of its user."),
}


def risk_of(request: PermissionRequest, cwd: Path) -> Risk:
    if any(request.raw.get(name) for name in MORE):
        return _OUT
    match request.kind:
        case "shell":
            risk = _of_command(request.command or "")
            paths = [path for path in request.paths if path != os.devnull]
            is_elsewhere = bool(paths) and not _is_inside(paths, cwd)
            return _ELSEWHERE if is_elsewhere and _ELSEWHERE.over(risk) else risk
        case "write":
            return _of_change(request, cwd)
        case "read":
            if _is_inside(request.paths, cwd):
                return Risk("low", "Reads a file in the folder. Its content is sent to the model.")
            return Risk("medium", "Reads outside the folder. The content is sent to the model.")
        case "url":
            host = host_of(request.url or "") or "an address"
            return Risk("medium", f"Fetches from {host}. What is in the URL is sent there.")
        case "host":
            host = host_of(request.url or "") or "a host"
            return Risk("medium", f"Programs in the cage can send {host} whatever they can read.")
        case "mcp" | "custom-tool" | "hook":
            return _of_tool(request)
        case "memory" | "extension" as kind:
            return _NAMED[kind]
        case _:
            return Risk("high", "Airboss does not know this kind of request.")


def _of_command(command: str) -> Risk:
    if not command or len(command) > LONGEST_COMMAND:
        return _HIDDEN
    looked_at = command[:_LONGEST_LOOKED_AT]
    if _PIPED_INTO_SHELL.search(looked_at):
        return _STRANGER
    found = [_of_piece(piece) for piece in pieces(looked_at)]
    if ">" in re.sub(r"\d?>\s*(?:/dev/null|&\d)", "", looked_at):
        found.append(_WRITES)
    if "$(" in looked_at or "`" in looked_at or len(command) > len(looked_at):
        found.append(_HIDDEN)
    worst = _READS if not found else found[0]
    for risk in found[1:]:
        worst = risk if risk.over(worst) else worst
    return worst


def _of_piece(piece: str) -> Risk:
    words = [word for word in texts(piece)[:200] if word]
    while words and (is_assignment(words[0]) or words[0] in ("time", "exec", "command", "nohup")):
        words = words[1:]
    if not words:
        return _READS
    program = PurePath(words[0]).name
    said = " ".join([program, *words[1:]])
    if program == "git":
        return _of_git(words[1:])
    for pattern, risk in _CASES:
        if re.match(pattern, said):
            return risk
    if program in ("bash", "sh", "zsh") and "-c" in words:
        return _of_piece(words[words.index("-c") + 1]) if len(words) > 2 else _HIDDEN
    return _PROGRAMS.get(program, _UNKNOWN)


def _of_git(arguments: Sequence[str]) -> Risk:
    rest = list(arguments)
    while len(rest) > 1 and rest[0] in ("-C", "-c"):
        rest = rest[2:]
    said = " ".join(rest)
    for pattern, risk in _GIT:
        if re.match(pattern, said):
            return risk
    return Risk("medium", "Changes the repository.")


def _of_change(request: PermissionRequest, cwd: Path) -> Risk:
    if not _is_inside(request.paths, cwd):
        return Risk("high", "Changes a file outside the session's folder.")
    edits: Any = request.raw.get("fileEdits")
    match edits:
        case [{"before": {"path": str()}, **rest}] if not rest.get("after"):
            return Risk("medium", "Deletes a file. Only what was committed can be restored.")
        case _:
            pass
    if any(_DECIDING.search(path) for path in request.paths):
        return Risk("medium", "Changes a file that controls what others run.")
    return Risk("low", "Changes a file in the folder, as shown below.")


def _of_tool(request: PermissionRequest) -> Risk:
    server = request.raw.get("serverName")
    whose = f"the server {server}" if isinstance(server, str) and server else "this tool"
    if request.raw.get("readOnly") is True:
        return Risk("low", f"{whose[0].upper()}{whose[1:]} says that it only reads.")
    return Risk("medium", f"Does whatever {whose} does with it.")


def _is_inside(paths: Sequence[str], cwd: Path) -> bool:
    folder = os.path.realpath(cwd)
    return bool(paths) and all(
        Path(os.path.realpath(os.path.join(folder, os.path.expanduser(path)))).is_relative_to(
            folder
        )
        for path in paths[:100]
    )
