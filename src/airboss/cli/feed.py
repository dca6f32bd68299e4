"""The command line's client of the feed: several streams on one connection, over lost connections
and restarts of the server, without a gap. Nobody else follows anything."""

import json
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from types import TracebackType
from typing import Final, Self, cast
from urllib.parse import urlencode

from airboss.cli.client import Client, EventsResponse, Json
from airboss.cli.heard import CaughtUp, Heard, Record, Remark, StreamEnded
from airboss.cli.sent_events import sent_events
from airboss.cli.trouble import Busy, Exit, Trouble, Unreachable

INBOX: Final = "inbox"
AUDIT: Final = "audit"
# No more than the server takes on one connection.
MOST_STREAMS: Final = 64
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 2.0
# Streams that are added at once are followed with one new connection.
_GATHERING_SECONDS: Final = 0.02
_GO_ON_WITH: Final = {INBOX: "airboss inbox --watch", AUDIT: "airboss audit --follow"}
_COLLECTIONS: Final = {"ses_": "sessions", "tsk_": "task-runs", "run_": "runs"}


def address_of(stream: str) -> str:
    """Where what has this id is; the server says what is wrong with any other word."""
    if stream in (INBOX, AUDIT):
        return f"/api/v1/{stream}"
    return f"/api/v1/{_COLLECTIONS.get(stream[:4], 'sessions')}/{stream}"


class FeedClient:
    """Follows streams in the background, so that whoever listens can also wait for the keyboard.
    `follow` has the last seq that is known of each; the first of them is what this is about.

    `reach` finds the server anew each time: after a restart it may be at another address.
    """

    def __init__(
        self,
        reach: Callable[[], Client],
        follow: Mapping[str, int],
        patience: float,
    ) -> None:
        self._reach = reach
        self._patience = patience
        self._main = next(iter(follow))
        self._kept = frozenset(follow)
        self._heard: queue.SimpleQueue[Heard] = queue.SimpleQueue()
        # Heard, and kept for later by whoever looked for something else.
        self._held: deque[Heard] = deque()
        # Both threads use what follows.
        self._lock = threading.Lock()
        self._seqs = dict(follow)
        self._known_seqs: dict[str, int] = {}
        self._changes = 0
        self._answer: EventsResponse | None = None
        self._is_left = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._is_left = True
            self._cut()

    @property
    def stream(self) -> str:
        return self._main

    def next(self, seconds: float) -> Heard | None:
        """What was heard next, or nothing within so many seconds."""
        return self._held.popleft() if self._held else self._next_new(seconds)

    def next_of(self, stream: str, seconds: float) -> Record | StreamEnded | None:
        """The next of one stream within so many seconds; all else is kept for later."""
        until = time.monotonic() + seconds
        while (heard := self._next_new(until - time.monotonic())) is not None:
            if isinstance(heard, Record | StreamEnded) and heard.stream == stream:
                return heard
            self._held.append(heard)
        return None

    def _next_new(self, seconds: float) -> Heard | None:
        try:
            return self._heard.get(timeout=max(seconds, 0))
        except queue.Empty:
            return None

    def put(self, heard: Heard) -> None:
        """Put something in from outside, behind all that was heard; also from a signal handler."""
        self._heard.put(heard)

    def follow_beside(self, streams: Iterable[str]) -> None:
        """These, beside those that it began with, from where each was left; and no others."""
        wanted = list(streams)[: MOST_STREAMS - len(self._kept)]
        with self._lock:
            for name in set(self._seqs) - self._kept - set(wanted):
                self._known_seqs[name] = self._seqs.pop(name)
            new = [name for name in wanted if name not in self._seqs]
            for name in new:
                self._seqs[name] = self._known_seqs.get(name, 0)
            if new:
                self._changes += 1
                self._cut()

    def _cut(self) -> None:
        if self._answer is not None:
            self._answer.cut()

    # In the background.

    def _run(self) -> None:
        try:
            self._follow()
        except Trouble as trouble:
            self._heard.put(StreamEnded(self._main, trouble))
        except Exception as error:  # noqa: BLE001 - a thread's border: the listener must hear of it
            trouble = Trouble(f"Could not follow the events: {error!r}", Exit.FAILED)
            self._heard.put(StreamEnded(self._main, trouble))

    def _follow(self) -> None:
        """One connection after the other, until somebody leaves."""
        away = _Away(self._patience)
        while True:
            with self._lock:
                changes, before = self._changes, dict(self._seqs)
            reason = self._listen(away, changes, before)
            with self._lock:
                if self._is_left:
                    return
                is_changed, seqs = self._changes != changes, dict(self._seqs)
            if is_changed:
                time.sleep(_GATHERING_SECONDS)
            elif seqs != before:
                # A connection that brought something and was cut is taken up without a word.
                away.is_shortly()
            else:
                if away.begins():
                    self._heard.put(Remark(f"Connection lost: {reason} Reconnecting …"))
                away.wait(self._how_to_go_on(seqs))

    def _listen(self, away: "_Away", changes: int, seqs: Mapping[str, int]) -> str:
        """To the end of one connection; why it ended."""
        try:
            with (
                closing(self._reach()) as client,
                client.stream(self._address(seqs)) as answer,
            ):
                with self._lock:
                    if self._changes != changes or self._is_left:
                        return ""
                    self._answer = answer
                if away.ends():
                    self._heard.put(Remark("Reconnected; nothing was missed."))
                for name, data in sent_events(answer.chunks):
                    self._hear(client, name, _parsed(data))
        except (Unreachable, Busy) as trouble:
            return str(trouble)
        finally:
            with self._lock:
                self._answer = None
        return "The server closed it."

    def _address(self, seqs: Mapping[str, int]) -> str:
        if AUDIT in seqs:  # it is for owners alone, and the feed does not have it
            return f"{address_of(AUDIT)}/stream?after={seqs[AUDIT]}"
        query = [("follow", f"{name}:{seq}") for name, seq in seqs.items()]
        # With every delta: a terminal draws what was said in the order in which it was said, and
        # blocks that overlap end in another one.
        query.append(("compact", "false"))
        return f"/api/v1/feed?{urlencode(query)}"

    def _hear(self, client: Client, name: str, data: Json) -> None:
        stream = str(data.get("stream", self._main))
        match name:
            case "message" if (record := _record(data, stream)) is not None:
                with self._lock:
                    if stream not in self._seqs:
                        return
                    self._seqs[stream] = record.seq
                self._heard.put(record)
            case "caught-up":
                self._heard.put(CaughtUp())
            case "end":
                self._heard.put(StreamEnded(stream))
            case "gone":
                self._heard.put(StreamEnded(stream, _why_gone(client, stream)))
            case _:  # a heartbeat, or what a newer server says beyond what we know
                pass

    def _how_to_go_on(self, seqs: Mapping[str, int]) -> str:
        watch = f"airboss watch {self._main} --after {seqs[self._main]}"
        return _GO_ON_WITH.get(self._main, watch)


