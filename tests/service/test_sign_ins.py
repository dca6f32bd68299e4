"""Sign-ins: two parts, thirty days, as long as their token, and nothing on disk that gets in."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airboss.errors import NotFound, StoreUnavailable
from airboss.service.access import Access
from airboss.service.sign_ins import MOST_OF_ONE_NAME, SIGN_IN_SECONDS, Begun, SignIns
from airboss.store.database import Database
from airboss.store.folder import DataFolder, write_private
from airboss.store.sign_ins import SignInStore
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.tokens import NamedTokens, new_token


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class House:
    folder: DataFolder
    database: Database
    access: Access
    sign_ins: SignIns
    clock: Clock

    async def begin(self, name: str = "owner") -> Begun:
        self.access.refresh()
        return await self.sign_ins.begin(name, "127.0.0.1", "Firefox on Linux")

    def who(self, begun: Begun) -> str | None:
        found = self.sign_ins.recognise([begun.cookie], [begun.key])
        return found.name if found else None

    async def restarted(self, given: str | None = None) -> SignIns:
        await self.sign_ins.close()
        access = Access(self.folder, given, self.clock)
        self.sign_ins = SignIns(self.sign_ins.store, access, self.clock)
        await self.sign_ins.load()
        return self.sign_ins


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    database = SqliteDatabase(folder.database)
    await database.open()
    clock = Clock()
    access = Access(folder, clock=clock)
    sign_ins = SignIns(SignInStore(database), access, clock)
    await sign_ins.load()
    yield House(folder, database, access, sign_ins, clock)
    await sign_ins.close()
    await database.close()


async def test_both_parts_of_one_sign_in_are_needed(house: House) -> None:
    one, two = await house.begin(), await house.begin()
    recognise = house.sign_ins.recognise
    found = recognise(["x", one.cookie], ["y", one.key])
    assert found is not None
    assert found.id == one.sign_in.id
    for cookies, keys in (
        ([one.cookie], []),
        ([], [one.key]),
        ([one.cookie], [two.key]),
        ([one.key], [one.cookie]),
        ([one.cookie], [one.cookie]),
        ([one.cookie + "a"], [one.key]),
        ([one.cookie], [one.key[:-1]]),
        ([""], [""]),
    ):
        assert recognise(cookies, keys) is None


async def test_nothing_made_up_gets_in(house: House) -> None:
    begun = await house.begin()
    letters = st.text(st.characters(max_codepoint=255), max_size=80)

    @given(letters, letters)
    def nobody(cookie: str, key: str) -> None:
        assert house.sign_ins.recognise([cookie], [key]) is None
        assert house.sign_ins.recognise([begun.cookie], [key]) is None
        assert house.sign_ins.recognise([cookie], [begun.key]) is None

    nobody()


async def test_no_file_of_the_data_folder_holds_a_part(house: House) -> None:
    begun = await house.begin()
    await house.sign_ins.close()
    files = [file for file in house.folder.path.rglob("*") if file.is_file()]
    assert house.folder.database in files
    for file in files:
        held = file.read_bytes()
        assert begun.cookie.encode() not in held, file
        assert begun.key.encode() not in held, file


async def test_what_the_files_hold_makes_no_sign_in(house: House) -> None:
    """Whoever read the tokens and the table has only hashes, and a hash is no part."""
    NamedTokens(house.folder).add("ann")
    await house.begin("ann")
    [kept] = await house.sign_ins.store.all()
    known = NamedTokens(house.folder).read()["ann"].sha256
    shown = (kept.cookie, kept.key, kept.token, kept.id, known)
    for cookie in shown:
        for key in shown:
            assert house.sign_ins.recognise([cookie], [key]) is None


async def test_a_sign_in_lasts_thirty_days_and_is_deleted_then(house: House) -> None:
    begun = await house.begin()
    house.clock.now += SIGN_IN_SECONDS - 1
    assert house.who(begun) == "owner"
    house.clock.now += 1
    assert house.who(begun) is None
    assert not house.sign_ins.is_open(begun.sign_in)
    assert house.sign_ins.seen_by("owner") == []
    await house.begin()
    assert len(await house.sign_ins.store.all()) == 1
    house.clock.now += SIGN_IN_SECONDS
    await house.restarted()
    assert await house.sign_ins.store.all() == []


async def test_a_sign_in_outlives_the_server(house: House) -> None:
    begun = await house.begin()
    await house.restarted()
    assert house.who(begun) == "owner"
    assert house.sign_ins.seen_by("owner") == [begun.sign_in]


async def test_what_was_ended_stays_ended_after_a_restart(house: House) -> None:
    begun = await house.begin()
    await house.sign_ins.end(begun.sign_in.id, "owner")
    assert (house.who(begun), house.sign_ins.is_open(begun.sign_in)) == (None, False)
    await house.restarted()
    assert house.who(begun) is None
    with pytest.raises(NotFound):
        await house.sign_ins.end(begun.sign_in.id, "owner")


async def test_what_the_disk_did_not_take_is_not_called_ended(house: House) -> None:
    begun = await house.begin()
    await house.database.close()
    with pytest.raises(StoreUnavailable):
        await house.sign_ins.end(begun.sign_in.id, "owner")
    assert house.who(begun) == "owner"


async def test_a_sign_in_goes_with_its_token_and_does_not_come_back_with_its_name(
    house: House,
) -> None:
    tokens = NamedTokens(house.folder)
    tokens.add("ann")
    begun, mine = await house.begin("ann"), await house.begin()
    tokens.remove("ann")
    house.access.refresh()
    assert house.who(begun) is None  # before anything is written
    await house.sign_ins.settle()
    tokens.add("ann")
    house.access.refresh()
    await house.sign_ins.settle()
    assert (house.who(begun), house.who(mine)) == (None, "owner")
    assert [kept.name for kept in await house.sign_ins.store.all()] == ["owner"]


async def test_a_token_that_was_replaced_while_no_server_ran_ends_its_sign_ins(
    house: House,
) -> None:
    begun = await house.begin()
    await house.restarted(given="another-token-altogether")
    assert house.who(begun) is None
    await house.restarted()
    assert house.who(begun) is None


async def test_a_damaged_token_file_keeps_people_out_and_forgets_nobody(house: House) -> None:
    NamedTokens(house.folder).add("ann")
    begun = await house.begin("ann")
    whole = house.folder.named_tokens.read_text(encoding="utf-8")
    write_private(house.folder.named_tokens, "{")
    house.access.refresh()
    await house.sign_ins.settle()
    assert house.who(begun) is None
    write_private(house.folder.named_tokens, whole)
    house.access.refresh()
    await house.sign_ins.settle()
    assert house.who(begun) == "ann"


async def test_a_name_has_so_many_sign_ins_and_the_one_unused_for_longest_goes(
    house: House,
) -> None:
    NamedTokens(house.folder).add("guest")
    mine, first, second = (
        await house.begin(),
        await house.begin("guest"),
        await house.begin("guest"),
    )
    house.clock.now += 100
    assert house.who(first) == "guest"
    for _ in range(MOST_OF_ONE_NAME - 1):
        house.clock.now += 1
        await house.begin("guest")
    assert (house.who(mine), house.who(first), house.who(second)) == ("owner", "guest", None)
    assert len(await house.sign_ins.store.all()) == MOST_OF_ONE_NAME + 1


async def test_use_is_written_once_a_minute_and_at_the_end(house: House) -> None:
    begun = await house.begin()
    began = begun.sign_in.used_at

    async def written() -> int:
        [kept] = await house.sign_ins.store.all()
        return kept.used_at - began

    house.clock.now += 59
    house.who(begun)
    house.clock.now += 1
    house.who(begun)
    house.clock.now += 30
    house.who(begun)
    await house.sign_ins.close()
    assert await written() == 60_000
    [shown] = house.sign_ins.seen_by("owner")
    assert shown.used_at - began == 60_000


async def test_nobody_without_a_token_is_signed_in(house: House) -> None:
    with pytest.raises(NotFound):
        await house.sign_ins.begin("nobody", "127.0.0.1", "")
    assert house.sign_ins.recognise([new_token()], [new_token()]) is None
