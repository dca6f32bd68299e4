"""The words of a command, as a shell tells them apart; each letter is looked at once.

It knows quotes, backslashes and lines that go on. What a variable or a wildcard of the shell would
become it does not know, but it says that there is one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Possessive: what was read is not read again, however the text goes on.
_PART = re.compile(
    r"""(?P<space>[ \t\r\n]++)
    |(?P<joined>\\\n)
    |\$'(?P<coded>[^'\\]*+(?:\\.[^'\\]*+)*+)'
    |\$(?P<translated>(?="))
    |(?P<plain>(?:[^ \t\r\n'"\\$]|\$(?!['"]))++)
    |'(?P<single>[^']*+)'
    |"(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*+)"
    |\\(?P<escaped>.)""",
    re.DOTALL | re.VERBOSE,
)
_IN_QUOTES = re.compile(r'\\(?:([$`"\\])|\n)')
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_CODES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_EXPANDS = re.compile(r"(?<!\\)(?:\\\\)*+[$`]")
_WILDCARD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes. `expands`: a variable or a command of the shell puts more into
    it. `globs`: the shell may put names of files in its place; with `begins_open` of any name."""

    text: str
    expands: bool = False
    globs: bool = False
    begins_open: bool = False


def words(command: str) -> list[Word]:
    """Raises ValueError where a quote is not closed."""
    return [_joined(parts) for parts in _parts(command)]


def texts(command: str) -> list[str]:
    """The words alone, as well as they can be told: an open quote counts as a space."""
    try:
        return [word.text for word in words(command)]
    except ValueError:
        return command.replace("'", " ").replace('"', " ").split()


def _parts(command: str) -> Iterator[list[re.Match[str]]]:
    at, found = 0, list[re.Match[str]]()
    while at < len(command):
        part = _PART.match(command, at)
        if part is None:
            raise ValueError("A quote is not closed.")
        at = part.end()
        if part.lastgroup == "joined":  # a line that goes on in the next one
            continue
        if part.lastgroup != "space":
            found.append(part)
        elif found:
            yield found
            found = []
    if found:
        yield found


def _joined(parts: list[re.Match[str]]) -> Word:
    if len(parts) == 1 and (text := parts[0]["plain"]) is not None:
        return Word(text, _has_variable(text), *_wildcards(text, text))
    pieces = [_text(part) for part in parts]
    plain = "".join(part["plain"] or "" for part in parts)
    quoted = (part["double"] for part in parts if part["double"] is not None)
    expands = _has_variable(plain) or any(_EXPANDS.search(one) for one in quoted)
    expands |= any(part.lastgroup in ("coded", "translated") for part in parts)
    first = next((part for part, text in zip(parts, pieces, strict=True) if text), parts[0])
    return Word("".join(pieces), expands, *_wildcards(plain, first["plain"] or ""))


def _has_variable(plain: str) -> bool:
    return "$" in plain or "`" in plain


def _wildcards(plain: str, first: str) -> tuple[bool, bool]:
    return _WILDCARD.search(plain) is not None, _WILDCARD.match(first) is not None


def _text(part: re.Match[str]) -> str:
    if part.lastgroup == "double":
        return _IN_QUOTES.sub(r"\1", part["double"])
    if part.lastgroup == "coded":
        return _CODE.sub(_decoded, part["coded"])
    return part[part.lastgroup or 0]


def _decoded(code: re.Match[str]) -> str:
    """One sign of `$'…'`."""
    sixteen, eight, letter = code[1] or code[2], code[3], code[4]
    if letter is not None:
        return _CODES.get(letter, letter)
    return chr(int(sixteen, 16) if sixteen else int(eight, 8) & 0xFF)
