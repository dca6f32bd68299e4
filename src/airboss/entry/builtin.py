"""The entry that is used where nobody has written one."""

from functools import cache
from pathlib import Path
from typing import Final

from airboss.entry.document import Entry
from airboss.entry.load import load_entry

FILE: Final = Path(__file__).with_name("builtin.yaml")


@cache
def builtin_entry() -> Entry:
    return load_entry(FILE)
