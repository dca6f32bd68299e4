"""The rows of the benchmark for many machines, in small: that they run to their end."""

from pathlib import Path

import pytest

from bench import followed, losses, many_workers, postgres_costs
from bench.table import Line
from tests.trials import whole_only

pytestmark = [pytest.mark.timeout(480), whole_only]


def ignore(_: str) -> None:
    pass


async def test_the_log_is_followed_by_another_process_to_its_end(tmp_path: Path) -> None:
    [line] = await followed.measure(tmp_path, True, ignore)
    assert isinstance(line, Line)
    assert line.found.endswith("40000 of 40000 heard")


async def test_turns_and_tasks_are_measured_beside_a_second_server(tmp_path: Path) -> None:
    turns, tasks = await postgres_costs.measure(tmp_path, True, ignore)
    assert "20 pairs" in turns.found
    assert "on SQLite" in tasks.found


async def test_more_workers_and_idle_ones_are_measured(tmp_path: Path) -> None:
    gain, idle = await many_workers.measure(tmp_path, True, ignore)
    assert "4: " in gain.found
    assert "connections" in idle.found


async def test_losses_are_measured_and_no_run_fails(tmp_path: Path) -> None:
    *_, away = await losses.measure(tmp_path, True, ignore)
    assert away.found.startswith("0 failed, 0 missions repeated")
