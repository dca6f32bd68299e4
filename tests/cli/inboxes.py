"""Sessions that ask, and what waits because of them."""

import time
from typing import Any

import httpx2

from tests.pauses import pauses
from tests.portal import Portal

Item = dict[str, Any]


def close_all(portal: Portal) -> None:
    """Nothing waits afterwards."""
    with http(portal) as client:
        for item in client.get("/api/v1/inbox").json()["items"]:
            client.post(f"/api/v1/sessions/{item['session']}/close")


def http(portal: Portal) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {portal.token}"}
    return httpx2.Client(base_url=portal.url, headers=headers, timeout=30)


def ask(portal: Portal, text: str) -> Item:
    """What a new session asks once it was told this."""
    with http(portal) as client:
        session = client.post("/api/v1/sessions", json={"cwd": str(portal.work)}).json()["id"]
        client.post(f"/api/v1/sessions/{session}/prompts", json={"text": text})
        until = time.monotonic() + 20
        pause = pauses()
        while time.monotonic() < until:
            found = client.get("/api/v1/inbox", params={"session": session}).json()["items"]
            if found:
                return found[0]
            time.sleep(next(pause))
    raise AssertionError(portal.log)


def ended(portal: Portal, item: Item) -> Item:
    """How the tool ended that the item is about."""
    path = f"/api/v1/sessions/{item['session']}"
    with http(portal) as client:
        until = time.monotonic() + 20
        pause = pauses()
        while client.get(path).json()["state"] != "idle":
            assert time.monotonic() < until, portal.log
            time.sleep(next(pause))
        events = client.get(f"{path}/events", params={"limit": 1000}).json()["items"]
    return next(one["event"] for one in events if one["event"]["kind"] == "tool.ended")
