"""The files that an agent changed, as a page shows them."""

from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.contract.guest import Guest, Told
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal

SCRIPT = r"""
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "edit"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/new.txt", file_text: "one\ntwo\nthree\n"}}
      - call: {tool: view, arguments: {path: "{cwd}/old.txt"}}
      - call: {tool: edit, arguments: {path: "{cwd}/old.txt", old_str: "was", new_str: "is\nnow"}}
      - call: {tool: edit, arguments: {path: "{cwd}/new.txt", old_str: "two", new_str: "zwei"}}
      - call: {tool: edit, arguments: {path: "{cwd}/old.txt", old_str: "nothing", new_str: "x"}}
      - call: {tool: create, arguments: {path: "{cwd}/sub dir/ä.txt", file_text: "ü"}}
      - say: "Done."
  - when: "long"
    steps:
      - call: {tool: create, arguments: {path: "{cwd}/long.txt", file_text: "LONG"}}
      - say: "Done."
  - when: "."
    steps: [{say: "Nothing to do."}]
"""
LONG = "a line of a very long file\\n" * 20_000


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    script = SCRIPT.replace("LONG", LONG)
    portal = Portal(tmp_path_factory.mktemp("changes"), ("--permissions", "approve-all"), script)
    portal.start()
    yield portal
    portal.stop()


@pytest.fixture
async def guest(portal: Portal, anyio_backend: str) -> AsyncGenerator[Guest]:
    async with Guest.of(portal) as guest:
        yield guest


async def changes(guest: Guest, session: str) -> Told:
    answer = await guest.http.get(f"/api/v1/sessions/{session}/changes")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_the_files_that_an_agent_changed_are_told_with_their_diffs(guest: Guest) -> None:
    (guest.portal.work / "old.txt").write_text("it was\nso\n", "utf-8")
    (guest.portal.work / "sub dir").mkdir()
    session = await guest.open(cwd=str(guest.portal.work))
    assert await changes(guest, session) == {"files": [], "more": False}
    await guest.turn(session, "edit")
    told = await changes(guest, session)
    assert (guest.portal.work / "new.txt").read_text("utf-8") == "one\nzwei\nthree\n"
    names = ("path", "how", "added", "removed")
    assert [tuple(file[name] for name in names) for file in told["files"]] == [
        ("new.txt", "created", 4, 1),
        ("old.txt", "edited", 2, 1),
        ("sub dir/ä.txt", "created", 1, 0),
    ]
    new, old, _ = told["files"]
    assert new["diff"].startswith("--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,3 @@\n+one\n+two\n")
    assert "\n-two\n+zwei\n" in new["diff"]
    assert old["diff"].startswith("--- a/old.txt\n+++ b/old.txt\n@@")
    assert "\n-it was\n+it is\n+now\n" in old["diff"]
    assert not any(file["cut"] for file in told["files"])
    await guest.do(session, "close")
    assert await changes(guest, session) == told


async def test_a_long_diff_is_cut_and_counted_whole(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))
    await guest.turn(session, "long")
    [file] = (await changes(guest, session))["files"]
    assert (file["path"], file["how"], file["cut"]) == ("long.txt", "created", True)
    assert (file["added"], file["removed"]) == (20_000, 0), "the log keeps a part, and the count"
    assert len(file["diff"]) < 201_000
    assert file["diff"].startswith("--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1,20000 @@\n")


async def test_a_session_without_changes_has_none(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))
    await guest.turn(session, "hello")
    assert await changes(guest, session) == {"files": [], "more": False}
    assert (await refused(guest, "GET", "sessions/ses_x/changes"))[0] == 404
