"""A program that is killed again and again: each life writes to the log and notes what it saw.

It reads a line for each life, forks, and answers with the process id. What a life was promised
(`ack`) and what its follower was shown (`shown`) is written to a file, straight through to it.
"""

import asyncio
import json
import os
import sys
import time
from itertools import count
from pathlib import Path

from airboss.log.log import EventLog
from airboss.log.writer import Writer
from airboss.model.events import (
    MessageDelta,
    MessageEnded,
    MessageStarted,
    SessionIdle,
    SessionOpened,
    ToolDelta,
    ToolEnded,
    ToolStarted,
)
from airboss.store.postgres_database import PostgresDatabase
from tests.log.conftest import log_in, log_on

STREAM = "ses_killed"


class Notes:
    def __init__(self, file: Path) -> None:
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def add(self, what: str, seq: int, body: str = "") -> None:
        os.write(self._file, f"{json.dumps([what, seq, body])}\n".encode())


async def listen(log: EventLog, notes: Notes, after: int) -> None:
    async with log.follow(STREAM, after) as follower:
        while True:
            for recorded in await follower.next(1.0):
                notes.add("shown", recorded.seq, recorded.body)


async def speak(writer: Writer, notes: Notes) -> None:
    for number in count():
        message, tool = f"m{os.getpid()}-{number}", f"t{os.getpid()}-{number}"
        notes.add("ack", (await writer.commit(MessageStarted(block=message))).seq)
        writer.say(ToolStarted(block=tool, name="shell", arguments="{}"))
        said: dict[str, str] = {message: "", tool: ""}
        for piece in range(20 + number % 40):
            block, make = ((message, MessageDelta), (tool, ToolDelta))[piece % 5 == 0]
            writer.say(make(block=block, offset=len(said[block]), text=f"{piece} "))
            said[block] += f"{piece} "
            if piece % 3 == 0:
                await asyncio.sleep(0)
        if number % 3:  # every third message stays open
            writer.say(MessageEnded(block=message, text=said[message]))
        ended = ToolEnded(block=tool, text=said[tool])
        notes.add("ack", (await writer.commit(ended, SessionIdle())).seq)


async def live(folder: Path, notes: Notes, url: str) -> None:
    """On a file of this folder, or on this PostgreSQL as its only server."""
    shared = log_on(lambda: PostgresDatabase(url), [time.time_ns()])
    async with shared if url else log_in(folder) as log, asyncio.TaskGroup() as group:
        writer = await log.writer(STREAM)
        opened = SessionOpened(model="m", cwd="/", policy="p", who="me")
        seq = (await writer.commit(opened)).seq
        notes.add("ack", seq)
        group.create_task(listen(log, notes, seq))
        await speak(writer, notes)


def main() -> None:
    folder, url = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(live(folder, Notes(folder / line.strip()), url))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        os.waitpid(child, 0)
        sys.stdout.write("dead\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
