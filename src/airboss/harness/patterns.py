"""What the words of a rule stand for: texts with `*` and `?`, parts of a command, hosts."""

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from airboss.net.host_names import host_name, plain_address

# `\*`, `\?` and `\\` are the letters themselves; any other backslash is one.
_PARTS = re.compile(r"\\[*?\\]|.", re.DOTALL)
# Where one command may end and another begin. Quotes are not heeded: too many parts are asked
# about, never too few.
_BETWEEN = re.compile(r"[;&|\n\r`(){}]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
# Each is looked up on the disk; what has more is unclear.
MOST_WORDS = 1000
# What the kernel takes as one argument, so as one command; what is longer is unclear.
LONGEST_COMMAND = 128 * 1024
# What browsers drop, or take for a slash; in an honest address they are written as %20 and so on.
_ODD = re.compile(r"[\x00-\x20\x7f\\]")


# In the words of fnmatch, which knows how to look without trying everything.
_TRANSLATED = {r"\*": "[*]", r"\?": "[?]", r"\\": "\\", "[": "[[]"}


def _parts(pattern: str) -> list[str]:
    return [found[0] for found in _PARTS.finditer(pattern)]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`head` is what stands before the first `*`; `core` a text that is in all that fits."""

    whole: re.Pattern[str]
    head: re.Pattern[str] | None
    core: str


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Pattern:
    parts = _parts(pattern)
    head = _translated(parts[: parts.index("*") + 1]) if "*" in parts else None
    return Pattern(
        re.compile(_translated(parts)),
        None if head is None else re.compile(head),
        max(_fixed(parts), key=len),
    )


def _translated(parts: list[str]) -> str:
    return fnmatch.translate("".join(_TRANSLATED.get(part, part) for part in parts))


def _fixed(parts: list[str]) -> Iterator[str]:
    """The texts between the wildcards."""
    kept: list[str] = []
    for part in (*parts, "*"):
        if part in ("*", "?"):
            yield "".join(kept)
            kept = []
        else:
            kept.append(part[-1])


def fits(pattern: str, text: str) -> bool:
    """The whole text, letter by letter; `*` is any letters, `?` is one."""
    return compiled(pattern).whole.match(text) is not None


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


def around_wildcards(pattern: str) -> tuple[str, str]:
    """The letters before the first `*` or `?`, and those behind the last."""
    texts = list(_fixed(_parts(pattern)))
    return texts[0], texts[-1]


def pieces(command: str) -> tuple[str, ...]:
    """The commands that one text may consist of."""
    # Other blanks are letters to a shell: “<no-break space>ls” is another program.
    found = (piece.strip(" \t") for piece in _BETWEEN.split(command))
    return tuple(piece for piece in found if piece.strip("$\"' \t"))


def is_assignment(word: str) -> bool:
    """`A=b`, as it stands in front of a command."""
    return _ASSIGNMENT.match(word) is not None


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
        return plain_address(host)
    return host_name(host)
