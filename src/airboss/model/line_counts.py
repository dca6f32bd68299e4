"""How many lines a text had before it was cut. What was never read cannot be counted."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, cast

from airboss.model.excerpt import MARK, Gapped, Redacting, name_of

_MOST_TEXTS: Final = 16
DIFF_HEADER: Final = re.compile(r"^diff --git a/(?P<old>.*?) b/(?P<new>.*)$", re.MULTILINE)


def lines_of_texts(redactor: Redacting, arguments: object, said: str) -> dict[str, int] | None:
    """Of a tool's arguments, where `said`, which is kept of them, is not all."""
    if not isinstance(arguments, Mapping) or not MARK.search(said):
        return None
    texts = cast("Mapping[str, object]", arguments)
    counted = islice(_counted(texts), _MOST_TEXTS)
    return {name_of(redactor.text(name)): count for name, count in counted} or None


def _counted(texts: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    for name, text in texts.items():
        if isinstance(text, str) and not isinstance(text, Gapped) and "\n" in text:
            yield name, len(text.splitlines())


def lines_of_diff(diff: str, said: str) -> tuple[int, int] | None:
    """Added and removed, where `said` is not all of it and it speaks of one file."""
    if isinstance(diff, Gapped) or diff == said or not MARK.search(said):
        return None
    _, header, hunks = diff.partition("\n@@")
    if not header or len(list(islice(DIFF_HEADER.finditer(diff), 2))) != 1:
        return None
    lines = hunks.split("\n")
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)
