"""Walks a router: whatever is not open on purpose answers 401 to everybody without the token."""

import re
from collections.abc import Sequence

import httpx2
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

# Without a token on purpose. Sign-in is where one gets in, and asks whether one is.
OPEN = frozenset(
    {
        *(("GET", "/healthz"), ("HEAD", "/healthz")),
        *(("GET", "/api/v1/signin"), ("POST", "/api/v1/signin")),
    }
)

_PARAMETER = re.compile(r"\{[^}]*\}")
# Also tried where a route does not name them: a preflight, and methods that nobody meant.
_ALWAYS = frozenset({"GET", "POST", "OPTIONS"})


def addresses(routes: Sequence[BaseRoute]) -> list[tuple[str, str]]:
    """Each method and path, with made-up values in place of parameters."""
    found: set[tuple[str, str]] = set()
    for route in iter_route_contexts(routes):
        assert route.path, f"{route} has no path, so nobody knows whether it is closed"
        path = _PARAMETER.sub("x", route.path)
        found.update((method, path) for method in (route.methods or set()) | _ALWAYS)
    return sorted(found - OPEN)


async def every_route_needs_the_token(
    base_url: str, routes: Sequence[BaseRoute], token: str
) -> int:
    """How many addresses were tried. The token is shown only where it must not count."""
    tried = addresses(routes)
    async with httpx2.AsyncClient(base_url=base_url, timeout=10) as client:
        for method, path in tried:
            for asked, headers in (
                (path, {}),
                (f"{path}?token={token}&access_token={token}", {}),
                (path, {"Cookie": f"token={token}; airboss={token}"}),
                (path, {"X-Airboss-Token": token, "Authorization": f"Basic {token}"}),
            ):
                answer = await client.request(method, asked, headers=headers)
                assert answer.status_code == 401, f"{method} {path}: {answer.status_code}"
                cors = [name for name in answer.headers if name.startswith("access-control-")]
                assert not cors, f"{method} {path}: {cors}"
    return len(tried)
