"""The front end's types, from the API's description.

Written by us because the tool for it (openapi-typescript) needs TypeScript 5 as a library, and
version 7 is none.
"""

import json
import re
from typing import Any, cast

Schema = dict[str, Any]

_PLAIN = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}


def front_types(described: Schema) -> str:
    schemas = cast("dict[str, Schema]", described["components"]["schemas"])
    lines = [
        "/** What the server's answers and events look like. Written by `make generate`. */",
        "",
    ]
    for name, schema in sorted(schemas.items()):
        if about := _sentence(schema):
            lines.append(f"/** {about} */")
        lines += [f"export type {_name(name)} = {_type(schema)};", ""]
    return "\n".join(lines).rstrip() + "\n"


def _sentence(schema: Schema) -> str:
    return " ".join(str(schema.get("description", "")).replace("*/", "").split())


def _name(name: str) -> str:
    return re.sub(r"\W", "", name)


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _name(str(schema["$ref"]).rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(_type(one) for one in schema[several]))
    if "properties" in schema:
        return _object(schema)
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"readonly ({_type(schema.get('items', {}))})[]"
    extra = schema.get("additionalProperties")
    if isinstance(extra, dict):
        return f"Record<string, {_type(cast('Schema', extra))}>"
    return _PLAIN.get(str(schema.get("type")), "unknown")


def _object(schema: Schema) -> str:
    """What is nothing is left out of events, and said as null in answers."""
    lines = ["{"]
    for name, told in cast("dict[str, Schema]", schema["properties"]).items():
        kind = _type(told)
        may_be_nothing = "null" in kind.split(" | ")
        lines.append(f"  {json.dumps(name)}{'?' if may_be_nothing else ''}: {kind};")
    return "\n".join([*lines, "}"])
