"""The ways to write what a command does, for those who forbid it: more of them than less."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from airboss.harness.command_words import texts
from airboss.harness.git_options import without_options
from airboss.harness.patterns import compiled, is_assignment, pieces

_KEYWORDS = re.compile(r"\A(?:(?:if|then|elif|else|while|until|do|!)\s+)+")
# What these are given is a command in turn.
_RUNNERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "exec", "command", "builtin", "env"}
    | {"sudo", "doas", "nohup", "nice", "timeout", "time", "xargs", "setsid", "stdbuf", "watch"}
    | {"ssh", "su", "runuser", "script", "trap", "coproc", "source", ".", "busybox", "parallel"}
    | {"find", "fd", "flock", "ionice", "taskset", "chrt", "strace", "ltrace", "unshare", "nsenter"}
    | {"chroot", "setpriv", "systemd-run", "at", "npx", "caffeinate"}
)
# In front of a command, too: `2>/dev/null git push`. The file may be the next word.
_REDIRECTION = re.compile(r"(?:\d*|\{\w+\})[<>]{1,3}[&|]?(?P<file>.*)", re.DOTALL)
_BRACES = re.compile(r"\{[^{}\s]*,[^{}\s]*\}")
_BETWEEN_WORDS = re.compile(r"[\s;&|(){}`<>'\"\\,]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to write a command. From each of `starts` on it may be a command of its own."""

    text: str
    starts: tuple[int, ...] = (0,)

    def fits(self, pattern: str) -> bool:
        wanted = compiled(pattern)
        for start in self.starts:
            if wanted.head is None:
                if wanted.whole.match(self.text, start):
                    return True
            elif wanted.head.match(self.text, start):
                # What fits from a later start on fits from here, too: the `*` takes more.
                return wanted.whole.match(self.text, start) is not None
        return False


@dataclass(frozen=True)
class Spellings:
    """All of one command."""

    found: frozenset[Spelling]
    # Looked at first: one search is faster than thousands.
    _all: str

    @classmethod
    def of(cls, parts: Iterable[str]) -> "Spellings":
        found = frozenset(said for part in dict.fromkeys(parts) for said in _spellings(part))
        return cls(found, "\0".join(said.text for said in found))

    @classmethod
    def of_command(cls, command: str, segments: Iterable[str] = ()) -> "Spellings":
        """With the commands that it consists of."""
        whole = command.replace("\\\n", "")  # a line that goes on in the next one
        parts = dict.fromkeys((command, *pieces(command), *pieces(whole), *segments))
        found = cls.of(parts)
        if not _BRACES.search(whole) and not any(_program(part) in _RUNNERS for part in parts):
            return found
        # What is put together or handed on in some way: each word may begin a command.
        loose = _loose(whole)
        return cls(found.found | {loose}, f"{found._all}\0{loose.text}")

    def fit(self, pattern: str) -> bool:
        if compiled(pattern).core not in self._all:
            return False
        return any(said.fits(pattern) for said in self.found)


def _spellings(piece: str) -> Iterator[Spelling]:
    """Other ways to write the same, and what it runs in turn."""
    bare = _KEYWORDS.sub("", piece)
    words = list(_words_of(piece))
    yield from map(Spelling, (piece, bare, " ".join(bare.split()), " ".join(words)))
    if not words:
        return
    name = words[0].rpartition("/")[2]
    words[0] = name
    said = " ".join(words)
    yield Spelling(said)
    if name == "git":
        yield Spelling(" ".join(["git", *without_options(words[1:])]))
    if name in _RUNNERS:
        # Not each of them as a text of its own: together they would be the square of the command.
        yield _loose(said)
        yield from (Spelling(inner) for word in words[1:] for inner in pieces(word))


def _loose(text: str) -> Spelling:
    """Without any sign between its words, each of which may begin a command."""
    plain = _BETWEEN_WORDS.sub(" ", text).strip(" ")
    return Spelling(plain, (0, *(gap.end() for gap in re.finditer(" ", plain))))


def _program(piece: str) -> str:
    words = _words_of(piece)
    return words[0].rpartition("/")[2] if words else ""


@lru_cache(maxsize=256)
def _words_of(piece: str) -> tuple[str, ...]:
    """Those of the command itself: no keywords, assignments or redirections in front of it."""
    words, at = texts(_KEYWORDS.sub("", piece)), 0
    while at < len(words):
        if is_assignment(words[at]):
            at += 1
        elif redirected := _REDIRECTION.fullmatch(words[at]):
            at += 1 if redirected["file"] else 2
        else:
            break
    return tuple(words[at:])
