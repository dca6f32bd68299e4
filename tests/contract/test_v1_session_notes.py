"""What people note about a session, and what they see of its folder, over v1."""

from typing import Any

from tests.contract.guest import Guest, kinds

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


async def changed(guest: Guest, session: str, **asked: Any) -> tuple[int, dict[str, Any]]:
    answer = await guest.http.patch(f"/api/v1/sessions/{session}", json=asked)
    return answer.status_code, answer.json()


async def test_a_session_can_be_renamed_and_pinned_while_it_is_open(guest: Guest) -> None:
    session = await guest.open()
    status, view = await changed(guest, session, title="  A better\n name ", pinned=True)
    assert (status, view["title"], view["pinned"]) == (200, "A better name", True)
    await guest.turn(session, "hello")
    view = await guest.show(session)
    assert view["title"] == "A better name", "the first request does not name it any more"
    status, view = await changed(guest, session, pinned=False)
    assert (view["title"], view["pinned"]) == ("A better name", False)


async def test_it_can_be_renamed_when_it_is_closed(guest: Guest) -> None:
    session = await guest.open()
    await guest.http.post(f"/api/v1/sessions/{session}/close")
    status, view = await changed(guest, session, title="What we learnt")
    assert (status, view["title"], view["state"]) == (200, "What we learnt", "closed")
    assert kinds(await guest.events(session))[-1] == "session.renamed"


async def test_a_name_that_nobody_can_read_is_refused_and_a_secret_is_taken_out(
    guest: Guest,
) -> None:
    session = await guest.open()
    for asked in ({}, {"title": ""}, {"title": " \n "}, {"title": "x" * 201}, {"pinned": "yes"}):
        status, told = await changed(guest, session, **asked)
        assert status == 422, told
    status, view = await changed(guest, session, title=f"the token {SECRET}")
    assert status == 200
    assert SECRET not in view["title"]


async def test_files_of_the_folder_are_read_and_found_and_others_are_not(guest: Guest) -> None:
    session = await guest.open()
    work = guest.portal.work
    (work / "notes.md").write_text("# Notes\n", encoding="utf-8")
    (work / ".env").write_text("TOKEN=1", encoding="utf-8")
    path = f"/api/v1/sessions/{session}"
    read = await guest.http.get(f"{path}/file", params={"path": "notes.md"})
    assert read.json() == {"path": "notes.md", "text": "# Notes\n", "bytes": 8, "cut": False}
    found = await guest.http.get(f"{path}/files", params={"text": "note"})
    assert found.json() == {"items": ["notes.md"], "more": False}
    for name in (".env", "../secret", "/etc/passwd"):
        refused = await guest.http.get(f"{path}/file", params={"path": name})
        assert refused.status_code == 422, name
    missing = await guest.http.get(f"{path}/file", params={"path": "nobody"})
    assert missing.status_code == 404
