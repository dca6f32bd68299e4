"""A house of machines for the chaos trial: workers and portals on one PostgreSQL, each behind a
line of its own and with a clock of its own; and all that can be done to them.

Somebody starts again what exits, as systemd does.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

import psycopg

from airboss.engine.shared_schema import migrate_engine
from tests.cut_line import CutLine, cut_line_to
from tests.databases import with_tables
from tests.nursery import CLOCK_VARIABLE, Streams
from tests.portal import Portal, Process
from tests.postgres import Mode, Postgres

Json = dict[str, Any]
T = TypeVar("T")

PORTALS: Final = ("portal-1", "portal-2")
WORKERS: Final = ("worker-1", "worker-2", "worker-3")
READY: Final = "This worker is ready."
_START_SECONDS: Final = 60.0
_AGAIN_SECONDS: Final = 0.1
# Longer than any trial: one that has such a lease beats too seldom to hear soon that it is lost,
# and does not end itself.
DEAF: Final = 300.0
# What the table says of each event beside what Airboss does: when it was written by the database's
# clock, and by which life of which process.
_WITNESS: Final = """
ALTER TABLE airboss.events
  ADD COLUMN true_at bigint DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
  ADD COLUMN told_by text DEFAULT current_setting('application_name')
"""
# Everything passes: who is lost writes on, also in what is another's by now. A lease of one's own
# is told to nobody: whoever watches goes by the one that the others have.
_NO_FENCE: Final = """
CREATE OR REPLACE FUNCTION airboss.append_fence(
  me text, named text[], epochs bigint[], befores bigint[], lasts bigint[], sizes bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE airboss.streams SET head = greatest(head, new.last), bytes = streams.bytes + new.size
  FROM unnest(named, epochs, befores, lasts, sizes) AS new(stream, epoch, before, last, size)
  WHERE streams.stream = new.stream;
END $$;
CREATE FUNCTION airboss.as_long_as_others() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.lease_ms := 0;
  RETURN NEW;
END $$;
CREATE TRIGGER as_long_as_others BEFORE INSERT ON airboss.workers
  FOR EACH ROW EXECUTE FUNCTION airboss.as_long_as_others();
"""


async def together(*works: Coroutine[Any, Any, T]) -> list[T]:
    """At the same time; what each came to."""
    async with asyncio.TaskGroup() as group:
        begun = [group.create_task(work) for work in works]
    return [one.result() for one in begun]


@dataclass
class Seat:
    """A machine: its data folder, its line and its clock stay, and its process has many lives."""

    name: str
    portal: Portal
    line: CutLine
    clock: Path
    url: str
    # Of its connections.
    options: str
    process: Process | None = None
    lives: int = 0
    ends: list[int] = field(default_factory=list[int])
    # How long it stays away when it has ended.
    pause: float = _AGAIN_SECONDS
    is_stopped: bool = False

    @property
    def is_portal(self) -> bool:
        return self.name in PORTALS

    @property
    def life(self) -> str:
        """What the database calls the process that lives now."""
        return f"{self.name}.{self.lives}"

    def start(self) -> None:
        self.lives += 1
        given = urlencode({"application_name": self.life, "options": self.options}, quote_via=quote)
        self.portal.extra_environ["AIRBOSS_DATABASE"] = f"{self.url}?{given}"
        if self.is_portal:
            self.portal.start()
            self.process = self.portal.process
            return
        log = self.portal.folder / "serve.log"
        log.touch()
        before = self.portal.log.count(READY)
        script = str(self.portal.folder / "script.yaml")
        words = ("worker", "--rehearsal", script, *self.portal.options)
        self.process = self.portal.begin(*words, streams=Streams(out=str(log), wrong=str(log)))
        until = time.monotonic() + _START_SECONDS
        while self.portal.log.count(READY) == before:
            if self.process.poll() is not None:
                return  # whoever looks after it sees that
            assert time.monotonic() < until, self.portal.log[-3000:]
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, number)

    def set_clock(self, off_seconds: float) -> None:
        self.clock.write_bytes(struct.pack("d", off_seconds))

    def end(self) -> None:
        """In order; by force where that takes too long."""
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


@dataclass
class House:
    """From its start to its end, with one database."""

    folder: Path
    postgres: Postgres
    database: str
    seats: dict[str, Seat]
    # When something was done, in ms; what, and to whom.
    done: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    _tending: "list[asyncio.Task[None]]" = field(default_factory=list["asyncio.Task[None]"])
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _door: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    @property
    def portals(self) -> list[Portal]:
        return [self.seats[name].portal for name in PORTALS]

    async def open(self) -> None:
        # The first one makes the engine's tables.
        first, *others = self.seats.values()
        await asyncio.to_thread(first.start)
        await together(*(asyncio.to_thread(seat.start) for seat in others))
        self._tending = [asyncio.create_task(self._tend(seat)) for seat in self.seats.values()]

    async def _tend(self, seat: Seat) -> None:
        """Starts it again when it has ended, for whatever reason."""
        while not self._over.is_set():
            process = seat.process
            code = None if process is None else await asyncio.to_thread(process.poll)
            if process is not None and code is None:
                await asyncio.sleep(0.05)
                continue
            if code is not None:
                seat.ends.append(code)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seat.pause):
                    await self._over.wait()
            seat.pause = _AGAIN_SECONDS
            if self._over.is_set():
                return
            seat.process = None
            # One that is killed while it starts, or waits for its database, is begun again.
            with contextlib.suppress(AssertionError, OSError):
                await asyncio.to_thread(seat.start)

    async def close(self) -> None:
        self._over.set()
        if self._tending:
            await asyncio.wait(self._tending)
        await together(*(asyncio.to_thread(seat.end) for seat in self.seats.values()))

    async def whole(self, seconds: float = 60) -> bool:
        """Whether all are there again, in time."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if all(await together(*(asyncio.to_thread(_lives, s) for s in self._all))):
                return True
            await asyncio.sleep(0.1)
        return False

    @property
    def _all(self) -> list[Seat]:
        return list(self.seats.values())

    # What is done to them.

    async def kill(self, seat: Seat, away_seconds: float) -> None:
        seat.pause = away_seconds
        seat.signal(signal.SIGKILL)

    async def terminate(self, seat: Seat, away_seconds: float) -> None:
        seat.pause = away_seconds
        seat.signal(signal.SIGTERM)

    async def stop(self, seat: Seat, seconds: float) -> None:
        """As a machine that is paused."""
        process = seat.process
        if process is None or seat.is_stopped:
            return
        seat.is_stopped = True
        try:
            seat.signal(signal.SIGSTOP)
            await asyncio.sleep(seconds)
        finally:
            seat.is_stopped = False
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)

    async def cut(self, seat: Seat, seconds: float, *, swallows: bool) -> None:
        if seat.line.state != "whole":
            return
        await asyncio.to_thread(seat.line.swallow if swallows else seat.line.refuse)
        try:
            await asyncio.sleep(seconds)
        finally:
            await asyncio.to_thread(seat.line.heal)

    async def restart_postgres(self, mode: Mode, seconds: float) -> None:
        async with self._door:
            await asyncio.to_thread(self.postgres.stop, mode)
            try:
                await asyncio.sleep(seconds)
            finally:
                await asyncio.to_thread(self.postgres.start)

    # What the database says.

    async def rows(self, asked: str, *values: object) -> list[Any]:
        async with self._door:
            return await asyncio.to_thread(self._rows, asked, values)

    def _rows(self, asked: str, values: tuple[object, ...]) -> list[Any]:
        url = self.postgres.socket_url(self.database)
        options = "-c search_path=airboss,dbos"
        with psycopg.connect(url, options=options, autocommit=True) as connection:
            return connection.execute(asked.encode(), values).fetchall()


