"""A server whose agent prints without end: it stays small, answers, and says what it left out."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from airboss.model.conversation import FoldedConversation
from airboss.model.events import Recorded
from airboss.model.excerpt import MOST_CHARACTERS, mark_of
from airboss.model.states import STATES
from tests.contract.guest import Guest
from tests.portal import Portal
from tests.trials import share, trial

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

# With what a server takes anyway, more than it may take.
SIZE = share(60_000_000, 100_000_000)
SECRET = "airboss_0123456789abcdefghij0123456789"  # the runtime itself hides those of others
COMMANDS = {
    "one line": f"head -c {SIZE} /dev/zero | tr '\\0' x",
    "many lines": f"yes | head -c {SIZE}",
    "secrets": f"yes {SECRET} | head -c 8000000",
}
SCRIPT = json.dumps(
    {
        "models": [{"id": "rehearsal", "name": "Rehearsal", "multiplier": 0}],
        "rules": [
            {
                "when": name,
                "steps": [
                    {
                        "call": {
                            "tool": "bash",
                            "arguments": {"command": command, "description": "p"},
                        }
                    },
                    {"say": "Printed."},
                ],
            }
            for name, command in COMMANDS.items()
        ],
    }
)


@pytest.fixture
def portal(tmp_path: Path) -> Iterator[Portal]:
    # One of its own, with an interpreter of its own: its memory is measured.
    portal = Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT, is_cold=True)
    portal.start()
    yield portal
    portal.stop()


async def printed(guest: Guest, what: str) -> tuple[str, dict[str, Any]]:
    """A session whose agent has printed that, and how it ended."""
    session = await guest.open(model="rehearsal")
    await guest.prompt(session, what)
    await guest.until(session, "idle", seconds=90)
    events = await guest.events(session)
    return session, next(e["event"] for e in events if e["event"]["kind"] == "tool.ended")


class Watch:
    """Asks the server all the time, and looks at its memory. How late this process itself is woken
    says what others on the machine take."""

    def __init__(self, portal: Portal) -> None:
        self.answers: list[float] = []
        self.late: list[float] = []
        self.most = 0
        self._portal = portal

    async def run(self) -> None:
        server = psutil.Process(self._portal.pid)
        async with self._portal.client() as http:
            while True:
                began = time.monotonic()
                assert (await http.get("/healthz")).status_code == 200
                self.answers.append(time.monotonic() - began)
                self.most = max(self.most, server.memory_info().rss)
                began = time.monotonic()
                await asyncio.sleep(0.01)
                self.late.append(time.monotonic() - began - 0.01)


def on_disk(portal: Portal) -> int:
    return sum(file.stat().st_size for file in portal.data.glob("airboss.sqlite*"))


@trial
@pytest.mark.alone
@pytest.mark.parametrize("what", ["one line", "many lines"][: share(1, 2)])
async def test_a_flood_leaves_the_server_small_and_its_loop_free(portal: Portal, what: str) -> None:
    async with Guest.of(portal) as guest:
        watch = Watch(portal)
        watching = asyncio.create_task(watch.run())
        session, ended = await printed(guest, what)
        watching.cancel()
        kept = len(ended["text"]) - len(mark_of(ended["left_out"]))
        assert kept + ended["left_out"] == SIZE
        assert len(ended["text"]) <= MOST_CHARACTERS
        assert watch.most < 150_000_000
        assert sorted(watch.answers)[-3] < 0.1 + 4 * sorted(watch.late)[-3]
        assert on_disk(portal) < 12_000_000
        exported = await guest.http.get(f"/api/v1/sessions/{session}/export?format=markdown")
        assert f"{ended['left_out']:,} characters left out" in exported.text


async def test_deltas_add_up_wherever_one_begins_and_every_viewer_comes_to_the_same(
    portal: Portal,
) -> None:
    async with Guest.of(portal) as guest:
        session, ended = await printed(guest, "secrets")
        assert ended["left_out"] > 1_000_000
        assert SECRET not in ended["text"]
        text = ended["text"].replace(mark_of(ended["left_out"]), "")
        assert not set(text) & set("0123456789")  # its digits; letters are in what stands for it
        assert SECRET[10:26] not in (portal.data / "airboss.sqlite").read_bytes().decode("latin-1")
        whole = await guest.events(session)
        place = {one["event"]["kind"]: one["seq"] for one in whole}
        first, last = place["tool.started"], place["tool.delta"]
        assert last - first > 20, "they came one by one"
        for after in (0, first + 1, (first + last) // 2, last - 1):
            rest = [one["event"] for one in await guest.events(session, after)]
            deltas = [event for event in rest if event["kind"] == "tool.delta"]
            begin = deltas[0]["offset"]
            assert begin > 0 or after <= first + 1
            assert "".join(delta["text"] for delta in deltas) == ended["text"][begin:]
        state = STATES["session"](session)
        for one in whole:
            state.tell(Recorded(one["seq"], one["at"], json.dumps(one["event"])))
        assert (await guest.digest(f"sessions/{session}", whole[-1]["seq"], state.digest()))["same"]
        assert isinstance(state, FoldedConversation)
        [tool] = [block for block in state.blocks.values() if block.kind == "tool"]
        assert tool.left_out == ended["left_out"]


async def test_the_bound_is_a_setting(tmp_path: Path) -> None:
    portal = Portal(tmp_path, ("--permissions", "approve-all"), SCRIPT)
    portal.data.mkdir()
    (portal.data / "settings.toml").write_text("max_block_characters = 5000\n", encoding="utf-8")
    portal.start()
    try:
        async with Guest.of(portal) as guest:
            _, ended = await printed(guest, "secrets")
            assert 4900 < len(ended["text"]) <= 5000
    finally:
        portal.stop()
