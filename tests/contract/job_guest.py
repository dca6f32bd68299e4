"""Somebody who runs jobs over HTTP, in seed 001's words and in v1's; and what their tasks do."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.contract.guest import Frame, Guest, Told, frames_of
from tests.pauses import pauses
from tests.portal import Portal

INSTALL = "copilot/test/installJobsEntry"
TIMEOUT = {"error": "HttpRequestTimeout"}
DRIVING = {"category": "driving"}
# `yes` succeeds and `no` fails, each in one short turn; `twice-…` is true two times, then false.
SCRIPT = r"""
models:
  - {id: driver, name: Driver, multiplier: 0}
  - {id: other, name: Other, multiplier: 0}
rules:
  - when: "True twice"
    times: 2
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "so far"}}
      - say: "Yes."
  - when: "True twice"
    steps: [{say: "No more."}]
  - when: "Say yes"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Yes."
  - when: "Take your time"
    steps:
      - say: "One moment."
      - sleep: 30
  - when: "Take a moment"
    steps:
      - say: "One moment."
      - sleep: 1
      - call: {tool: job_boolean_true, arguments: {argument: "yes"}}
      - say: "Yes."
  - when: "Run for long"
    steps:
      - call: {tool: bash, arguments: {command: "sleep 120", description: "wait"}}
      - say: "Done."
  - when: "Fix it"
    times: 1
    steps: [{say: "I could not."}]
  - when: "Fix it"
    steps:
      - call: {tool: job_boolean_true, arguments: {argument: "mended"}}
      - say: "Yes."
  - when: "."
    steps: [{say: "No."}]
