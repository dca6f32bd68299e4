"""One rehearsal, from the start of its server to its end: an empty folder to work in, data of its
own, and nothing left of either."""

import asyncio
import contextlib
import os
import shutil
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, cast

from airboss.log.writer import now_ms
from airboss.model.runs import RunState, WorkRecord
from airboss.model.words import Frozen, Words
from airboss.service.entry_reader import in_thread

# Imported when the first one is played: most servers never play any.
if TYPE_CHECKING:
    import httpx2

    from airboss.runtime.rehearsal.stage import Stage

# What agents may do there: as with `airboss rehearse`.
PERMISSIONS: Final = "read-only"
_LOOK_SECONDS: Final = 0.1
_FOLLOW_SECONDS: Final = 0.25
_ANSWER_SECONDS: Final = 60.0
_END_SECONDS: Final = 10.0

Progress = Callable[[tuple["RehearsedTask", ...]], None]
End = tuple[Literal["succeeded", "failed"], str | None]


class NotPlayed(Exception):
    """It came to no end of its own, and why."""


class RehearsedTask(Frozen):
    """A task of the job. `rounds` counts how often its prompt was worked on; before the first it
    is `waiting`. `requests` are those to the model, and `seconds` is the time at work."""

    name: Words
    state: RunState
    rounds: int = 0
    requests: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class PlannedPlay:
    """What is played. `names` are those of the job's tasks, by their numbers."""

    folder: Path
    job: str
    user_input: str
    names: Mapping[int, str]
    text: str
    suffix: str
    script: str
    options: tuple[str, ...] = ()
    secret_names: tuple[str, ...] = ()

    def tasks(self, works: Sequence[WorkRecord] = ()) -> tuple[RehearsedTask, ...]:
        return tuple(
            _summed(name, [work for work in works if work.work == number])
            for number, name in sorted(self.names.items())
        )


def _summed(name: str, works: Sequence[WorkRecord]) -> RehearsedTask:
    if not works:
        return RehearsedTask(name=name, state="waiting")
    now = now_ms()
    return RehearsedTask(
        name=name,
        state=works[-1].state,
        rounds=sum(1 + len(work.retried_at) for work in works),
        requests=sum(work.usage.requests for work in works),
        seconds=round(sum(work.worked_until(now) for work in works) / 1000, 2),
    )


async def play(plan: PlannedPlay, progress: Progress) -> End:
    """How the job went. Whatever ends this ends its server, and removes its folder."""
    stage = await in_thread(lambda: _stage(plan.folder))
    folder = _ThrownAwayFolder(plan, stage)
    try:
        said = await in_thread(folder.make)
        with said:
            async with _serving(stage, plan, said) as process:
                await _started(stage, process)
                return await _followed(stage, plan, progress)
    finally:
        await in_thread(folder.remove)


def _stage(folder: Path) -> "Stage":
    from airboss.runtime.rehearsal.stage import Stage

    return Stage(folder)


@dataclass
class _ThrownAwayFolder:
    """Made and removed in threads, and never made after it was removed."""

    plan: PlannedPlay
    stage: "Stage"
    _is_gone: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self) -> BinaryIO:
        """Answers what the server's output goes to."""
        with self._lock:
            if self._is_gone:
                raise NotPlayed("It ended before it began.")
            self.plan.folder.mkdir(mode=0o700)
            _work_in(self.plan).mkdir()
            self.stage.script.write_text(self.plan.script, encoding="utf-8")
            _entry_in(self.plan).write_text(self.plan.text, encoding="utf-8")
            return self.stage.log.open("wb")

    def remove(self) -> None:
        with self._lock:
            self._is_gone = True
            shutil.rmtree(self.plan.folder, ignore_errors=True)


def _work_in(plan: PlannedPlay) -> Path:
    return plan.folder / "work"


def _entry_in(plan: PlannedPlay) -> Path:
    return plan.folder / f"airboss{plan.suffix}"


@contextlib.asynccontextmanager
async def _serving(
    stage: "Stage", plan: PlannedPlay, said: BinaryIO
) -> AsyncGenerator[asyncio.subprocess.Process]:
    from airboss.runtime.rehearsal.stage import stage_environment

    work = _work_in(plan)
    words = stage.words(PERMISSIONS, [work], "--entry", str(_entry_in(plan)), *plan.options)
    process = await asyncio.create_subprocess_exec(
        *words,
        cwd=work,
        env=stage_environment(os.environ, plan.secret_names),
        stdin=asyncio.subprocess.PIPE,  # closed with us, whatever ends us: then the server ends
        stdout=said,
        stderr=said,
        process_group=0,  # Ctrl-C is for us
    )
    try:
        yield process
    finally:
        if process.stdin:
            process.stdin.close()
        try:
            async with asyncio.timeout(_END_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _started(stage: "Stage", process: asyncio.subprocess.Process) -> None:
    from airboss.runtime.rehearsal.stage import START_SECONDS

    try:
        async with asyncio.timeout(START_SECONDS):
            while await in_thread(stage.data.note) is None:
                if process.returncode is not None:
                    raise NotPlayed(await in_thread(stage.why_not_started))
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        raise NotPlayed(await in_thread(stage.why_not_started)) from None


async def _followed(stage: "Stage", plan: PlannedPlay, progress: Progress) -> End:
    import httpx2

    from airboss.net.address_guard import Egress
    from airboss.net.egress import guarded_client

    note = await in_thread(stage.data.note)
    if note is None:
        raise NotPlayed(await in_thread(stage.why_not_started))
    token = await in_thread(lambda: stage.data.token.read_text(encoding="utf-8").strip())
    async with guarded_client(Egress(allows_private=True), _ANSWER_SECONDS) as client:
        client.base_url = note.url
        client.headers["Authorization"] = f"Bearer {token}"
        try:
            return await _run(client, plan, progress)
        except httpx2.TransportError as error:
            raise NotPlayed(f"The rehearsal's server could not be reached: {error}") from error


async def _run(client: "httpx2.AsyncClient", plan: PlannedPlay, progress: Progress) -> End:
    asked = {"job": plan.job, "input": plan.user_input}
    run = _answered(await client.post("/api/v1/runs", json=asked))
    while True:
        run = _answered(await client.get(f"/api/v1/runs/{run['id']}"))
        progress(plan.tasks([WorkRecord.model_validate(work) for work in run["works"]]))
        state = cast("RunState", run["state"])
        if state == "succeeded":
            return "succeeded", None
        if state in ("failed", "canceled"):
            return "failed", run["reason"]
        if state == "waiting-for-person":
            raise NotPlayed(f"It waits for {run['waits_for']}, and nobody answers in a rehearsal.")
        await asyncio.sleep(_FOLLOW_SECONDS)


def _answered(answer: "httpx2.Response") -> dict[str, Any]:
    said = cast("dict[str, Any]", answer.json())
    if not answer.is_success:
        raise NotPlayed(str(said.get("detail", answer.status_code)))
    return said
