"""Images in requests: kept, shown to the model, shown again, and gone with the session."""

import base64
import json
import struct
import zlib
from typing import Any

from tests.contract.guest import Guest, Told, only
from tests.contract.test_v1_sessions import refused
from tests.portal import Portal


def png(colour: int = 0) -> bytes:
    """One pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(bytes([0, colour, colour, colour]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def image(data: bytes, mime: str = "image/png") -> dict[str, str]:
    return {"mime": mime, "data": base64.b64encode(data).decode()}


async def sent(guest: Guest, session: str, text: str, *images: dict[str, str]) -> Told:
    body = {"text": text, "images": list(images)}
    answer = await guest.http.post(f"/api/v1/sessions/{session}/prompts", json=body)
    assert answer.status_code == 202, answer.text
    return answer.json()


def heard_by_the_model(portal: Portal, session: str) -> str:
    """What the runtime wrote down of the request."""
    file = portal.data / "copilot-home" / "session-state" / session / "events.jsonl"
    return file.read_text("utf-8")


async def test_an_image_is_kept_shown_to_the_model_and_shown_again(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))
    receipt = await sent(guest, session, "greet this", image(png()), image(png(9)))
    events = await guest.follow_to(session, "session.idle", receipt["seq"] - 1)
    [accepted] = only("prompt.accepted", events)
    names = [f"{receipt['prompt']}.{number}.png" for number in (1, 2)]
    assert accepted["images"] == [
        {"id": name, "mime": "image/png", "bytes": len(png())} for name in names
    ]
    assert only("turn.ended", events)[0]["outcome"] == "done"
    heard = heard_by_the_model(guest.portal, session)
    users = [json.loads(line) for line in heard.splitlines() if '"user.message"' in line]
    shown = json.dumps(users[0])
    assert shown.count('"blob"') == 2
    answer = await guest.http.get(f"/api/v1/sessions/{session}/images/{names[0]}")
    assert (answer.status_code, answer.content) == (200, png())
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    kept = guest.portal.data / "images" / session
    assert sorted(file.name for file in kept.iterdir()) == names
    await guest.do(session, "close")
    assert (await guest.http.delete(f"/api/v1/sessions/{session}")).status_code == 204
    assert not kept.exists()


async def test_what_is_no_image_is_refused_in_words(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))

    async def told(*images: dict[str, Any]) -> tuple[int, str, str]:
        body = {"text": "greet", "images": list(images)}
        return await refused(guest, "POST", f"sessions/{session}/prompts", json=body)

    svg = image(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
    assert await told(svg) == (422, "invalid", "Image 1 is not image/png.")
    assert (await told({**svg, "mime": "image/svg+xml"}))[:2] == (422, "invalid")
    assert await told(image(png()), image(png(), "image/webp")) == (
        422,
        "invalid",
        "Image 2 is not image/webp.",
    )
    assert await told({"mime": "image/png", "data": "%%%"}) == (
        422,
        "invalid",
        "Image 1 is not base64.",
    )
    large = image(png() + b"\0" * 5_000_000)
    assert (await told(large))[2] == "Image 1 is too large: an image has up to 5 MB."
    assert (await told(*[image(png())] * 6))[:2] == (422, "invalid")
    assert (await guest.show(session))["queue"] == []


async def test_the_largest_images_are_taken(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))
    large = image(png() + b"\0" * (5_000_000 - len(png())))
    body = {"text": "no such thing", "images": [large] * 5, "delivery": "nonsense"}
    told = await refused(guest, "POST", f"sessions/{session}/prompts", json=body)
    assert told[:2] == (422, "invalid")
    told = await refused(guest, "POST", "sessions", json={"model": "x" * (5 * 1024 * 1024)})
    assert told[:2] == (413, "body_too_large")


async def test_only_images_of_the_session_are_shown(guest: Guest) -> None:
    session = await guest.open(cwd=str(guest.portal.work))
    for name in ("nothing.png", "..%2F..%2Ftoken", "%2Fetc%2Fpasswd.png", "token", "x.svg"):
        answer = await guest.http.get(f"/api/v1/sessions/{session}/images/{name}")
        assert answer.status_code == 404, name
    assert (await refused(guest, "GET", "sessions/ses_x/images/a.png"))[0] == 404


async def test_a_request_with_an_image_that_waits_survives_a_restart(own_portal: Portal) -> None:
    async with Guest.of(own_portal) as guest:
        session = await guest.open(cwd=str(own_portal.work))
        await guest.prompt(session, "take your time")
        await sent(guest, session, "greet what waited", image(png(7)))
    own_portal.stop()
    own_portal.start()
    async with Guest.of(own_portal) as guest:
        assert (await guest.show(session))["queue"][0]["text"] == "greet what waited"
        await guest.do(session, "resume")
        await guest.until(session, "idle")
        heard = heard_by_the_model(own_portal, session)
        users = [line for line in heard.splitlines() if '"user.message"' in line]
        assert ('"blob"' in users[-1], "greet what waited" in users[-1]) == (True, True)
