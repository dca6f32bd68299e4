"""Connections to PostgreSQL: each call on them comes to an end, and what is away is told from what
is wrong."""

import contextlib
import math
import os
import socket
import threading
import time
from collections.abc import Generator, Mapping
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from airboss.errors import SettingsInvalid, StoreAway, StoreUnavailable

SCHEMA: Final = "airboss"
OLDEST: Final = 150000
# A little longer than what the server itself gives a statement: its own word comes first.
CALL_SECONDS: Final = 6.0
_CONNECT_SECONDS: Final = 3
# The server finds out that a machine is gone, and what that one held becomes free: by itself it
# would wait for hours, and be full of such connections.
_FOUND_GONE: Final = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_SESSION: Final = {
    "search_path": SCHEMA,
    "statement_timeout": "5000",
    "lock_timeout": "2000",
    # A process that is stopped inside a transaction would hold its locks for ever.
    "idle_in_transaction_session_timeout": "3000",
    **_FOUND_GONE,
}
_OPTIONS: Final = {
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "airboss",
}
# What comes back by itself: a lock or a statement that took too long, a deadlock, a transaction
# that was cut off, a server that is full, stops, starts, or is a standby until it is promoted.
_PASSING: Final = ("08", "57P", "40", "55P03", "57014", "25P03", "25006", "53300")
# As where the role may not see them.
NO_TABLES: Final = (
    "This database has no tables of Airboss yet, or its role may not see them. Start a server on "
    "it first: airboss serve. To see what is missing: airboss database check"
)
IN_DOUBT: Final = "What you asked for may have happened all the same. Look before you try again."
# What a server says to who cannot be let in. At a connection there is no code beside the words.
_REFUSED: Final = (
    "password authentication failed",
    "no password supplied",
    "does not exist",
    "no pg_hba.conf entry",
    "is not permitted to log in",
    "invalid connection option",
    "SSL",
    "certificate",
)
_ADVICE: Final = {
    "53100": "Free some space on its disk",
    "42501": "Give its role the rights on the schema airboss",
    "3F000": "Create the schema airboss, or give its role the right to",
}


def options_of(url: str) -> dict[str, Any]:
    """All that a connection of ours is opened with."""
    try:
        given = dict(conninfo_to_dict(url))
    except psycopg.Error as error:
        # Its words could hold a part of the address, and so the password.
        raise SettingsInvalid(
            "The address of the database cannot be read. It looks like "
            "postgresql://USER@HOST/DATABASE."
        ) from error
    return {**_OPTIONS, **given, "options": _told(_SESSION, given.pop("options", None))}


def engine_options(url: str) -> str:
    """What a connection of the engine says of its session, which has its own limits."""
    return _told(_FOUND_GONE, conninfo_to_dict(url).get("options"))


def _told(session: Mapping[str, str], said: object) -> str:
    told = " ".join(f"-c {name}={value}" for name, value in session.items())
    return f"{told} {said}" if said else told


def connect(url: str, **more: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(**{**options_of(url), **more})


def _cause(error: BaseException) -> BaseException:
    """The driver's own, also where SQLAlchemy tells of it, which is not imported for that."""
    return getattr(error, "orig", None) or error


def state_of(error: BaseException) -> str | None:
    """The server's code for what went wrong; none where it said none."""
    cause = _cause(error)
    return getattr(cause, "sqlstate", None)


def is_away(error: BaseException) -> bool:
    """Whether it is worth waiting: no connection, or a trouble that passes."""
    cause = _cause(error)
    state = state_of(error)
    if state is not None:
        return state.startswith(_PASSING)
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError | OSError)


def is_refused(error: BaseException) -> bool:
    """Whether a connection was refused for a reason that waiting does not change."""
    cause = _cause(error)
    return any(words in str(cause) for words in _REFUSED)


def sentence(error: BaseException) -> str:
    """What the driver says, which may be a question. Not the statement that it is about."""
    told: str | None = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    said = " ".join((told or str(error)).split())
    return said if said.endswith((".", "?")) else f"{said}."


def in_words(error: BaseException, *, in_doubt: bool = False) -> StoreUnavailable | None:
    """What people are told; None for a fault of ours."""
    cause = _cause(error)
    said = sentence(cause)
    if is_away(error):
        words = IN_DOUBT if in_doubt else "Try again in a moment."
        return StoreAway(f"The database cannot be reached: {said} {words}", in_doubt=in_doubt)
    state = state_of(error) or ""
    advice = next((words for code, words in _ADVICE.items() if state == code), None)
    if advice is None:
        return None
    return StoreUnavailable(f"The database cannot be used: {said} {advice}, then try again.")


def refuse_old(connection: "psycopg.Connection[Any]") -> None:
    """Before a statement fails that it does not know."""
    version = connection.info.server_version
    if version < OLDEST:
        raise StoreUnavailable(
            f"This is PostgreSQL {version // 10000}. Airboss needs {OLDEST // 10000} or newer: "
            "upgrade it."
        )


class Watchdog:
    """Shuts the socket under a call that takes too long: behind a cut that swallows everything, no
    timeout of the server's is ever heard."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._guarded: dict[int, tuple[float, int]] = {}
        self._thread: threading.Thread | None = None
        # When it looks next: whoever is guarded for longer than that need not wake it.
        self._looks_at = math.inf
        self._is_over = False

    @contextlib.contextmanager
    def guard(
        self, connection: "psycopg.Connection[Any]", seconds: float = CALL_SECONDS
    ) -> Generator[None]:
        key, watched = threading.get_ident(), connection.fileno()
        until = time.monotonic() + seconds
        with self._changed:
            self._guarded[key] = (until, watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="store-watchdog")
                self._thread.daemon = True
                self._thread.start()
            if until < self._looks_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._guarded.pop(key, None)

    def close(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._is_over:
                now = time.monotonic()
                for key, (until, watched) in list(self._guarded.items()):
                    if until <= now:
                        del self._guarded[key]
                        _shut(watched)
                self._looks_at = min((at for at, _ in self._guarded.values()), default=math.inf)
                is_idle = self._looks_at == math.inf
                self._changed.wait(None if is_idle else max(self._looks_at - now, 0.01))


def _shut(descriptor: int) -> None:
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(descriptor)) as watched:
        watched.shutdown(socket.SHUT_RDWR)
