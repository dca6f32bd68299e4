"""What people ask meanwhile, through whichever portal: messages, decisions, a stop and a retry.
Each counts once, and what was answered counts."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from tests.crash.chaos_checks import Finding
from tests.crash.chaos_house import House, together

Json = dict[str, Any]

_TRIES_SECONDS: Final = 90.0
_AGAIN_SECONDS: Final = 0.3
_MOST_PROMPTS: Final = 15
_BASH: Final = {"description": "work", "command": "sleep 0.2; echo $RANDOM >> {cwd}/deeds.txt"}
_LONG: Final = {"description": "work", "command": "sleep 300"}

TASKS: Final[Json] = {
    "asks": {"prompt": ["Ask first."], "permissions": "ask", "requireUserInput": False},
    "long": {"prompt": ["Work on and on."], "requireUserInput": False},
}
JOBS: Final[Json] = {
    name: {"work": {"kind": "Ref", "taskId": name, "modelOverride": {"category": "driving"}}}
    for name in TASKS
}
RULES: Final[list[Json]] = [
    {"when": "Ask first", "steps": [{"call": {"tool": "bash", "arguments": _BASH}}]},
    {"when": "on and on", "steps": [{"call": {"tool": "bash", "arguments": _LONG}}]},
    {"when": "tell me", "steps": [{"say": "So it is, and so it will be told to everybody."}]},
]


@dataclass
class Errands:
    """Those of one round. Nothing is asked twice under the same name."""

    house: House
    number: int
    doors: list[httpx2.AsyncClient]
    chat: str = ""
    runs: list[str] = field(default_factory=list[str])
    # Of each message whether it was acknowledged.
    said: dict[str, bool] = field(default_factory=dict[str, bool])
    retries: Counter[str] = field(default_factory=Counter[str])
    # The run that is stopped and retried.
    retried: str = ""
    asked: int = 0
    findings: list[Finding] = field(default_factory=list[Finding])
    _is_over: bool = False

    def finish(self) -> None:
        self._is_over = True

    async def run(self) -> None:
        (self.house.shared / f"errands-{self.number}").mkdir()
        async with asyncio.TaskGroup() as group:
            for errand in (self._talk(), self._decide(), self._stop_and_retry()):
                group.create_task(self._surely(errand))

    async def _surely(self, errand: Any) -> None:
        try:
            await errand
        except (TimeoutError, AssertionError) as error:
            self.findings.append(Finding("command", f"an errand broke off: {error!r}"))

    async def _once(
        self, door: int, method: str, path: str, body: Json | None = None, key: str | None = None
    ) -> httpx2.Response | None:
        """None, or a 5xx: nobody knows whether it was done."""
        self.asked += method != "GET"
        headers = {"Idempotency-Key": key} if key else {}
        try:
            return await self.doors[door].request(
                method, f"/api/v1{path}", json=body, headers=headers
            )
        except httpx2.HTTPError:
            return None

    async def _surely_asked(
        self, door: int, method: str, path: str, body: Json | None = None, key: str | None = None
    ) -> Json:
        """As often as it takes, of this portal and of the other."""
        answer = None
        async with asyncio.timeout(_TRIES_SECONDS):
            for turn in itertools.count(door):
                answer = await self._once(turn % 2, method, path, body, key)
                if answer is not None and answer.is_success:
                    return answer.json()
                if answer is not None and answer.status_code in (404, 409, 422):
                    return {"refused": answer.text}
                await asyncio.sleep(_AGAIN_SECONDS)
        raise AssertionError(answer)

    async def _start(self, job: str) -> str:
        cwd = str(self.house.shared / f"errands-{self.number}")
        asked, key = {"job": job, "cwd": cwd}, f"errand {self.number} {job}"
        run = str((await self._surely_asked(0, "POST", "/runs", asked, key))["id"])
        self.runs.append(run)
        return run

    async def _talk(self) -> None:
        cwd = str(self.house.shared / f"errands-{self.number}")
        made = await self._surely_asked(0, "POST", "/sessions", {"model": "driver", "cwd": cwd})
        self.chat = str(made["id"])
        for number in range(_MOST_PROMPTS):
            if self._is_over:
                break
            text = f"tell me {self.number}-{number}"
            door = number % 2
            answer = await self._once(
                door, "POST", f"/sessions/{self.chat}/prompts", {"text": text}
            )
            self.said[text] = answer is not None and answer.status_code == 202
            if answer is not None and answer.status_code == 409:
                await self._once(1 - door, "POST", f"/sessions/{self.chat}/resume")
            await asyncio.sleep(1)
        await self._surely_asked(1, "POST", f"/sessions/{self.chat}/close")

    async def _decide(self) -> None:
        run = await self._start("asks")
        async with asyncio.timeout(_TRIES_SECONDS * 2):
            while (await self._state(run)) not in ("succeeded", "failed", "canceled"):
                waiting = await self._once(1, "GET", f"/inbox?run={run}")
                if waiting is not None and waiting.is_success:
                    for item in waiting.json()["items"]:
                        path = f"/inbox/{item['id']}/decision"
                        yes = {"choice": "allow-once"}
                        await together(*(self._once(door, "POST", path, yes) for door in (0, 1)))
                await asyncio.sleep(_AGAIN_SECONDS)

    async def _state(self, run: str) -> str:
        answer = await self._once(1, "GET", f"/runs/{run}")
        return answer.json()["state"] if answer is not None and answer.is_success else ""

    async def _stop_and_retry(self) -> None:
        run = self.retried = await self._start("long")
        await asyncio.sleep(2)
        await self._stop(run, 1)
        async with asyncio.timeout(_TRIES_SECONDS):
            while not self.retries["answered"]:
                self.retries["sent"] += 1
                answer = await self._once(0, "POST", f"/runs/{run}/retry")
                if answer is not None and answer.is_success:
                    self.retries["answered"] += 1
                elif await self._state(run) not in ("canceled", "failed", ""):
                    break
                await asyncio.sleep(_AGAIN_SECONDS)
        await asyncio.sleep(2)
        await self._stop(run, 1)

    async def _stop(self, run: str, door: int) -> None:
        """Until it is: what is asked of a portal that is gone was not asked."""
        async with asyncio.timeout(_TRIES_SECONDS):
            while True:
                await self._once(door, "POST", f"/runs/{run}/stop")
                if await self._state(run) in ("succeeded", "failed", "canceled"):
                    return
                await asyncio.sleep(_AGAIN_SECONDS)

    # What came of it.

    async def check(self) -> list[Finding]:
        return [*self.findings, *[one async for one in self._checked()]]

    async def _checked(self) -> AsyncGenerator[Finding]:
        accepted = Counter(str(e["text"]) for e in await self._events(self.chat, "prompt.accepted"))
        for text, was_answered in self.said.items():
            least = int(was_answered)
            if not least <= accepted[text] <= 1:
                yield Finding("command", f"{text!r} was accepted {accepted[text]} times")
        for run in self.runs:
            retries = self.retries if run == self.retried else Counter[str]()
            for one in retries_in(await self._events(run), retries):
                yield one
        settled = Counter(e["item"] for e in await self._events("inbox", "inbox.settled"))
        for item, times in settled.items():
            if times > 1:
                yield Finding("command", f"{item} was settled {times} times")

    async def _events(self, stream: str, kind: str = "") -> list[Json]:
        asked = "SELECT body FROM events WHERE stream = %s AND body <> '' ORDER BY seq"
        found = [json.loads(body) for (body,) in await self.house.rows(asked, stream)]
        return [event for event in found if kind in ("", event["kind"])]


def retries_in(events: list[Json], retries: Counter[str]) -> Iterator[Finding]:
    kinds = [event["kind"] for event in events]
    retried, ended = kinds.count("run.retried"), kinds.count("run.ended")
    if not retries["answered"] <= retried <= retries["sent"]:
        yield Finding("command", f"a retry counted {retried} times: {retries}")
    if ended != retried + 1:
        yield Finding("command", f"{retried} retries and {ended} ends: {kinds}")
