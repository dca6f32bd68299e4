"""The MCP servers of a session, or of all that are open."""

from dataclasses import dataclass
from typing import cast

from airboss.cli.client import Client, Json
from airboss.cli.listing import items_of
from airboss.cli.screen import aside, out, print_json, print_table
from airboss.cli.session.sign_in import finish, sign_in, sign_out
from airboss.cli.trouble import CommandRefused

_MOST = 200
_NONE = "No MCP servers. Add some in an entry or in the settings: see docs/entry.md."


@dataclass(frozen=True)
class ServerWish:
    """What is to be done about one of them, by the name of the option."""

    sign_in: str | None = None
    finish: str | None = None
    sign_out: str | None = None


def show_servers(client: Client, session: str | None, wish: ServerWish, *, is_json: bool) -> None:
    if sum(one is not None for one in (wish.sign_in, wish.finish, wish.sign_out)) > 1:
        raise CommandRefused("Choose one of --sign-in, --finish and --sign-out.")
    if wish.finish is not None:
        finish(client, wish.finish, is_json=is_json)
        return
    if session is None and (wish.sign_in or wish.sign_out):
        raise CommandRefused("Name the session, too. See: airboss mcp")
    if session is not None and wish.sign_in is not None:
        sign_in(client, session, wish.sign_in, is_json=is_json)
    elif session is not None and wish.sign_out is not None:
        sign_out(client, session, wish.sign_out)
    else:
        _list(client, session, is_json=is_json)


def _list(client: Client, session: str | None, *, is_json: bool) -> None:
    rows = _of_all(client) if session is None else _of_one(client, session)
    if is_json:
        print_json({"items": rows})
    elif not rows:
        aside().line(_NONE)
    else:
        heads = ("Session", "Server", "State", "Tools", "Error")
        print_table(heads, [_row(row) for row in rows], out())


def _row(row: Json) -> tuple[str, str, str, str, str]:
    tools = ", ".join(cast("list[str]", row.get("tools") or []))
    return row["session"], row["name"], row["state"], tools, row["error"] or ""


def _of_one(client: Client, session: str) -> list[Json]:
    said = client.get(f"/api/v1/sessions/{session}/setup")
    found = cast("list[Json]", said["mcp_servers"])
    return [{"session": session, **server} for server in found]


def _of_all(client: Client) -> list[Json]:
    sessions = items_of(client, "/api/v1/sessions", None, _MOST)
    return [
        {"session": session["id"], **server}
        for session in sessions
        if session["state"] not in ("closed", "interrupted")
        for server in session["mcp_servers"]
    ]
