"""Who acts, and from where, as the audit tells it."""

from starlette.types import Scope

from airboss.http.bounds import Headers
from airboss.http.credentials import Caller, peer
from airboss.model.audit_events import Actor, Via
from airboss.service.audit import acting

# What our command line calls itself; a claim, like all that a request says of itself.
OUR_AGENT = b"airboss-cli"


def stranger(scope: Scope, headers: Headers, *, is_proxied: bool) -> Actor:
    """Before anybody was recognised."""
    agents = headers.get(b"user-agent", ())
    via: Via = "api"
    if any(agent == OUR_AGENT for agent in agents):
        via = "cli"
    elif b"sec-fetch-mode" in headers:
        via = "page"
    return Actor(address=peer(scope, headers, is_proxied=is_proxied), via=via)


def known(scope: Scope) -> Actor:
    """Of a request that was let in."""
    before = acting.get() or Actor(via="api")
    caller: Caller | None = scope.get("airboss.caller")
    said: dict[str, str] = {"who": scope["airboss.who"]}
    if caller is not None and caller.sign_in is not None:
        said["via"] = "page"
    return before.model_copy(update=said)
