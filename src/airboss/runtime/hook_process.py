"""Runs one program that is asked at a moment of a session's life: JSON in, JSON out, and an end.

Whatever it does, it is over after its time, its words are bounded, and nothing that it started
outlives it. What its answer means is not known here.
"""

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from airboss.model.setup import HookSetup
from airboss.programs import APART, end_group, give, hear
from airboss.runtime.sweep import HOOK, sweep_hooks

MOST_OUTPUT: Final = 1 << 20
_MOST_REASON: Final = 4096
_SAYS_NO: Final = 2
_END_SECONDS: Final = 1.0
_LOOK_SECONDS: Final = 0.005
_NO_REASON: Final = "It gave no reason."


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What it said. `no` is its reason where it said no, and `error` says in words why it has no
    say at all."""

    output: Mapping[str, Any]
    no: str | None = None
    error: str | None = None
    milliseconds: int = 0


@dataclass(slots=True)
class HookPrograms:
    """Runs programs in `cwd`, in a cleaned environment."""

    environ: Mapping[str, str]
    cwd: Path

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
        await asyncio.to_thread(_must_be_as_before, hook)
        words, more = _words_of(hook)
        mark = secrets.token_hex(8)
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**self.environ, **more, HOOK: mark},
                cwd=self.cwd,
                **APART,
            )
        except (OSError, ValueError) as error:
            raise _Failed(f"It could not be run: {error}") from error
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
        return sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return None


def _must_be_as_before(hook: HookSetup) -> None:
    for file, digest in hook.files.items():
        if digest_of_file(file) != digest:
            raise _Failed(f"It was not run: {file} has changed since the session was opened.")


async def _ended_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Its own end: `wait` waits for all who hold its pipes, too."""
    try:
        async with asyncio.timeout(seconds):
            while process.returncode is None:  # noqa: ASYNC110 - there is no event for this
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        return process.returncode is not None
    return True


async def _sweep(process: asyncio.subprocess.Process, mark: str) -> None:
    """All that stayed in its group, and all else that it started."""
    end_group(process)
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
        said = json.loads(output)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise _Failed("It did not write a JSON object.")
    return HookAnswer(cast("dict[str, Any]", said))
