"""Every call of the API that a document names is in its description, with the query it names."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

ROOT = Path(__file__).parents[2]
PATHS = json.loads((ROOT / "docs/api.json").read_text("utf-8"))["paths"]
PAGES = sorted(path for where in ("*.md", "docs/**/*.md") for path in ROOT.glob(where))
_CALL = re.compile(
    r"\b(GET|POST|PATCH|PUT|DELETE)\b`?\s+(?:on )?`?(/api/v1/[\w/{}…-]*[\w}])(?:\?([^`\s]+))?"
)
# What stands for an id or a name.
_ANY = re.compile(r"\{\w+\}|[A-Z]{2,}|[a-z]{3}_…")


def described(method: str, path: str) -> dict[str, Any] | None:
    wanted = _ANY.sub("*", path)
    for template, methods in PATHS.items():
        if re.sub(r"\{\w+\}", "*", template) == wanted and method.lower() in methods:
            return methods[method.lower()]
    return None


def wrong_with(method: str, path: str, query: str) -> str | None:
    operation = described(method, path)
    if operation is None:
        return f"there is no {method} {path}"
    known = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
    named = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    return f"{method} {path} takes no {sorted(named - known)}" if named - known else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_calls_that_exist(page: Path) -> None:
    calls = _CALL.findall(page.read_text("utf-8"))
    assert [wrong for call in calls if (wrong := wrong_with(*call))] == []


def test_a_call_that_does_not_exist_is_noticed() -> None:
    assert _CALL.findall("`GET /api/v1/search?text=…`") == [("GET", "/api/v1/search", "text=…")]
    assert wrong_with("GET", "/api/v1/search", "text=x") is None
    assert wrong_with("DELETE", "/api/v1/sessions/ID", "") is None
    assert wrong_with("GET", "/api/v1/search", "words=x") == (
        "GET /api/v1/search takes no ['words']"
    )
    assert wrong_with("GET", "/api/v1/nowhere", "") == "there is no GET /api/v1/nowhere"
    assert wrong_with("PUT", "/api/v1/sessions/ses_…", "") is not None
