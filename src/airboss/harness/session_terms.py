"""What a session is opened with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from airboss.harness.models import Route
from airboss.harness.pending_items import FindEarlierDecisions, RulesInForce
from airboss.harness.permissions import PolicyRule
from airboss.model.excerpt import MOST_CHARACTERS
from airboss.model.setup import Setup
from airboss.runtime.session import RuntimeSession, SessionRequest
from airboss.settings import LoopDetection
from airboss.store.images import Images

if TYPE_CHECKING:
    from airboss.harness.proxy import ProviderProxy

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
    find_earlier: FindEarlierDecisions
    # So long a decision is waited for; without it for as long as it takes.
    approval_seconds: float | None
    quiet_seconds: float
    loop_detection: LoopDetection
    max_block: int = MOST_CHARACTERS
    images: Images | None = None
