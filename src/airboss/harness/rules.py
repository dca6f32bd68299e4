"""Which rule speaks for a request. An allowing one must fit in every part, any other in one."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from airboss.harness.guesses import guessed_hosts, guessed_paths, has_unknown_path
from airboss.harness.patterns import (
    LONGEST_COMMAND,
    MOST_WORDS,
    fits,
    host_of,
    literal,
    pieces,
    plain,
)
from airboss.harness.spellings import Spellings
from airboss.harness.wildcards import are_harmless
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule, Rule
from airboss.net.host_names import host_fits
from airboss.runtime.permission import PermissionRequest

# What can be allowed. A kind that a newer runtime adds is not, until it is understood.
UNDERSTOOD: Final = frozenset(
    {"shell", "write", "read", "url", "mcp", "custom-tool", "hook", "memory", "workflow"}
)
# A host that a program in a cage wants to reach: asked by the cage, never by the runtime.
HOST: Final = "host"
# What a rule may allow.
ALLOWABLE: Final = UNDERSTOOD | {HOST}
# Which kinds have what a rule may name; where one lacks it nevertheless, the request is unclear.
WITH_PATHS: Final = frozenset({"read", "write"})
WITH_TOOL: Final = frozenset({"mcp", "custom-tool", "hook"})
_NAMED_BY_TOOL: Final = frozenset({"mcp", "custom-tool"})
# More than the deed itself is asked for: a person looks at it each time.
MORE: Final = (
    "requestSandboxBypass",
    "requestSandboxPermissive",
    "sandboxPathGrant",
    "managedApprovalRequired",
)
# Knows the shapes of secrets, but no values.
NOTHING_SECRET: Final = Redactor()
# A rule for a longer command would not be read by anybody.
_LONGEST: Final = 2000
# As long as the kernel takes them; what is longer is unclear, and looking at it takes long.
_LONGEST_PATH: Final = 4096


def first(rules: Iterable[KeptRule], request: PermissionRequest, cwd: Path) -> KeptRule | None:
    """The first that speaks for the request of a session that works in `cwd`."""
    asked = _Asked(request, cwd)
    return next((kept for kept in rules if _holds(kept.rule, asked)), None)


def holds(rule: Rule, request: PermissionRequest, cwd: Path) -> bool:
    return _holds(rule, _Asked(request, cwd))


def paths_of(request: PermissionRequest, cwd: Path) -> tuple[str | None, ...]:
    """The files that a request is about, where links lead; of a command all that its words may be.
    None is one that nobody can tell."""
    asked = _Asked(request, cwd)
    if request.kind != "shell":
        return asked.real_paths
    unknown = (None,) if has_unknown_path(request.command or "") else ()
    return (*asked.guessed_paths, *unknown)


def suggest(
    request: PermissionRequest, cwd: Path, redactor: Redactor = NOTHING_SECRET
) -> Rule | None:
    """What “always allow this” writes down: this request and hardly another. None where no words
    would be narrow enough, or where one of them is a secret."""
    asked = _Asked(request, cwd)
    rule = _narrowest(request, asked)
    if rule is None or not _holds(rule, asked):
        return None
    words = rule.model_dump(exclude={"verdict"}, exclude_none=True).values()
    return None if any(redactor.count(text) for text in words) else rule


def _narrowest(request: PermissionRequest, asked: "_Asked") -> Rule | None:
    match request.kind:
        case "shell" if request.command and len(request.command) <= _LONGEST:
            # The same words do something else in another folder.
            command, folder = literal(request.command), asked.folder
            return Rule(verdict="allow", wish="shell", command=command, folder=folder)
        case "read" | "write" if len(asked.real_paths) == 1 and (path := asked.real_paths[0]):
            return Rule(verdict="allow", wish=request.kind, path=literal(path))
        case "url" | "host" if len(asked.hosts) == 1 and (host := asked.hosts[0]):
            return Rule(verdict="allow", wish=request.kind, host=host)
        case "mcp" | "custom-tool" if asked.tool:
            return Rule(verdict="allow", wish=request.kind, tool=literal(asked.tool))
        case _:
            return None


def _holds(rule: Rule, asked: "_Asked") -> bool:
    if rule.folder is not None and not Path(asked.folder).is_relative_to(rule.folder):
        return False
    return _allows(rule, asked) if rule.verdict == "allow" else _catches(rule, asked)


def _allows(rule: Rule, asked: "_Asked") -> bool:
    """Everything that it names is there and fits, beyond doubt."""
    kind = asked.request.kind
    if kind not in ALLOWABLE or asked.wants_more or not _is_named(rule, kind):
        return False
    if kind == "shell" and (rule.path or rule.host):
        return False  # nobody knows which files and hosts a command touches
    return (
        (rule.tool is None or (asked.tool is not None and fits(rule.tool, asked.tool)))
        and (rule.command is None or _allows_command(rule.command, asked))
        and (rule.path is None or _all(asked.real_paths, _path_fits(rule.path, asked)))
        and (rule.host is None or _all(asked.hosts, _host_fits(rule.host)))
    )


def _is_named(rule: Rule, kind: str) -> bool:
    """A rule that does not name the kind allows none, but tools by their name."""
    if rule.wish is not None:
        return rule.wish == kind
    others = (rule.command, rule.path, rule.host)
    return rule.tool is not None and kind in _NAMED_BY_TOOL and others == (None, None, None)


def _allows_command(pattern: str, asked: "_Asked") -> bool:
    command, segments = asked.request.command, asked.segments
    if command is None:
        return False
    if (whole := plain(pattern)) is not None:
        return whole == command
    if asked.is_too_long or segments is None or asked.hides_commands:
        return False
    if asked.writes and ">" not in pattern:
        return False
    parts = (*pieces(command), *segments)
    return _all(parts, lambda part: fits(pattern, part) and are_harmless(pattern, part))


def _catches(rule: Rule, asked: "_Asked") -> bool:
    """One part that fits is enough, and so is one of which nobody knows whether it does."""
    kind = asked.request.kind
    return (
        (rule.wish is None or rule.wish == kind)
        and (rule.tool is None or _catches_tool(rule.tool, asked))
        and (rule.command is None or _catches_command(rule.command, asked))
        and (rule.path is None or _catches_path(rule.path, asked))
        and (rule.host is None or _catches_host(rule.host, asked))
    )


def _catches_tool(pattern: str, asked: "_Asked") -> bool:
    names = [name for name in (asked.tool, asked.request.tool) if name]
    if not names or asked.tool is None:  # no server is named: it may be the one that is meant
        return asked.request.kind in WITH_TOOL
    return any(fits(pattern, name) for name in names)


def _catches_command(pattern: str, asked: "_Asked") -> bool:
    if asked.request.command is None:
        return asked.request.kind == "shell"
    return asked.is_too_long or asked.spellings.fit(pattern)


def _catches_path(pattern: str, asked: "_Asked") -> bool:
    paths = (*asked.real_paths, *asked.said_paths, *asked.guessed_paths)
    if not paths:
        return asked.request.kind in WITH_PATHS
    return None in paths or any(map(_path_fits(pattern, asked), paths))


def _catches_host(pattern: str, asked: "_Asked") -> bool:
    # “Every host” is not meant for every word with a dot in it.
    guessed = asked.called_hosts if pattern == "*" else asked.guessed_hosts
    hosts = (*asked.hosts, *guessed)
    if not hosts:
        return asked.request.kind == "url"
    return any(host is None or host_fits(pattern, host) for host in hosts)


def _path_fits(pattern: str, asked: "_Asked") -> Callable[[str | None], bool]:
    """A pattern that is not written in full begins at the session's folder."""
    whole = pattern if os.path.isabs(pattern) else os.path.join(literal(asked.folder), pattern)
    return lambda path: path is not None and fits(whole, path)


