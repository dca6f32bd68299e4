"""Programs that Airboss starts inside a cage that runs: with pipes to us, and behind all its walls.

The starter inside is asked over the socket that the warden handed out (`inside/starter.py`). What
it says is believed only as far as it is about the programs of its own cage.
"""

import array
import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from airboss.errors import AirbossError
from airboss.runtime.cage.inside.starter import LONGEST
from airboss.runtime.cage.way_to import way_to

MOST_PROGRAMS: Final = 64
_START_SECONDS: Final = 10.0
_LINE_BYTES: Final = 1 << 16
_LOST: Final = -signal.SIGKILL
_GONE: Final = "The cage has ended, or something in it ended what starts its programs."


class ProgramNotStarted(AirbossError):
    """In words: why."""


@dataclass
class CageProgram:
    """One that runs inside, used like a process of asyncio's. It ends with its cage at the latest;
    `returncode` is -n for signal n, and -9 where nobody saw its end."""

    words: tuple[str, ...]
    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    _signal: "_Signal" = field(repr=False)
    _ended: "asyncio.Future[int]" = field(repr=False)

    @property
    def returncode(self) -> int | None:
        return self._ended.result() if self._ended.done() else None

    async def wait(self) -> int:
        """Its own end; what it started may hold its pipes a moment longer."""
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """It, and what it started and left in its group."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        if not self._ended.done():
            self._signal(number)


class _Signal:
    """The way to one program, by its number."""

    def __init__(self, programs: "CagePrograms", number: int) -> None:
        self._programs, self._number = programs, number

    def __call__(self, number: int) -> None:
        self._programs.say({"number": self._number, "signal": int(number)})


@dataclass
class _Launch:
    name: str
    started: "asyncio.Future[None]"
    ended: "asyncio.Future[int]"


@dataclass(frozen=True)
class Place:
    """Where files of programs are handed in: the folder as it is here, and as it is inside."""

    here: Path
    inside: Path
    # What else can be seen from there, by the same path; and where agents may write.
    seen: tuple[Path, ...] = ()
    written: tuple[Path, ...] = ()

    def hand_in(self, name: str, content: bytes) -> Path:
        """Blocking. A copy that nobody inside can change; the path that it has there."""
        folder = sha256(content).hexdigest()[:24]
        file = self.here / folder / Path(name).name
        if not file.exists():
            file.parent.mkdir(mode=0o700, exist_ok=True)
            written = file.with_name(f".{os.getpid()}-{next(_NUMBERS)}")
            written.write_bytes(content)
            written.chmod(0o500)
            written.rename(file)
        return self.inside / folder / file.name

    def sees(self, path: Path) -> bool:
        """Blocking. Whether it is there inside, by its own path."""
        return _is_below(Path(os.path.realpath(path)), self.seen)

    def is_led_by_agents(self, path: Path) -> bool:
        """Blocking. Whether the way to it goes through a folder of theirs: then they say where it
        leads."""
        return any(_is_below(place, self.written) for place in way_to(path))


def _is_below(path: Path, tops: Iterable[Path]) -> bool:
    return any(path == top or top in path.parents for top in tops)


_NUMBERS: Final = itertools.count(1)


class CagePrograms:
    """The programs of one life of a cage. `asking` is our end of the starter's socket."""

    def __init__(self, asking: socket.socket, place: Place) -> None:
        self.place = place
        self._asking: socket.socket | None = asking
        self._asked: dict[int, _Launch] = {}
        self._loop = asyncio.get_running_loop()
        asking.setblocking(False)
        self._loop.add_reader(asking.fileno(), self._hear, asking)

    @property
    def is_open(self) -> bool:
        return self._asking is not None

    async def start(
        self,
        words: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        limit: int = _LINE_BYTES,
    ) -> CageProgram:
        """Start `words` inside; `env` is what it has beside the environment of the cage, and `cwd`
        a path as it is in there (else the cage's own folder). Lines that are read from it have
        `limit` bytes at most. Raises `ProgramNotStarted`."""
        if len(self._asked) >= MOST_PROGRAMS:
            raise ProgramNotStarted(f"{MOST_PROGRAMS} programs of ours run in this cage already.")
        number = next(_NUMBERS)
        question = {
            "number": number,
            "words": list(words),
            "env": dict(env or {}),
            "cwd": None if cwd is None else str(cwd),
        }
        asked = _Launch(words[0], self._loop.create_future(), self._loop.create_future())
        with _Pipes() as pipes:
            self._asked[number] = asked
            try:
                self.say(question, pipes.theirs)
                async with asyncio.timeout(_START_SECONDS):
                    await asked.started
                stdin, stdout, stderr = await pipes.opened(limit)
            except BaseException as error:
                self.say({"number": number, "signal": int(signal.SIGKILL)})
                self._forget(number, _LOST)
                if isinstance(error, TimeoutError):
                    raise ProgramNotStarted("The cage did not start it in time.") from error
                raise
        asked.ended.add_done_callback(lambda _: stdin.close())
        signaller = _Signal(self, number)
        return CageProgram(tuple(words), stdin, stdout, stderr, signaller, asked.ended)

    def say(self, question: Mapping[str, Any], pipes: Sequence[int] = ()) -> None:
        """At once. There is room for many questions, unless something keeps the starter from
        reading them."""
        said = json.dumps(question).encode()
        if len(said) > LONGEST:
            raise ProgramNotStarted("Its words and variables are too long for a cage.")
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", pipes))] if pipes else []
        try:
            if self._asking is not None:
                self._asking.sendmsg([said], rights)
                return
        except BlockingIOError:
            if pipes:
                raise ProgramNotStarted("The cage starts no programs at the moment.") from None
            return
        except OSError:
            self.close()
        if pipes:
            raise ProgramNotStarted(_GONE)

    def _hear(self, asking: socket.socket) -> None:
        try:
            said = asking.recv(LONGEST)
            told = json.loads(said) if said else None
        except BlockingIOError:
            return
        except (OSError, ValueError):
            told = None
        if not isinstance(told, dict):
            self.close()
            return
        self._take(cast("dict[str, Any]", told))

    def _take(self, told: Mapping[str, Any]) -> None:
        number = told.get("number")
        asked = self._asked.get(number) if isinstance(number, int) else None
        if asked is None or not isinstance(number, int):
            return
        if not asked.started.done() and "started" in told:
            asked.started.set_result(None)
        elif not asked.started.done():
            words = f"{asked.name} cannot be run in the cage: {told.get('failed')}."
            asked.started.set_exception(ProgramNotStarted(words))
        elif isinstance(code := told.get("code"), int):
            self._forget(number, code)

    def _forget(self, number: int, code: int) -> None:
        asked = self._asked.pop(number, None)
        if asked is not None and not asked.ended.done():
            asked.ended.set_result(code)

    def close(self) -> None:
        """The cage has ended, and all that ran in it."""
        asking, self._asking = self._asking, None
        if asking is not None:
            self._loop.remove_reader(asking.fileno())
            asking.close()
        for number, asked in list(self._asked.items()):
            if not asked.started.done():
                asked.started.set_exception(ProgramNotStarted(_GONE))
            self._forget(number, _LOST)


class _Pipes:
    """Three pipes: the ends of the program, and ours. What was not opened is closed."""

    def __init__(self) -> None:
        given, ours_in = os.pipe()
        ours_out, said = os.pipe()
        ours_err, errors = os.pipe()
        self.theirs = [given, said, errors]
        self._ours: list[int] = [ours_in, ours_out, ours_err]

    def __enter__(self) -> "_Pipes":
        return self

    def __exit__(self, *_: object) -> None:
        for number in (*self.theirs, *self._ours):
            with contextlib.suppress(OSError):
                os.close(number)

    async def opened(
        self, limit: int
    ) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]:
        given, said, errors = (
            os.fdopen(number, mode, buffering=0)
            for number, mode in zip(self._ours, ("wb", "rb", "rb"), strict=True)
        )
        self._ours = []
        loop = asyncio.get_running_loop()
        nothing = asyncio.StreamReader()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(nothing), given
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        return writer, await _reader(said, limit), await _reader(errors, limit)


async def _reader(pipe: Any, limit: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader
