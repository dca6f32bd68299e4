"""The faults of many machines, one by one: what people see, and how long it takes, against what is
promised with a lease of 20 s. `python -m tests.crash.faults` writes its part of bench/CHAOS.md."""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx2

from airboss.machines.heart import LOST
from tests.crash.chaos_house import House, Seat, house_in
from tests.crash.chaos_page import part_of, rewritten
from tests.crash.marks import left_of
from tests.machines.story import ENTRY, SCRIPT
from tests.nursery import close_the_nursery
from tests.postgres import running_postgres

LEASE: Final = 20.0
TABLE: Final = Path(__file__).parents[2] / "bench" / "CHAOS.md"
_STUCK_SECONDS: Final = 90.0
# Before the first row.
_HEAD_LINES: Final = 6
# Of a restart that takes this much longer than somebody waits in it.
_RESTART_SECONDS: Final = 0.4
_NAMES: Final = ("portal-1", "portal-2", "worker-1")
_SENT: Final = """
SELECT min(true_at) FROM events
WHERE kind = 'task.mission.sent' AND true_at >= %s AND told_by <> %s
"""
_OWNER: Final = "SELECT owner FROM streams WHERE stream = %s"
_STATE: Final = "SELECT state FROM views WHERE stream = %s"
_KINDS: Final = "SELECT count(*) FROM events WHERE stream = %s AND kind = %s"
_BEHIND: Final = """
SELECT count(*) FROM events WHERE told_by = %s AND stream NOT IN ('inbox', 'audit')
AND true_at > (SELECT min(true_at) FROM events WHERE stream = %s AND kind = 'run.moved')
"""
# Calls are swallowed: whoever looks for this function finds ours first.
_NO_NOTICES: Final = """
CREATE FUNCTION airboss.pg_notify(text, text) RETURNS void LANGUAGE sql AS 'SELECT'
"""


class Line(NamedTuple):
    """One of the table. `took` is in seconds, against a bound."""

    fault: str
    seen: str
    bound: str
    measured: str
    holds: bool
    # Of the machine.
    load: float = 0


Measure = Callable[[House], Awaitable[list[Line]]]


class Case(NamedTuple):
    name: str
    measure: Measure
    # Beside the story's job; where something stands between the machines.
    options: str = ""


async def until(holds: Callable[[], Awaitable[object]], seconds: float = _STUCK_SECONDS) -> float:
    """How long it took."""
    began = time.monotonic()
    async with asyncio.timeout(seconds):
        while True:
            if await holds():
                break
            await asyncio.sleep(0.02)
    return time.monotonic() - began


class Story:
    """A run on the first portal, whose second task ticks until it is cut off."""

    def __init__(self, house: House, run: str) -> None:
        self.house = house
        self.run = run
        self.first: Seat = house.seats["portal-1"]
        self.life = self.first.life

    @classmethod
    async def begun(cls, house: House) -> "Story":
        asked = {"job": "story", "cwd": str(house.shared)}
        async with house.portals[0].client() as client:
            answer = await client.post("/api/v1/runs", json=asked)
        assert answer.is_success, answer.text
        story = cls(house, str(answer.json()["id"]))
        await until(story.ticks)
        return story

    async def ticks(self) -> int:
        file = self.house.shared / "ticks.txt"
        return file.stat().st_size if file.exists() else 0

    async def no_agents(self) -> bool:
        return not await asyncio.to_thread(left_of, self.first.portal)

    async def sent_elsewhere(self, since_ms: int) -> float:
        """From then to the first mission that another one sent, by the database's clock."""
        at: list[Any] = []

        async def found() -> bool:
            at[:] = (await self.house.rows(_SENT, since_ms, self.life))[0]
            return at[0] is not None

        await until(found)
        return (at[0] - since_ms) / 1000

    async def state(self) -> str:
        return (await self.house.rows(_STATE, self.run))[0][0]

    async def ended(self) -> str:
        async def is_over() -> bool:
            return await self.state() in ("succeeded", "failed", "canceled")

        await until(is_over)
        return await self.state()

    async def count(self, kind: str) -> int:
        return (await self.house.rows(_KINDS, self.run, kind))[0][0]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def line(fault: str, seen: str, bound: float, took: float, more: str = "") -> Line:
    measured = f"{took:.2f} s{more and f'; {more}'}"
    return Line(fault, seen, f"≤ {bound:g} s", measured, took <= bound)


