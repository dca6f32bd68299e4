"""Files and marked texts that people attach to a message: what the model is told, and each no."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.asking import refusal
from tests.contract.guest import Guest
from tests.portal import Portal

SCRIPT = """
models: [{id: rehearsal, name: Rehearsal, multiplier: 0}]
rules:
  - when: "look"
    steps: [{say: "Seen."}]
"""


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    portal = Portal(tmp_path_factory.mktemp("attached"), (), SCRIPT)
    portal.start()
    (portal.work / "small.txt").write_text("x", "utf-8")
    with (portal.work / "large.bin").open("wb") as file:
        file.truncate(10_000_001)
    yield portal
    portal.stop()


async def test_files_folders_and_a_selection_go_with_the_message(
    portal: Portal, anyio_backend: str
) -> None:
    (portal.work / "notes.txt").write_text("one\ntwo\nthree\n", "utf-8")
    (portal.work / "parts").mkdir()
    selection = {"path": "notes.txt", "text": "two", "firstLine": 2, "lastLine": 2}
    body = {"text": "look", "files": ["notes.txt", "parts", "./notes.txt"], "selection": selection}
    async with Guest.of(portal) as guest:
        session = await guest.open()
        path = f"/api/v1/sessions/{session}/prompts"
        answer = await guest.http.post(path, json=body)
        assert answer.status_code == 202, answer.text
        await guest.until(session, "idle")
        [asked] = [
            one["event"]
            for one in await guest.events(session)
            if one["event"]["kind"] == "prompt.accepted"
        ]
        real = portal.work.resolve()
        assert asked["files"] == [str(real / "notes.txt"), str(real / "parts")]
        assert asked["selection"] == {
            "path": str(real / "notes.txt"),
            "text": "two",
            "first_line": 2,
            "last_line": 2,
        }
    states = portal.data / "copilot-home" / "session-state" / session / "events.jsonl"
    told = states.read_text("utf-8")
    assert str(real / "parts") in told
    assert '"type":"selection"' in told


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ({"files": ["gone.txt"]}, 422, "files[0]: there is no file gone.txt."),
        ({"files": ["/etc/passwd"]}, 422, "files[0]: /etc/passwd is outside the folders"),
        ({"files": ["a\0b"]}, 422, "files[0]: this is not a valid path"),
        ({"files": ["large.bin"]}, 422, "files[0]: large.bin is too large: a file has up to 10 MB"),
        ({"files": ["."] * 21}, 422, "files"),
        ({"files": "notes.txt"}, 422, "files"),
        ({"files": [""]}, 422, "files"),
        ({"selection": {"path": ".", "text": "x"}}, 422, "selection.path: there is no file ."),
        ({"selection": {"path": "large.bin"}}, 422, "selection.text"),
        (
            {"selection": {"path": "small.txt", "text": "x", "firstLine": 2}},
            422,
            "selection: give both firstLine and lastLine",
        ),
        (
            {"selection": {"path": "small.txt", "text": "x", "firstLine": 3, "lastLine": 2}},
            422,
            "selection: firstLine is 3, and lastLine comes before it (2)",
        ),
        ({"selection": {"path": "small.txt", "text": "x", "firstLine": 0}}, 422, "firstLine"),
        ({"mode": "autopilot"}, 422, "mode"),
    ],
)
async def test_what_cannot_be_attached_is_refused_by_name(
    portal: Portal, more: dict[str, Any], status: int, words: str, anyio_backend: str
) -> None:
    async with Guest.of(portal) as guest:
        session = await guest.open()
        path = f"/api/v1/sessions/{session}/prompts"
        answer = await guest.http.post(path, json={"text": "look", **more})
        assert answer.status_code == status, answer.text
        assert words in f"{refusal(answer)[2]} {answer.text}"