class _Away:
    """A server that is away: since when, and how long to wait before it is tried again."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._since: float | None = None
        self._pause = _FIRST_PAUSE

    def begins(self) -> bool:
        """Whether it was there until now."""
        was_there = self._since is None
        if self._since is None:
            self._since = time.monotonic()
        return was_there

    def ends(self) -> bool:
        """It is there; whether it was away until now."""
        was_away = self._since is not None
        self._since = None
        return was_away

    def is_shortly(self) -> None:
        self._pause = _FIRST_PAUSE

    def wait(self, how_to_go_on: str) -> None:
        if self._since is not None and time.monotonic() - self._since > self._patience:
            raise Unreachable(
                f"No connection to the server for {int(self._patience)} seconds. "
                f"Continue later with: {how_to_go_on}"
            )
        time.sleep(self._pause)
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)


def _why_gone(client: Client, stream: str) -> Trouble:
    """In the server's own words."""
    try:
        client.get(address_of(stream))
    except Trouble as trouble:
        return trouble
    return Trouble(f"{stream} can no longer be followed. Show it with: airboss show {stream}")


def _parsed(data: str) -> Json:
    try:
        said: object = json.loads(data)
    except ValueError:
        return {}
    return cast("Json", said) if isinstance(said, dict) else {}


def _record(said: Json, stream: str) -> Record | None:
    try:
        return Record(int(said["seq"]), int(said["at"]), dict(said["event"]), stream)
    except (ValueError, KeyError, TypeError):
        return None
