"""What the words of a rule stand for: texts with `*` and `?`, the parts of a command, hosts."""

import fnmatch
import ipaddress
import re
import shlex
from functools import lru_cache
from urllib.parse import urlsplit

# `\*`, `\?` and `\\` are the letters themselves; any other backslash is one.
_PARTS = re.compile(r"\\[*?\\]|.", re.DOTALL)
# Where one command may end and another begin. Quotes are not heeded: too many parts are asked
# about, never too few.
_BETWEEN = re.compile(r"[;&|\n\r`(){}]")
_KEYWORDS = re.compile(r"\A(?:(?:if|then|elif|else|while|until|do|time|exec|!)\s+)+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://(.*)", re.IGNORECASE | re.DOTALL)
_INSIDE = re.compile(r"[=<>;&|()`,:]")
# What these are given is a command in turn.
_RUNNERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "exec", "command", "builtin", "env"}
    | {"sudo", "doas", "nohup", "nice", "timeout", "time", "xargs", "setsid", "stdbuf", "watch"}
    | {"ssh"}
)
# Each is looked up on the disk; what has more is unclear.
_MOST_WORDS = 1000
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# One way of writing these leads to one host, another to another.
_AMBIGUOUS = re.compile("[ßẞς\u200c\u200d]")
# What browsers drop, or take for a slash; in an honest address they are written as %20 and so on.
_ODD = re.compile(r"[\x00-\x20\x7f\\]")


# In the words of fnmatch, which knows how to look without trying everything.
_TRANSLATED = {r"\*": "[*]", r"\?": "[?]", r"\\": "\\", "[": "[[]"}


def _parts(pattern: str) -> list[str]:
    return [found[0] for found in _PARTS.finditer(pattern)]


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    words = "".join(_TRANSLATED.get(part, part) for part in _parts(pattern))
    return re.compile(fnmatch.translate(words))


def fits(pattern: str, text: str) -> bool:
    """The whole text, letter by letter; `*` is any letters, `?` is one."""
    return _compiled(pattern).match(text) is not None


def literal(text: str) -> str:
    """The pattern that this text fits, and no other."""
    return re.sub(r"([*?\\])", r"\\\1", text)


def plain(pattern: str) -> str | None:
    """The one text that fits; None where there are several."""
    parts = _parts(pattern)
    if "*" in parts or "?" in parts:
        return None
    return "".join(part[-1] if len(part) == 2 else part for part in parts)


def fixed_part(pattern: str) -> str:
    """The pattern up to its first `*` or `?`."""
    kept = ""
    for part in _parts(pattern):
        if part in ("*", "?"):
            break
        kept += part
    return kept


def pieces(command: str) -> tuple[str, ...]:
    """The commands that one text may consist of."""
    found = (piece.strip() for piece in _BETWEEN.split(command))
    return tuple(piece for piece in found if piece.strip("$\"' \t"))


def spellings(piece: str) -> set[str]:
    """Other ways to write the same, and what it runs in turn: for those who forbid it, not for
    those who allow it."""
    bare = _KEYWORDS.sub("", piece)
    words = words_of(bare)
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    found = {piece, bare, " ".join(bare.split()), " ".join(words)}
    if not words:
        return found
    name = words[0].rpartition("/")[2]
    found.add(" ".join([name, *words[1:]]))
    if name in _RUNNERS:
        for number, word in enumerate(words[1:], start=1):
            found |= {" ".join(words[number:]), *pieces(word)}
    return found


def words_of(command: str) -> list[str]:
    """The words of a command without their quotes, as well as they can be told."""
    try:
        return shlex.split(command)
    except ValueError:
        return command.replace("'", " ").replace('"', " ").split()


def guessed_hosts(command: str, *, bare: bool) -> tuple[str | None, ...]:
    """The hosts that a command seems to call; with `bare` also words that only look like one. None
    is one that is not beyond doubt."""
    words = words_of(command)
    found: list[str | None] = [None] if len(words) > _MOST_WORDS else []
    for word in words[:_MOST_WORDS]:
        if address := _ADDRESS.search(word):
            found.append(host_of(f"http://{address[1]}"))
        elif bare and "." in word:
            host = host_name(re.split(r"[/:]", word.rpartition("@")[2])[0])
            found += [host] if host else []
    return tuple(found)


def guessed_paths(command: str) -> tuple[str, ...] | None:
    """The words that may be files, `--file=x` and `>x` too; None where there are too many."""
    parts = [part for word in words_of(command) for part in (word, *_INSIDE.split(word))]
    found = dict.fromkeys(part for part in parts if part and not part.startswith("-"))
    return tuple(found) if len(found) <= _MOST_WORDS else None


def host_of(url: str) -> str | None:
    """The host that an address leads to; None where that is not beyond doubt."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host or _ODD.search(url):
        return None
    if parts.netloc.rpartition("@")[2].startswith("["):
        return _address(host)
    return host_name(host)


def host_name(host: str) -> str | None:
    """A name as the network knows it: in small letters, IDNA, without the last dot."""
    if _AMBIGUOUS.search(host):
        return None
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    labels = name.split(".")
    if not all(_LABEL.fullmatch(label) for label in labels):
        return _address(name) if ":" in name else None
    # 2130706433 and 0x7f.1 are 127.0.0.1 to a browser.
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        return _address(name)
    return name


def _address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return None


def host_fits(pattern: str, host: str) -> bool:
    """`*.example.com` is every host below example.com; `*` is every host."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and host != pattern[1:]
    return host == pattern
