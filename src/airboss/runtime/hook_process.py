"""Runs one program that is asked at a moment of a session's life: JSON in, JSON out, and an end.
That of a session in a cage runs in there, unless the settings have it outside.

Whatever it does, it is over after its time, its words are bounded, and nothing that it started
outlives it. What its answer means is not known here.
"""

import asyncio
import hashlib
import json
import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from airboss import strange_files
from airboss.errors import AirbossError
from airboss.model.redaction import cleaned
from airboss.model.setup import HookSetup
from airboss.model.words import without_halves
from airboss.programs import APART, RunningProgram, end_group, give, hear
from airboss.runtime import hook_child
from airboss.runtime.cage.programs import CagePrograms, Place
from airboss.runtime.cage.system import system_facts
from airboss.runtime.host_place import host_place, refusal_outside
from airboss.runtime.sweep import HOOK, sweep_hooks

MOST_OUTPUT: Final = 1 << 20
# What is larger is a program of the system's, and no script.
LARGEST_SCRIPT: Final = 20_000_000
_MOST_REASON: Final = 4096
_SAYS_NO: Final = 2
_END_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.005
_NO_REASON: Final = "It gave no reason."
_CHANGED: Final = "It was not run: {file} has changed since the session was opened."


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What it said. `no` is its reason where it said no, and `error` says in words why it has no
    say at all."""

    output: Mapping[str, Any]
    no: str | None = None
    error: str | None = None
    milliseconds: int = 0


# What starts programs in the session's cage, which is opened where it is not.
Caging: TypeAlias = Callable[[], Awaitable[CagePrograms]]


@dataclass(slots=True)
class HookPrograms:
    """Runs programs in `cwd`, in a cleaned environment; with `cage` in there, in its own. What is
    outside though there is a cage does not start in `cwd`, which the agent writes as well as all
    that is `written`."""

    environ: Mapping[str, str]
    cwd: Path
    cage: Caging | None = None
    written: tuple[Path, ...] = ()

    async def ask(self, hook: HookSetup, given: Mapping[str, Any]) -> HookAnswer:
        began = time.monotonic()
        try:
            answer = _read(*await self._run(hook, given))
        except _Failed as failed:
            answer = HookAnswer({}, error=str(failed))
        took = int((time.monotonic() - began) * 1000)
        return HookAnswer(answer.output, answer.no, answer.error, took)

    async def _run(
        self, hook: HookSetup, given: Mapping[str, Any]
    ) -> tuple[int | None, bytes, bytes]:
        if self.cage is None or not hook.on_host:
            return await self._talk(hook, given, self.cwd, {})
        words = ("python", hook.python.rpartition(":")[0]) if hook.python else hook.command
        if why := await asyncio.to_thread(refusal_outside, words, self.written):
            raise _Failed(why)
        place = await host_place(self.cwd)
        try:
            return await self._talk(hook, given, place.folder, place.environ)
        finally:
            await asyncio.shield(place.remove())

    async def _talk(
        self, hook: HookSetup, given: Mapping[str, Any], cwd: Path, environ: Mapping[str, str]
    ) -> tuple[int | None, bytes, bytes]:
        mark = secrets.token_hex(8)
        process = await self._started(hook, mark, cwd, environ)
        said = json.dumps(given, default=str).encode()
        output, errors = bytearray(), bytearray()
        async with asyncio.TaskGroup() as group:
            talking = {
                group.create_task(give(process, said)),
                group.create_task(hear(process.stdout, output, MOST_OUTPUT + 1)),
                group.create_task(hear(process.stderr, errors, _MOST_REASON)),
            }
            try:
                is_late = not await _ended_within(process, hook.seconds)
            finally:
                await asyncio.shield(_sweep(process, mark))
            # All who could write are gone, but for one that hides: it is not waited for.
            _, open_still = await asyncio.wait(talking, timeout=_END_SECONDS)
            for task in open_still:
                task.cancel()
        if is_late:
            raise _Failed(f"It did not answer within {hook.seconds:g} s.")
        return process.returncode, bytes(output), bytes(errors)

    async def _started(
        self, hook: HookSetup, mark: str, cwd: Path, environ: Mapping[str, str]
    ) -> RunningProgram:
        await asyncio.to_thread(_must_be_as_before, hook)
        try:
            if self.cage is not None and not hook.on_host:
                return await _started_in(await self.cage(), hook, mark)
            words, more = _words_of(hook)
            return await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self.environ, **environ, **more, HOOK: mark},
                cwd=cwd,
                **APART,
            )
        except (OSError, ValueError, AirbossError) as error:
            raise _Failed(f"It could not be run: {error}") from error


async def _started_in(cage: CagePrograms, hook: HookSetup, mark: str) -> RunningProgram:
    words = await asyncio.to_thread(caged_words, hook, cage.place)
    return await cage.start(words, env={"PYTHONUTF8": "1", HOOK: mark})


def caged_words(hook: HookSetup, place: Place) -> list[str]:
    """Blocking. A program that is not there inside is handed in: a script, or the first file that
    its interpreter is given. Other files are not, as every shell inside could read them."""
    if hook.python is None:
        return _with_program(hook, place)
    file, _, function = hook.python.rpartition(":")
    child = place.hand_in("hook_child.py", Path(hook_child.__file__).read_bytes())
    begin = [str(system_facts().python), "-I", "-B", str(child)]
    return [*begin, _path_in(file, hook, place), function, hook.files.get(file, "")]


def _with_program(hook: HookSetup, place: Place) -> list[str]:
    words = hook.command
    for index, word in enumerate(words):
        is_interpreter = index == 0 and place.sees(Path(word))
        if os.path.isabs(word) and not is_interpreter:
            return [*words[:index], _path_in(word, hook, place), *words[index + 1 :]]
    return list(words)


def _path_in(file: str, hook: HookSetup, place: Place) -> str:
    path, digest = Path(file), hook.files.get(file)
    if place.sees(path) or not path.is_file():
        return file
    # An agent may have put a link there, to a file that it cannot read.
    if digest is None and place.is_led_by_agents(path):
        return file
    try:
        content = strange_files.read(path, LARGEST_SCRIPT)
    except strange_files.FileTooLarge:
        raise _Failed(f"{file} is not in the cage, and too large to be handed in.") from None
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        raise _Failed(_CHANGED.format(file=file))
    return str(place.hand_in(path.name, content))


class _Failed(Exception):
    """It has no say, for this reason."""


def _words_of(hook: HookSetup) -> tuple[list[str], dict[str, str]]:
    if hook.python is None:
        return list(hook.command), {}
    import airboss  # found by the child where we have it from

    file, _, function = hook.python.rpartition(":")
    package = str(Path(airboss.__file__).parent.parent)
    # -P: an `airboss.py` in the folder must not stand in for the package.
    begin = [sys.executable, "-P", "-B", "-m", "airboss.runtime.hook_child"]
    digest = hook.files.get(file, "")
    return [*begin, file, function, digest], {"PYTHONPATH": package, "PYTHONUTF8": "1"}


def digest_of_file(file: str) -> str | None:
    """None for one that is not readable."""
    try:
        return strange_files.digest(file, LARGEST_SCRIPT)
    except OSError:
        return None


def _must_be_as_before(hook: HookSetup) -> None:
    for file, digest in hook.files.items():
        if digest_of_file(file) != digest:
            raise _Failed(_CHANGED.format(file=file))


async def _ended_within(process: RunningProgram, seconds: float) -> bool:
    """Its own end: `wait` waits for all who hold its pipes, too."""
    try:
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 - there is no event for this
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        return process.returncode is not None
    return True


async def _sweep(process: RunningProgram, mark: str) -> None:
    """All that stayed in its group, and all else that it started."""
    if isinstance(process, asyncio.subprocess.Process):
        end_group(process)
    else:
        process.kill()
    await sweep_hooks(mark)


def _read(code: int | None, output: bytes, errors: bytes) -> HookAnswer:
    why = errors.decode("utf-8", "replace").strip()
    if code == _SAYS_NO:
        return HookAnswer({}, no=why or _NO_REASON)
    if code:
        raise _Failed(f"It ended with exit code {code}{f': {why}' if why else '.'}")
    if len(output) > MOST_OUTPUT:
        raise _Failed(f"It wrote more than {MOST_OUTPUT >> 20} MiB.")
    if not output.strip():
        return HookAnswer({})
    try:
        said: object = json.loads(output, parse_constant=_no_number)
        said = cleaned(said, without_halves)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise _Failed("It did not write a JSON object.")
    return HookAnswer(cast("dict[str, Any]", said))


def _no_number(word: str) -> None:
    """Python takes NaN and Infinity, and writes them. To all others, the runtime among them, what
    has such a word in it is no JSON."""
    raise ValueError(word)
