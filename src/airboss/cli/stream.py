"""Follows one stream's events, over lost connections and restarts of the server, without a gap."""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from airboss.cli.client import Client
from airboss.cli.trouble import Busy, Exit, Trouble, Unreachable

_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


INBOX: Final = "inbox"
AUDIT: Final = "audit"
_AGAIN: Final = {INBOX: "airboss inbox --watch", AUDIT: "airboss audit --follow"}
# By the beginning of its id: what a stream is called in JSON, and where it is.
_NAMES: Final = {"ses_": "session", "tsk_": "task_run", "run_": "run"}
_COLLECTIONS: Final = {"ses_": "sessions", "tsk_": "task-runs", "run_": "runs"}


def address_of(stream: str) -> str:
    """Where what has this id is; the server says what is wrong with any other word."""
    if stream in (INBOX, AUDIT):
        return f"/api/v1/{stream}"
    return f"/api/v1/{_COLLECTIONS.get(stream[:4], 'sessions')}/{stream}"


@dataclass(frozen=True)
class Record:
    """One event, with its place in the stream."""

    seq: int
    at: int
    event: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.event.get("kind", ""))

    def told_of(self, stream: str) -> dict[str, Any]:
        """For scripts: the event with its place and its session, task run or run."""
        return {
            _NAMES.get(stream[:4], "session"): stream,
            "seq": self.seq,
            "at": self.at,
            "event": self.event,
        }


@dataclass(frozen=True)
class Remark:
    """A word on the connection, for the person who waits."""

    text: str


@dataclass(frozen=True)
class End:
    """Nothing comes any more: the stream has ended, or following it failed for good."""

    trouble: Trouble | None = None


Heard: TypeAlias = Record | Remark | End


@dataclass(frozen=True)
class Follower:
    """Whom to follow, and how long to wait for a server that went away.

    `reach` finds the server anew each time: after a restart it may be at another address.
    """

    reach: Callable[[], Client]
    stream: str
    patience: float
    pause: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def after(self, seq: int) -> Iterator[Heard]:
        """All that came after `seq`, then all that comes, until the stream ends."""
        away_since: float | None = None
        wait = _FIRST_PAUSE
        while True:
            before, reason = seq, "The server ended it."
            for heard in self._connected(seq):
                if isinstance(heard, _Broken):
                    reason = heard.reason
                    continue
                if away_since is not None:
                    away_since = None
                    yield Remark("Connected again; nothing was missed.")
                if heard is None:
                    continue
                yield heard
                seq = heard.seq if isinstance(heard, Record) else seq
                if isinstance(heard, End):
                    return
            if seq > before:
                # A stream that brought something and was cut is taken up again without a word.
                wait = _FIRST_PAUSE
                continue
            if away_since is None:
                away_since = self.clock()
                yield Remark(f"Connection lost: {reason} Trying again …")
            self._wait(away_since, wait, seq)
            wait = min(wait * 2, _LONGEST_PAUSE)

    def _wait(self, away_since: float, seconds: float, seq: int) -> None:
        if self.clock() - away_since > self.patience:
            again = f"airboss watch {self.stream} --after {seq}"
            raise Unreachable(
                f"The server has been away for {int(self.patience)} seconds. Go on later with: "
                f"{_AGAIN.get(self.stream, again)}"
            )
        self.pause(seconds)

    def _connected(self, seq: int) -> Iterator["Record | End | _Broken | None"]:
        """What one connection brings. `None` says that it is there."""
        try:
            client = self.reach()
            with client.stream(f"{address_of(self.stream)}/stream", seq) as answer:
                yield None
                for name, data in sent_events(answer.iter_bytes()):
                    if name == "end":
                        yield End()
                    elif name != "heartbeat" and (record := _record(data)):
                        yield record
        except (Unreachable, Busy) as trouble:
            yield _Broken(str(trouble))


@dataclass(frozen=True)
class _Broken:
    reason: str


def sent_events(chunks: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Server-sent events as (name, data). Lines end as the protocol says, not as Unicode does."""
    name, data = "message", list[str]()
    for line in _lines(chunks):
        if not line:
            if data:
                yield name, "\n".join(data)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", errors="replace")


def _record(data: str) -> Record | None:
    try:
        told = json.loads(data)
        return Record(int(told["seq"]), int(told["at"]), dict(told["event"]))
    except (ValueError, KeyError, TypeError):
        return None


class Feed:
    """A follower in the background, so that whoever listens can also wait for the keyboard."""

    def __init__(self, follower: Follower, after: int) -> None:
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        self._is_left = threading.Event()
        self._follower = follower
        threading.Thread(target=self._run, args=(after,), daemon=True).start()

    def next(self, seconds: float) -> Heard | None:
        """What was said next, or nothing within so many seconds."""
        try:
            return self._heard.get(timeout=seconds)
        except queue.Empty:
            return None

    def tell(self, heard: Heard) -> None:
        """Put something in from outside, behind all that was heard."""
        self._heard.put(heard)

    def leave(self) -> None:
        self._is_left.set()

    def _run(self, after: int) -> None:
        try:
            for heard in self._follower.after(after):
                if self._is_left.is_set():
                    return
                self._heard.put(heard)
        except Trouble as trouble:
            self._heard.put(End(trouble))
        except Exception as error:  # noqa: BLE001 - a thread's border: the listener must hear of it
            self._heard.put(End(Trouble(f"Following failed: {error!r}", Exit.FAILED)))
