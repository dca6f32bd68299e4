"""The entry's file over v1, against a real server: shown, saved, and never over another version."""

import asyncio
import json
import os
import re
from hashlib import sha256
from typing import Any

from tests.contract.entries import entry, write
from tests.contract.guest import Guest, Told
from tests.contract.test_v1_entries import got
from tests.portal import Portal
from tests.trials import whole_only

PATH = "/api/v1/entry/file"


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


async def saved(guest: Guest, path: str, text: str, seen: str | None) -> Told:
    answer = await guest.http.put(PATH, json={"path": path, "text": text, "digest": seen})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def refused(guest: Guest, status: int, body: Any) -> Told:
    answer = await guest.http.put(PATH, json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.json()


async def test_an_entry_is_written_from_nothing_and_used(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        place = await got(guest, "entry/file")
        assert place == {
            "path": str(own_portal.work / "airboss.yaml"),
            "exists": False,
            "format": "yaml",
            "text": "",
            "digest": None,
            "modified_at": None,
            "in_use": False,
            "writable": True,
            "why_not": None,
        }
        text = json.dumps(entry(), indent=1) + "\n"
        told = await saved(guest, place["path"], text, None)
        assert (told["exists"], told["in_use"], told["text"]) == (True, True, text)
        assert told["digest"] == digest(text.encode())
        assert told == await got(guest, "entry/file")
        used = await got(guest, "entry")
        assert (used["source"], used["path"]) == ("file", place["path"])
        broken = await saved(guest, place["path"], "tasks: [", told["digest"])
        assert (broken["in_use"], broken["text"]) == (False, "tasks: [")
        now = await got(guest, "entry")
        assert (now["digest"], now["mistakes"]) == (used["digest"], 1)


async def test_a_version_that_was_changed_elsewhere_comes_back_with_the_refusal(
    own_portal: Portal,
) -> None:
    file = write(own_portal.work / "airboss.json", entry())
    async with Guest.of(own_portal) as guest:
        seen = await got(guest, "entry/file")
        write(file, "theirs")
        mine = {"path": str(file), "text": "mine", "digest": seen["digest"]}
        told = await refused(guest, 409, mine)
        assert (told["code"], told["retryable"]) == ("file_changed", False)
        assert (told["text"], told["digest"]) == ("theirs", digest(b"theirs"))
        assert told["modified_at"] == file.stat().st_mtime_ns // 1_000_000
        assert file.read_text(encoding="utf-8") == "theirs"
        file.unlink()
        told = await refused(guest, 409, mine)
        assert told["text"] == ""
        assert not {"digest", "modified_at"} & told.keys()
        assert not file.exists()
        write(file, "again")
        told = await refused(guest, 409, {**mine, "digest": None})
        assert told["text"] == "again"


async def test_of_many_who_save_at_once_one_succeeds(own_portal: Portal) -> None:
    file = write(own_portal.work / "airboss.yaml", "seen\n")
    seen = digest(b"seen\n")
    async with Guest.of(own_portal) as guest:

        async def save(number: int) -> int:
            body = {"path": str(file), "text": f"{number}\n", "digest": seen}
            return (await guest.http.put(PATH, json=body)).status_code

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(save(number)) for number in range(12)]
    codes = sorted(task.result() for task in tasks)
    assert codes == [200] + [409] * 11
    assert sorted(os.listdir(own_portal.work)) == ["airboss.yaml"]


@whole_only
async def test_eight_mebibytes_are_saved_and_no_more(own_portal: Portal) -> None:
    path = str(own_portal.work / "airboss.yaml")
    most = 8 * 1024 * 1024
    async with Guest.of(own_portal) as guest:
        text = "#\n" * (most // 2)
        told = await saved(guest, path, text, None)
        assert told["digest"] == digest(text.encode())
        more = {"path": path, "text": f"{text}#", "digest": told["digest"]}
        assert (await refused(guest, 413, more))["code"] == "body_too_large"
        huge = {"path": path, "text": "x" * (21 * 1024 * 1024), "digest": None}
        assert (await refused(guest, 413, huge))["code"] == "body_too_large"
    assert (own_portal.work / "airboss.yaml").stat().st_size == most


async def test_what_no_file_takes_is_refused_in_words(own_portal: Portal) -> None:
    work = own_portal.work
    path = str(work / "airboss.yaml")
    cases: list[tuple[Any, str]] = [
        ({"path": "airboss.yaml", "text": "", "digest": None}, "must be absolute"),
        ({"path": f"{work}/a\0.yaml", "text": "", "digest": None}, "must be absolute"),
        ({"path": f"{work}/../a.yaml", "text": "", "digest": None}, "is outside"),
        ({"path": "/etc/airboss.yaml", "text": "", "digest": None}, "is outside"),
        ({"path": f"{work}/a.txt", "text": "", "digest": None}, "should be a .yaml or .json"),
        ({"path": f"{work}/.git/a.yaml", "text": "", "digest": None}, "secrets are kept"),
        ({"path": f"{work}/no/a.yaml", "text": "", "digest": None}, "does not exist"),
        ({"path": path, "text": "", "digest": "x"}, "digest"),
        ({"path": path, "text": ""}, "digest"),
        ({"path": path, "text": "", "digest": None, "more": 1}, "more"),
        ({"path": path, "text": None, "digest": None}, "text"),
        ({"path": path, "text": "ghp_" + "a" * 30, "digest": None}, "looks like a secret"),
    ]
    async with Guest.of(own_portal) as guest:
        for body, words in cases:
            assert words in (await refused(guest, 422, body))["detail"]
        half = b'{"path": "%s", "text": "\\ud800", "digest": null}' % path.encode()
        answer = await guest.http.put(
            PATH, content=half, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422
        answer = await guest.http.put(PATH, content=b"text", headers={"Content-Type": "text/plain"})
        assert answer.status_code == 415
        assert list(work.iterdir()) == []


async def test_the_examples_are_good_drafts_with_their_scripts(guest: Guest) -> None:
    items = (await got(guest, "entry/examples"))["items"]
    assert [item["name"] for item in items] == [
        "fix-failing-tests",
        "migrate-api",
        "review-branch",
        "triage-issues",
        "upgrade-dependency",
        "write-docs",
    ]
    assert items[0]["title"] == "Fix failing tests"
    assert items[0]["description"].startswith("Runs your tests. While some fail, an agent fixes")
    for item in items:
        body = {"text": item["text"], "format": "yaml"}
        told = (await guest.http.post("/api/v1/entry/draft", json=body)).json()
        assert (told["valid"], len(told["jobs"])) == (True, 1)
        assert "rules:" in item["script"]
        assert not re.search(r"\*\*|`|\n", item["description"])


async def test_the_schema_describes_every_field(guest: Guest) -> None:
    schema = await got(guest, "entry/schema")
    assert schema["properties"]["tasks"]["description"].startswith("The tasks by name")
    assert schema["$defs"]["Task"]["properties"]["prompt"]["description"]
