"""Which tools a session has: names, globs, groups (`@read`) and `SERVER/TOOL`, allowed and denied.

The runtime itself knows exact names only, and takes all else for a name that nothing has.
"""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from airboss.model.tool_table import BUILT_IN, GITHUBS_SERVER, GROUPS, OURS
from airboss.model.words import Frozen, Words

# How servers' tools are named: SERVER-TOOL. None of the others has a hyphen.
_JOINT: Final = "-"
_WILD: Final = frozenset("*?[")
KNOWN: Final = (*BUILT_IN, *(name for name in OURS if name not in BUILT_IN))
SERVERS: Final = (GITHUBS_SERVER,)


class ToolList(Frozen):
    """Without `allow` all are allowed; with an empty one, none but ours."""

    allow: tuple[Words, ...] | None = None
    deny: tuple[Words, ...] = ()

    def allows(self, tool: str) -> bool:
        """Ours stay unless somebody names them: a task without its tools could not end."""
        if tool in OURS:
            return not any(word in (tool, "@ours") for word in self.deny)
        if any(matches(word, tool) for word in self.deny):
            return False
        return self.allow is None or any(matches(word, tool) for word in self.allow)

    @property
    def may_allow_mcp(self) -> bool:
        """Whether tools of servers can be among them."""
        if any(word in ("@mcp", "*", "*/*") for word in self.deny):
            return False
        words = self.allow
        return words is None or any(
            word == "@mcp" or "/" in word or is_wild(word) for word in words
        )


def allowed_by(lists: Iterable[ToolList], tool: str) -> bool:
    return all(one.allows(tool) for one in lists)


def known_and_allowed(lists: Sequence[ToolList]) -> list[str]:
    return [name for name in KNOWN if allowed_by(lists, name)]


def server_allows(servers: Mapping[str, Sequence[str]], tool: str) -> bool:
    """Whether the server that a tool is of is to have it: `servers` says which each has. No name of
    a server is the beginning of another one's."""
    for server, words in servers.items():
        if tool.startswith(f"{server}{_JOINT}"):
            name = tool.removeprefix(f"{server}{_JOINT}")
            return any(fnmatchcase(name, word) for word in words)
    return True


def mistake_in_agents(word: str, servers: Sequence[str] = ()) -> str | None:
    """The same for the tools of a custom agent, which the runtime looks for itself: of a server it
    knows names and all of them."""
    tools = [one.partition("/")[2] for one in agents_words(word, (*SERVERS, *servers))]
    if any(is_wild(tool) and tool != "*" for tool in tools):
        return f'"{word}" matches no tool: write SERVER/TOOL, or SERVER/* for all of them.'
    return mistake_in(word, servers)


def agents_words(word: str, servers: Iterable[str]) -> list[str]:
    """What such a word means of these servers, as SERVER/TOOL."""
    if word in ("@mcp", "*"):
        return [f"{name}/*" for name in servers]
    about, slash, tool = word.partition("/")
    if slash:
        return [f"{name}/{tool}" for name in servers if fnmatchcase(name, about)]
    joined = ((name, word.removeprefix(f"{name}{_JOINT}")) for name in servers)
    return [f"{name}/{rest}" for name, rest in joined if rest != word]


def words_about(lists: Iterable[ToolList], server: str) -> list[str]:
    """Allowed or denied as `SERVER/TOOL`: what stands behind the slash."""
    said = (word.partition("/") for one in lists for word in (*(one.allow or ()), *one.deny))
    return [name for about, slash, name in said if slash and about == server]


def none_matches(word: str, tools: Iterable[str]) -> bool:
    return not any(fnmatchcase(tool, word) for tool in tools)


def is_wild(word: str) -> bool:
    return not _WILD.isdisjoint(word)


def matches(word: str, tool: str) -> bool:
    """A word without a slash means the name that the model sees."""
    if word in GROUPS:
        return tool in GROUPS[word] or (word == "@mcp" and _JOINT in tool)
    if "/" not in word:
        return fnmatchcase(tool, word)
    server, _, name = word.partition("/")
    parts = tool.split(_JOINT)
    splits = ((_JOINT.join(parts[:at]), _JOINT.join(parts[at:])) for at in range(1, len(parts)))
    return any(fnmatchcase(one, server) and fnmatchcase(other, name) for one, other in splits)


def mistake_in(word: str, servers: Iterable[str] = ()) -> str | None:
    """What is wrong with such a word, where nothing would ever match it. `servers` are those that
    there are beside GitHub's own."""
    if word.startswith("@"):
        return None if word in GROUPS else f'"{word}" is not a group of tools.'
    server, slash, name = word.partition("/")
    if slash:
        if not name:
            return f'"{word}" names no tool: write SERVER/TOOL, or SERVER/* for all of them.'
        known = any(fnmatchcase(one, server) for one in (*SERVERS, *servers))
        return None if known else f'There is no MCP server "{server}".'
    if any(word.startswith(f"{server}{_JOINT}") for server in servers):
        return None  # the name that the model sees
    if is_wild(word):
        return None if any(matches(word, tool) for tool in KNOWN) else f'"{word}" matches no tool.'
    return None if word in KNOWN else f'"{word}" is not a tool.'
