"""The files and hosts that a command seems to be about, guessed from its words: more than less.

A shell puts them together in more ways than can be told. Rules deny by them; nothing is allowed.
"""

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from urllib.parse import unquote

from airboss.harness.command_words import Word, texts, words
from airboss.harness.patterns import MOST_WORDS, host_of
from airboss.net.host_names import host_name

# What may stand around a file inside a word: `--file=x`, `>x`, `@x`, `sh -c 'cat x'`.
_INSIDE = re.compile(r"[=<>;&|()`,:@{}'\"\s]")
_BLANK = re.compile(r"\s")
_WILDCARD = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_ANY_VARIABLE = re.compile(r"\$\{?\w")
_GOES_TO = frozenset({"cd", "pushd", "-C", "--directory", "--chdir"})
# Of folders: what a command goes to after these is unclear.
_MOST_FOLDERS = 8
# Of names in folders, for the wildcards of one command.
_MOST_NAMES = 5000
# Three other signs are a dot in the name of a host.
_NOT_IN_A_HOST = re.compile("[^\\w.\u3002\uff0e\uff61-]+")
_NUMBER = re.compile(r"(?:0[xX])?[0-9a-fA-F.xX]+")


@dataclass
class _Files:
    """Collects them; `is_unclear` where there are too many to look at."""

    folders: list[str]
    found: dict[str, None] = field(default_factory=dict[str, None])
    names_left: int = _MOST_NAMES
    is_unclear: bool = False

    def add(self, text: str, *, globs: bool) -> None:
        text = _known(text, self.folders[0])
        for folder in self.folders:
            path = os.path.join(folder, text)
            for one in self._matching(path) if globs and _WILDCARD.search(text) else (path,):
                self.found[one] = None
            self.is_unclear |= len(self.found) > MOST_WORDS or self.names_left < 0
            if self.is_unclear:
                return

    def go_to(self, text: str) -> None:
        known = _known(text, self.folders[-1])
        self.folders.append(os.path.join(self.folders[-1], known))
        self.is_unclear |= len(self.folders) > _MOST_FOLDERS

    def _matching(self, pattern: str) -> Iterator[str]:
        """The pattern itself, and the files that a shell would put in its place."""
        yield pattern
        found = [""]
        for name in pattern.split("/"):
            if not _WILDCARD.search(name):
                found = [f"{above}{name}/" for above in found]
                continue
            # A bracket may be written in many ways: it counts as any letters.
            name = f"{name.partition('[')[0]}*" if "[" in name else name
            found = [f"{above}{one}/" for above in found for one in self._names(above, name)]
        yield from (path.removesuffix("/") for path in found if path != "/")

    def _names(self, folder: str, pattern: str) -> Iterator[str]:
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self.names_left -= 1
                    if self.names_left < 0:
                        return
                    is_hidden = entry.name.startswith(".") and not pattern.startswith(".")
                    if not is_hidden and fnmatchcase(entry.name, pattern):
                        yield entry.name
        except (OSError, ValueError):
            return


def guessed_paths(command: str, folder: str) -> tuple[str, ...] | None:
    """Written in full, as the words that may be files say them; None where there are too many."""
    files, previous = _Files([folder]), ""
    for word in _words(command):
        inside = [text for text in _INSIDE.split(word.text) if text]
        is_command = _BLANK.search(word.text) is not None
        for text in inside if is_command else [word.text]:
            if previous in _GOES_TO:
                files.go_to(text)
            previous = text
        for text in filter(None, map(_without_option, (word.text, *inside))):
            files.add(text, globs=word.globs or is_command)
            if files.is_unclear:
                return None
    return tuple(files.found)


def _without_option(text: str) -> str:
    """`-fx` may be the file x."""
    if not text.startswith("-"):
        return text
    return "" if text.startswith("--") else text[2:]


def has_unknown_path(command: str) -> bool:
    """Whether a file in it lies in a folder that only a variable of the shell names."""
    return any(_is_below_a_variable(_known(word.text, "/")) for word in _words(command))


def _is_below_a_variable(text: str) -> bool:
    found = _ANY_VARIABLE.search(text)
    return text.startswith("~-") or (found is not None and "/" in text[found.end() :])


def _known(text: str, folder: str) -> str:
    """With variables that we have, too, and with the home folder."""
    if text.startswith("~+"):
        text = folder + text[2:]
    if "$" in text:
        known = {**os.environ, "PWD": folder}
        text = _VARIABLE.sub(lambda found: known.get(found[1] or found[2], found[0]), text)
    return os.path.expanduser(text)


def _words(command: str) -> list[Word]:
    try:
        return words(command)
    except ValueError:
        return [Word(text, expands=True, globs=True) for text in texts(command)]


def guessed_hosts(command: str, *, bare: bool) -> tuple[str | None, ...]:
    """The hosts that a command seems to call; with `bare` also words that only look like one. None
    is one that is not beyond doubt."""
    said = texts(command)
    found: list[str | None] = [None] if len(said) > MOST_WORDS else []
    for word in said[:MOST_WORDS]:
        _, is_address, rest = word.partition("://")
        if is_address:
            found.append(host_of(f"http://{rest}"))
        elif bare:
            parts = _NOT_IN_A_HOST.split(unquote(word))
            parts += [part[2:] for part in parts if part.startswith("-")]  # -xproxy
            found += filter(None, map(_bare_host, dict.fromkeys(parts)))
    return tuple(found)


def _bare_host(text: str) -> str | None:
    """`127.1` is 127.0.0.1 to many programs."""
    if not text:
        return None
    if _NUMBER.fullmatch(text):
        try:
            return socket.inet_ntoa(socket.inet_aton(text))
        except OSError:
            pass
    return host_name(text)
