"""What Airboss itself asks, on its cards: whether another model goes on where one is at its limit,
and whether work that crashed may be done again."""

import asyncio
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.crash.test_setups_killed import BarePortal
from tests.e2e.visit import asked, audit, calm, signed_in
from tests.e2e.witness import Quiet
from tests.portal import Portal
from tests.runtime.copilot_service import Stage, on_stage

pytestmark = pytest.mark.timeout(120)

BUSY, FREE = "claude-sonnet-4.5", "gpt-5-mini"
ENTRY: dict[str, Any] = {
    "models": {"driving": FREE},
    "promptVariables": {},
    "tasks": {
        "ship": {
            "model": {"category": "driving"},
            "prompt": ["shell touch shipped && sleep 60"],
            "requireUserInput": False,
            "onUnsafeRetry": "ask",
        }
    },
    "jobs": {"ship": {"work": {"kind": "Ref", "taskId": "ship"}}},
    "grid": [],
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """In a loop of its own: the browser's takes this thread."""
    stage, is_up, loop = Stage(busy=frozenset({BUSY})), threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with on_stage(stage):
            is_up.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert is_up.wait(20)
    yield stage
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory, stage: Stage) -> Iterator[Portal]:
    folder: Path = tmp_path_factory.mktemp("asks")
    entry = folder / "airboss.json"
    entry.write_text(json.dumps(ENTRY), "utf-8")
    options = ("--root", str(folder), "--entry", str(entry), "--permissions", "approve-all")
    portal = BarePortal(folder, options)
    for name in ("COPILOT_API_URL", "COPILOT_DEBUG_GITHUB_API_URL"):
        portal.extra_environ[name] = stage.address
    for name in ("GH_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        portal.extra_environ[name] = str(folder / name)
    portal.extra_environ["COPILOT_GITHUB_TOKEN"] = "made-up-token"
    portal.start()
    yield portal
    portal.stop()


def test_a_model_at_its_limit_gives_way_to_another_one_and_the_page_says_so(
    page: Page, portal: Portal
) -> None:
    quiet = Quiet(signed_in(page, portal))
    body = {"model": BUSY, "cwd": str(portal.work)}
    session = str(asked(portal, "POST", "/api/v1/sessions", body).json()["id"])
    asked(portal, "POST", f"/api/v1/sessions/{session}/prompts", {"text": "say hello"})
    page.goto(f"{portal.url}/index.html?session={session}")
    card = page.get_by_role("region", name="Model at its limit")
    expect(card).to_contain_text(f"Continue with another model? {BUSY} is at its limit.")
    expect(card).to_contain_text("again in 600 s")
    expect(card.get_by_role("button", name="Stop here")).to_be_enabled()
    audit(calm(page))
    card.get_by_role("button", name="Continue with another model").click()
    log = page.get_by_role("log")
    expect(log).to_contain_text("Allowed to continue by owner", timeout=20_000)
    expect(log).to_contain_text(f"model auto ({BUSY} is at its rate limit). By owner.")
    expect(page.get_by_role("combobox", name="Model", exact=True)).to_have_value("auto")
    expect(log).to_contain_text("there", timeout=20_000)
    audit(calm(page))
    quiet.check()


def test_a_person_says_whether_work_that_crashed_is_done_again(page: Page, portal: Portal) -> None:
    quiet = Quiet(signed_in(page, portal))
    body = {"job": "ship", "cwd": str(portal.work)}
    run = str(asked(portal, "POST", "/api/v1/runs", body).json()["id"])
    page.goto(f"{portal.url}/inbox.html")
    for _ in range(600):
        if (portal.work / "shipped").exists():
            break
        page.wait_for_timeout(50)
    os.kill(asked(portal, "GET", "/api/v1/status").json()["runtime"]["pid"], signal.SIGKILL)
    card = page.get_by_role("region", name="Question from Airboss")
    expect(card).to_contain_text("Try again after a crash?", timeout=20_000)
    expect(card).to_contain_text("may do the same things twice")
    expect(card).to_contain_text("bash: touch shipped && sleep 60")
    expect(card.get_by_role("textbox")).to_have_count(0)
    expect(card.get_by_role("button", name="Stop the task")).to_be_enabled()
    audit(calm(page))
    card.get_by_role("button", name="Try again").click()
    expect(card).to_have_count(0, timeout=20_000)
    state = ""
    for _ in range(600):
        state = asked(portal, "GET", f"/api/v1/runs/{run}").json()["state"]
        if state == "succeeded":
            break
        page.wait_for_timeout(50)
    assert state == "succeeded"
    quiet.check()
