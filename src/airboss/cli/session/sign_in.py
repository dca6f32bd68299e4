"""A sign-in at an MCP server of a session: begun here, done in a browser."""

import time
from typing import Final, cast
from urllib.parse import parse_qsl, quote, urlsplit

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, print_json, visible_line
from airboss.cli.trouble import CommandRefused, Exit, Trouble

# As long as the server waits for the browser.
_SECONDS: Final = 600.0
_LOOK_SECONDS: Final = 0.5
_PARTS: Final = ("state", "code", "error", "iss")


def sign_in(client: Client, session: str, server: str, *, is_json: bool) -> None:
    """Say which address to open, and wait until somebody has signed in."""
    before = _server(client, session, server)
    url = str(client.post(_path(session, server))["url"])
    if is_json:
        print_json({"url": url})
        return
    pen = aside()
    pen.line("Open this address in your browser, and sign in there:")
    pen.line(url)
    pen.line("Waiting for you. If the browser does not get back to Airboss, copy the address that")
    pen.line(f"it shows then, and run: airboss mcp {session} --finish 'ADDRESS'")
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        now = _server(client, session, server)
        if now.get("signed_in") and (now["state"] == "connected" or not before.get("signed_in")):
            pen.line(visible_line(f"Signed in at {server}."))
            return
        time.sleep(_LOOK_SECONDS)
    raise Trouble("Nobody signed in within ten minutes. Start the sign-in again.", Exit.FAILED)


def finish(client: Client, address: str, *, is_json: bool) -> None:
    """With the address that a browser was sent back to."""
    said = {name: text for name, text in parse_qsl(urlsplit(address).query) if name in _PARTS}
    if "state" not in said:
        raise CommandRefused(
            "This is not the address that the browser was sent back to: it has no state in it. "
            "Copy all of it, and put it in quotes."
        )
    done = client.post("/api/v1/mcp-sign-ins", cast("Json", said))
    if is_json:
        print_json(done)
    else:
        aside().line(visible_line(f"Signed in at {done['server']}."))


def sign_out(client: Client, session: str, server: str) -> None:
    client.delete(_path(session, server))
    aside().line(visible_line(f"Signed out at {server}, for all sessions."))


def _server(client: Client, session: str, server: str) -> Json:
    said = client.get(f"/api/v1/sessions/{session}/setup")
    found = [one for one in cast("list[Json]", said["mcp_servers"]) if one["name"] == server]
    if not found:
        raise CommandRefused(f"The session has no MCP server {server}. See: airboss mcp {session}")
    return found[0]


def _path(session: str, server: str) -> str:
    return f"/api/v1/sessions/{session}/mcp-servers/{quote(server, safe='')}/sign-in"
