"""An entry that is installed here stays in use, whatever was heard of the one before it."""

import asyncio
from pathlib import Path

import pytest

from airboss.log.log import EventLog
from airboss.service.entries import Entries
from airboss.service.installed import Installed
from airboss.service.shared_entry import ENTRY, SharedEntry
from airboss.store.database import Database
from airboss.store.installed import InstalledStore
from airboss.store.ownership import Ownership
from tests.databases import on_postgres, register_alone
from tests.service.repo import Repo, named, task_of, used

WORKER = "wrk_1"


async def install(entries: Entries, file: Path, task: str) -> Installed:
    await asyncio.to_thread(file.write_text, named(task), encoding="utf-8")
    reading = await entries.files.read(file)
    assert reading.entry is not None, reading.trouble
    return await entries.install(reading, "api")


@on_postgres
async def test_what_was_read_before_another_entry_was_installed_does_not_take_its_place(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.write(lambda c: register_alone(c, WORKER, "plc_test", "test"))
    read, may = asyncio.Event(), asyncio.Event()
    digest = InstalledStore.digest

    async def late(store: InstalledStore) -> str | None:
        """Fault injection: the answer is on its way for long."""
        found = await digest(store)
        read.set()
        await may.wait()
        return found

    async with (
        Repo(tmp_path).served() as entries,
        EventLog(database, None, ownership=Ownership(WORKER)).running() as log,
    ):
        shared = SharedEntry(entries, InstalledStore(database, WORKER), log)
        await shared.start()
        try:
            await install(entries, tmp_path / "entry.json", "first")
            monkeypatch.setattr(InstalledStore, "digest", late)
            log.announce(ENTRY)
            await asyncio.wait_for(read.wait(), 30)
            installing = asyncio.get_running_loop().create_task(
                install(entries, tmp_path / "entry.json", "second")
            )
            await asyncio.wait({installing}, timeout=0.5)
            may.set()
            await asyncio.wait_for(installing, 30)
            for _ in range(2_000):
                assert task_of(await used(entries)) == "second"
                await asyncio.sleep(0)
        finally:
            await shared.close()
