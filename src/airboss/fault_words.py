"""What is wrong with a value that somebody wrote, and where: pydantic's words, for people."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from airboss.keys import ADDRESS_PATTERN, NO_ADDRESS
from airboss.session_keys import PYTHON_HOOK, PYTHON_RULE

_LIST: Final = "Input should be a list"
_OBJECT: Final = "Input should be an object, with names and values"
_WORDS: Final = {
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "string_unicode": "Input should be text without halves of characters",
    "extra_forbidden": "There is no such field",
}
# What a pattern asks for. Nobody reads patterns.
_PATTERNS: Final = {
    ADDRESS_PATTERN: NO_ADDRESS,
    PYTHON_HOOK: PYTHON_RULE,
    r"^\S+$": "Should have no space in it.",
}
_NAME: Final = re.compile(re.escape("^[A-Za-z0-9][A-Za-z0-9_-]{0,") + r"(\d+)" + re.escape("}$"))
_VARIABLE: Final = "^[A-Za-z_][A-Za-z0-9_]"
# As pydantic counts, and what it calls what it made.
_COUNTED: Final = re.compile(r" after validation, not .*")
_OF_PYTHON: Final = re.compile(r"^(?:Tuple|Dictionary)\b")
_KIND: Final = re.compile(r"\[key\]|(?:function-|literal|tagged-union|constrained-).*\[.*")


def told_faults(faults: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Without lists that are too short only because something in them is wrong."""
    found = list(faults)
    places = [tuple(fault["loc"]) for fault in found]

    def is_told(fault: Mapping[str, Any], place: tuple[Any, ...]) -> bool:
        inside = any(len(one) > len(place) and one[: len(place)] == place for one in places)
        return not (inside and fault["type"] == "too_short")

    return [fault for fault, place in zip(found, places, strict=True) if is_told(fault, place)]


def fault_words(fault: Mapping[str, Any]) -> str:
    known = _WORDS.get(str(fault["type"])) or _asked_for(fault) or _no_json(fault)
    said = known or str(fault["msg"]).removeprefix("Value error, ")
    return _OF_PYTHON.sub("List", _COUNTED.sub("", said))


def fault_place(fault: Mapping[str, Any]) -> Iterator[str | int]:
    """The steps that lead to it: pydantic also names the kinds that a value could have. How far a
    text can be read as JSON is no step."""
    for step in fault["loc"][: -1 if _no_json(fault) else None]:
        if isinstance(step, int) or not _KIND.fullmatch(step):
            yield step


def _asked_for(fault: Mapping[str, Any]) -> str | None:
    if fault["type"] != "string_pattern_mismatch":
        return None
    pattern = str(fault["ctx"]["pattern"])
    if name := _NAME.fullmatch(pattern):
        most = int(name[1]) + 1
        return f"Should have letters, digits, - and _ only, and at most {most} of them."
    if pattern.startswith(_VARIABLE):
        return "Should be the name of a variable."
    return _PATTERNS.get(pattern)


def _no_json(fault: Mapping[str, Any]) -> str | None:
    at = fault["loc"][-1] if fault["type"] == "json_invalid" else None
    return f"Not valid JSON at character {at + 1}" if isinstance(at, int) else None
