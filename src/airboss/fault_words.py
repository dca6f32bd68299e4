"""What is wrong with a value that somebody wrote, and where: pydantic's words, for people."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_LIST: Final = "Input should be a list"
_OBJECT: Final = "Input should be an object, with names and values"
_WORDS: Final = {
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "string_unicode": "Input should be text without halves of characters",
}
# As pydantic counts, and what it calls what it made.
_COUNTED: Final = re.compile(r" after validation, not .*")
_OF_PYTHON: Final = re.compile(r"^(?:Tuple|Dictionary)\b")
_KIND: Final = re.compile(r"\[key\]|(?:function-|literal|tagged-union|constrained-).*\[.*")


def fault_words(fault: Mapping[str, Any]) -> str:
    known = _WORDS.get(str(fault["type"]))
    said = known or str(fault["msg"]).removeprefix("Value error, ")
    return _OF_PYTHON.sub("List", _COUNTED.sub("", said))


def fault_place(fault: Mapping[str, Any]) -> Iterator[str | int]:
    """The steps that lead to it: pydantic also names the kinds that a value could have."""
    for step in fault["loc"]:
        if isinstance(step, int) or not _KIND.fullmatch(step):
            yield step
