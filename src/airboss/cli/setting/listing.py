"""The settings in the terminal: all of them, a change, and the way back."""

import json
import os
from collections.abc import Sequence
from typing import Any, Final, cast
from urllib.parse import quote

from airboss.cli.client import Client, Json
from airboss.cli.confirming import confirmed
from airboss.cli.screen import aside, out, print_json, print_table, visible_line
from airboss.cli.trouble import CommandRefused

SETTINGS: Final = "/api/v1/settings"
_EFFECTS: Final = {
    "at_once": "immediately",
    "new_sessions": "new sessions",
    "within_the_hour": "within the hour",
    "next_start": "after a restart",
}
_FROM: Final = {
    "at_once": "It is in effect now.",
    "new_sessions": "It applies to sessions that are opened or resumed from now on.",
    "within_the_hour": "It is in effect now. Older data is deleted within the hour.",
    "next_start": "It takes effect when the server is restarted.",
}


def show_settings(client: Client, *, is_json: bool) -> None:
    said = client.get(SETTINGS)
    if is_json:
        print_json(said)
        return
    rows = [
        (
            str(item["name"]),
            _words(item["value"]),
            _words(item["default"]),
            _place(item),
            _EFFECTS[str(item["effect"])] if item["changeable"] else "locked",
            str(item["meaning"]),
        )
        for item in cast("list[Json]", said["items"])
    ]
    print_table(("Setting", "Value", "Default", "Set in", "Takes effect", "Meaning"), rows, out())


def change_setting(
    client: Client, name: str, words: Sequence[str], *, is_sure: bool, is_json: bool
) -> None:
    found = _found(client, name)
    value = _value(found, words)
    said = f"{name} = {_words(value)}"
    if value is None or _is_wanted(found, said, is_sure=is_sure):
        _tell(client.patch(_address(name), {"value": value}), is_json=is_json)


def reset_setting(client: Client, name: str, *, is_sure: bool, is_json: bool) -> None:
    found = _found(client, name)
    said = f"the value of {name} in the file or its default"
    if found["changed_by"] is None or _is_wanted(found, said, is_sure=is_sure):
        _tell(client.delete(_address(name)), is_json=is_json)


def _is_wanted(item: Json, said: str, *, is_sure: bool) -> bool:
    losing = f"With {said}, older sessions and runs may be permanently deleted."
    if not item["deletes"] or confirmed("Continue?", losing=losing, is_sure=is_sure):
        return True
    aside().line("Nothing was changed.")
    return False


def _tell(item: Json, *, is_json: bool) -> None:
    if is_json:
        print_json(item)
        return
    said = f"{item['name']} = {_words(item['value'])}, set in: {_place(item)}."
    out().line(visible_line(f"{said} {_FROM[str(item['effect'])]}"))


def _found(client: Client, name: str) -> Json:
    items = cast("list[Json]", client.get(SETTINGS)["items"])
    found = next((item for item in items if item["name"] == name), None)
    if found is None:
        raise CommandRefused(
            f"There is no setting {visible_line(name)}. `airboss settings` lists them."
        )
    return found


def _value(item: Json, words: Sequence[str]) -> Any:
    """Read as JSON where it can be (24, true, "text"), else as the text that it is."""
    if len(words) == 1 and words[0] in ("none", "null"):
        return None
    if item["kind"] == "list":
        first = _read(words[0]) if len(words) == 1 else None
        texts = cast("list[Any]", first) if isinstance(first, list) else list(words)
        # A folder that is named from here is not one where the server works.
        return [os.path.abspath(os.path.expanduser(str(text))) for text in texts]
    if len(words) > 1:
        raise CommandRefused(f"{item['name']} takes one value, but you passed {len(words)}.")
    return words[0] if item["kind"] in ("text", "choice") else _read(words[0])


def _read(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def _words(value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        return ", ".join(str(one) for one in cast("list[Any]", value))
    if isinstance(value, bool):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _place(item: Json) -> str:
    by = f" by {item['changed_by']}" if item["source"] == "change" else ""
    waits = " (after a restart)" if item["in_use"] != item["value"] else ""
    return f"{'a change' if by else item['set_in']}{by}{waits}"


def _address(name: str) -> str:
    return f"{SETTINGS}/{quote(name, safe='')}"
