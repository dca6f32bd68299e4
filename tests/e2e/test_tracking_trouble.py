"""The tracking page where a run cannot go on: no place is free, or nobody can be asked."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.contract.job_guest import JobGuest, alt, entry_of, job_portal_in, par, ref, task
from tests.e2e.tracked import begun, state, visit
from tests.e2e.witness import Quiet
from tests.portal import Portal

TASKS = {"lost": task("Say yes.", model={"id": "nobody"})}
JOBS: dict[str, Any] = {
    "wide": par(ref("slow"), ref("slow"), ref("slow")),
    "unasked": alt({"kind": "Ref", "taskId": "lost"}, true=ref("yes"), false=ref("yes")),
}


async def install(portal: Portal) -> None:
    async with JobGuest.of(portal) as guest:
        await guest.install(entry_of(JOBS, **TASKS))


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder: Path = tmp_path_factory.mktemp("trouble")
    portal = job_portal_in(folder, "--max-tasks", "1")
    portal.start()
    asyncio.run(install(portal))
    yield portal
    portal.stop()


def test_the_heading_says_that_tasks_wait_for_a_place_and_how_to_have_more(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "wide")
    visit(page, portal, "wide", run)
    told = page.locator(".jobhead").get_by_role("status")
    expect(told).to_have_text(
        "2 of 3 tasks are waiting for a free place: 1 of 1 agents of jobs are at work. "
        "To run more at once, raise max_tasks on the Settings page."
    )
    page.get_by_role("button", name="Stop Job").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop Job").click()
    expect(state(page)).to_have_text("JOB: CANCELED")
    expect(told).to_have_count(0)


def test_a_condition_that_could_not_be_asked_is_told_apart_from_a_no(
    portal: Portal, page: Page, quiet: Quiet
) -> None:
    run = begun(portal, "unasked")
    visit(page, portal, "unasked", run, "#node=0")
    expect(state(page)).to_have_text("JOB: FAILED")
    head = page.locator(".nodehead")
    expect(head).to_contain_text("could not be checked")
    expect(head.locator(".tf")).to_have_count(0)
    node = page.locator("[data-key=n0]")
    expect(node).to_contain_text("not checked")
    expect(node.locator(".mkx")).to_have_count(1)
    page.get_by_role("tab", name="Report").click()
    outcome = page.get_by_role("region", name="Outcome")
    expect(outcome).to_contain_text("lost could not be checked.")
    expect(outcome).to_contain_text("nobody")
    expect(page.get_by_role("button", name="Retry the failed part").first).to_be_enabled()
