"""Rows as PostgreSQL takes many of them at once: a list for each column, in its own words.

The driver can do it, too, and looks at every value several times for that: of a busy log it was a
tenth of all that the server did.
"""

from collections.abc import Sequence
from typing import Any


def arrays_of(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    """One for each column. No text in it has the character that PostgreSQL refuses."""
    return [array_of(column) for column in zip(*rows, strict=True)]


def array_of(values: Sequence[Any]) -> str:
    return f"{{{','.join([_element(value) for value in values])}}}"


def _element(value: Any) -> str:
    if isinstance(value, str):
        if "\\" in value:
            value = value.replace("\\", "\\\\")
        if '"' in value:
            value = value.replace('"', '\\"')
        return f'"{value}"'
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return str(value)
