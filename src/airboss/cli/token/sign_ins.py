"""The browsers that are signed in, in the terminal: all of them, one less, none."""

from typing import Final, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.screen import aside, moment, out, print_json, print_table, visible_line
from airboss.cli.short_ids import one_of

SIGN_INS: Final = "/api/v1/signins"


def show_sign_ins(client: Client, *, is_json: bool) -> None:
    said = client.get(SIGN_INS)
    if is_json:
        print_json(said)
        return
    items = cast("list[Json]", said["items"])
    if not items:
        aside().line("No browser is signed in. Get a sign-in link with: airboss link")
        return
    rows = [
        (
            str(item["name"]),
            visible_line(str(item["device"])),
            str(item["address"]),
            moment(item["since"]),
            moment(item["until"]),
            moment(item["used_at"]),
            str(item["id"]),
        )
        for item in items
    ]
    print_table(("Name", "Browser", "From", "Since", "Until", "Used", "Sign-in"), rows, out())


def end_sign_in(client: Client, sign_in: str) -> None:
    known = cast("list[Json]", client.get(SIGN_INS)["items"])
    words = ((str(item["id"]), f"{item['name']}, {item['device']}") for item in known)
    sign_in = one_of(sign_in, words) or sign_in
    client.delete(f"{SIGN_INS}/{quote(sign_in, safe='')}")
    aside().line(visible_line(f"Signed out {sign_in}."))


def end_all_sign_ins(client: Client) -> None:
    client.delete(SIGN_INS)
    aside().line("Signed out every browser. Get a sign-in link with: airboss link")
