"""What is one machine's own on a database that several share: none reads another's."""

import pytest

from airboss.store.bindings import BindingRow, BindingStore
from airboss.store.database import Database
from airboss.store.entries import EntryStore, LastGood, TrustRow, TrustStore
from airboss.store.extensions import DisabledExtensions
from tests.databases import on_postgres

HERE, THERE = "own_1", "own_2"
pytestmark = on_postgres


async def test_each_machine_trusts_files_of_its_own(database: Database) -> None:
    here, there = TrustStore(database, HERE), TrustStore(database, THERE)
    await here.add([TrustRow("/srv/entry.py", "file", "a" * 64, "me", 1)])
    assert await there.all() == []
    assert await there.digest_of("/srv/entry.py") is None
    await there.add([TrustRow("/srv/entry.py", "file", "b" * 64, "you", 2)])
    assert await here.digest_of("/srv/entry.py") == "a" * 64
    await there.remove(["/srv/entry.py"])
    assert [row.who for row in await here.all()] == ["me"]
    assert await there.all() == []


async def test_each_machine_has_extensions_of_its_own(database: Database) -> None:
    here, there = TrustStore(database, HERE), TrustStore(database, THERE)
    await here.add([TrustRow("/srv/ext", "extension", "a" * 64, "me", 1)])
    assert await here.extensions() == {"/srv/ext": "a" * 64}
    assert await there.extensions() == {}
    off, on = DisabledExtensions(database, HERE), DisabledExtensions(database, THERE)
    for _ in range(2):
        await off.add("/srv/ext", "me", 1)
    assert (await off.all(), await on.all()) == ({"/srv/ext"}, frozenset())
    await on.remove("/srv/ext")
    assert await off.all() == {"/srv/ext"}


async def test_each_machine_remembers_the_last_good_entry_of_its_own_file(
    database: Database,
) -> None:
    here, there = EntryStore(database, HERE), EntryStore(database, THERE)
    await here.remember("/srv/entry.py", LastGood("a" * 64, "f" * 64, 1))
    assert await there.last_good("/srv/entry.py") is None
    await there.remember("/srv/entry.py", LastGood("b" * 64, "e" * 64, 2))
    await there.forget(["/srv/entry.py"])
    assert await here.last_good("/srv/entry.py") == LastGood("a" * 64, "f" * 64, 1)


@pytest.mark.parametrize("number", [1, 0])
async def test_a_session_is_known_to_be_bound_on_another_machine(
    database: Database, number: int
) -> None:
    here, there = BindingStore(database, HERE), BindingStore(database, THERE)
    await here.keep(BindingRow("ses_1", number, "ses_1", "rehearsal", {"cwd": "/srv"}))
    mine, theirs = await here.find("ses_1", number), await there.find("ses_1", number)
    assert mine
    assert theirs
    assert (mine.is_elsewhere, theirs.is_elsewhere) == (False, True)
    # A fork that is being made has number 0, and is nobody's to resume.
    assert await there.place_of("ses_1") == (HERE if number else None)
    assert await there.half_forks() == await there.newest() == []
    assert await here.half_forks() == ([] if number else ["ses_1"])
