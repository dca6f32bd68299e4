"""What the agent of a task run said in the end, read from the session that it said it in."""

from collections.abc import Iterator
from typing import Final

from airboss.cli.client import Client, Json

_SESSIONS: Final = "/api/v1/sessions"
# How far back one looks, by seq: what is said last stands near the end.
_NEAR: Final = 400
_FAR: Final = 50_000
_TELLING: Final = ("turn.started", "turn.ended", "message.ended")


def answer_of(client: Client, said: Json) -> str:
    """The last words on the run's last round that was worked on; empty where there are none."""
    sent = [one for one in said["attempts"] if one["mission"]["kind"] == "prompt"]
    done = [one for one in sent if one.get("outcome") == "done"]
    return _answer_to(client, done[-1]["session"], done[-1]["prompt"]) if done else ""


def _answer_to(client: Client, session: str, prompt: str) -> str:
    said = ""
    for event in _turn_of(client, session, prompt):
        if event["kind"] == "turn.ended":
            break
        if event["kind"] == "message.ended":
            said = str(event["text"]).strip() or said
    return said


def _turn_of(client: Client, session: str, prompt: str) -> list[Json]:
    """From the beginning of the turn on; nothing when it is too far back."""
    end, back = int(client.get(f"{_SESSIONS}/{session}")["seq"]), _NEAR
    while True:
        events = list(_told_after(client, session, max(0, end - back)))
        for number, event in enumerate(events):
            if event["kind"] == "turn.started" and event.get("prompt") == prompt:
                return events[number:]
        if back >= min(end, _FAR):
            return []
        back *= 5


def _told_after(client: Client, session: str, after: int) -> Iterator[Json]:
    more = True
    while more:
        page = client.get(f"{_SESSIONS}/{session}/events", after=after, limit=1000)
        yield from (one["event"] for one in page["items"] if one["event"]["kind"] in _TELLING)
        after, more = page["next_after"], page["more"]