async def killed(house: House) -> list[Line]:
    story = await Story.begun(house)
    began = now_ms()
    await house.kill(story.first, _STUCK_SECONDS)
    gone = await until(story.no_agents)
    on = await story.sent_elsewhere(began)
    state = await story.ended()
    fault = "worker `kill -9`"
    return [
        line(fault, "its agents are gone", 0.1, gone),
        line(fault, f"its run goes on elsewhere, and {state}", 5, on),
    ]


async def cut_off(house: House) -> list[Line]:
    story = await Story.begun(house)
    began = now_ms()
    story.first.line.swallow()
    story.first.pause = _STUCK_SECONDS
    gone = await until(story.no_agents)
    on = await story.sent_elsewhere(began)
    state = await story.ended()
    fault = "machine cut off"
    return [
        line(fault, "its agents are gone", 0.6 * LEASE, gone),
        line(fault, f"its run goes on elsewhere, and {state}", LEASE + 5, on),
    ]


async def stopped(house: House) -> list[Line]:
    story = await Story.begun(house)
    began = now_ms()
    stop = asyncio.create_task(house.stop(story.first, LEASE + 12))
    gone = await until(story.no_agents)
    on = await story.sent_elsewhere(began)
    await stop
    woken = time.monotonic()

    async def exited() -> bool:
        return bool(story.first.ends)

    await until(exited)
    code, took = story.first.ends[-1], time.monotonic() - woken
    state = await story.ended()
    late = (await house.rows(_BEHIND, story.life, story.run))[0][0]
    fault = "SIGSTOP"
    awake = line(fault, f"awake, it exits with {code}", 2, took, f"{late} events behind the move")
    return [
        line(fault, "its agents are gone", 0.6 * LEASE, gone),
        line(fault, f"its run goes on elsewhere, and {state}", LEASE + 5, on),
        awake._replace(holds=awake.holds and code == LOST and late == 0),
    ]


async def portal_dies(house: House) -> list[Line]:
    """Seen by somebody who follows the run, and comes back with the last seq."""
    story = await Story.begun(house)
    portal = house.seats["portal-2"]
    before = portal.lives
    path = f"/api/v1/runs/{story.run}/events?after=1"
    # Its address stays, as a page has it.
    async with portal.portal.client() as client:

        async def follows() -> bool:
            try:
                answer = await client.get(path)
            except httpx2.HTTPError:
                return False
            return portal.lives > before and answer.is_success and answer.json()["items"] != []

        await house.kill(portal, 0.1)
        took = await until(follows)
    return [line("portal dies", "the page reconnects from its seq", 2, took)]


async def portal_cut_off(house: House) -> list[Line]:
    story = await Story.begun(house)
    portal = house.seats["portal-2"]
    async with portal.portal.client() as client:
        await client.get(f"/api/v1/runs/{story.run}")
        portal.line.swallow()
        began = time.monotonic()
        answer = await client.get(f"/api/v1/runs/{story.run}")
        took = time.monotonic() - began
    portal.line.heal()
    seen = f"{answer.status_code}: {answer.json().get('detail', '')[:60]}"
    good = answer.status_code == 503
    told = line("portal cut off", "503 for who asks", 5, took)
    return [told] if good else [told._replace(measured=f"{told.measured}; {seen}", holds=False)]


async def database_restarts(house: House) -> list[Line]:
    return [await _restarted(house, 5)]


