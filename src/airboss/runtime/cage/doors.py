"""The doors of a cage, from outside: sockets that listen in there, and are answered here.

The warden inside makes them and hands them out once. There is no port of ours for them, and nothing
inside that forwards.
"""

import array
import asyncio
import contextlib
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from airboss.background import Background
from airboss.errors import CageUnavailable
from airboss.runtime.cage.inside.warden import TAKEN
from airboss.runtime.cage.programs import CagePrograms, Place
from airboss.runtime.cage.variables import SERVERS_PORT, USER_PORT, WAY_OUT_PORT

ConnectionHandler: TypeAlias = Callable[
    [asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]
]

HAND: Final = "hand"
_CREDENTIALS: Final = struct.Struct("iII")
_MOST_HANDED: Final = 16
# A flood of them ends here, before the server has no descriptors left.
_MOST_CONNECTIONS: Final = 128
_LIMIT_BYTES: Final = 1 << 17
_CLOSE_SECONDS: Final = 2.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class CageDoors:
    """Who answers behind each door; none: there is no such door."""

    way_out: ConnectionHandler | None = None
    user: ConnectionHandler | None = None
    servers: ConnectionHandler | None = None
    # Told when the cage ends: nothing comes any more.
    close: Callable[[], Awaitable[None]] | None = None

    @property
    def by_port(self) -> dict[int, ConnectionHandler]:
        said = ((WAY_OUT_PORT, self.way_out), (USER_PORT, self.user), (SERVERS_PORT, self.servers))
        return {port: answer for port, answer in said if answer is not None}


class Handover:
    """Takes the doors of one cage, once, and answers at them until it is closed."""

    def __init__(
        self,
        folder: Path,
        doors: CageDoors,
        place: Place,
        hold: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`hold` is called in a thread with the warden's process, before that goes on."""
        self._folder = folder
        self._place = place
        self._hold = hold
        self._handlers = doors.by_port
        self._when_closed = doors.close
        self._hand: socket.socket | None = None
        self._servers: list[asyncio.Server] = []
        self._connections = 0
        self._background = Background("doors of a cage")
        # Starts programs inside, from when it is handed over.
        self.programs: CagePrograms | None = None
        # The process that becomes the runtime, as it is called here.
        self.pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def ports(self) -> list[int]:
        return list(self._handlers)

    def open(self) -> None:
        """Listen for the warden. A path in a deep folder is too long for a socket, so it is said
        by the folder's descriptor."""
        path = self._folder / HAND
        path.unlink(missing_ok=True)
        self._hand = socket.socket(socket.AF_UNIX)
        folder = os.open(self._folder, os.O_PATH | os.O_DIRECTORY)
        try:
            self._hand.bind(f"/proc/self/fd/{folder}/{HAND}")
        finally:
            os.close(folder)
        self._hand.listen(1)
        self._hand.setblocking(False)
        self._background.start(self._take(self._hand), "hand")

    async def _take(self, hand: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        connection, _ = await loop.sock_accept(hand)
        with connection:
            # One hand-over, and then no way in.
            hand.close()
            (self._folder / HAND).unlink(missing_ok=True)
            connection.setblocking(False)
            try:
                *doors, asking = await _received(connection)
            except ValueError:  # it ended in between
                return
            self.programs = CagePrograms(asking, self._place)
            for listening, answer in zip(doors, self._handlers.values(), strict=True):
                server = await asyncio.start_server(
                    self._answering(answer), sock=listening, limit=_LIMIT_BYTES
                )
                self._servers.append(server)
            said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            pid = _CREDENTIALS.unpack(said)[0]
            try:
                await asyncio.to_thread(self._hold, pid)
            except CageUnavailable as unavailable:  # the warden ends, and says that in its words
                _log.warning("%s", unavailable)
                return
            await loop.sock_sendall(connection, TAKEN)
        self.pid.set_result(pid)

    def _answering(
        self, answer: ConnectionHandler
    ) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._connections >= _MOST_CONNECTIONS:
                writer.transport.abort()
                return
            self._connections += 1
            self._background.start_if_open(self._serve(answer, reader, writer), "connection")

        return connected

    async def _serve(
        self,
        answer: ConnectionHandler,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await answer(reader, writer)
        finally:
            self._connections -= 1
            writer.close()

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        if self.programs is not None:
            self.programs.close()
        if self._when_closed is not None:
            await self._when_closed()
        await self._background.close(cancel=True, seconds=_CLOSE_SECONDS)
        if self._hand is not None:
            self._hand.close()
        (self._folder / HAND).unlink(missing_ok=True)
        if not self.pid.done():
            self.pid.cancel()


async def _received(connection: socket.socket) -> list[socket.socket]:
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(connection.fileno(), readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(connection.fileno())
    numbers = array.array("i")
    room = socket.CMSG_SPACE(_MOST_HANDED * numbers.itemsize)
    _, said, _, _ = connection.recvmsg(16, room)
    for level, kind, data in said:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    doors = [socket.socket(fileno=number) for number in numbers]
    for door in doors:
        door.setblocking(False)
    return doors
