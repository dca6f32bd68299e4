"""Who may read and write the entry's file, where, and that the audit says so."""

import os
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tests.portal import Portal
from tests.security.test_audit import last
from tests.security.test_roles import add, somebody

PATH = "/api/v1/entry/file"


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    with Portal(tmp_path).serving() as portal:
        yield portal


@pytest.mark.parametrize("role", ["view", "operate", "decide"])
async def test_who_may_not_write_reads_the_projects_entry_and_no_other_file(
    portal: Portal, role: str
) -> None:
    own, other = portal.work / "airboss.yaml", portal.work / "other.yaml"
    own.write_text("own: 1\n", encoding="utf-8")
    other.write_text("other: 1\n", encoding="utf-8")
    async with somebody(portal, add(portal, f"a-{role}", "--role", role)) as guest:
        shown = (await guest.http.get(PATH)).json()
        assert (shown["text"], shown["writable"]) == ("own: 1\n", False)
        assert shown["why_not"] == f"Saving needs the role own; a-{role} has {role}."
        assert (await guest.http.get(PATH, params={"path": str(own)})).status_code == 200
        refused = await guest.http.get(PATH, params={"path": str(other)})
        assert (refused.status_code, "it is not the project's entry" in refused.text) == (403, True)
        body = {"path": str(own), "text": "mine", "digest": shown["digest"]}
        assert (await guest.http.put(PATH, json=body)).status_code == 403
    assert own.read_text(encoding="utf-8") == "own: 1\n"


async def test_what_is_wrong_with_a_file_of_secrets_is_told_nobody(tmp_path: Path) -> None:
    with Portal(tmp_path, ("--root", str(tmp_path))).serving() as portal:
        token = add(portal, "somebodys-laptop", "--role", "operate")
        secret = portal.work / "secrets.yaml"
        secret.write_text("password-of-ann: 1\n", encoding="utf-8")
        async with somebody(portal, token) as guest:
            for path in (portal.data / "tokens.json", secret):
                assert path.is_file()
                body = {"path": str(path)}
                answer = await guest.http.post("/api/v1/entry/check", json=body)
                assert answer.status_code == 422, answer.text
                assert "lies where secrets are kept" in answer.text
                assert "somebodys-laptop" not in answer.text


async def test_a_saved_entry_is_in_the_audit(portal: Portal) -> None:
    path = str(portal.work / "airboss.yaml")
    async with somebody(portal, add(portal, "ann", "--role", "own")) as guest:
        made = await guest.http.put(PATH, json={"path": path, "text": "a\n", "digest": None})
        assert made.status_code == 200, made.text
        told = last(portal, "entry.written")
        assert (told["by"]["who"], told["path"], told.get("before")) == ("ann", path, None)
        first = told["digest"]
        body = {"path": path, "text": "b\n", "digest": first}
        assert (await guest.http.put(PATH, json=body)).status_code == 200
        assert (await guest.http.put(PATH, json=body)).status_code == 409
    told = last(portal, "entry.written")
    assert (told["before"], told["digest"]) == (first, sha256(b"b\n").hexdigest())
    shown = portal.run("audit").stdout
    assert shown.count("entry.written") == 2


async def test_a_link_that_is_swapped_all_the_time_never_leads_out(
    portal: Portal, tmp_path: Path
) -> None:
    """An agent could do that while somebody saves."""
    inside, outside = portal.work / "real", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    for folder in (inside, outside):
        (folder / "a.yaml").write_text("seen\n", encoding="utf-8")
    link = portal.work / "folder"
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            for target in (outside, inside):
                made = portal.work / "next"
                made.symlink_to(target)
                os.replace(made, link)

    swapping = threading.Thread(target=swap)
    swapping.start()
    codes: set[int] = set()
    try:
        async with portal.client() as client:
            for number in range(150):
                seen = sha256((inside / "a.yaml").read_bytes()).hexdigest()
                body = {"path": str(link / "a.yaml"), "text": f"{number}\n", "digest": seen}
                codes.add((await client.put(PATH, json=body)).status_code)
                shown = await client.get(PATH, params={"path": str(link / "a.yaml")})
                assert "outside" not in shown.json().get("text", "")
    finally:
        done.set()
        swapping.join()
    assert (outside / "a.yaml").read_text(encoding="utf-8") == "seen\n"
    assert os.listdir(outside) == ["a.yaml"]
    assert os.listdir(inside) == ["a.yaml"]
    assert {200, 422} <= codes


@pytest.mark.parametrize("name", ["data/settings.json", "data/a.yaml"])
async def test_the_servers_own_folder_is_closed_even_below_a_root(
    tmp_path: Path, name: str
) -> None:
    with Portal(tmp_path, ("--root", str(tmp_path))).serving() as portal:
        async with portal.client() as client:
            shown = await client.get(PATH, params={"path": str(tmp_path / name)})
            body = {"path": str(tmp_path / name), "text": "x", "digest": None}
            saved = await client.put(PATH, json=body)
    assert (shown.status_code, saved.status_code) == (422, 422)
    assert "where secrets are kept" in saved.text
