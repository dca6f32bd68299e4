"""The files that an entry names beside itself: found where they are, and whatever else is named."""

from pathlib import Path
from typing import Any

import pytest

from airboss.entry.session_words import keys_of
from airboss.entry.validate import validate_entry
from airboss.service.named_files import named_files, with_whole_paths

HOME_OF_NOBODY = "~no-such-user-here/x"


@pytest.mark.parametrize(
    "said",
    [
        {"skills": [HOME_OF_NOBODY]},
        {"skills": ["/a\0b"]},
        {"mcpServers": {"s": {"command": ["run", "x" * 4_000]}}},
        {"hooks": {"agentStop": [{"command": [HOME_OF_NOBODY]}]}},
        {"hooks": {"agentStop": [{"python": f"{HOME_OF_NOBODY}.py:f"}]}},
    ],
)
def test_a_path_that_leads_nowhere_names_no_file(said: dict[str, Any], tmp_path: Path) -> None:
    """Who opens a session is told; an entry with it can be looked at."""
    task = {"prompt": ["Do it."], "requireUserInput": False}
    entry = {"models": {"driving": "m"}, "promptVariables": {}, "tasks": {"a": task}, "jobs": {}}
    found = with_whole_paths(validate_entry({**entry, "grid": [], **said}), tmp_path)
    assert named_files(found, tmp_path) == []
    assert keys_of(found).said == keys_of(validate_entry({**entry, "grid": [], **said})).said
