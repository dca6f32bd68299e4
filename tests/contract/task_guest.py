"""Somebody who runs tasks over HTTP, in seed 001's words and in v1's; and an entry to run."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.contract.guest import Frame, Guest, Told, frames_of
from tests.portal import Portal
from tests.service.errands import DOCUMENT, SCRIPT, asks, criteria, entry, task

INSTALL = "copilot/test/installJobsEntry"
TIMEOUT = {"error": "HttpRequestTimeout"}
ODD_NAMES = ("a b/ü%?#", "a/session/b", "100%", "+")
TASKS: dict[str, Any] = {
    "plan": task("Write the plan.", criteria=criteria(DOCUMENT, retries=3)),
    "idle": task("Do it.", criteria=criteria(DOCUMENT)),
    "stubborn": task("Do it.", criteria=criteria(DOCUMENT, retries=1, more="Go on.\nTo the end.")),
    "lucky": task("Lucky the first time.", criteria=criteria(DOCUMENT, retries=2)),
    "lucky again": task(
        "Lucky the second time.", criteria=criteria(DOCUMENT, retries=2, more="Go on.")
    ),
    "several": task(
        "Write the plan.",
        model={"category": "coding"},
        availability={"condition": asks("Is it there?")},
        criteria=criteria(
            DOCUMENT, condition=asks("Is it so?"), runConditionInSameSession=False, retries=1
        ),
    ),
    "judged": task(
        "Do it.",
        model={"category": "coding"},
        criteria=criteria(condition=asks("Is it gone?"), runConditionInSameSession=False),
    ),
    "picky": task(
        "Do it.", availability={"previousTasks": ["plan"], "condition": asks("Is it gone?")}
    ),
    "doubtful": task("Do it.", criteria=criteria(condition=asks("Is it gone?"))),
    "stumble": task("Stumble once.", criteria=criteria(DOCUMENT)),
    "refused": task("Be refused."),
    "homeless": task("Do it.", model={"id": "nobody"}),
    "slow": task("Take your time."),
    "moment": task("Take a moment."),
    "input": task("Do: $user-input"),
    **{name: task("Do it.") for name in ODD_NAMES},
}


def portal_for_tests_in(folder: Path) -> Portal:
    return Portal(folder, ("--test", "--test-folder", str(folder / "fixtures")), SCRIPT)


async def install_tasks(portal: Portal, tasks: dict[str, Any] = TASKS) -> None:
    file = portal.folder / "fixtures" / "tasks.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(entry(tasks)), "utf-8")
    async with Guest.of(portal) as guest:
        assert await guest.seed(INSTALL, str(file)) == {"result": "OK"}


class TaskGuest(Guest):
    """Speaks for one person with the token."""

    # Seed 001.

    async def try_borrow(
        self, name: str, session: str, text: str = "", method: str = "POST"
    ) -> Told:
        path = f"copilot/task/start/{quote(name, safe='')}/session/{session}"
        return await self.seed(path, text, method)

    async def borrow(self, name: str, session: str, text: str = "") -> str:
        said = await self.try_borrow(name, session, text)
        assert list(said) == ["taskId"], said
        return said["taskId"]

    async def task_live(self, run: str, method: str = "GET") -> Told:
        return await self.seed(f"copilot/task/{run}/live", method=method)

    async def task_stop(self, run: str, method: str = "POST") -> Told:
        return await self.seed(f"copilot/task/{run}/stop", method=method)

    async def hear_task(self, run: str, last: str = "TaskClosed") -> list[Told]:
        """All responses up to the first `last`: an error's name, a callback's, or `taskError`."""
        heard: list[Told] = []
        async with asyncio.timeout(40):
            while True:
                said = await self.task_live(run)
                if said == TIMEOUT:
                    continue
                heard.append(said)
                if last in (said.get("callback"), said.get("error"), *said):
                    return heard
                assert list(said) != ["error"], heard

    async def drained(self, run: str) -> list[Told]:
        """All that is left, and that nothing comes behind it."""
        heard = await self.hear_task(run)
        assert await self.task_live(run) == {"error": "TaskNotFound"}
        return heard[:-1]

    # v1.

    async def run(self, name: str, **asked: Any) -> str:
        """Managed, or where `session` says."""
        answer = await self.http.post("/api/v1/task-runs", json={"task": name, **asked})
        assert answer.status_code == 201, answer.text
        return answer.json()["id"]

    async def show_run(self, run: str) -> Told:
        answer = await self.http.get(f"/api/v1/task-runs/{run}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def stop_run(self, run: str) -> Told:
        answer = await self.http.post(f"/api/v1/task-runs/{run}/stop")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def run_page(self, run: str, **query: Any) -> Told:
        answer = await self.http.get(f"/api/v1/task-runs/{run}/events", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def run_frames(
        self, run: str, after: int | None = None, last_id: str | None = None
    ) -> AsyncGenerator[Frame]:
        async with self.http.stream(
            "GET",
            f"/api/v1/task-runs/{run}/stream",
            params={} if after is None else {"after": after},
            headers={} if last_id is None else {"Last-Event-ID": last_id},
        ) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for frame in frames_of(answer.aiter_lines()):
                yield frame

    async def run_event(self, run: str, kind: str, count: int = 1) -> Told:
        """The n-th event of this kind, as soon as it comes."""
        async with asyncio.timeout(30), aclosing(self.run_frames(run)) as frames:
            async for frame in frames:
                assert frame.name != "end", f"the run ended before {kind}"
                if frame.name == "message" and frame.kind == kind:
                    count -= 1
                    if not count:
                        return frame.data["event"]
        raise AssertionError(f"the stream ended before {kind}")

    async def over(self, run: str) -> Told:
        """The run, once it has ended; nothing that it opened is open then."""
        async with asyncio.timeout(30), aclosing(self.run_frames(run)) as frames:
            assert [frame async for frame in frames][-1].name == "end"
        view = await self.show_run(run)
        assert view["sessions"] == []
        assert {session["state"] for session in await self.opened_by(run)} <= {"closed"}
        return view

    async def opened_by(self, run: str) -> list[Told]:
        """The sessions that a run opened, in that order."""
        answer = await self.http.get("/api/v1/sessions", params={"limit": 200})
        found = [view for view in answer.json()["items"] if view["who"] == f"task {run}"]
        return sorted(found, key=lambda view: view["id"])

    async def under_way(self, run: str, count: int = 1) -> str:
        """The session that has the n-th mission, once its model has begun to talk."""
        sent = await self.run_event(run, "task.mission.sent", count)
        last = {"turn.started": False}

        def begun(frame: Frame) -> bool:
            event = frame.data["event"]
            if event["kind"] == "turn.started":
                last["turn.started"] = event["prompt"] == sent["prompt"]
            return event["kind"] == "message.started" and last["turn.started"]

        await self.take(sent["session"], begun)
        return sent["session"]
