"""What “always allow” can mean for a request: from this alone to all of its kind until the session
ends, each with the rule that it comes to and an example of what else that rule would allow.

Every option is tried on the request before it is offered, and so is every example: what is shown is
what the rule does.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from airboss.harness.command_words import texts
from airboss.harness.patterns import host_of, literal, pieces
from airboss.harness.permissions import PolicyRule
from airboss.harness.rules import HOST, holds
from airboss.model.inbox_events import AlwaysOption, Until
from airboss.model.redaction import Redactor
from airboss.model.rules import Rule
from airboss.runtime.permission import PermissionRequest

# Something else that a rule for all commands of a program would allow, and what that loses.
_EXAMPLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "git clean": (("git clean -fdx", "Deletes everything that Git does not track"),),
    "git push": (
        ("git push --force", "Overwrites commits on the remote"),
        ("git push origin main", "Sends commits where others see them"),
    ),
    "git": (
        ("git reset --hard HEAD~3", "Discards commits and uncommitted work"),
        ("git push --force", "Overwrites commits on the remote"),
    ),
    "rm": (("rm -rf src", "Permanently deletes a folder"),),
    "npm": (("npm publish", "Publishes the package"), ("npm install x", "Installs a package")),
    "pytest": (("pytest tests", "Runs other tests"),),
    "make": (("make clean", "Runs another target"),),
    "python": (("python other.py", "Runs any program there"),),
}
_WITH_SUBCOMMANDS: Final = frozenset(
    {"git", "npm", "pnpm", "yarn", "cargo", "go", "docker", "kubectl", "gh", "uv", "pip", "make"}
)


def rule_options(
    request: PermissionRequest, rule: PolicyRule, redactor: Redactor, *, is_for_run: bool = False
) -> tuple[AlwaysOption, ...]:
    """The narrowest first; empty where no words would be narrow enough. `is_for_run`: what would
    hold until the session ends holds for the other sessions of its task run, too."""
    narrowest = rule.suggest(request, redactor)
    if narrowest is None:
        return ()
    folder = os.path.realpath(rule.cwd)
    if request.kind == HOST:
        found = [*_of_caged_host(narrowest, folder, "task-run" if is_for_run else "session")]
    else:
        found = [_exact(request, narrowest), *_wider(request, narrowest, folder)]
    offered: list[AlwaysOption] = []
    for option in found:
        rules = [one.rule for one in offered if one.until == option.until]
        words = option.rule.model_dump(exclude={"verdict"}, exclude_none=True).values()
        if option.rule in rules or any(redactor.count(text) for text in words):
            continue
        if holds(option.rule, request, rule.cwd):
            offered.append(_with_true_example(option, request, rule.cwd))
    return tuple(offered)


def _exact(request: PermissionRequest, rule: Rule) -> AlwaysOption:
    titles = {
        "shell": "Only this exact command, in this folder",
        "write": "Changes of this file only",
        "read": "Reading this file only",
        "url": "This host",
    }
    return AlwaysOption(id="exact", title=titles.get(request.kind, "This tool"), rule=rule)


def _wider(request: PermissionRequest, exact: Rule, folder: str) -> Iterator[AlwaysOption]:
    match request.kind:
        case "shell":
            yield from _of_command(request, folder)
        case "write" | "read":
            yield from _of_files(request.kind, exact, folder)
        case "url":
            yield from _of_host(request)
        case _:
            yield from _of_tool(exact)


def _of_command(request: PermissionRequest, folder: str) -> Iterator[AlwaysOption]:
    first = next(iter(pieces(request.command or "")), "")
    words = texts(first)[:2]
    if words:
        program, named = words[0], " ".join(words)
        if program in _WITH_SUBCOMMANDS and len(words) == 2 and words[1][:1].isalpha():
            yield _any_arguments("subcommand", named, folder)
        yield _any_arguments("program", program, folder)
    yield AlwaysOption(
        id="session",
        title="Any command, until this session ends",
        rule=Rule(verdict="allow", wish="shell"),
        until="session",
        example="rm -rf src",
        note="Whatever a shell can do",
    )


def _any_arguments(name: str, program: str, folder: str) -> AlwaysOption:
    command = f"{literal(program)} *"
    return AlwaysOption(
        id=name,
        title=f"{program} with any arguments, in this folder",
        rule=Rule(verdict="allow", wish="shell", command=command, folder=folder),
        example=f"{program} …",
    )


def _of_files(kind: str, exact: Rule, folder: str) -> Iterator[AlwaysOption]:
    verb = "Changes" if kind == "write" else "Reading"
    path = Path((exact.path or "").replace("\\", ""))
    beside = str(path.parent)
    if beside not in (folder, "/") and path.is_relative_to(folder):
        below = os.path.relpath(beside, folder)
        yield AlwaysOption(
            id="beside",
            title=f"{verb} of files below {below}",
            rule=Rule(verdict="allow", wish=kind, path=f"{literal(beside)}/*"),
            example=f"{below}/another-file",
        )
    if not path.is_relative_to(folder):
        return
    whole = Rule(verdict="allow", wish=kind, path=f"{literal(folder)}/*")
    example, note = "Makefile", "Every file of the folder"
    yield AlwaysOption(
        id="session",
        title=f"{verb} of files below this folder, until this session ends",
        rule=whole,
        until="session",
        example=example,
        note=note,
    )
    yield AlwaysOption(
        id="folder",
        title=f"{verb} of files below this folder, in every session",
        rule=whole,
        example=example,
        note=note,
    )


def _of_host(request: PermissionRequest) -> Iterator[AlwaysOption]:
    host = host_of(request.url or "") or ""
    parent = host.partition(".")[2]
    if "." in parent:
        yield AlwaysOption(
            id="domain",
            title=f"Every host below {parent}",
            rule=Rule(verdict="allow", wish="url", host=f"*.{parent}"),
            example=f"https://other.{parent}/",
        )
    yield AlwaysOption(
        id="session",
        title="Every host, until this session ends",
        rule=Rule(verdict="allow", wish="url", host="*"),
        until="session",
        example="https://example.com/",
        note="What is in the URL is sent there",
    )


def _of_caged_host(exact: Rule, folder: str, until: Until) -> Iterator[AlwaysOption]:
    """Never every host: that would leave of the cage's network nothing but its name."""
    parent = (exact.host or "").partition(".")[2]
    below = Rule(verdict="allow", wish=HOST, host=f"*.{parent}") if "." in parent else None
    other = f"https://other.{parent}/"
    here = {"folder": folder}
    yield AlwaysOption(
        id="folder",
        title="This host, in every cage of this folder",
        rule=exact.model_copy(update=here),
    )
    ends = "this session ends" if until == "session" else "this task run ends"
    yield AlwaysOption(id="session", title=f"This host, until {ends}", rule=exact, until=until)
    if below is not None:
        yield AlwaysOption(
            id="folder-domain",
            title=f"Every host below {parent}, in every cage of this folder",
            rule=below.model_copy(update=here),
            example=other,
        )
    yield AlwaysOption(id="exact", title="This host, from every cage", rule=exact)
    if below is not None:
        title = f"Every host below {parent}, from every cage"
        yield AlwaysOption(id="domain", title=title, rule=below, example=other)


def _of_tool(exact: Rule) -> Iterator[AlwaysOption]:
    server = (exact.tool or "").partition("/")[0] if exact.wish == "mcp" else ""
    yield AlwaysOption(
        id="session", title="This tool, until this session ends", rule=exact, until="session"
    )
    if server:
        yield AlwaysOption(
            id="server",
            title=f"Every tool of {server}",
            rule=Rule(verdict="allow", wish="mcp", tool=f"{server}/*"),
            example=f"{server}/another-tool",
        )


def _with_true_example(option: AlwaysOption, request: PermissionRequest, cwd: Path) -> AlwaysOption:
    """Of a command: one that the rule does allow, as it is tried here."""
    if request.kind != "shell" or option.id not in ("subcommand", "program"):
        return option
    named = option.title.partition(" with any arguments")[0]
    proposed = (*_EXAMPLES.get(named, ()), (f"{named} --help", ""), (f"{named} x", ""))
    for command, note in proposed:
        other = replace(request, command=command, raw={"fullCommandText": command})
        if command != request.command and holds(option.rule, other, cwd):
            return option.model_copy(update={"example": command, "note": note})
    return option.model_copy(update={"example": "", "note": ""})
