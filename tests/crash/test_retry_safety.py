"""What a turn had done before its runtime was killed: said where it is done again."""

from pathlib import Path

import pytest

from airboss.model.task_events import MissionEnded
from tests.crash.test_task_killed import SCRIPT, begin, crashes, kill_in
from tests.service.errands import task, task_house_in

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("policy", ["approve-all", "read-only"])
async def test_a_retry_of_what_had_effects_says_so_and_what_was_denied_had_none(
    tmp_path: Path, policy: str
) -> None:
    async with task_house_in(tmp_path, SCRIPT, permissions=policy) as house:
        run = await begin(house, task("Change the world."))
        await kill_in(house, run, 1)
        story = await house.ended(run)
    is_unsafe = policy == "approve-all"
    [crash] = crashes(story)
    assert is_unsafe == crash.endswith(
        " A retry is not safe: it had used bash, and may do so again."
    )
    ends = [(ended.outcome, ended.effects) for ended in story.only(MissionEnded)]
    assert ends == [("crashed", ("bash",) if is_unsafe else ()), ("done", None)]
