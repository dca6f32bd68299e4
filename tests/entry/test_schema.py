"""The JSON Schema that ships with the package."""

import json
from typing import Any

from airboss.entry.descriptions import DESCRIPTIONS
from airboss.entry.document import Entry
from airboss.entry.schema import entry_schema, shipped_schema

SCHEMA: dict[str, Any] = json.loads(shipped_schema())


def test_what_ships_is_what_the_types_say() -> None:
    assert entry_schema() == SCHEMA


def test_the_fields_are_those_of_the_types() -> None:
    assert list(SCHEMA["properties"]) == [
        "models",
        "promptVariables",
        "tasks",
        "jobs",
        "grid",
        "drivingSessionRetries",
        "permissions",
        "limits",
        "reasoningEffort",
        "systemMessage",
        "instructions",
        "tools",
        "directories",
        "context",
        "agents",
        "commands",
        "agent",
        "skills",
        "hooks",
        "account",
        "identity",
        "cage",
        "mcpServers",
    ]
    assert SCHEMA["required"] == ["models", "promptVariables", "tasks", "jobs", "grid"]
    assert SCHEMA["additionalProperties"] is False
    assert SCHEMA["properties"]["models"]["required"] == ["driving"]
    assert list(Entry.model_fields)[1] == "prompt_variables"


def test_null_is_offered_for_empty_cells_alone() -> None:
    text = json.dumps(SCHEMA)
    assert text.count('"null"') == 1
    cell = SCHEMA["$defs"]["GridRow"]["properties"]["jobs"]["items"]["anyOf"]
    assert cell == [{"$ref": "#/$defs/GridCell"}, {"type": "null"}]


def test_a_work_is_one_of_five_kinds_and_says_which() -> None:
    kinds = ["Ref", "Seq", "Par", "Loop", "Alt"]
    assert SCHEMA["$defs"]["Work"] == {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds]}
    for kind in kinds:
        assert SCHEMA["$defs"][kind]["required"][0] == "kind"
        assert SCHEMA["$defs"][kind]["properties"]["kind"]["const"] == kind
    assert SCHEMA["$defs"]["Seq"]["properties"]["works"]["items"] == {"$ref": "#/$defs/Work"}
    assert SCHEMA["$defs"]["Alt"]["properties"]["trueWork"]["$ref"] == "#/$defs/Work"


def test_editors_offer_the_tools_and_the_policies() -> None:
    tools = SCHEMA["$defs"]["Criteria"]["properties"]["toolExecuted"]["items"]["enum"]
    assert tools[0] == "job_prepare_document"
    policies = SCHEMA["properties"]["permissions"]["enum"]
    assert policies == ["ask", "caged", "approve-all", "read-only", "deny-all"]


def test_every_field_says_what_it_means() -> None:
    parts = {"Entry": SCHEMA, **SCHEMA["$defs"]}
    fields = {
        (part, name): told.get("description", "")
        for part, schema in parts.items()
        for name, told in schema.get("properties", {}).items()
    }
    assert len(fields) > 45
    assert [field for field, said in fields.items() if not said.endswith(".")] == []
    assert {part: set(told) for part, told in DESCRIPTIONS.items()} == {
        part: set(schema["properties"]) for part, schema in parts.items() if "properties" in schema
    }


def test_the_driving_model_is_offered_as_a_name() -> None:
    models = SCHEMA["properties"]["models"]
    assert models["properties"]["driving"]["description"].startswith("The model that judges")
    assert models["additionalProperties"]["oneOf"] == [
        {"type": "string"},
        {"$ref": "#/$defs/NamedModel"},
    ]
