"""Cages that only the role `own` may leave, or widen: of sessions that are copied or changed, and
of runs that are run again."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from airboss.runtime.cage.ability import ability
from tests.contract.guest import Told
from tests.contract.job_guest import JobGuest, entry_of, install_jobs, job_portal_in, ref
from tests.portal import Portal

pytestmark = pytest.mark.skipif(ability().kind != "strong", reason="no strong cage holds here")
SETTINGS = """
[cages.wide]
hosts = ["example.org"]
"""


@pytest.fixture(scope="module")
def asking_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = job_portal_in(tmp_path_factory.mktemp("wider"), "--permissions", "ask")
    portal.data.mkdir(parents=True)
    (portal.data / "settings.toml").write_text(SETTINGS, "utf-8")
    with portal.serving():
        asyncio.run(install_jobs(portal, entry_of({"yes": ref("yes")})))
        yield portal


@pytest.fixture
async def owner(asking_portal: Portal, anyio_backend: str) -> AsyncGenerator[JobGuest]:
    async with JobGuest.of(asking_portal) as guest:
        yield guest


@pytest.fixture(scope="module")
def operator(asking_portal: Portal) -> dict[str, str]:
    made = asking_portal.run("token", "add", "operator", "--role", "operate")
    return {"Authorization": f"Bearer {made.stdout.split()[-1]}"}


async def opened(owner: JobGuest, permissions: str, profile: str) -> str:
    keys = {"permissions": permissions, "cage": {"profile": profile}}
    answer = await owner.http.post("/api/v1/sessions", json=keys)
    assert answer.status_code == 201, answer.text
    await owner.turn(answer.json()["id"], "greet me")
    return answer.json()["id"]


async def told(owner: JobGuest, verb: str, path: str, **more: Any) -> tuple[int, Told]:
    answer = await owner.http.request(verb, f"/api/v1/{path}", **more)
    return answer.status_code, answer.json()


async def test_a_copy_outside_of_the_cage_may_do_no_more_than_a_new_session(
    owner: JobGuest, operator: dict[str, str]
) -> None:
    session = await opened(owner, "approve-all", "default")
    fork, everything = f"sessions/{session}/fork", {"permissions": "approve-all"}
    status, said = await told(owner, "POST", fork, json=everything, headers=operator)
    assert (status, said["code"]) == (403, "role_needed"), said
    for policy in ("caged", "ask"):
        asked = {"permissions": policy}
        status, said = await told(owner, "POST", fork, json=asked, headers=operator)
        assert (status, said.get("policy")) == (201, policy), said
    status, said = await told(owner, "POST", fork, json=everything)
    assert (status, said["policy"], said["cage_profile"]) == (201, "approve-all", None)


async def test_everything_inside_a_cage_that_is_wider_than_the_usual_one_needs_own(
    owner: JobGuest, operator: dict[str, str]
) -> None:
    caged = {"permissions": "caged"}
    usual = f"sessions/{await opened(owner, 'read-only', 'default')}"
    assert (await told(owner, "PATCH", usual, json=caged, headers=operator))[0] == 200
    wide = f"sessions/{await opened(owner, 'read-only', 'wide')}"
    for verb, path in (("PATCH", wide), ("POST", f"{wide}/fork")):
        status, said = await told(owner, verb, path, json=caged, headers=operator)
        assert (status, said["code"]) == (403, "role_needed"), said
    assert (await told(owner, "PATCH", wide, json=caged))[0] == 200


async def test_a_run_in_a_wider_cage_is_run_again_only_by_who_may_start_it(
    owner: JobGuest, operator: dict[str, str]
) -> None:
    for profile, expected in (("default", 201), ("wide", 403)):
        asked = {"job": "yes", "cwd": str(owner.portal.work), "cage": profile}
        status, run = await told(owner, "POST", "runs", json=asked)
        assert status == 201, run
        again = f"runs/{run['id']}/again"
        assert (await told(owner, "POST", again, headers=operator))[0] == expected
        status, copy = await told(owner, "POST", again)
        assert (status, copy["cage"]) == (201, profile)
        for one in (run["id"], copy["id"]):
            await owner.http.post(f"/api/v1/runs/{one}/stop")
