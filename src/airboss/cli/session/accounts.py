"""`airboss accounts`: whose Copilot sessions use, and how each account is."""

from typing import cast

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, moment, out, print_json, print_table


def show_accounts(client: Client, *, is_json: bool) -> None:
    said = client.get("/api/v1/accounts")
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    rows = [(i["name"], i["how"], _state(i), str(i["sessions"])) for i in items]
    print_table(("Account", "Token from", "State", "Sessions"), rows, out())
    if all(item["state"] != "fine" for item in items):
        aside().line("No account can be used now. For help: airboss doctor")


def _state(item: Json) -> str:
    if item["state"] == "resting":
        return f"resting until {moment(item['resting_until'])}: {item['why']}"
    return str(item["why"] or item["state"])
