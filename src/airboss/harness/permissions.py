"""What a session may do, by policy. An unknown wish, an unclear one or an error is a no."""

import os
from dataclasses import dataclass
from pathlib import Path

from airboss.runtime.permission import PermissionAnswer, PermissionWish
from airboss.settings import Policy

# What `approve-all` speaks for. A kind that a newer runtime adds is refused until it is understood.
_UNDERSTOOD = frozenset(
    {"shell", "write", "read", "url", "mcp", "custom-tool", "hook", "memory", "workflow"}
)
_HOW_TO_ALLOW = "Restart Airboss with --permissions approve-all to allow it."


@dataclass(frozen=True)
class PolicyRule:
    """One policy, applied to one session's working directory."""

    policy: Policy
    cwd: Path

    def decide(self, wish: PermissionWish) -> PermissionAnswer:
        if self.policy == "deny-all":
            reason = "The policy deny-all refuses every wish."
            return PermissionAnswer(False, f"{reason} {_HOW_TO_ALLOW}")
        if self.policy == "approve-all":
            return self._approve(wish)
        return self._read_only(wish)

    def _approve(self, wish: PermissionWish) -> PermissionAnswer:
        if wish.kind in _UNDERSTOOD:
            return PermissionAnswer(True, "The policy approve-all allows it.")
        return PermissionAnswer(
            False, f"Airboss does not know what “{wish.kind}” would do, so it is refused."
        )

    def _read_only(self, wish: PermissionWish) -> PermissionAnswer:
        if wish.kind != "read":
            reason = f"The policy read-only allows reading, and this is “{wish.kind}”."
            return PermissionAnswer(False, f"{reason} {_HOW_TO_ALLOW}")
        if wish.paths and all(self._is_below(path) for path in wish.paths):
            return PermissionAnswer(True, "The policy read-only allows reading below the folder.")
        return PermissionAnswer(
            False,
            f"The policy read-only allows reading below {self.cwd} only. {_HOW_TO_ALLOW}",
        )

    def _is_below(self, path: str) -> bool:
        try:
            real = Path(os.path.realpath(self.cwd / path))
        except (OSError, ValueError):
            return False
        return real.is_relative_to(self.cwd)
