"""An extension that is started alone, without a session: what it brings, and what its hooks say.

Nobody is asked whether to trust it: whoever starts it so runs it by their own hand.
"""

import asyncio
import contextlib
import re
import subprocess
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from airboss.background import Background
from airboss.extensions.child import Child
from airboss.extensions.content import Unusable, read
from airboss.extensions.discovery import MAIN_FILES, extension_at
from airboss.extensions.joined import Joined, NotLetIn, joined
from airboss.extensions.launch import CannotLaunch, launch_of
from airboss.extensions.names import GivenNames
from airboss.extensions.peer import UNKNOWN_METHOD, Peer, RpcFailure, RpcRefusal
from airboss.extensions.shelf import ExtensionFile

JOIN_SECONDS: Final = 10.0
_SESSION: Final = "ses_trial"
_ANSWER: Final[Mapping[str, Any]] = {
    "capabilities": {"ui": {"elicitation": True}},
    "openCanvases": [],
}
# Where a script of Node's failed, and what it said.
_SCRIPT_PLACE: Final = re.compile(r"(?:file://)?(/[^\s():]+\.m?js):(\d+)")
# The pinned bootstrap tells a failure without its place. Of one that is only tried it is told.
_TELL_PLACE: Final = (
    "--import data:text/javascript,Error.prototype.toString=function(){return`${this.stack}`}"
)
_SCRIPT_ERROR: Final = re.compile(r"^(?:\[.*\] Failed to load extension: )?(\w*Error\b.*)$", re.M)
_SCRIPT_MISSING: Final = re.compile(r"Cannot find (?:module|package) '([^']+)' imported from (\S+)")
# The tool that a refusal is about.
_REFUSED_TOOL: Final = re.compile(
    r"(?:Its tool|tools named|(?:description|parameters) of) ([\w-]+)"
)
_PARSE_SECONDS: Final = 10.0


class TrialFailed(Exception):
    """It does not work, for this reason: `FILE:LINE: message` where that is known."""


@dataclass(frozen=True)
class FiredHook:
    """What a hook said, and how long it took. `failure` is why it said nothing."""

    kind: str
    output: Mapping[str, Any] = field(default_factory=dict[str, Any])
    milliseconds: float = 0.0
    failure: str = ""


@dataclass
class Trial:
    """One process, until it is stopped."""

    file: ExtensionFile
    cwd: Path
    joined: Joined = field(default_factory=Joined)
    # What it said with `session.log`.
    said: list[str] = field(default_factory=list[str])
    _come: asyncio.Event = field(default_factory=asyncio.Event)
    # Why it was not let in, and how it ended.
    _why_not: str = ""
    _end: str = ""
    _child: Child = field(init=False)
    _peer: Peer = field(init=False)
    _beside: Background = field(default_factory=lambda: Background("trial"))

    def __post_init__(self) -> None:
        self._child = Child(self._hear, self._ended)
        self._peer = Peer(_SESSION, self._child, self._answer, self._beside)

    async def fire(self, kind: str, given: Mapping[str, Any], seconds: float) -> FiredHook:
        now = {"sessionId": _SESSION, "timestamp": int(time.time() * 1000)}
        place = {"cwd": str(self.cwd), "workingDirectory": str(self.cwd)}
        asked = {"hookType": kind, "input": {**now, **place, **given}}
        began = time.perf_counter()
        try:
            async with asyncio.timeout(seconds):
                answer = await self._peer.ask("hooks.invoke", asked)
        except TimeoutError:
            return FiredHook(kind, failure=f"It did not answer within {seconds:g} s.")
        except RpcFailure as failure:
            return FiredHook(kind, failure=str(failure))
        took = (time.perf_counter() - began) * 1000
        output: Any = cast("Any", answer).get("output") if isinstance(answer, dict) else None
        said = cast("dict[str, Any]", output) if isinstance(output, dict) else {}
        return FiredHook(kind, said, took)

    async def start(self, environ: Mapping[str, str], cli: Path | None) -> None:
        """Raises `TrialFailed` where it does not join."""
        told = {**environ, "NODE_OPTIONS": _TELL_PLACE}
        try:
            launch = await asyncio.to_thread(launch_of, self.file, _SESSION, self.cwd, told, cli)
            await self._child.start(launch)
        except (CannotLaunch, OSError) as error:
            raise TrialFailed(f"{self._main}: {error}") from None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(JOIN_SECONDS):
                await self._come.wait()
        if self._why_not:
            raise TrialFailed(await asyncio.to_thread(_placed, self._why_not, self.file))
        if self._end:
            log = self._child.log
            raise TrialFailed(await asyncio.to_thread(fault_in, log, self.file, self._end))
        if not self._come.is_set():
            raise TrialFailed(f"{self._main}:1: it did not join within {JOIN_SECONDS:g} s.")

    async def stop(self) -> None:
        await self._beside.close(cancel=True, seconds=1)
        await self._child.stop()

    @property
    def _main(self) -> str:
        return MAIN_FILES[self.file.language]

    def _hear(self, message: dict[str, Any]) -> None:
        self._peer.hear(message)

    def _ended(self, reason: str) -> None:
        self._peer.give_up(reason)
        self._end = self._end or reason
        self._come.set()

    async def _answer(self, method: str, params: Mapping[str, Any]) -> object:
        match method:
            case "connect":
                return {"ok": True, "protocolVersion": 3, "version": "airboss"}
            case "session.resume":
                return self._join(params)
            case "session.log":
                self.said.append(str(params.get("message")))
                return {"eventId": "trial"}
            case "session.detach":
                return {"success": True}
            case _:
                raise RpcRefusal(f"{method} needs a session.", UNKNOWN_METHOD)

    def _join(self, params: Mapping[str, Any]) -> dict[str, Any]:
        try:
            brought = joined(params)
            no = GivenNames().give(self.file.name, brought)
        except NotLetIn as error:
            brought, no = self.joined, str(error)
        if no:
            self._why_not = no
            self._come.set()
            raise RpcRefusal(no)
        self.joined = brought
        self._come.set()
        return {
            "sessionId": _SESSION,
            "workspacePath": None,
            "cwd": str(self.cwd),
            **_ANSWER,
        }