async def database_restarts_slowly(house: House) -> list[Line]:
    """As long as half a lease, its start and its end included."""
    return [await _restarted(house, LEASE / 2)]


async def _restarted(house: House, away: float) -> Line:
    story = await Story.begun(house)
    before = await story.ticks()
    began = time.monotonic()
    await house.restart_postgres("immediate", away - _RESTART_SECONDS)
    back = time.monotonic()
    async with house.portals[1].client() as client:

        async def answers() -> bool:
            try:
                return (await client.get(f"/api/v1/runs/{story.run}")).is_success
            except httpx2.HTTPError:
                return False

        await until(answers)
    took = time.monotonic() - back
    # Whoever would end itself for this has done so by then.
    await asyncio.sleep(0.2 * LEASE)
    again = await story.count("run.moved")
    grew = await story.ticks() > before
    lives = sum(seat.lives - 1 for seat in house.seats.values())
    words = f"away for {back - began:.1f} s; {again} runs moved, {lives} machines exited"
    told = line(f"PostgreSQL away for {away:g} s", "portals answer again", 1, took, words)
    return told._replace(holds=told.holds and again == 0 and lives == 0 and grew)


async def database_away_for_long(house: House) -> list[Line]:
    story = await Story.begun(house)
    await house.restart_postgres("fast", 0.6 * LEASE + 5)
    began = time.monotonic()
    state = await story.ended()
    took = time.monotonic() - began
    codes = sorted({code for seat in house.seats.values() for code in seat.ends})
    words = f"the run {state}, exits with {codes}"
    told = line("PostgreSQL away for 17 s", "machines exit and come back", 30, took, words)
    return [told._replace(bound="no run fails", holds=state == "succeeded")]


async def notice_lost(house: House) -> list[Line]:
    """Somebody follows at the other portal, and no notice comes by."""
    story = await Story.begun(house)
    async with house.portals[1].client() as client, asyncio.timeout(_STUCK_SECONDS):
        path = f"/api/v1/runs/{story.run}/stream"
        async with client.stream("GET", path) as told:
            lines = told.aiter_lines()
            async for one in lines:
                if "run.work.started" in one and '"1"' not in one:
                    break
            async with house.portals[0].client() as first:
                answer = await first.patch(f"/api/v1/runs/{story.run}", json={"title": "Renamed"})
                assert answer.is_success, answer.text
            began = time.monotonic()
            async for one in lines:
                if "run.renamed" in one:
                    break
            took = time.monotonic() - began
    return [line("notice lost", "it is shown a little later", 1, took)]


async def clock_jumps(house: House) -> list[Line]:
    story = await Story.begun(house)
    story.first.set_clock(3600)
    await asyncio.sleep(LEASE / 10 + 1)
    await house.kill(house.seats["worker-1"], 0.1)
    async with house.portals[0].client() as client:
        answer = await client.patch(f"/api/v1/runs/{story.run}", json={"title": "Renamed"})
        assert answer.is_success, answer.text
    asked = "SELECT at - true_at FROM events WHERE stream = %s AND kind = 'run.renamed'"
    off = (await house.rows(asked, story.run))[0][0] / 1000
    shown = await house.rows("SELECT offset_ms FROM workers WHERE name = 'portal-1'")
    words = f"`at` is off by {off:.1f} s; the table of machines says {shown[0][0] / 1000:+.0f} s"
    state = await story.state()
    seen = f"its run is {state}"
    return [Line("clock jumps by 1 h", seen, "`at` corrected", words, abs(off) < 1)]


