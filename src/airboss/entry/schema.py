"""The JSON Schema of an entry, generated from its types, so that editors complete and check it."""

from functools import cache
from pathlib import Path
from typing import Any, Final, cast

from airboss.entry.descriptions import DESCRIPTIONS, DRIVING_MODEL
from airboss.entry.document import DRIVING, Entry
from airboss.entry.shape import WORKS

FILE: Final = Path(__file__).with_name("entry.schema.json")


def entry_schema() -> dict[str, Any]:
    schema = Entry.model_json_schema(by_alias=True, mode="validation")
    work = schema["$defs"]["Job"]["properties"]["work"]
    for kind in WORKS:
        # A default in Python; in a file it is always written.
        schema["$defs"][kind].setdefault("required", []).insert(0, "kind")
    plain = _plain(schema, (), work)
    plain["$defs"]["Work"] = {"oneOf": work["oneOf"]}
    _describe(plain)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **plain}


@cache
def shipped_schema() -> str:
    """The text that the package carries."""
    return FILE.read_text(encoding="utf-8")


def _describe(plain: dict[str, Any]) -> None:
    for part, fields in DESCRIPTIONS.items():
        properties = (plain if part == "Entry" else plain["$defs"][part])["properties"]
        for name, said in fields.items():
            properties[name]["description"] = said
    models = plain["properties"]["models"]
    models["properties"] = {
        DRIVING: {**models["additionalProperties"], "description": DRIVING_MODEL}
    }


def _plain(schema: Any, place: tuple[str, ...], work: Any) -> Any:
    """An optional field may be left out, but it is never null; generated titles say nothing."""
    if isinstance(schema, list):
        return [_plain(part, place, work) for part in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    said = cast("dict[str, Any]", schema)
    if said.get("oneOf") == work["oneOf"]:
        return {"$ref": "#/$defs/Work"}
    is_properties = bool(place) and place[-1] in ("properties", "$defs")
    plain = {
        name: _plain(part, (*place, name), work)
        for name, part in said.items()
        if is_properties or name not in ("title", "default")
    }
    choices = plain.get("anyOf")
    is_cell = place[-4:] == ("GridRow", "properties", "jobs", "items")
    if isinstance(choices, list) and not is_cell and not is_properties:
        kept = [part for part in cast("list[Any]", choices) if part != {"type": "null"}]
        if len(kept) == 1:
            del plain["anyOf"]
            plain = {**kept[0], **plain}
    return plain