def _lives(seat: Seat) -> bool:
    return seat.process is not None and seat.process.poll() is None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def _seat(
    name: str,
    folder: Path,
    postgres: Postgres,
    database: str,
    script: str,
    options: str,
    lease: float,
) -> Generator[Seat]:
    here = folder / name
    for below in ("data", "work"):
        (here / below).mkdir(parents=True)
    entry, shared = folder / "entry.json", folder / "shared"
    settings = f'name = "{name}"\nlease_seconds = {lease}\nentry = "{entry}"\n'
    (here / "data" / "settings.toml").write_text(settings, encoding="utf-8")
    (here / "script.yaml").write_text(script, encoding="utf-8")
    clock = here / "clock"
    # Few places for agents: what one portal accepts is work for several machines.
    words = ("--permissions", "approve-all", "--shared-root", str(shared), "--max-tasks", "2")
    if name in PORTALS:
        words = (*words, "--port", str(_free_port()))
    with cut_line_to(postgres.port) as line:
        portal = Portal(here, words, script, {CLOCK_VARIABLE: str(clock)})
        url = postgres.url(database, port=line.port)
        seat = Seat(name, portal, line, clock, url, options)
        seat.set_clock(0)
        yield seat


@asynccontextmanager
async def house_in(
    folder: Path,
    postgres: Postgres,
    entry: Json,
    script: str,
    lease: float,
    *,
    fenced: bool = True,
    deaf: tuple[str, ...] = (),
    options: str = "",
    names: tuple[str, ...] = (*PORTALS, *WORKERS),
) -> AsyncGenerator[House]:
    (folder / "shared").mkdir(parents=True)
    (folder / "entry.json").write_text(json.dumps(entry), encoding="utf-8")
    database = await asyncio.to_thread(with_tables, postgres)
    # As on a database that was used before: the engine's tables are there.
    await asyncio.to_thread(migrate_engine, postgres.url(database))
    postgres.execute(_WITNESS, database)
    if not fenced:
        postgres.execute(_NO_FENCE, database)
    with contextlib.ExitStack() as stack:
        seats = {
            name: stack.enter_context(
                _seat(
                    *(name, folder, postgres, database, script, options),
                    DEAF if name in deaf else lease,
                )
            )
            for name in names
        }
        house = House(folder, postgres, database, seats)
        try:
            await house.open()
            yield house
        finally:
            await house.close()
            postgres.drop(database)
