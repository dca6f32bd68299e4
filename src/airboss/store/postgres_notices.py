"""Notices over PostgreSQL: one thread with one connection, which listens and calls.

They are no part of the transactions that they tell of. There, commits that notify would queue up
behind each other, over the wait for the disk.
"""

import contextlib
import logging
import selectors
import socket
import threading
from collections.abc import Iterable
from typing import Any, Final

import psycopg

from airboss.store.notices import WORK, Heard, NoticeLine, StreamNotice, packed, unpacked
from airboss.store.postgres_connection import Watchdog, connect, is_away

_log = logging.getLogger(__name__)

CHANNEL: Final = "airboss"
# What is said in SQL, by whoever marks a worker as lost: something is free to be taken.
FREED: Final = "airboss_freed"
_CALL: Final = "SELECT pg_notify(%s, said) FROM unnest(%s::text[]) AS said"
_CALL_SECONDS: Final = 3.0
_AGAIN_SECONDS: Final = 0.1


class PostgresNotices(NoticeLine):
    """Comes back by itself when the database was away, and says so."""

    def __init__(self, url: str, watchdog: Watchdog, heard: Heard) -> None:
        self._url = url
        self._watchdog = watchdog
        self._heard = heard
        self._left: dict[str, StreamNotice] = {}
        self._changing = threading.Lock()
        self._is_over = threading.Event()
        self._woken, self._waker = socket.socketpair()
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="store-notices", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def call(self, notices: Iterable[StreamNotice]) -> None:
        with self._changing:
            was_empty = not self._left
            for one in notices:
                self._left[one.name] = one.joined(self._left.get(one.name))
            is_first = was_empty and bool(self._left)
        if is_first:
            self._wake()

    def close(self) -> None:
        self._is_over.set()
        self._wake()
        if self._thread.is_alive():
            self._thread.join()
        self._woken.close()
        self._waker.close()

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError, OSError):
            self._waker.send(b"!")

    def _run(self) -> None:
        while True:
            try:
                with connect(self._url, autocommit=True) as connection:
                    self._talk(connection)
                break
            except (psycopg.Error, OSError) as error:
                if not is_away(error):
                    _log.warning("Could not listen to other processes: %s", error)
            if self._is_over.wait(_AGAIN_SECONDS):
                break
            self.reconnects += 1

    def _talk(self, connection: "psycopg.Connection[Any]") -> None:
        with self._watchdog.guard(connection, _CALL_SECONDS):
            connection.execute("SET synchronous_commit = off")
            connection.execute(f"LISTEN {CHANNEL}")
            connection.execute(f"LISTEN {FREED}")
        self._heard(None)
        with selectors.DefaultSelector() as waiting:
            waiting.register(connection.fileno(), selectors.EVENT_READ)
            waiting.register(self._woken, selectors.EVENT_READ)
            while True:
                is_last = self._is_over.is_set()
                self._call_what_is_left(connection)
                self._hear(connection)
                if is_last:
                    return
                waiting.select()
                with contextlib.suppress(BlockingIOError):
                    self._woken.recv(4096)

    def _call_what_is_left(self, connection: "psycopg.Connection[Any]") -> None:
        with self._changing:
            left, self._left = self._left, {}
        if not left:
            return
        try:
            with self._watchdog.guard(connection, _CALL_SECONDS):
                connection.execute(_CALL, (CHANNEL, list(packed(left.values()))))
        except BaseException:
            with self._changing:  # again, on the next connection: twice does no harm
                self._left = {
                    **left,
                    **{name: one.joined(left.get(name)) for name, one in self._left.items()},
                }
            raise

    def _hear(self, connection: "psycopg.Connection[Any]") -> None:
        own = connection.info.backend_pid
        heard: list[StreamNotice] = []
        for said in connection.notifies(timeout=0):
            if said.channel == FREED:
                heard.append(StreamNotice(WORK, 0, more=True))
            elif said.pid != own:
                heard += unpacked(said.payload)
        if heard:
            self._heard(heard)