@contextlib.asynccontextmanager
async def started_alone(
    folder: Path, cwd: Path, environ: Mapping[str, str], cli: Path | None = None
) -> AsyncGenerator[Trial]:
    """Raises `TrialFailed` where it does not join."""
    trial = Trial(await asyncio.to_thread(trial_file, folder), cwd)
    try:
        await trial.start(environ, cli)
        yield trial
    finally:
        await trial.stop()


def trial_file(path: Path) -> ExtensionFile:
    """The extension in this folder, or with this main file. Blocking. Raises `TrialFailed`."""
    folder = path.parent if path.name in MAIN_FILES.values() else path
    if not folder.is_dir():
        raise TrialFailed(f"{path}: there is no such folder.")
    found = extension_at(folder, "project")
    if found.fault:
        raise TrialFailed(f"{folder}: {found.fault}")
    try:
        digest = read(folder).digest
    except Unusable as error:
        raise TrialFailed(f"{folder}: {error}") from None
    return ExtensionFile(
        name=found.name,
        scope="project",
        language=found.language,
        path=folder,
        digest=digest,
        state="ready",
        reason="",
        copy=folder,
        on_host=False,
    )


def fault_in(log: str, file: ExtensionFile, reason: str) -> str:
    """`FILE:LINE: message` by its last words; without them, how it ended. Blocking."""
    main = MAIN_FILES[file.language]
    lines = log.strip().splitlines()
    if file.language == "python":
        last = lines[-1].strip() if lines else ""
        return last if re.match(r"[^\s:]+\.py:(\d+:)? ", last) else f"{main}: {reason}"
    said = _SCRIPT_ERROR.search(log)
    if said is None:
        return f"{main}: {reason}"
    if said[1].startswith("SyntaxError"):
        log = _parsed(file.path / main)
    places = (
        f"{Path(at).relative_to(file.path)}:{line}"
        for at, line in _SCRIPT_PLACE.findall(log)
        if Path(at).is_relative_to(file.path)
    )
    place = next(places, None) or _importing(said[1], file.path) or main
    return f"{place}: {said[1].strip()}"


def _importing(said: str, folder: Path) -> str | None:
    """Of an import that leads nowhere Node tells the file, and not the line. Blocking."""
    missing = _SCRIPT_MISSING.search(said)
    if missing is None or not Path(missing[2]).is_relative_to(folder):
        return None
    name, number = Path(missing[1]).name, 1
    with contextlib.suppress(OSError):
        lines = Path(missing[2]).read_text("utf-8", "replace").splitlines()
        number = next((at for at, line in enumerate(lines, 1) if name in line), number)
    return f"{Path(missing[2]).relative_to(folder)}:{number}"


def _placed(no: str, file: ExtensionFile) -> str:
    """Where the tool that it is about is named, as a function or a text. Blocking."""
    main, tool, number = MAIN_FILES[file.language], _REFUSED_TOOL.search(no), 1
    with contextlib.suppress(OSError):
        lines = (file.path / main).read_text("utf-8", "replace").splitlines()
        named = re.compile(rf"""def {tool[1]}\b|["']{tool[1]}["']""") if tool else None
        found = (at for at, line in enumerate(lines, 1) if named and named.search(line))
        number = next(found, number)
    return f"{main}:{number}: {no}"


def _parsed(main: Path) -> str:
    """What Node says of a file that it cannot read: the SDK's own words do not tell where."""
    words = ("node", "--check", str(main))
    try:
        done = subprocess.run(words, capture_output=True, timeout=_PARSE_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr.decode("utf-8", "replace")
