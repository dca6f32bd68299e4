"""How the API describes itself: names that read well in generated clients, one form for every
refusal, and how one signs in. FastAPI writes the rest from the routes."""

from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute

from airboss.http.problems import Problem

Described = dict[str, Any]
Refusals = dict[int | str, Described]

_PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}
_BEARER: Final = "token"
_SIGN_IN: Final = "signIn"
# Open to whoever has not signed in yet.
_OPEN: Final = frozenset({"sign_in", "show_sign_in", "is_alive"})


def refused(description: str) -> Described:
    """A refusal as an operation describes it."""
    return {
        "description": description,
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }


# Every refusal has this form, also those that FastAPI would describe in its own.
REFUSALS: Final[Refusals] = {"default": refused("Refused. `detail` gives the reason.")}


def operation_id(route: APIRoute) -> str:
    """The function's own name: it is unique, and generated clients call it so."""
    return route.name


def describe(app: FastAPI) -> None:
    """Completes the description that FastAPI writes."""
    written = app.openapi

    def complete() -> Described:
        described = written()  # FastAPI keeps it, and gives the same one again
        if "security" not in described:
            schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            parts = described.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = schema
            parts["securitySchemes"] = {
                _BEARER: {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of this server: `airboss token add NAME`.",
                },
                _SIGN_IN: {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Airboss-Key",
                    "description": "For browsers: the key of the sign-in, sent with the cookie.",
                },
            }
            described["security"] = [{_BEARER: []}, {_SIGN_IN: []}]
            for path in described["paths"].values():
                for operation in path.values():
                    if operation["operationId"] in _OPEN:
                        operation["security"] = []
        return described

    app.openapi = complete  # the way that FastAPI documents for this
