"""What the API says of itself is exact, and generated clients read well."""

import json
from collections import Counter
from typing import Any, cast

from airboss.http.api import build_routes

DESCRIBED = build_routes(None).openapi()
SCHEMAS = cast("dict[str, Any]", DESCRIBED["components"]["schemas"])
OPERATIONS = [
    (path, method, cast("dict[str, Any]", operation))
    for path, methods in DESCRIBED["paths"].items()
    for method, operation in methods.items()
]


def test_every_operation_has_a_short_name_of_its_own() -> None:
    names = Counter(operation["operationId"] for _, _, operation in OPERATIONS)
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for name in names if "api_v1" in name or len(name) > 30] == []


def test_no_model_shares_its_title_with_another() -> None:
    titles = Counter(schema["title"] for schema in SCHEMAS.values() if "title" in schema)
    assert [title for title, count in titles.items() if count > 1] == []
    assert [name for name in SCHEMAS if "__" in name] == []


def test_every_refusal_is_the_same_problem_by_reference() -> None:
    for path, _, operation in OPERATIONS:
        told = operation["responses"]["default"]["content"]["application/problem+json"]
        assert told == {"schema": {"$ref": "#/components/schemas/Problem"}}, path
    assert json.dumps(DESCRIBED).count('"retryable"') == 2  # its property, and that it is required


def test_it_says_how_one_signs_in() -> None:
    schemes = DESCRIBED["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["signIn"]["name"] == "X-Airboss-Key"
    open_ones = [path for path, _, operation in OPERATIONS if operation.get("security") == []]
    assert open_ones == ["/api/v1/signin"]


def test_numbers_and_paths_of_requests_are_described_as_they_are_checked() -> None:
    place = SCHEMAS["NewRule"]["properties"]["place"]["anyOf"][0]
    assert (place["minimum"], place["maximum"]) == (0, 1000)
    amount = SCHEMAS["GivenLimits"]["properties"]["cost"]["anyOf"][0]
    assert amount["maximum"] == 1e15
    folder = SCHEMAS["StartSession"]["properties"]["cwd"]["anyOf"][0]
    assert folder["pattern"].startswith(r"^\s*(/")
    assert len(SCHEMAS["CheckEntry"]["oneOf"]) == 2
