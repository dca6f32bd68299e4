"""How the options of a program are read: which of them neither run programs nor write files.

All that is not in a program's table counts as one that does. It knows no program itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Argument:
    """One word of a command. `is_free`: the rule does not spell it out, a wildcard stands for it.
    `is_unclear`: the shell may make another word of it, or an option."""

    text: str
    is_free: bool
    is_unclear: bool = False


def each(words: str) -> frozenset[str]:
    """The words of a table, which is easier to read as one text."""
    return frozenset(words.split())


def any_free(arguments: Sequence[Argument]) -> bool:
    return any(one.is_free for one in arguments)


class ReadOptions(NamedTuple):
    """What is no option, and the values of options by their names."""

    operands: list[Argument]
    values: list[tuple[str, Argument]]


class _Option(NamedTuple):
    is_harmless: bool
    is_known: bool = True
    name: str = ""
    value: str | None = None
    takes_next: bool = False
    # Of letters in one word the last may be harmless where others are not.
    takes_anything: bool = False

    def is_risky(self, said: Argument, following: Sequence[Argument]) -> bool:
        if self.is_harmless:
            return False
        may_take_next = not self.takes_anything and (self.takes_next or not self.is_known)
        return said.is_free or (may_take_next and any_free(following))


_UNKNOWN = _Option(is_harmless=False, is_known=False)


@dataclass(frozen=True)
class Options:
    """`flags` and `valued` are harmless letters, `longs` and `long_valued` harmless words behind
    `--`, `exact` are harmless as they stand. The letters in `spelled`, and with values those in
    `spelled_valued`, are for rules that spell them out."""

    flags: str = ""
    valued: str = ""
    spelled: str = ""
    spelled_valued: str = ""
    longs: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()

    def read(self, arguments: Sequence[Argument], *, stops: bool = False) -> ReadOptions | None:
        """None where a wildcard stands for an option that is not harmless, or for the value of one.
        With `stops` all behind the first operand belongs to somebody else."""
        found, at = ReadOptions([], []), 0
        while at < len(arguments):
            one = arguments[at]
            if one.text == "--":
                return _with_rest(found, arguments[at + 1 :])
            if not _is_option(one.text):
                found.operands.extend(arguments[at:] if stops else [one])
                if stops:
                    break
                at += 1
                continue
            option, following = self._option(one.text), arguments[at + 1 : at + 2]
            if option.is_risky(one, following) or (stops and not option.is_known):
                return None
            if option.takes_next:
                found.values.extend((option.name, value) for value in following)
            elif option.value is not None:
                found.values.append((option.name, Argument(option.value, one.is_free)))
            at += 2 if option.takes_next else 1
        return found

    def _option(self, text: str) -> _Option:
        if text in self.exact:
            return _Option(is_harmless=True)
        if not text.startswith("--"):
            return self._letters(text)
        name, has_value, value = text[2:].partition("=")
        if name in self.long_valued:
            return _Option(True, True, name, value if has_value else None, not has_value)
        return _Option(is_harmless=True) if name in self.longs else _UNKNOWN

    def _letters(self, text: str) -> _Option:
        is_harmless = True
        for at, letter in enumerate(text[1:], start=2):
            if letter in self.valued or letter in self.spelled_valued:
                is_fine, rest = letter in self.valued, text[at:]
                return _Option(
                    is_harmless and is_fine, True, letter, rest or None, not rest, is_fine
                )
            if letter in self.spelled:
                is_harmless = False
            elif letter not in self.flags:
                return _UNKNOWN
        return _Option(is_harmless)


def _is_option(text: str) -> bool:
    return len(text) > 1 and text.startswith("-")


def _with_rest(found: ReadOptions, rest: Sequence[Argument]) -> ReadOptions | None:
    """Behind `--` nothing is an option, but what is made of it in turn nobody knows."""
    if any(one.is_free and _is_option(one.text) for one in rest):
        return None
    found.operands.extend(rest)
    return found