"""


def task(prompt: str, **more: Any) -> dict[str, Any]:
    """One that succeeds when its agent says that it is so."""
    said = {"toolExecuted": ["job_boolean_true"], "failureAction": {"retryTimes": 0}}
    needs_input = "$user-input" in prompt
    return {"prompt": [prompt], "requireUserInput": needs_input, "criteria": said, **more}


TASKS: dict[str, Any] = {
    "yes": task("Say yes."),
    "no": task("Say no."),
    "after-yes": task("Say yes.", availability={"previousTasks": ["yes"]}),
    "after-no": task("Say yes.", availability={"previousTasks": ["no"]}),
    "slow": task("Take your time."),
    "moment": task("Take a moment."),
    "shell": task("Run for long."),
    "fix": task("Fix it."),
    "input": task("Say yes to $user-input on $task-model."),
}


def ref(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Ref", "taskId": name, "modelOverride": DRIVING, **more}


def seq(*works: Any) -> dict[str, Any]:
    return {"kind": "Seq", "works": list(works)}


def par(*works: Any) -> dict[str, Any]:
    return {"kind": "Par", "works": list(works)}


def loop(body: Any, *, pre: Any = None, post: Any = None) -> dict[str, Any]:
    made = {"kind": "Loop", "body": body}
    return made | ({"preCondition": pre} if pre else {}) | ({"postCondition": post} if post else {})


def alt(condition: Any, true: Any = None, false: Any = None) -> dict[str, Any]:
    made = {"kind": "Alt", "condition": condition}
    return made | ({"trueWork": true} if true else {}) | ({"falseWork": false} if false else {})


def entry_of(jobs: dict[str, Any], **tasks: Any) -> dict[str, Any]:
    return {
        "models": {"driving": "driver", "second": "other"},
        "promptVariables": {},
        "tasks": TASKS | tasks,
        "jobs": {name: {"work": work} for name, work in jobs.items()},
        "grid": [],
    }


class JobGuest(Guest):
    """Speaks for one person with the token."""

    async def install(self, entry: dict[str, Any]) -> None:
        file = self.portal.folder / "fixtures" / "jobs.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(entry), "utf-8")
        assert await self.seed(INSTALL, str(file)) == {"result": "OK"}

    async def start_job(self, name: str, text: str = "") -> str:
        body = f"{self.portal.work}\n{text}"
        said = await self.seed(f"copilot/job/start/{quote(name, safe='')}", body)
        assert list(said) == ["jobId"], said
        return said["jobId"]

    async def job_live(self, run: str) -> Told:
        return await self.seed(f"copilot/job/{run}/live", method="GET")

    async def hear_job(self, run: str, last: str = "JobsClosed") -> list[Told]:
        """All responses up to the first `last`, a callback's name or an error's."""
        heard: list[Told] = []
        async with asyncio.timeout(50):
            while True:
                said = await self.job_live(run)
                if said == TIMEOUT:
                    continue
                heard.append(said)
                if last in (said.get("callback"), said.get("error"), *said):
                    return heard
                assert list(said) != ["error"], heard

    async def run_job(self, work: Any, **tasks: Any) -> list[Told]:
        """A job of this one tree, to its end."""
        await self.install(entry_of({"job": work}, **tasks))
        heard = await self.hear_job(await self.start_job("job"))
        assert heard[-1] == {"error": "JobsClosed"}
        return heard[:-1]

    async def run(self, job: str, **asked: Any) -> Told:
        asked = {"job": job, "cwd": str(self.portal.work), **asked}
        answer = await self.http.post("/api/v1/runs", json=asked)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def show_run(self, run: str) -> Told:
        answer = await self.http.get(f"/api/v1/runs/{run}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def do_run(self, run: str, verb: str, status: int = 200) -> Told:
        answer = await self.http.post(f"/api/v1/runs/{run}/{verb}")
        assert answer.status_code == status, answer.text
        return answer.json()

    async def over(self, run: str) -> Told:
        """The run, once it has ended."""
        async with asyncio.timeout(40):
            view = await self.show_run(run)
            pause = pauses()
            while view["state"] in ("waiting", "running"):
                await asyncio.sleep(next(pause))
                view = await self.show_run(run)
        return view

    async def until_run(self, run: str, holds: Callable[[Told], object]) -> Told:
        async with asyncio.timeout(40):
            view = await self.show_run(run)
            pause = pauses()
            while not holds(view):
                await asyncio.sleep(next(pause))
                view = await self.show_run(run)
        return view

    async def at_work(self, run: str, count: int = 1) -> list[Told]:
        """The sessions of so many tasks of a run, once the model of each has begun its turn."""
        async with asyncio.timeout(40):
            pause = pauses()
            while True:
                tasks = {work["task_run"] for work in (await self.show_run(run))["running"]}
                working = await self.sessions_of(*tasks)
                found = [one for one in working if one["state"] == "working"]
                if len(found) >= count:
                    return found
                await asyncio.sleep(next(pause))

    async def sessions_of(self, *task_runs: str) -> list[Told]:
        answer = await self.http.get("/api/v1/sessions", params={"limit": 200})
        owners = {f"task {task_run}" for task_run in task_runs}
        return [view for view in answer.json()["items"] if view["who"] in owners]

    async def task_run(self, name: str) -> Told:
        answer = await self.http.get(f"/api/v1/task-runs/{name}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def run_frames(
        self, run: str, after: int | None = None, last_id: str | None = None
    ) -> list[Frame]:
        """Every server-sent event to the end of the stream, without heartbeats."""
        async with asyncio.timeout(40), aclosing(self._frames(run, after, last_id)) as frames:
            return [frame async for frame in frames if frame.name != "heartbeat"]

    async def _frames(
        self, run: str, after: int | None, last_id: str | None
    ) -> AsyncGenerator[Frame]:
        async with self.http.stream(
            "GET",
            f"/api/v1/runs/{run}/stream",
            params={} if after is None else {"after": after},
            headers={} if last_id is None else {"Last-Event-ID": last_id},
        ) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for frame in frames_of(answer.aiter_lines()):
                yield frame

    async def run_events(self, run: str) -> list[Told]:
        answer = await self.http.get(f"/api/v1/runs/{run}/events", params={"limit": 1000})
        return answer.json()["items"]

    async def open_sessions(self) -> list[Told]:
        params = {"limit": 200, "state": ["opening", "idle", "working"]}
        return (await self.http.get("/api/v1/sessions", params=params)).json()["items"]


def story(heard: Iterable[Told]) -> str:
    """`0+` for a work that started, `0:yes` and `0:no` for one that stopped, then the outcome."""
    told: list[str] = []
    for one in heard:
        match one.get("callback"):
            case "workStarted":
                told.append(f"{one['workId']}+")
            case "workStopped":
                told.append(f"{one['workId']}:{'yes' if one['succeeded'] else 'no'}")
            case other:
                told.append(str(other or next(iter(one))))
    return " ".join(told)


def job_portal_in(folder: Path, *options: str, rules: str = "") -> Portal:
    """With `rules` of its own for the model, before those that all have."""
    fixtures = ("--test", "--test-folder", str(folder / "fixtures"))
    script = SCRIPT.replace("rules:\n", f"rules:\n{rules}")
    return Portal(folder, (*fixtures, "--permissions", "approve-all", *options), script)


async def install_jobs(portal: Portal, entry: dict[str, Any]) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry)
