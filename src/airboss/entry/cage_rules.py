"""What is wrong with the cage that an entry or a task names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from airboss.cage_keys import BOUNDS, MOST_WORDS, mistake_in_host
from airboss.entry.violations import At, Violation, wrong
from airboss.keys import NAME_RULE
from airboss.model.agent_names import NAME
from airboss.session_keys import VARIABLE

_PROFILE: Final = "Write the name of a profile of the settings ([cages.NAME])."
_LISTS: Final = ("read", "write", "hosts", "variables")


def cage_violations(value: object, place: At) -> Iterator[Violation]:
    if isinstance(value, str):
        yield from _name(value, place)
    if not isinstance(value, Mapping):
        return
    cage = cast("Mapping[str, object]", value)
    yield from _name(cage.get("profile"), place.field("profile"))
    for key in _LISTS:
        words = cage.get(key)
        if isinstance(words, list | tuple):
            yield from _words(key, cast("Sequence[object]", words), place.field(key))
    for key, (least, most) in BOUNDS.items():
        amount = cage.get(key)
        if isinstance(amount, int) and not least <= amount <= most:
            yield wrong(place.field(key), f"Should be from {least} to {most}.")


def _name(name: object, at: At) -> Iterator[Violation]:
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield wrong(at, NAME_RULE, None, _PROFILE)


def _words(key: str, words: Sequence[object], at: At) -> Iterator[Violation]:
    if len(words) > MOST_WORDS:
        yield wrong(at, f"Should have at most {MOST_WORDS} of them.")
    for index, word in enumerate(words):
        if not isinstance(word, str):
            continue
        mistake = mistake_in_host(word) if key == "hosts" else None
        if key == "variables" and not VARIABLE.fullmatch(word):
            mistake = "Should be the name of a variable."
        if not word:
            mistake = "Should not be empty."
        if mistake:
            yield wrong(at.item(index), mistake)
