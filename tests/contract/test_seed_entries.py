"""Seed 001's calls about entries: installing one for a test, and the lists of tasks and jobs."""

import os
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.entries import entry, write
from tests.contract.guest import Guest, Told
from tests.portal import Portal

BOTH = pytest.mark.parametrize("method", ["GET", "POST"])
INSTALL = "copilot/test/installJobsEntry"
NOTHING: Told = {"grid": [], "jobs": {}, "chart": {}}


@pytest.fixture(scope="module")
def test_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("testing"), ("--test",), SCRIPT)
    write(portal.work / "airboss.json", entry())
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def tester(test_portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(test_portal) as guest:
        yield guest


def folder_of(guest: Guest) -> Path:
    folder = guest.portal.work / "tests"
    folder.mkdir(exist_ok=True)
    return folder


async def install(guest: Guest, path: object) -> Told:
    return await guest.seed(INSTALL, str(path))


async def test_before_an_entry_is_installed_the_lists_are_empty(tmp_path: Path) -> None:
    portal = Portal(tmp_path, ("--test",), SCRIPT)
    write(portal.work / "airboss.json", entry())
    portal.start()
    async with Guest.of(portal) as guest:
        for method in ("GET", "POST"):
            assert await guest.seed("copilot/task", method=method) == {"tasks": []}
            assert await guest.seed("copilot/job", method=method) == NOTHING
        status = (await guest.http.get("/api/v1/status")).json()
        assert status["entry"] is None
        assert (await guest.http.get("/api/v1/entry")).status_code == 404
        assert (await guest.http.get("/api/v1/tasks")).json() == {"items": []}
        assert (await guest.http.get("/api/v1/jobs")).json() == {"items": [], "grid": []}
    portal.stop()


@BOTH
async def test_an_installed_entry_is_listed(tester: Guest, method: str) -> None:
    file = write(folder_of(tester) / "deep/er/good.json", entry())
    assert await tester.seed(INSTALL, f" {file}\n", method=method) == {"result": "OK"}
    assert await tester.seed("copilot/task", method=method) == {
        "tasks": [
            {"name": "plan", "requireUserInput": True},
            {"name": "build", "requireUserInput": False},
        ]
    }
    told = await tester.seed("copilot/job", method=method)
    assert list(told) == ["grid", "jobs", "chart"]
    assert told["grid"] == entry()["grid"]
    assert told["jobs"]["again"] == {
        "work": {"kind": "Ref", "workIdInJob": 0, "taskId": "build"},
        "requireUserInput": False,
    }
    assert told["jobs"]["all"]["requireUserInput"] is True
    assert told["chart"] == {
        "all": {
            "nodes": [
                {
                    "id": 0,
                    "hint": ["TaskNode", 0],
                    "label": "plan",
                    "arrows": [{"to": 1, "loopBack": False}],
                },
                {"id": 1, "hint": ["TaskNode", 1], "label": "build"},
            ]
        },
        "again": {"nodes": [{"id": 0, "hint": ["TaskNode", 0], "label": "build"}]},
    }
    used = (await tester.http.get("/api/v1/entry")).json()
    assert (used["source"], used["path"]) == ("test", str(file))


async def test_a_path_that_is_no_json_in_the_folder_is_invalid(
    tester: Guest, tmp_path: Path
) -> None:
    folder = folder_of(tester)
    outside = write(tmp_path / "entry.json", entry())
    (folder / "out.json").unlink(missing_ok=True)
    (folder / "out.json").symlink_to(outside)
    (folder / "beyond").unlink(missing_ok=True)
    (folder / "beyond").symlink_to(tmp_path)
    (folder / "folder.json").mkdir(exist_ok=True)
    if not (folder / "pipe.json").exists():
        os.mkfifo(folder / "pipe.json")
    (folder / "latin.json").write_bytes(b'{"\xe9": 1}')
    with (folder / "huge.json").open("wb") as huge:
        huge.truncate(65 * 1024 * 1024)
    for path in (
        "",
        " \n",
        "tests/good.json",
        "good.json",
        outside,
        folder / "out.json",
        folder / "beyond/entry.json",
        f"{folder}/../airboss.json",
        tester.portal.work / "airboss.json",
        folder / "missing.json",
        folder / "folder.json",
        folder / "pipe.json",
        folder / "latin.json",
        folder / "huge.json",
        write(folder / "entry.yaml", "{}"),
        write(folder / "entry.py", "entry = {}"),
        write(folder / "empty.json", ""),
        write(folder / "cut.json", '{"models": '),
        f"{folder}/nul\0.json",
        folder / ("long" * 200),
    ):
        told = await install(tester, path)
        assert told["result"] == "InvalidatePath", (path, told)
        assert told["error"]
        assert list(told) == ["result", "error"]


async def test_an_entry_with_mistakes_is_invalid_and_the_first_is_told(tester: Guest) -> None:
    folder = folder_of(tester)
    assert await install(tester, write(folder / "good.json", entry())) == {"result": "OK"}
    before = await tester.seed("copilot/job")
    wrong = entry()
    wrong["models"] = {}
    wrong["grid"][0]["jobs"][0]["jobName"] = "nobody"
    told = await install(tester, write(folder / "wrong.json", wrong))
    assert told == {"result": "InvalidateEntry", "error": "entry.models.driving: Should exist."}
    for content in ("[]", "5", '"text"', "null", '{"models": ' + "[" * 5000 + "]" * 5000 + "}"):
        told = await install(tester, write(folder / "wrong.json", content))
        assert told["result"] == "InvalidateEntry", (content, told)
        assert told["error"].startswith("entry")
    assert await tester.seed("copilot/job") == before


async def test_while_a_session_is_open_nothing_is_installed(tester: Guest) -> None:
    file = write(folder_of(tester) / "good.json", entry())
    session = await tester.start()
    told = await install(tester, file)
    assert told["result"] == "Rejected"
    assert "You can install another entry when that has ended" in told["error"]
    wrong = write(folder_of(tester) / "wrong.json", "{}")
    assert (await install(tester, wrong))["result"] == "InvalidateEntry"
    await tester.stop(session)
    assert await install(tester, file) == {"result": "OK"}


async def test_a_change_of_the_file_does_not_change_what_was_installed(tester: Guest) -> None:
    file = write(folder_of(tester) / "good.json", entry())
    assert await install(tester, file) == {"result": "OK"}
    before = await tester.seed("copilot/job")
    write(file, {"models": {}})
    assert await tester.seed("copilot/job") == before


async def test_the_folder_can_be_chosen_and_a_session_that_was_interrupted_is_not_open(
    tmp_path: Path,
) -> None:
    chosen = tmp_path / "fixtures"
    file = write(chosen / "good.json", entry())
    portal = Portal(tmp_path, ("--test", "--test-folder", str(chosen)), SCRIPT)
    portal.start()
    async with Guest.of(portal) as guest:
        inside = write(portal.work / "tests/good.json", entry())
        assert (await install(guest, inside))["result"] == "InvalidatePath"
        assert await install(guest, file) == {"result": "OK"}
        await guest.start()
        assert (await install(guest, file))["result"] == "Rejected"
    portal.kill()
    portal.start()
    async with Guest.of(portal) as guest:
        assert await guest.seed("copilot/task") == {"tasks": []}
        assert await install(guest, file) == {"result": "OK"}
    portal.stop()


async def test_outside_of_test_mode_there_is_no_such_call_and_an_entry_from_the_start(
    guest: Guest,
) -> None:
    for method in ("GET", "POST", "PUT"):
        answer = await guest.http.request(method, f"/api/{INSTALL}", content="/x.json")
        assert (answer.status_code, answer.json()) == (404, {"error": "Unknown API endpoint"})
    assert (await guest.seed("copilot/task"))["tasks"]
    assert list(await guest.seed("copilot/job")) == ["grid", "jobs", "chart"]
