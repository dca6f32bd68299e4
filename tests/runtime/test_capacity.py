"""How many agents work at once, where nobody says it: sixteen, if they fit."""

from pathlib import Path

import psutil
import pytest

from airboss.runtime.capacity import AGENT_BYTES, agents_that_fit, free_memory


@pytest.mark.parametrize(
    ("free", "agents"),
    [
        (64 * 1024**3, 16),
        (32 * AGENT_BYTES, 16),
        (32 * AGENT_BYTES - 1, 15),
        (8 * AGENT_BYTES, 4),
        (AGENT_BYTES, 1),
        (0, 1),
    ],
)
def test_sixteen_agents_or_as_many_as_fit_into_half_of_what_is_free(free: int, agents: int) -> None:
    assert agents_that_fit(free) == agents


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "ascii")
    return folder


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "1000000\n", "memory.current": "400000\n"}, 600_000),
        ({"memory.max": "1000", "memory.current": "4000"}, 0),
        (
            {"memory/memory.limit_in_bytes": "2000", "memory/memory.usage_in_bytes": "500"},
            1500,
        ),
    ],
)
def test_a_container_has_what_it_was_given(
    tmp_path: Path, files: dict[str, str], free: int
) -> None:
    assert free_memory(write(tmp_path, **files)) == free


@pytest.mark.parametrize(
    "files", [{}, {"memory.max": "max\n", "memory.current": "5"}, {"memory.max": "\0"}]
)
def test_without_a_limit_it_is_what_the_machine_has(tmp_path: Path, files: dict[str, str]) -> None:
    found = free_memory(write(tmp_path, **files))
    assert abs(found - psutil.virtual_memory().available) < 512 * 1024**2
