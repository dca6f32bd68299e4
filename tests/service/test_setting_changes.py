"""A setting that is changed while a server runs: in force when it says so, and after a restart."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from airboss.engine.slots import Slots
from airboss.errors import Conflict, Invalid, NotFound, TooMuch
from airboss.extension_settings import ExtensionSettings
from airboss.service.in_force import SettingsInForce
from airboss.service.retention import Retention, ended_in
from airboss.service.run_request import NewRun
from airboss.settings import Settings
from tests.contract.job_guest import ref
from tests.houses import on_a_file
from tests.service.errands import TaskHouse, task, task_house_in
from tests.service.house import house_in

SCRIPT = """
models: [{id: driver}, {id: coder}]
rules: [{steps: [{say: "One moment."}, {sleep: 60}]}]
"""


async def at_work(house: TaskHouse, count: int) -> None:
    async with asyncio.timeout(20):
        while house.sessions.open_count()[1] != count:  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(0.01)


async def waits_for_a_place(house: TaskHouse, run: str) -> None:
    async with asyncio.timeout(20):
        while "run.work.waiting" not in [  # noqa: ASYNC110 - nobody tells of it
            told.event.kind for told in await house.services.log.after(run, 0, 1000)
        ]:
            await asyncio.sleep(0.01)


async def test_more_tasks_work_as_soon_as_max_tasks_says_so(tmp_path: Path) -> None:
    async with task_house_in(tmp_path, SCRIPT) as house:
        await house.install({"hold": task("HOLD.")}, jobs={"hold": {"work": ref("hold")}})
        settings, runs = house.services.settings, house.services.runs
        await settings.change("max_tasks", 1, "me")
        first = await runs.start(NewRun("hold", "", str(house.work), "me"))
        await at_work(house, 1)
        second = await runs.start(NewRun("hold", "", str(house.work), "me"))
        await waits_for_a_place(house, second.id)
        changed = await settings.change("max_tasks", 2, "me")
        assert (changed.value, changed.source, changed.effect) == (2, "change", "at_once")
        await at_work(house, 2)
        for run in (first, second):
            await runs.stop(run.id, "me")


async def test_a_change_is_kept_over_a_restart_until_it_is_reset(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        settings = house.services.settings
        await settings.change("max_sessions", 1, "me")
        await house.start()
        with pytest.raises(TooMuch, match="limit of 1 open sessions"):
            await house.start()
        await settings.change("max_body_bytes", 5000, "me")
        waiting = settings.one("max_body_bytes")
        assert (waiting.value, waiting.in_use) == (5000, 4 * 1024 * 1024)
    async with house_in(tmp_path) as house:
        settings = house.services.settings
        assert settings.at_start.max_body_bytes == settings.one("max_body_bytes").in_use == 5000
        assert (house.sessions.max_sessions, settings.one("max_sessions").changed_by) == (1, "me")
        assert (await settings.reset("max_sessions", "me")).source == "default"
        assert house.sessions.max_sessions == 200
        assert (await settings.reset("max_sessions", "me")).value == 200, "twice is as good"


WRONG: tuple[tuple[str, Any, str], ...] = (
    ("max_tasks", 0, "max_tasks: Input should be greater than 0"),
    ("max_tasks", "many", "max_tasks: Input should be a valid integer"),
    ("max_sessions", None, "max_sessions: Input should be a valid integer"),
    ("keep_days", 1e300, "keep_days: Input should be less than or equal to 1000000"),
    ("keep_days", float("inf"), "keep_days: should be a number or a text"),
    ("loop_detection.warning", -1, "loop_detection.warning: Input should be a whole number"),
    ("loop_detection.enabled", "maybe", "loop_detection.enabled: Input should be a valid bool"),
    ("max_block_characters", 1, "max_block_characters: Input should be greater than or equal"),
)


async def test_a_wrong_value_is_refused_in_the_words_of_the_file(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        settings = house.services.settings
        before = settings.all()
        for name, value, words in WRONG:
            with pytest.raises(Invalid, match=words):
                await settings.change(name, value, "me")
        assert settings.all() == before


async def test_what_cannot_be_changed_says_why_and_what_to_do(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        settings = house.services.settings
        with pytest.raises(Conflict, match=r"--permissions sets it.*restart the server without"):
            await settings.change("permissions", "ask", "me")
        with pytest.raises(Conflict, match="The audit log cannot be changed by a request"):
            await settings.change("keep_audit_days", 1, "me")
        with pytest.raises(Conflict, match=r"who has access. Set it by --no-token, and restart"):
            await settings.change("no_token", True, "me")
        for name in ("nothing", "", "loop_detection"):
            with pytest.raises(NotFound):
                await settings.change(name, 1, "me")


@on_a_file
async def test_a_change_that_cannot_be_used_any_more_keeps_nobody_from_starting(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path) as house:
        await house.services.settings.change("max_sessions", 9, "me")
        await house.services.settings.change("quiet_seconds", 9, "me")
    with closing(sqlite3.connect(tmp_path / "data" / "airboss.sqlite")) as database:
        database.execute("UPDATE settings SET value = '-3' WHERE name = 'quiet_seconds'")
        database.execute("INSERT INTO settings VALUES ('of_tomorrow', '1', 'me', 1)")
        database.commit()
    async with house_in(tmp_path) as house:
        settings = house.services.settings
        assert house.sessions.max_sessions == 9, "the others hold"
        quiet = settings.one("quiet_seconds")
        assert (quiet.value, quiet.source) == (60, "default")
        assert quiet.problem == "quiet_seconds: Input should be greater than 0"
        await settings.reset("quiet_seconds", "me")
        assert settings.one("quiet_seconds").problem is None


async def test_each_part_hears_what_it_works_by(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        services, slots = house.services, Slots(1)
        retention = Retention(services.log, services.runs, ended_in(services.runs.index.database))
        shelf = services.extensions.shelf
        in_force = SettingsInForce(house.sessions, slots, 7, retention, shelf)
        in_force.take(Settings(keep_megabytes=3, keep_days=4, quiet_seconds=8))
        assert (retention.keep_bytes, retention.keep_days) == (3 * 1024 * 1024, 4)
        assert (slots.count, house.sessions.quiet_seconds) == (7, 8)
        in_force.take(Settings(max_tasks=2, extensions=ExtensionSettings(enabled=False)))
        assert shelf.settings.enabled is False
        assert (slots.count, retention.keep_bytes, retention.keep_days) == (2, None, None)
