"""What a session may do, by policy. An unknown wish, an unclear one or an error is a no."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from airboss.model.events import PermissionDecided
from airboss.model.redaction import Redactor
from airboss.runtime.permission import PermissionAnswer, PermissionWish
from airboss.settings import Policy

# What a session may have. A server's own policy is never `ask`; an entry's may be.
SessionPolicy: TypeAlias = Policy | Literal["ask"]

# What `approve-all` speaks for. A kind that a newer runtime adds is refused until it is understood.
_UNDERSTOOD = frozenset(
    {"shell", "write", "read", "url", "mcp", "custom-tool", "hook", "memory", "workflow"}
)
_HOW_TO_ALLOW = "Restart Airboss with --permissions approve-all to allow it."
_NOBODY = "A person would have to be asked for it, and nobody can be asked here."


@dataclass(frozen=True)
class PolicyRule:
    """One policy, applied to one session's working directory. The server's can be changed by a
    restart; one that was `given` to the session cannot."""

    policy: SessionPolicy
    cwd: Path
    given: bool = False

    def decide(self, wish: PermissionWish) -> PermissionAnswer:
        match self.policy:
            case "deny-all":
                return self._refuse("The policy deny-all refuses every wish.")
            case "approve-all":
                return self._approve(wish)
            case "read-only" | "ask":
                return self._read_only(wish)

    def record(
        self, wish: PermissionWish, answer: PermissionAnswer, redactor: Redactor
    ) -> PermissionDecided:
        """What was decided, as it is written down."""
        return PermissionDecided(
            request=wish.request_id,
            wish=wish.kind,
            about=redactor.text(wish.about),
            allowed=answer.allowed,
            by=f"policy {self.policy}",
            reason=answer.reason,
        )

    def _refuse(self, reason: str) -> PermissionAnswer:
        if self.policy == "ask":
            return PermissionAnswer(False, f"{reason} {_NOBODY}")
        return PermissionAnswer(False, reason if self.given else f"{reason} {_HOW_TO_ALLOW}")

    def _approve(self, wish: PermissionWish) -> PermissionAnswer:
        if wish.kind in _UNDERSTOOD:
            return PermissionAnswer(True, "The policy approve-all allows it.")
        return PermissionAnswer(
            False, f"Airboss does not know what “{wish.kind}” would do, so it is refused."
        )

    def _read_only(self, wish: PermissionWish) -> PermissionAnswer:
        """Also what `ask` comes to, as long as there is no way to ask a person."""
        allows = f"The policy {self.policy} allows reading"
        if wish.kind != "read":
            return self._refuse(f"{allows}, and this is “{wish.kind}”.")
        if wish.paths and all(self._is_below(path) for path in wish.paths):
            return PermissionAnswer(True, f"{allows} below the folder.")
        return self._refuse(f"{allows} below {self.cwd} only.")

    def _is_below(self, path: str) -> bool:
        try:
            real = Path(os.path.realpath(self.cwd / path))
        except (OSError, ValueError):
            return False
        return real.is_relative_to(self.cwd)
