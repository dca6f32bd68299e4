"""The page on roles: every route and every role, with the answer to expect."""

from collections.abc import Sequence
from typing import Any

from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from airboss.http.roles import MORE_NEEDED, may_call, needed_by
from airboss.model.roles import MAY, ROLES

_HEAD = """# Roles

This page lists which role may call which route of the API. “yes” means that the route gives its own
answer, whatever that is; 403 means that the call is refused with the code `role_needed`. This page
is written by `make generate`, and a test checks every row over HTTP.

| role | may |
|---|---|
"""


def role_table(routes: Sequence[BaseRoute]) -> str:
    first, *others = ROLES
    told = [f"| `{first}` | {MAY[first]} |", *(f"| `{one}` | also {MAY[one]} |" for one in others)]
    found = [one for one in iter_route_contexts(routes) if one.path]
    v1 = [one for one in found if str(one.path).startswith("/api/v1/")]
    beside = [one for one in found if one not in v1]
    lines: list[str] = []
    for title, group in (("`/api/v1`", v1), ("Calls of seed 001, and monitoring", beside)):
        lines += ["", f"## {title}", "", f"| route | needs | {' | '.join(ROLES)} | |"]
        lines += ["|---|---|" + "---|" * len(ROLES) + "---|"]
        lines += sorted(
            _row(str(one.path_format), one.methods or set(), one.endpoint) for one in group
        )
    return _HEAD + "\n".join([*told, *lines]) + "\n"


def _row(path: str, methods: set[str], function: Any) -> str:
    needed = needed_by(path, function)
    shown = ", ".join(sorted(methods - {"HEAD"}))
    answers = " | ".join("yes" if may_call(role, needed) else "403" for role in ROLES)
    more = MORE_NEEDED.get(function.__name__, "")
    return f"| `{path}` {shown} | {needed or 'nobody'} | {answers} | {more} |"
