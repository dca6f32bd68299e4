"""What the API says of itself is exact, and generated clients read well."""

import functools
import json
from collections import Counter
from typing import Any, cast

from airboss.http.api import build_routes
from airboss.http.v1 import runs


@functools.cache
def described() -> dict[str, Any]:
    """A second of work: for the process that runs these tests, not for all that collect them."""
    return build_routes(None).openapi()


def schemas() -> dict[str, Any]:
    return described()["components"]["schemas"]


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, cast("dict[str, Any]", operation))
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_has_a_short_name_of_its_own() -> None:
    names = Counter(operation["operationId"] for _, _, operation in operations())
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for name in names if "api_v1" in name or len(name) > 30] == []


def test_no_model_shares_its_title_with_another() -> None:
    titles = Counter(schema["title"] for schema in schemas().values() if "title" in schema)
    assert [title for title, count in titles.items() if count > 1] == []
    assert [name for name in schemas() if "__" in name] == []


def test_every_refusal_is_the_same_problem_by_reference() -> None:
    for path, _, operation in operations():
        told = operation["responses"]["default"]["content"]["application/problem+json"]
        assert told == {"schema": {"$ref": "#/components/schemas/Problem"}}, path
    assert (
        json.dumps(described()).count('"retryable"') == 2
    )  # its property, and that it is required


def test_it_says_how_one_signs_in() -> None:
    schemes = described()["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["signIn"]["name"] == "X-Airboss-Key"
    open_ones = {path for path, _, operation in operations() if operation.get("security") == []}
    assert open_ones == {"/api/v1/signin"}


def test_a_stream_is_described_by_the_data_of_its_events() -> None:
    streams = {
        operation["operationId"]: operation["responses"]["200"]["content"]["text/event-stream"]
        for _, _, operation in operations()
        if "text/event-stream" in operation["responses"].get("200", {}).get("content", {})
    }
    assert len(streams) == 6
    parts = {name: told["schema"]["$ref"].rpartition("/")[2] for name, told in streams.items()}
    assert parts["follow_run_events"] == "StreamedEvent"
    assert parts["follow_audit"] == "StreamedAct"
    assert parts["follow_feed"] == "StreamedFeed"
    for part in set(parts.values()):
        assert {"type": "string"} in schemas()[part]["anyOf"], part  # the whole of it is text


def test_what_is_a_file_of_text_is_described_as_text() -> None:
    """Generated clients take other kinds for binary, or leave them out."""
    for path, _, operation in operations():
        if operation["operationId"].startswith("export_"):
            kinds = operation["responses"]["200"]["content"]
            assert [kind for kind in kinds if not kind.startswith("text/")] == [], path


def test_what_a_right_request_may_be_refused_for_is_described() -> None:
    refusals = {
        operation["operationId"]: operation["responses"] for _, _, operation in operations()
    }
    digests = [name for name in refusals if name.endswith("_digest")]
    assert len(digests) == 4
    assert [name for name in digests if "422" not in refusals[name]] == []
    assert "401" in refusals["sign_in"]


def test_the_words_of_a_rule_are_described_as_they_are_checked() -> None:
    named = {
        name: told for name, told in schemas()["Rule"]["properties"].items() if "anyOf" in told
    }
    assert set(named) == {"wish", "tool", "command", "path", "host", "folder"}
    for name, told in named.items():
        assert (told["anyOf"][0]["minLength"], told["anyOf"][0]["maxLength"]) == (1, 4096), name


def test_numbers_and_paths_of_requests_are_described_as_they_are_checked() -> None:
    place = schemas()["NewRule"]["properties"]["place"]["anyOf"][0]
    assert (place["minimum"], place["maximum"]) == (0, 1000)
    amount = schemas()["GivenLimits"]["properties"]["cost"]["anyOf"][0]
    assert amount["maximum"] == 1e15
    folder = schemas()["StartSession"]["properties"]["cwd"]["anyOf"][0]
    assert folder["pattern"].startswith(r"^\s*(/")
    assert len(schemas()["CheckEntry"]["oneOf"]) == 2


def test_an_app_has_the_routes_as_they_were_declared() -> None:
    """FastAPI would make each of them anew for the first request of a server."""
    ids = {id(route) for route in build_routes(None).routes}
    assert [route for route in runs.router.routes if id(route) not in ids] == []
