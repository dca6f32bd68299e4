"""Refusals in the audit are few, however many come."""

from pathlib import Path

from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.model.audit_events import AUDIT, Actor, RequestRefused
from airboss.model.redaction import Redactor
from airboss.service.audit import Audit
from airboss.service.refused import MOST_KINDS, Refusals
from airboss.store.folder import DataFolder
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.token_changes import TokenChanges

SOMEBODY = Actor(address="192.0.2.7", via="api")


async def told_after(place: Path, asked: list[tuple[Actor, int, str]]) -> list[RequestRefused]:
    folder = DataFolder(place / "data")
    folder.create()
    database = SqliteDatabase(folder.database)
    await database.open()
    log = EventLog(database, Journal(folder.journal))
    async with log.running():
        audit = Audit(log, Redactor(()), TokenChanges(folder))
        await audit.open()
        refusals = Refusals(audit)
        for actor, status, code in asked:
            refusals.add(actor, status, code, "GET", "/api/v1/rules")
        refusals.tell_counted()
    found = [recorded.event for recorded in await log.newest(AUDIT, None, 1000)]
    await database.close()
    return [event for event in found[::-1] if isinstance(event, RequestRefused)]


async def test_a_flood_of_one_kind_is_two_events(tmp_path: Path) -> None:
    first, rest = await told_after(tmp_path, [(SOMEBODY, 401, "wrong_token")] * 10_000)
    assert (first.count, rest.count, first.by) == (1, 9_999, SOMEBODY)


async def test_a_flood_of_many_kinds_is_bounded_and_counted(tmp_path: Path) -> None:
    asked = [
        (Actor(address=f"192.0.2.{number % 250}", via="api"), 421, "unknown_host")
        for number in range(5_000)
    ]
    told = await told_after(tmp_path, asked)
    assert len(told) == 2 * MOST_KINDS + 1
    assert sum(event.count for event in told) == 5_000


async def test_what_is_refused_for_another_reason_is_no_matter_of_access(tmp_path: Path) -> None:
    assert await told_after(tmp_path, [(SOMEBODY, 404, "not_found"), (SOMEBODY, 413, "x")]) == []
