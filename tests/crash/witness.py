"""Somebody outside who remembers all that a server said and promised, and compares it later."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import httpx2

Json = dict[str, Any]

STARTS = ("message.started", "reasoning.started", "tool.started")
DELTAS = ("message.delta", "reasoning.delta", "tool.delta")
ENDS = ("message.ended", "reasoning.ended", "tool.ended")


async def start_session(client: httpx2.AsyncClient, cwd: object) -> str:
    answer = await client.post("/api/v1/sessions", json={"model": "rehearsal", "cwd": str(cwd)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def ask(client: httpx2.AsyncClient, session: str, text: str) -> Json:
    answer = await client.post(f"/api/v1/sessions/{session}/prompts", json={"text": text})
    assert answer.status_code == 202, answer.text
    return answer.json()


async def show(client: httpx2.AsyncClient, session: str) -> Json:
    answer = await client.get(f"/api/v1/sessions/{session}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def read_all(
    client: httpx2.AsyncClient, name: str, after: int = 0, of: str = "sessions"
) -> list[Json]:
    """Page by page to the end."""
    found: list[Json] = []
    while True:
        query = {"after": after, "limit": 200}
        page = (await client.get(f"/api/v1/{of}/{name}/events", params=query)).json()
        found += page["items"]
        after = page["next_after"]
        if not page["more"]:
            return found


async def follow(client: httpx2.AsyncClient, session: str, after: int = 0) -> AsyncGenerator[Json]:
    """The events as they come, until the server ends the stream or its life."""
    path, query = f"/api/v1/sessions/{session}/stream", {"after": after}
    async with client.stream("GET", path, params=query) as answer:
        assert answer.status_code == 200
        name = ""
        async for line in answer.aiter_lines():
            field_name, _, value = line.partition(": ")
            if not line:
                name = ""
            elif field_name == "event":
                name = value
            elif field_name == "data" and not name:
                yield json.loads(value)


async def until(client: httpx2.AsyncClient, session: str, kind: str, after: int = 0) -> Json:
    """The next event of this kind."""
    events = follow(client, session, after)
    try:
        async for recorded in events:
            if recorded["event"]["kind"] == kind:
                return recorded
    finally:
        await events.aclose()
    raise AssertionError(f"the stream ended before {kind}")


def texts(events: list[Json]) -> dict[str, str]:
    """The text of each block as its deltas tell it, from the first on that is among `events`."""
    told: dict[str, str] = {}
    begins: dict[str, int] = {}
    for recorded in events:
        event = recorded["event"]
        if event["kind"] in DELTAS:
            block = event["block"]
            begin = begins.setdefault(block, event["offset"])
            told.setdefault(block, "")
            assert event["offset"] == begin + len(told[block]), f"{block}: a gap or a repetition"
            told[block] += event["text"]
    return told


@dataclass
class Witness:
    """One session, seen from outside."""

    session: str
    seen: dict[int, Json] = field(default_factory=dict[int, Json])
    promised: dict[int, Json] = field(default_factory=dict[int, Json])
    last: int = 0
    # The highest number that was used when the last life was over.
    before: int = 0

    async def watch(self, client: httpx2.AsyncClient) -> None:
        try:
            async for recorded in follow(client, self.session, self.last):
                assert recorded["seq"] > self.last, "numbers grow"
                self.last = recorded["seq"]
                self.seen[self.last] = recorded
        except httpx2.HTTPError:
            return  # the server died

    async def ask(self, client: httpx2.AsyncClient, text: str) -> None:
        try:
            receipt = await ask(client, self.session, text)
        except httpx2.HTTPError:
            return
        self.promised[receipt["seq"]] = {"prompt": receipt["prompt"], "text": text}

    async def compare(self, client: httpx2.AsyncClient) -> None:
        """After the restart: all that was seen or promised is there, under the same numbers."""
        stored = await read_all(client, self.session)
        seqs = [recorded["seq"] for recorded in stored]
        assert seqs == sorted(set(seqs)), "numbers grow strictly"
        by_seq = {recorded["seq"]: recorded for recorded in stored}
        for seq, promise in self.promised.items():
            event = by_seq[seq]["event"]
            assert event["kind"] == "prompt.accepted"
            assert {key: event[key] for key in promise} == promise
        for seq, recorded in self.seen.items():
            if recorded["event"]["kind"] not in DELTAS:
                assert by_seq[seq] == recorded, "an event that was shown is there, unchanged"
        self._compare_texts(stored)
        new = [seq for seq in seqs if seq not in self.seen and seq > self.before]
        ends = [seq for seq in new if by_seq[seq]["event"]["kind"] == "session.interrupted"]
        assert ends, "the restart says that it interrupted the session"
        assert ends[-1] > max(self.seen, default=0), "no number that was shown is used again"
        self.before = self.last = seqs[-1]
        self.seen.clear()
        self.promised.clear()

    def _compare_texts(self, stored: list[Json]) -> None:
        events = [recorded["event"] for recorded in stored]
        open_blocks = [event["block"] for event in events if event["kind"] in STARTS]
        ends = {event["block"]: event for event in events if event["kind"] in ENDS}
        assert sorted(open_blocks) == sorted(ends), "every block is closed, once"
        said = texts(stored)
        for block, text in said.items():
            assert ends[block]["text"] == text, "the deltas add up to the end"
        for block, text in texts(list(self.seen.values())).items():
            assert text in ends[block]["text"], "every character that was shown is there"
