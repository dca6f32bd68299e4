"""What the wildcards of an allowing rule may stand for in a command: nothing that makes a known
program run another one or write a file. What a rule spells out it allows."""

from collections.abc import Sequence
from functools import lru_cache

from airboss.harness.command_words import Word, texts, words
from airboss.harness.known_programs import command_is_harmless
from airboss.harness.patterns import around_wildcards
from airboss.harness.program_options import Argument


def are_harmless(pattern: str, command: str) -> bool:
    """For one command that fits the pattern."""
    try:
        found = words(command)
    except ValueError:  # a quote is not closed
        found = [Word(text, expands=True) for text in texts(command)]
    before, after = _spelled(pattern)
    head = _alike(before, [word.text for word in found])
    tail = _alike(after[::-1], [word.text for word in reversed(found[head:])])
    free = range(head, len(found) - tail)
    return command_is_harmless(
        [Argument(word.text, at in free, _is_unclear(word)) for at, word in enumerate(found)]
    )


def _is_unclear(word: Word) -> bool:
    return word.expands or word.begins_open or (word.globs and word.text.startswith("-"))


@lru_cache(maxsize=4096)
def _spelled(pattern: str) -> tuple[list[str], list[str]]:
    """The whole words before the first wildcard, and those behind the last."""
    before, after = around_wildcards(pattern)
    whole = max(before.rfind(" "), before.rfind("\t")) + 1
    first = min((at for at in (after.find(" "), after.find("\t")) if at >= 0), default=len(after))
    return _words(before[:whole]), _words(after[first:])


def _words(text: str) -> list[str]:
    try:
        return [word.text for word in words(text)]
    except ValueError:
        return []


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of them are the same, from the first on."""
    count = 0
    for mine, yours in zip(one, other, strict=False):
        if mine != yours:
            break
        count += 1
    return count