def _host_fits(pattern: str) -> Callable[[str | None], bool]:
    return lambda host: host is not None and host_fits(pattern, host)


def _all(found: Iterable[Any], test: Callable[[Any], bool]) -> bool:
    """All of them; where there is nothing, nothing is allowed."""
    parts = list(found)
    return bool(parts) and all(map(test, parts))


@dataclass(frozen=True)
class _Asked:
    """A request, read with care: where links lead, which hosts, which commands. Each is looked up
    once, however many rules there are."""

    request: PermissionRequest
    cwd: Path

    @cached_property
    def folder(self) -> str:
        return os.path.realpath(self.cwd)

    @cached_property
    def wants_more(self) -> bool:
        return any(self.request.raw.get(name) for name in MORE)

    @cached_property
    def tool(self) -> str | None:
        """Of an MCP server `server/tool`: two servers may have tools of one name."""
        if self.request.kind != "mcp":
            return self.request.tool
        server = self.request.raw.get("serverName")
        named = isinstance(server, str) and server and self.request.tool
        return f"{server}/{self.request.tool}" if named else None

    @cached_property
    def segments(self) -> tuple[str, ...] | None:
        """The commands as the runtime tells them apart; None where they cannot be read."""
        said = self.request.raw.get("commandSegments")
        if said is None:
            return ()
        texts = [_field(part, "fullCommandText") for part in _list(said)]
        clear = isinstance(said, list) and all(isinstance(text, str) for text in texts)
        return tuple(text for text in texts if text) if clear else None

    @cached_property
    def is_too_long(self) -> bool:
        """Whether the command is longer than anybody looks through, so that it is unclear."""
        said = sum(map(len, self.segments or ()))
        return len(self.request.command or "") > LONGEST_COMMAND or said > 4 * LONGEST_COMMAND

    @cached_property
    def spellings(self) -> Spellings:
        return Spellings.of_command(self.request.command or "", self.segments or ())

    @cached_property
    def hides_commands(self) -> bool:
        """Whether the runtime says that a part runs what cannot be read in it."""
        parts = _list(self.request.raw.get("commandSegments"))
        return any(_field(part, "hasUnboundExecutableContent") for part in parts)

    @cached_property
    def guessed_paths(self) -> tuple[str | None, ...]:
        """The runtime tells none, so every word of a command may be one."""
        command = self.request.command or ""
        guessed = None if self.is_too_long else guessed_paths(command, self.folder)
        if guessed is None:
            return (None,)
        said = map(os.path.normpath, guessed)
        return tuple(dict.fromkeys([*said, *map(self._real, guessed)]))

    @cached_property
    def writes(self) -> bool:
        return bool(self.request.raw.get("hasWriteFileRedirection")) or ">" in (
            self.request.command or ""
        )

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """Those of the request, of every file of an edit, and those that the runtime resolved."""
        raw = self.request.raw
        edits = [
            _field(_field(edit, side), "path")
            for edit in _list(raw.get("fileEdits"))
            for side in ("before", "after")
        ]
        table = raw.get("resolvedPaths")
        resolved = cast("Mapping[str, object]", table).values() if _is_mapping(table) else ()
        more = [*edits, raw.get("resolvedPath"), *resolved]
        found = [*self.request.paths, *(path for path in more if isinstance(path, str))]
        found += [os.path.expanduser(path) for path in found if path.startswith("~")]
        return tuple(dict.fromkeys(found))

    @cached_property
    def said_paths(self) -> tuple[str, ...]:
        return tuple(os.path.normpath(os.path.join(self.folder, path)) for path in self._paths)

    @cached_property
    def real_paths(self) -> tuple[str | None, ...]:
        """Each is looked up on the disk; where there are too many, one is unclear."""
        looked_up = self._paths[:MOST_WORDS]
        found = dict.fromkeys(self._real(path) for path in looked_up)
        return (*found, None) if len(self._paths) > MOST_WORDS else tuple(found)

    def _real(self, path: str) -> str | None:
        if len(path) > _LONGEST_PATH:
            return None
        try:
            return os.path.realpath(os.path.join(self.folder, path))
        except (OSError, ValueError):
            return None

    @cached_property
    def hosts(self) -> tuple[str | None, ...]:
        """Of the request, and those that a command may call; None is one that is in doubt."""
        said = [_field(part, "url") for part in _list(self.request.raw.get("possibleUrls"))]
        urls = [url for url in (self.request.url, *said) if isinstance(url, str)]
        return tuple(dict.fromkeys(host_of(url) for url in urls))

    @cached_property
    def guessed_hosts(self) -> tuple[str | None, ...]:
        """Those among the words of a command, words that only look like one among them."""
        return self._hosts_in_command(bare=True)

    @cached_property
    def called_hosts(self) -> tuple[str | None, ...]:
        return self._hosts_in_command(bare=False)

    def _hosts_in_command(self, *, bare: bool) -> tuple[str | None, ...]:
        return (None,) if self.is_too_long else guessed_hosts(self.request.command or "", bare=bare)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _field(value: object, name: str) -> Any:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