async def no_folder(house: House) -> list[Line]:
    """A run in a folder of one machine, which is gone then."""
    own = house.portals[0].work
    asked = {"job": "story", "cwd": str(own)}
    async with house.portals[0].client() as client:
        answer = await client.post("/api/v1/runs", json=asked)
        assert answer.is_success, answer.text
    run = str(answer.json()["id"])

    async def at_work() -> bool:
        return (own / "ticks.txt").exists()

    await until(at_work)
    await house.kill(house.seats["portal-1"], 12)

    async def is_free() -> bool:
        return (await house.rows(_OWNER, run))[0][0] is None

    await until(is_free)
    async with house.portals[1].client() as client:

        async def says() -> bool:
            view = (await client.get(f"/api/v1/runs/{run}")).json()
            return view.get("held_for") == "portal-1"

        took = await until(says, 8)
        refused = await client.post("/api/v1/runs", json=asked)
    words = f"another server refuses a new one with {refused.status_code}"
    told = line("nobody has the folder", "the run says whom it waits for", 1, took, words)
    return [told._replace(holds=told.holds and refused.status_code == 422)]


CASES: Final = (
    Case("killed", killed),
    Case("cut_off", cut_off),
    Case("stopped", stopped),
    Case("portal_dies", portal_dies),
    Case("portal_cut_off", portal_cut_off),
    Case("database_restarts", database_restarts),
    Case("database_restarts_slowly", database_restarts_slowly),
    Case("database_away_for_long", database_away_for_long),
    Case("notice_lost", notice_lost, "-c search_path=airboss,pg_catalog"),
    Case("clock_jumps", clock_jumps),
    Case("no_folder", no_folder),
)


async def measure_all(root: Path, names: list[str], times: int) -> list[Line]:
    found: list[Line] = []
    with running_postgres() as postgres:
        for number in range(times):
            for case in CASES:
                if names and case.name not in names:
                    continue
                opened = house_in(
                    *(root / f"{case.name}-{number}", postgres, ENTRY, SCRIPT, LEASE),
                    names=_NAMES,
                    options=case.options,
                )
                async with opened as house:
                    if case.options:
                        postgres.execute(_NO_NOTICES, house.database)
                    try:
                        lines = await case.measure(house)
                    except (TimeoutError, AssertionError, httpx2.HTTPError) as error:
                        lines = [Line(case.name, "", "", f"broke off: {error!r:.200}", holds=False)]
                for one in lines:
                    sys.stdout.write(
                        f"{'holds' if one.holds else 'OVER '}  {' | '.join(one[:4])}\n"
                    )
                    sys.stdout.flush()
                found += [one._replace(load=os.getloadavg()[0]) for one in lines]
    return found


def page_of(lines: list[Line], before: str = "", again: Collection[str] = ()) -> str:
    """With the rows `before` of all other faults. Of a case that is measured `again` nothing stays,
    also where it broke off."""
    found: dict[str, list[str]] = {}
    for one in lines:
        cells = (one.fault, one.seen, one.bound, one.measured, f"{one.load:.0f}")
        found.setdefault(one.fault, []).append(f"| {' | '.join(cells)} |")
    gone = {*found, *again}
    rows: list[str] = []
    for row in before.splitlines()[_HEAD_LINES:]:
        fault = row.removeprefix("| ").partition(" | ")[0]
        rows += found.pop(fault, []) if fault in gone else [row]
    rows += [row for some in found.values() for row in some]
    return "\n".join(
        [
            "Written by `python -m tests.crash.faults`: each fault alone, on two portals and one",
            f"worker with a lease of {LEASE:g} s, on {os.cpu_count()} cores; with the load of the",
            "minute.",
            "",
            "| fault | people see | bound | measured | load |",
            "| --- | --- | --- | --- | --- |",
            *rows,
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of these faults only")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--no-table", action="store_true", help="do not write bench/CHAOS.md")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="faults-") as made:
            lines = asyncio.run(measure_all(Path(made), asked.names, asked.times))
    finally:
        close_the_nursery()
    if not asked.no_table:
        page = TABLE.read_text("utf-8")
        before = part_of(page, "faults") if asked.names else ""
        part = page_of(lines, before, asked.names)
        TABLE.write_text(rewritten(page, "faults", part), encoding="utf-8")
    return int(not all(one.holds for one in lines))


if __name__ == "__main__":
    sys.exit(main())
