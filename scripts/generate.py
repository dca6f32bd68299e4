"""Writes what is generated from the code, each page from its types. `--check` only compares."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from front_types import front_types
from role_table import role_table
from rule_pages import EXTENSIONS, HARNESS
from runtime_table import runtime_table

from airboss.entry.schema import entry_schema
from airboss.http.api import build_routes
from airboss.model.events import EVENT
from airboss.model.hidden import HIDDEN, class_of, prose_pattern

ROOT = Path(__file__).resolve().parent.parent


def api() -> str:
    return json.dumps(build_routes(None).openapi(), indent=1, ensure_ascii=False) + "\n"


def roles() -> str:
    return role_table(build_routes(None).routes)


def types() -> str:
    return front_types(build_routes(None).openapi())


def entry() -> str:
    return json.dumps(entry_schema(), indent=1, ensure_ascii=False) + "\n"


def hidden() -> str:
    """As JavaScript writes them; the pages make regular expressions of them."""
    escape = "\\\\u{{{:x}}}"
    return (
        "// Written by `make generate` from src/airboss/model/hidden.py: what cannot be seen.\n\n"
        "/** The inside of a character class. */\n"
        f'export const HIDDEN =\n  "{class_of(HIDDEN, escape)}";\n\n'
        "/** A whole expression, for prose. */\n"
        f'export const HIDDEN_IN_PROSE =\n  "{prose_pattern(escape)}";\n'
    )


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(cast('dict[str, Any]', schema.get('items', {})))}"
    return str(schema.get("type", "any"))


def _section(name: str, schema: dict[str, Any]) -> list[str]:
    fields = cast("dict[str, dict[str, Any]]", schema["properties"])
    kind = fields.get("kind", {}).get("const")
    needed = cast("list[str]", schema.get("required", []))
    about = " ".join(str(schema.get("description", "")).split())
    rows = [
        f"| `{field}` | {_type(told)} | {'' if field in needed else 'optional'} |"
        for field, told in fields.items()
        if not (kind and field == "kind")
    ]
    table = ["", "| field | type | |", "|---|---|---|", *rows] if rows else []
    return [f"## {f'`{kind}`' if kind else name}", "", about, *table, ""]


def events() -> str:
    schema = EVENT.json_schema()
    defined = cast("dict[str, dict[str, Any]]", schema["$defs"])
    kinds = [
        name for name, told in defined.items() if "const" in told["properties"].get("kind", {})
    ]
    shared = [name for name in defined if name not in kinds]
    lines = [
        "# Events",
        "",
        "Everything a stream can say. Each event has a `kind`, a `seq` (its number in the stream)",
        "and `at` (milliseconds, UTC). Written by `make generate`.",
        "",
    ]
    order = {option["$ref"].rpartition("/")[2]: i for i, option in enumerate(schema["oneOf"])}
    for name in [*sorted(kinds, key=lambda name: order[name]), *sorted(shared)]:
        lines += _section(name, defined[name])
    return "\n".join(lines).rstrip() + "\n"


PAGES = {
    "docs/api.json": api,
    "docs/events.md": events,
    "docs/extension-rules.md": EXTENSIONS.text,
    "docs/harness-rules.md": HARNESS.text,
    "docs/roles.md": roles,
    "docs/runtime.md": runtime_table,
    "src/airboss/entry/entry.schema.json": entry,
    "web/src/api/types.gen.ts": types,
    "web/src/hidden.gen.ts": hidden,
}


def main() -> int:
    stale: list[str] = []
    for name, write in PAGES.items():
        page, text = ROOT / name, write()
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print(f"Not current: {', '.join(stale)}. Run `make generate` and commit.")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
