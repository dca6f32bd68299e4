"""`airboss extension reload`: the extensions of open sessions, as they are on disk now."""

from typing import Final, cast

from airboss.cli.client import Client, Json
from airboss.cli.listing import items_of
from airboss.cli.screen import aside, out, print_json, print_table, visible_line
from airboss.cli.trouble import CommandRefused, Exit

_OPEN: Final = ("idle", "working")
_MOST: Final = 1_000
# All are stopped and started, and each may take its time to join.
_SECONDS: Final = 60.0


def reload_extensions(client: Client, session: str | None, *, is_json: bool) -> Exit:
    wanted = [session] if session else _open_sessions(client)
    if not wanted:
        aside().line("No session is open. The next one starts with the extensions as they are.")
        return Exit.DONE
    found: dict[str, list[Json]] = {}
    wrong: dict[str, str] = {}
    for one in wanted:
        try:
            said = client.post(f"/api/v1/sessions/{one}/extensions/reload", seconds=_SECONDS)
            found[one] = cast("list[Json]", said["items"])
        except CommandRefused as refusal:
            if session:
                raise
            wrong[one] = str(refusal)  # it was closed meanwhile
    if is_json:
        print_json({"sessions": found, "refused": wrong})
    else:
        rows = [
            (one, str(item["name"]), str(item["state"]), str(item.get("reason") or ""))
            for one, items in found.items()
            for item in items
        ]
        print_table(("Session", "Extension", "State", "Why"), rows, out())
        for one, why in wrong.items():
            aside().line(visible_line(f"{one}: {why}"))
    failed = any(item["state"] == "failed" for items in found.values() for item in items)
    return Exit.FAILED if failed or wrong else Exit.DONE


def _open_sessions(client: Client) -> list[str]:
    return [
        str(item["id"])
        for state in _OPEN
        for item in items_of(client, "/api/v1/sessions", state, _MOST)
    ]
