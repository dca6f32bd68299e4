"""Entries are read within bounds, and the event loop does not notice."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from airboss.entry import apart
from airboss.entry.apart import SMALL_BYTES, ReadingBounds
from airboss.entry.load import check_text
from airboss.entry.violations import EntryUnparsed
from airboss.service.entry_reader import EntryReader
from airboss.service.installed import Installed, digest_of_entry
from airboss.settings import Settings
from tests.entry.test_large import large
from tests.heap import settle
from tests.service.repo import PROGRAM, Repo, named, trusted, used

HELD_SECONDS = 0.1


def many_keys(count: int) -> bytes:
    return "".join(f"k{number}: 1\n" for number in range(count)).encode()


def laughs() -> bytes:
    """Short, and every line ten times as large as the one before."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    return "\n".join(lines).encode()


def merges() -> bytes:
    """Short, and every line brings three thousand fields."""
    fields = ", ".join(f"k{number}: 1" for number in range(3000))
    return "\n".join([f"b: &b {{{fields}}}", "l:", *["- {<<: *b}"] * 2000]).encode()


@asynccontextmanager
async def ticking() -> AsyncGenerator[list[float]]:
    """How long this process worked each time while its event loop did not turn: what neighbours
    take from both does not count."""
    held: list[float] = []
    settle()

    async def tick() -> None:
        while True:
            began = time.process_time()
            await asyncio.sleep(0.005)
            held.append(time.process_time() - began)

    ticker = asyncio.create_task(tick())
    try:
        yield held
    finally:
        ticker.cancel()
        await asyncio.wait({ticker})


def processes() -> list[int]:
    found = psutil.Process().children()
    return [one.pid for one in found if "airboss.entry.apart" in " ".join(one.cmdline())]


async def test_what_a_large_entry_gives_is_what_a_small_one_would() -> None:
    text = json.dumps(large(300))
    assert len(text) > 2 * SMALL_BYTES
    found = await EntryReader().find(text.encode(), "json")
    assert found.entry == check_text(text, "json").entry
    wrong = json.dumps({**large(300), "models": {}})
    found = await EntryReader().find(wrong.encode(), "json")
    checked = check_text(wrong, "json")
    assert (found.entry, found.mistakes) == (None, len(checked.violations))
    assert found.first == str(checked.violations[0]) == "entry.models.driving: Should exist."
    told = [(one.where, one.reason, one.line, one.column) for one in found.violations]
    assert (told[0][2], len(told)) == (1, found.mistakes)


async def test_a_large_and_wrong_entry_holds_nobody_up() -> None:
    async with ticking() as held:
        found = await EntryReader().find(many_keys(80_000), "yaml")
    assert found.mistakes > 80_000
    assert len(found.violations) == 1000
    assert max(held) < HELD_SECONDS


async def test_a_large_entry_is_taken_up_and_nobody_is_held_up(tmp_path: Path) -> None:
    repo = Repo(tmp_path, secrets=("a secret of ours",))
    data = large(3000)
    data["promptVariables"]["rules"] = ["this is a secret of ours"]
    async with repo.served() as entries:
        repo.write(json.dumps(data), "airboss.json")
        async with ticking() as held, asyncio.timeout(50):
            while (await used(entries)).source != "file":  # noqa: ASYNC110 - it looks for itself
                await asyncio.sleep(0.1)
        assert max(held) < HELD_SECONDS
        assert "a secret" not in (await used(entries)).body


async def test_what_takes_too_long_or_too_much_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = many_keys(150_000)
    monkeypatch.setattr(apart, "ORDINARY", ReadingBounds(1, 2048))
    with pytest.raises(EntryUnparsed, match="Takes more than 1 seconds to be read"):
        await EntryReader().find(text, "yaml")
    monkeypatch.setattr(apart, "ORDINARY", ReadingBounds(60, 120))
    with pytest.raises(EntryUnparsed, match="Needs more than 120 MiB of memory to be read"):
        await EntryReader().find(text, "yaml")
    assert processes() == []


@pytest.mark.parametrize("text", [laughs(), merges()], ids=["aliases", "merges"])
async def test_a_small_text_that_grows_is_read_elsewhere_and_refused(text: bytes) -> None:
    assert len(text) <= SMALL_BYTES
    before = psutil.Process().memory_info().rss
    found = await EntryReader().find(text, "yaml")
    assert [str(told) for told in found.violations] == ["entry: Has more than 2,000,000 parts."]
    assert psutil.Process().memory_info().rss - before < 100 * 1024 * 1024


async def test_a_small_text_with_long_prompts_is_read_elsewhere() -> None:
    """Ten variables of ten variables: one prompt of a million characters, in a few lines."""
    data = json.loads(named("long"))
    data["promptVariables"] |= {
        "rules": ["x" * 100],
        "ten": ["$rules" * 10],
        "hundred": ["$ten" * 10],
        "thousand": ["$hundred" * 9],
    }
    task = data["tasks"]["long"]
    task["prompt"] = ["$user-input $thousand"]
    data["tasks"] |= {f"long-{'x' * number}": task for number in range(20)}
    text = json.dumps(data)
    found = await EntryReader().find(text.encode(), "json")
    assert found.entry == check_text(text, "json").entry


async def test_nothing_goes_on_when_nobody_waits_any_more() -> None:
    reading = asyncio.create_task(EntryReader().find(many_keys(400_000), "yaml"))
    async with asyncio.timeout(20):
        while not processes():  # noqa: ASYNC110 - the system has no event for it
            await asyncio.sleep(0.02)
    reading.cancel()
    await asyncio.wait({reading})
    assert processes() == []


async def test_what_was_stored_is_read_however_large_it_is(tmp_path: Path) -> None:
    entry = check_text(named("stored"), "json").entry
    assert entry is not None
    task = entry.tasks["stored"]
    long = task.model_copy(update={"prompt": ("x" * 900_000,)})
    entry = entry.model_copy(
        update={"tasks": {**entry.tasks, **{f"t{n}": long for n in range(10)}}}
    )
    stored = Installed(entry, digest_of_entry(entry), "file", Settings(), 0)
    assert len(stored.body) > 9_000_000
    repo = Repo(tmp_path)
    async with repo.served() as entries:
        await entries.keep(stored)
    async with repo.served() as entries:
        assert await entries.by_digest(stored.digest) == entry


async def test_what_was_stored_is_read_once_while_it_is_asked_for() -> None:
    reader = EntryReader()
    bodies = [named(name) for name in ("first", "second", "third")]
    entry = await reader.stored(bodies[0])
    assert list(entry.tasks) == ["first"]
    for body in (bodies[1], bodies[0], bodies[2]):
        await reader.stored(body)
    assert await reader.stored(bodies[0]) is entry
    for body in bodies[1:]:
        await reader.stored(body)
    assert await reader.stored(bodies[0]) is not entry


async def test_a_file_and_a_program_may_give_8_mib_and_no_more(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    async with repo.served() as entries:
        repo.write("# " + "x" * (8 * 1024 * 1024) + "\n" + named("large"))
        found = await used(entries)
        assert found.problem is not None
        assert "airboss.yaml: is larger than 8 MiB, and an entry is not. Split it" in found.problem
        (repo.root / "airboss.yaml").unlink()
        program = f"{PROGRAM}\nentry['promptVariables']['more'] = ['x' * 9_000_000]\n"
        file = repo.write(program, "airboss.py")
        await trusted(entries, str(file))
        found = await used(entries)
        assert found.problem is not None
        assert "The program's entry is larger than 8 MiB." in found.problem
