"""What a session is opened with."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from airboss.errors import ModelIdNotFound
from airboss.harness.accounts import Accounts
from airboss.harness.binding import Bindings, Holder, default_holder
from airboss.harness.homes import Homes
from airboss.harness.models import Route
from airboss.harness.open_cages import OpenCages
from airboss.harness.pending_items import FindEarlierDecisions, RulesInForce
from airboss.harness.permissions import PolicyRule
from airboss.harness.prompts import Extras
from airboss.harness.server_grants import ServerGrants
from airboss.harness.session_extensions import MakeExtensions
from airboss.model.excerpt import MOST_CHARACTERS
from airboss.model.setup import Setup
from airboss.runtime.cage.plan import CagePlan
from airboss.runtime.hook_process import Caging
from airboss.runtime.session import RuntimeSession
from airboss.runtime.session_request import SessionRequest
from airboss.settings import LoopDetection, OnRateLimit
from airboss.store.images import Images

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy


async def nowhere(model: str) -> Route:
    """Where nobody knows of other models."""
    raise ModelIdNotFound(f"The model {model} is not available.")


async def nobody(_: Collection[str]) -> None:
    """Where there are no cages."""


OpenSession: TypeAlias = Callable[[SessionRequest], Awaitable[RuntimeSession]]


@dataclass(frozen=True)
class SessionTerms:
    """What a session is opened with. Each of its parts is handed what it needs of this."""

    route: Route
    setup: Setup
    rule: PolicyRule
    rules: RulesInForce
    open_session: OpenSession
    proxy: "ProviderProxy"
    environ: Mapping[str, str]
    accounts: Accounts
    homes: Homes
    find_earlier: FindEarlierDecisions
    # So long a decision is waited for; without it for as long as it takes.
    approval_seconds: float | None
    quiet_seconds: float
    mcp_wait_seconds: float
    loop_detection: LoopDetection
    max_block: int = MOST_CHARACTERS
    # What happens where the model's service is at its limit.
    auto_switch: OnRateLimit = "ask"
    # Of several on one database, this machine, by its name.
    machine: str | None = None
    images: Images | None = None
    # What lets sessions in at servers where a person signed in.
    grants: ServerGrants | None = None
    # What sessions are bound to, and whose this one is on such a route.
    bindings: Bindings | None = None
    holder: Callable[[Route, Setup], Holder] = default_holder
    # The cage that it works in.
    cage: CagePlan | None = None
    open_cages: OpenCages = field(default_factory=OpenCages)
    # The way to the models of its agents.
    route_of: Callable[[str], Awaitable[Route]] = nowhere
    # For the programs that are asked at moments of its life.
    hook_environ: Mapping[str, str] = field(default_factory=dict[str, str])
    # Who hosts its extensions.
    extensions: MakeExtensions | None = None
    # Whether the agent may look at what a prompt points to; raises where it may not.
    check_attached: Callable[[Path, Extras], Extras] = lambda _, more: more
    # Ends cages that nobody uses, by their owners.
    end_cages: Callable[[Collection[str]], Awaitable[None]] = nobody
    # Starts programs in its cage.
    caging: Caging | None = None
