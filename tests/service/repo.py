"""A repository with an entry, and servers' services that use it one after another."""

import contextlib
import json
from collections.abc import AsyncGenerator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airboss.model.redaction import Redactor
from airboss.service.entries import Entries
from airboss.service.entry_files import EntryFiles
from airboss.service.folders import Folders
from airboss.service.installed import Installed
from airboss.service.trust import Trust
from airboss.settings import Settings
from airboss.store.entries import EntryStore, TrustRow, TrustStore
from airboss.store.sqlite_database import SqliteDatabase

ENTRY: dict[str, Any] = {
    "models": {"driving": "m", "coding": "n"},
    "promptVariables": {"rules": ["Be brief."]},
    "tasks": {
        "build": {
            "model": {"category": "coding"},
            "prompt": ["", "Build $user-input.", "$rules"],
            "requireUserInput": True,
            "criteria": {
                "toolExecuted": ["job_boolean_true"],
                "failureAction": {"retryTimes": 2},
            },
        }
    },
    "jobs": {"all": {"work": {"kind": "Ref", "taskId": "build"}, "limits": {"minutes": 5}}},
    "grid": [{"keyword": "make", "jobs": [{"name": "All", "jobName": "all"}, None]}],
}
PROGRAM = f"from airboss.entry.build import ref\nentry = {ENTRY!r}\n"
ME = "me"


async def trusted(entries: Entries, path: str) -> list[TrustRow]:
    """As it is at this moment."""
    return await entries.trust(path, (await entries.look(path)).digest, ME)


def named(task: str, **more: Any) -> str:
    """An entry with one task of this name."""
    made = deepcopy(ENTRY)
    made["tasks"] = {task: made["tasks"]["build"]}
    made["jobs"]["all"]["work"]["taskId"] = task
    return json.dumps({**made, **more})


@dataclass
class Repo:
    """A repository and a data folder; several servers after another may have them."""

    folder: Path
    busy: bool = False
    secrets: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def root(self) -> Path:
        return self.folder / "repo"

    def write(self, text: str, name: str = "airboss.yaml") -> Path:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    @contextlib.asynccontextmanager
    async def served(self, **settings: Any) -> AsyncGenerator[Entries]:
        self.root.mkdir(exist_ok=True)
        database = SqliteDatabase(self.folder / "airboss.sqlite")
        await database.open()
        entries = Entries(
            settings=Settings(data=self.folder / "data", **{**self.settings, **settings}),
            folders=Folders(self.root, (self.root,)),
            store=EntryStore(database),
            files=EntryFiles(Trust(TrustStore(database)), Redactor(self.secrets)),
            is_busy=lambda: self.busy,
            is_busy_for_install=lambda: self.busy,
            look_seconds=0.0,
            patience_seconds=50,  # a program is read by an interpreter of its own
        )
        try:
            await entries.start()
            yield entries
        finally:
            await entries.close()
            await database.close()


async def used(entries: Entries) -> Installed:
    found = await entries.current()
    assert found is not None
    return found


def task_of(installed: Installed) -> str:
    return next(iter(installed.entry.tasks))
