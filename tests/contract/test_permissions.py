"""What an agent may do by policy, as the agent and everybody who watches are told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.conftest import SCRIPT
from tests.contract.guest import Guest, Told, only
from tests.portal import Portal

HOW = "To be asked instead, restart Airboss with --permissions ask."


async def _decision(guest: Guest, text: str) -> tuple[Told, Told]:
    """What was decided, and how the tool ended."""
    session = await guest.open()
    events = await guest.turn(session, text)
    assert only("turn.ended", events)[0]["outcome"] == "done"
    decided = only("permission.decided", events)
    assert len(decided) == 1, events
    return decided[0], only("tool.ended", events)[0]


async def test_reading_below_the_working_directory_is_allowed(guest: Guest) -> None:
    file = guest.portal.work / "readme.txt"
    file.write_text("Read me.", encoding="utf-8")
    decided, ended = await _decision(guest, str(file))
    assert decided == {
        "kind": "permission.decided",
        "request": decided["request"],
        "wish": "read",
        "about": str(file),
        "allowed": True,
        "by": "policy read-only",
        "reason": "The policy read-only allows reading below the folder.",
        "call": ended["block"],
    }
    assert "Read me." in ended["result"]["content"]


async def test_reading_elsewhere_is_denied_with_a_word_on_how_to_allow_it(
    guest: Guest, tmp_path: Path
) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("Do not read me.", encoding="utf-8")
    link = guest.portal.work / "innocent.txt"
    link.symlink_to(outside)
    roundabout = f"{guest.portal.work}/../script.yaml"
    for path in (str(outside), str(link), roundabout):
        decided, ended = await _decision(guest, path)
        assert decided["allowed"] is False
        work = guest.portal.work
        assert decided["reason"] == f"The policy read-only allows reading below {work} only. {HOW}"
        assert HOW in ended["error"]["message"]
        assert "Do not read me" not in str(ended)


@pytest.mark.parametrize(("text", "kind"), [("write it", "write"), ("count aloud", "shell")])
async def test_anything_but_reading_is_denied_under_read_only(
    guest: Guest, text: str, kind: str
) -> None:
    decided, ended = await _decision(guest, text)
    reason = f"The policy read-only allows reading, and this is “{kind}”. {HOW}"
    assert (decided["wish"], decided["allowed"], decided["reason"]) == (kind, False, reason)
    assert HOW in ended["error"]["message"]
    assert not (guest.portal.work / "hello.txt").exists()


@pytest.mark.parametrize(("text", "kind"), [("write it", "write"), ("count aloud", "shell")])
async def test_everything_is_allowed_under_approve_all(
    approved: Guest, text: str, kind: str
) -> None:
    decided, ended = await _decision(approved, text)
    assert (decided["wish"], decided["allowed"]) == (kind, True)
    assert decided["reason"] == "The policy approve-all allows it."
    assert "result" in ended


@pytest.fixture(scope="module")
def denying_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    options = ("--permissions", "deny-all")
    portal = Portal(tmp_path_factory.mktemp("denying"), options, SCRIPT)
    portal.start()
    yield portal
    portal.stop()


async def test_nothing_is_allowed_under_deny_all(denying_portal: Portal) -> None:
    async with Guest.of(denying_portal) as guest:
        for text in ("write it", "count aloud", "look around"):
            decided, ended = await _decision(guest, text)
            assert decided["allowed"] is False
            assert decided["reason"] == f"The policy deny-all refuses every request. {HOW}"
            assert HOW in ended["error"]["message"]
