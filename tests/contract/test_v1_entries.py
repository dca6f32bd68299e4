"""The entry over v1, against a real server: in use, checked, installed, trusted."""

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.entries import entry, write
from tests.contract.guest import Guest, Told
from tests.portal import Portal

PROGRAM = "open({trace!r}, 'w')\nentry = {entry!r}\n"


async def got(guest: Guest, path: str, /) -> Told:
    answer = await guest.http.get(f"/api/v1/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def posted(guest: Guest, path: str, /, **body: Any) -> Told:
    answer = await guest.http.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def trusted(guest: Guest, path: str) -> Told:
    """As it is at this moment."""
    seen = (await guest.http.get("/api/v1/trust/look", params={"path": path})).json()
    return await posted(guest, "trust", path=path, digest=seen["digest"])


async def refused(guest: Guest, path: str, status: int, /, **body: Any) -> Told:
    answer = await guest.http.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.json()


async def until(guest: Guest, **wanted: object) -> Told:
    """The entry in use, when it is so."""
    async with asyncio.timeout(10):
        while True:
            told = await got(guest, "entry")
            if wanted.items() <= told.items():
                return told
            await asyncio.sleep(0.1)


async def until_problem(guest: Guest) -> Told:
    async with asyncio.timeout(10):
        while True:
            told = await got(guest, "entry")
            if told["problem"]:
                return told
            await asyncio.sleep(0.1)


async def test_the_built_in_entry_is_told_with_its_tasks_and_jobs(guest: Guest) -> None:
    told = await got(guest, "entry")
    assert (told["source"], told["path"], told["trusted"], told["problem"]) == (
        "built-in",
        None,
        False,
        None,
    )
    assert (told["violations"], told["ungranted"]) == ([], [])
    status = (await got(guest, "status"))["entry"]
    tasks, jobs = await got(guest, "tasks"), await got(guest, "jobs")
    assert status == {
        "source": "built-in",
        "path": None,
        "digest": told["digest"],
        "tasks": len(tasks["items"]),
        "jobs": len(jobs["items"]),
        "problem": None,
        "mistakes": 0,
        "mistaken_path": None,
    }
    assert [task["name"] for task in tasks["items"]] == list(told["document"]["tasks"])
    assert [job["name"] for job in jobs["items"]] == list(told["document"]["jobs"])
    assert all(job["chart"]["nodes"] for job in jobs["items"])


async def test_the_projects_own_entry_is_followed_and_said_to_be_bad(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        file = write(own_portal.work / "airboss.json", entry())
        told = await until(guest, source="file")
        assert (told["path"], told["problem"]) == (str(file), None)
        assert told["ungranted"] == [
            'entry.tasks["build"].permissions: "approve-all" is not granted: the server allows '
            '"read-only", until a person trusts this file.'
        ]
        assert (await got(guest, "tasks"))["items"] == [
            {
                "name": "plan",
                "requireUserInput": True,
                "description": None,
                "prompt": "Plan $user-input\nBe brief.",
                "about": "Plan $user-input",
                "model": "house/grand-model",
                "permissions": "read-only",
                "criteria": "",
            },
            {
                "name": "build",
                "requireUserInput": False,
                "description": None,
                "prompt": "Build it.",
                "about": "Build it.",
                "model": "rehearsal",
                "permissions": "read-only",
                "criteria": "a condition is met; otherwise up to 1 more time",
            },
        ]
        jobs = await got(guest, "jobs")
        assert jobs["grid"] == entry()["grid"]
        assert [list(job) for job in jobs["items"]] == [
            ["name", "requireUserInput", "description", "work", "chart", "stats"]
        ] * 2
        good = told["digest"]
        wrong = entry()
        del wrong["tasks"]["plan"]
        write(file, json.dumps(wrong, indent=1))
        told = await until_problem(guest)
        assert (told["digest"], told["source"]) == (good, "file")
        assert told["violations"] == [
            {
                "where": 'entry.jobs["all"].work.works[0].taskId',
                "reason": '"plan" is not a valid task name.',
                "hint": None,
                "line": 38,
                "column": 17,
                "advice": "The tasks of this entry are: build.",
                "example": None,
                "is_around": False,
                "excerpt": told["violations"][0]["excerpt"],
            }
        ]
        excerpt = told["violations"][0]["excerpt"]
        assert [line["line"] for line in excerpt] == [36, 37, 38, 39, 40]
        assert excerpt[2] == {
            "line": 38,
            "before": '      "taskId": ',
            "marked": '"plan"',
            "after": "",
        }
        assert await got(guest, "entry/mistakes") == {
            "path": str(file),
            "mistakes": 1,
            "violations": told["violations"],
        }
        assert (told["mistakes"], told["mistaken_path"]) == (1, str(file))
        checks = {check["id"]: check for check in (await got(guest, "doctor"))["checks"]}
        assert checks["entry"]["state"] == "warn"
        assert checks["entry"]["detail"] == told["problem"]
    own_portal.stop()
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        again = await got(guest, "entry")
        assert (again["digest"], again["problem"]) == (good, told["problem"])
    assert "Traceback" not in own_portal.log


@pytest.mark.parametrize("text", [None, "models: {}"])
def test_a_chosen_entry_that_cannot_be_used_is_named_and_nothing_starts(
    tmp_path: Path, text: str | None
) -> None:
    portal = Portal(tmp_path)
    portal.work.mkdir()
    file = tmp_path / "mine.yaml"
    if text is not None:
        write(file, text)
    done = portal.run("serve", "--port", "0", "--entry", str(file))
    assert done.returncode == 2
    assert done.stderr.startswith("error: The entry ")
    assert str(file) in done.stderr
    assert "Traceback" not in done.stderr


async def test_a_chosen_entry_is_used(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.json", entry())
    portal = Portal(tmp_path, ("--entry", str(file)), SCRIPT)
    portal.start()
    async with Guest.of(portal) as guest:
        assert (await got(guest, "entry"))["path"] == str(file)
    portal.stop()


# Checking.


async def test_a_text_is_checked_with_all_its_mistakes(guest: Guest) -> None:
    wrong = "models: {drivin: m}\npromptVariables: {}\ntasks: {}\njobs: {}\ngrid: 5\n"
    told = await posted(guest, "entry/check", text=wrong, format="yaml")
    assert (told["valid"], told["mistakes"], told["ungranted"]) == (False, 2, [])
    assert [(m["line"], m["column"], m["where"]) for m in told["violations"]] == [
        (1, 9, "entry.models.driving"),
        (5, 7, "entry.grid"),
    ]
    good = await posted(guest, "entry/check", text=json.dumps(entry()), format="json")
    assert (good["valid"], good["violations"], good["tasks"], good["jobs"]) == (True, [], 2, 2)
    assert len(good["ungranted"]) == 1
    for text in ("", "{", "a: b: c", "\0"):
        assert not (await posted(guest, "entry/check", text=text))["valid"]


async def test_more_mistakes_than_anybody_reads_are_counted(guest: Guest) -> None:
    text = json.dumps({**entry(), "tasks": {f"t{n}": {} for n in range(3000)}})
    told = await posted(guest, "entry/check", text=text, format="json")
    assert told["mistakes"] > 3000
    assert len(told["violations"]) == 1000
    assert sum(1 for said in told["violations"] if said["excerpt"]) == 50


async def test_a_file_is_checked_below_the_roots_only(guest: Guest, tmp_path: Path) -> None:
    inside = write(guest.portal.work / "checked/entry.json", entry())
    told = await posted(guest, "entry/check", path=str(inside))
    assert (told["valid"], told["trusted"]) == (True, False)
    outside = write(tmp_path / "entry.json", entry())
    link = guest.portal.work / "checked/link.json"
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    for path in (str(outside), str(link), "entry.json", str(inside.parent), "/etc/passwd"):
        problem = await refused(guest, "entry/check", 422, path=path)
        assert problem["code"] == "invalid"
    for body in ({}, {"text": "x", "path": "/x"}, {"text": "x", "format": "toml"}, {"path": ""}):
        await refused(guest, "entry/check", 422, **body)
    await refused(guest, "entry/check", 413, text="x" * (5 * 1024 * 1024))


@pytest.mark.parametrize("more", ["", "# " + "x" * 70_000], ids=["small", "large"])
async def test_a_text_with_half_a_character_is_refused(guest: Guest, more: str) -> None:
    """It comes as `\\ud800` in the request, and as nothing that UTF-8 has in the text."""
    body = json.dumps({"text": f"models: {{driving: m\ud800}}\n{more}", "format": "yaml"})
    answer = await guest.http.post(
        "/api/v1/entry/check", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["valid"] is False
    assert "half of a character" in answer.text


async def test_checking_never_runs_a_program_that_nobody_trusts(guest: Guest) -> None:
    folder = guest.portal.work / "program"
    trace = folder / "trace"
    program = PROGRAM.format(trace=str(trace), entry=entry())
    file = write(folder / "airboss.py", program)
    for path in ("entry/check", "entry/install"):
        problem = await refused(guest, path, 422, path=str(file))
        assert f"airboss trust {file}" in problem["detail"]
    assert not trace.exists()
    await trusted(guest, str(file))
    told = await posted(guest, "entry/check", path=str(file))
    assert (told["valid"], told["trusted"], told["ungranted"]) == (True, True, [])
    assert trace.exists()
    write(file, f"{program}\n# changed")
    await refused(guest, "entry/check", 422, path=str(file))


# Installing.


async def test_another_entry_is_installed_until_the_server_ends(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        made = await posted(guest, "entry/install", entry=entry())
        assert (made["source"], made["path"], made["trusted"]) == ("api", None, False)
        assert await got(guest, "entry") == made
        file = write(own_portal.work / "airboss.json", {**entry(), "permissions": "deny-all"})
        assert await got(guest, "entry") == made
        made = await posted(guest, "entry/install", path=str(file))
        assert (made["source"], made["path"]) == ("api", str(file))
        wrong = entry()
        wrong["models"] = {}
        problem = await refused(guest, "entry/install", 422, entry=wrong)
        assert (problem["code"], problem["detail"]) == (
            "entry_invalid",
            "entry.models.driving: Should exist.",
        )
        bodies: list[Told] = [{}, {"entry": 5}, {"entry": {}, "path": "/x"}, {"path": "x.json"}]
        for body in bodies:
            await refused(guest, "entry/install", 422, **body)
        deep = b'{"entry": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
        headers = {"Content-Type": "application/json"}
        url = "/api/v1/entry/install"
        answer = await guest.http.post(url, content=deep, headers=headers)
        assert answer.status_code in (400, 422)
        assert await got(guest, "entry") == made
    own_portal.stop()
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        assert (await got(guest, "entry"))["source"] == "file"


async def test_a_large_entry_is_installed_and_checked_like_a_small_one(own_portal: Portal) -> None:
    """What is larger than 64 KiB is read in a process of its own."""
    large = entry()
    task = large["tasks"]["build"]
    large["tasks"] |= {f"build-{number}": task for number in range(1000)}
    async with Guest.of(own_portal) as guest:
        made = await posted(guest, "entry/install", entry=large)
        assert len((await got(guest, "tasks"))["items"]) == len(large["tasks"])
        file = write(own_portal.work / "large.json", large)
        told = await posted(guest, "entry/check", path=str(file))
        assert (told["valid"], told["tasks"]) == (True, len(large["tasks"]))
        large["models"] = {}
        problem = await refused(guest, "entry/install", 422, entry=large)
        assert problem["detail"] == "entry.models.driving: Should exist."
        problem = await refused(guest, "entry/install", 422, entry=large, path="/x")
        assert "The request should have `entry`, and no more." in problem["detail"]
        write(file, " " * (8 * 1024 * 1024) + "{}")
        problem = await refused(guest, "entry/check", 422, path=str(file))
        assert "is larger than 8 MiB" in problem["detail"]
        assert (await got(guest, "entry"))["digest"] == made["digest"]


async def test_while_a_task_of_it_runs_the_entry_stays_and_then_changes(
    own_portal: Portal,
) -> None:
    slow = entry()
    slow["tasks"]["build"]["prompt"] = ["take your time"]
    async with Guest.of(own_portal) as guest:
        file = write(own_portal.work / "airboss.json", slow)
        before = await until(guest, source="file")
        answer = await guest.http.post("/api/v1/task-runs", json={"task": "build"})
        assert answer.status_code == 201, answer.text
        run = answer.json()["id"]
        problem = await refused(guest, "entry/install", 409, entry=entry())
        assert problem["detail"].startswith("The current entry is in use")
        write(file, entry())
        told = await until_problem(guest)
        assert told["digest"] == before["digest"]
        assert "The new version is used once nothing is running" in told["problem"]
        await guest.http.post(f"/api/v1/task-runs/{run}/stop")
        after = await until(guest, problem=None)
        assert after["digest"] != before["digest"]


# Trust.


async def test_trust_is_given_listed_and_taken_back(guest: Guest) -> None:
    folder = guest.portal.work / "trusted"
    yaml, python = write(folder / "airboss.yaml", "{}"), write(folder / "airboss.py", "entry = 1")
    given = await trusted(guest, str(folder))
    assert [(item["path"], item["kind"], item["who"]) for item in given["items"]] == [
        (str(folder), "folder", "owner"),
        (str(yaml), "file", "owner"),
        (str(python), "file", "owner"),
    ]

    async def counting() -> dict[str, bool]:
        items = (await got(guest, "trust"))["items"]
        below = [item for item in items if item["path"].startswith(str(folder))]
        return {Path(item["path"]).name: item["current"] for item in below}

    assert await counting() == {"trusted": True, "airboss.yaml": True, "airboss.py": True}
    write(python, "entry = 2")
    yaml.unlink()
    assert await counting() == {"trusted": True, "airboss.yaml": False, "airboss.py": False}
    gone = await guest.http.delete("/api/v1/trust", params={"path": str(folder)})
    assert sorted(gone.json()["paths"]) == sorted(map(str, (folder, yaml, python)))
    assert await counting() == {}
    again = await guest.http.delete("/api/v1/trust", params={"path": str(folder)})
    assert (again.status_code, again.json()["code"]) == (404, "not_found")


async def test_what_cannot_be_trusted_is_refused(guest: Guest) -> None:
    for path in ("relative", "/nowhere/airboss.py", "/etc/passwd", "x" * 5000, "", "/a\0b.py"):
        await refused(guest, "trust", 422, path=path, digest="0" * 64)
        answer = await guest.http.get("/api/v1/trust/look", params={"path": path})
        assert answer.status_code == 422
    for query in ({}, {"path": ""}, {"path": "relative"}):
        for method, address in (("DELETE", "trust"), ("GET", "trust/look")):
            answer = await guest.http.request(method, f"/api/v1/{address}", params=query)
            assert answer.status_code == 422


async def test_what_changed_since_it_was_looked_at_is_not_trusted(guest: Guest) -> None:
    folder = guest.portal.work / "looked at"
    file = write(folder / "airboss.py", "entry = 1")
    seen = await looked(guest, file)
    assert seen == {
        "path": str(file),
        "kind": "file",
        "digest": sha256(b"entry = 1").hexdigest(),
        "files": [{"path": str(file), "digest": seen["digest"], "bytes": 9, "text": "entry = 1"}],
        "extensions": [],
    }
    around = await looked(guest, folder)
    assert (around["kind"], around["files"]) == ("folder", seen["files"])
    write(file, "entry = 2  # and something that nobody read")
    for path, digest in ((file, seen["digest"]), (folder, around["digest"]), (file, "")):
        problem = await refused(guest, "trust", 409, path=str(path), digest=digest)
        assert "has changed since you reviewed it" in problem["detail"]
        assert "Review it again" in problem["detail"]
    write(file, "entry = 1")
    write(folder / "airboss.yaml", "{}")
    await refused(guest, "trust", 409, path=str(folder), digest=around["digest"])
    problem = await refused(guest, "trust", 422, path=str(file))
    assert "give the digest of what you looked at" in problem["detail"]
    assert not await is_trusted(guest, file)
    await posted(guest, "trust", path=str(file), digest=seen["digest"])
    assert await is_trusted(guest, file)


async def looked(guest: Guest, path: Path) -> Told:
    return (await guest.http.get("/api/v1/trust/look", params={"path": str(path)})).json()


async def is_trusted(guest: Guest, file: Path) -> bool:
    items = (await got(guest, "trust"))["items"]
    return any(item["path"] == str(file) and item["current"] for item in items)


async def test_nobody_looks_into_the_servers_own_folder(guest: Guest) -> None:
    write(guest.portal.data / "mine.json", "{}")
    for path in (guest.portal.data / "mine.json", guest.portal.data):
        seen = await guest.http.get("/api/v1/trust/look", params={"path": str(path)})
        assert (seen.status_code, "data folder" in seen.json()["detail"]) == (422, True)
        await refused(guest, "trust", 422, path=str(path), digest=sha256(b"{}").hexdigest())


async def test_a_secret_in_what_is_looked_at_is_not_shown(guest: Guest) -> None:
    file = write(guest.portal.work / "told" / "airboss.py", f"token = {guest.portal.token!r}")
    seen = await looked(guest, file)
    assert guest.portal.token not in seen["files"][0]["text"]
    await posted(guest, "trust", path=str(file), digest=seen["digest"])


async def test_a_trusted_program_is_the_projects_entry_until_it_changes(
    own_portal: Portal,
) -> None:
    file = own_portal.work / "airboss.py"
    trace = own_portal.folder / "trace"
    write(file, PROGRAM.format(trace=str(trace), entry=entry()))
    async with Guest.of(own_portal) as guest:
        told = await until_problem(guest)
        assert f"airboss trust {file}" in told["problem"]
        assert not trace.exists()
        await trusted(guest, str(file))
        told = await until(guest, source="file", problem=None)
        assert (told["path"], told["trusted"], told["ungranted"]) == (str(file), True, [])
        tasks = (await got(guest, "tasks"))["items"]
        assert [task["permissions"] for task in tasks] == ["read-only", "approve-all"]
        write(file, "while True: pass")
        changed = await until_problem(guest)
        assert changed["digest"] == told["digest"]
        assert "nobody has trusted its current version" in changed["problem"]


async def test_a_server_stops_in_time_while_a_program_runs_and_does_not_end(
    own_portal: Portal,
) -> None:
    file = write(own_portal.work / "airboss.py", "while True: pass")
    async with Guest.of(own_portal) as guest:
        await trusted(guest, str(file))
        told = await asyncio.wait_for(got(guest, "status"), 10)
        assert told["entry"]["source"] == "built-in"
        await guest.seed("stop")
        assert await asyncio.to_thread(own_portal.process.wait, 5) == 0
    assert "Traceback" not in own_portal.log
