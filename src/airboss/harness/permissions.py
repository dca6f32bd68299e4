"""What a session may do, by policy and by rules. An unclear or unknown wish, or an error, is a no.

Of the rules the first that matches speaks; they narrow every policy, and widen `ask` only.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from airboss.harness.rules import UNDERSTOOD, first
from airboss.model.events import PermissionDecided
from airboss.model.redaction import Redactor
from airboss.model.rules import KeptRule
from airboss.runtime.permission import PermissionAnswer, PermissionWish
from airboss.settings import Policy

_HOW_TO_ALLOW: Final = "Restart Airboss with --permissions approve-all to allow it."


@dataclass(frozen=True)
class MustAsk:
    """A person has to decide, and this is why."""

    why: str


@dataclass(frozen=True)
class Ruling:
    """What policy and rules come to, and which of them spoke."""

    answer: PermissionAnswer | MustAsk
    by: str


Rules: TypeAlias = Sequence[KeptRule]


@dataclass(frozen=True)
class PolicyRule:
    """One policy, applied to one session's working directory. The server's can be changed by a
    restart; one that was `given` to the session cannot."""

    policy: Policy
    cwd: Path
    given: bool = False

    def decide(self, wish: PermissionWish, rules: Rules = ()) -> Ruling:
        by = f"policy {self.policy}"
        if self.policy == "deny-all":
            return Ruling(self._refuse("The policy deny-all refuses every wish."), by)
        if wish.kind not in UNDERSTOOD:
            no = f"Airboss does not know what “{wish.kind}” would do, so it is refused."
            return Ruling(PermissionAnswer(False, no), by)
        kept = first(rules, wish, self.cwd)
        if kept is not None:
            spoken = self._by_rule(kept)
            if spoken is not None:
                return Ruling(spoken, f"rule {kept.id}")
        return Ruling(self._by_policy(wish), by)

    def _by_rule(self, kept: KeptRule) -> PermissionAnswer | MustAsk | None:
        """None where a rule would widen what is no more than reading."""
        match kept.rule.verdict, self.policy:
            case "deny", _:
                return PermissionAnswer(False, f"A rule of {kept.who} refuses it.")
            case "allow", "ask" | "approve-all":
                return PermissionAnswer(True, f"A rule of {kept.who} allows it.")
            case "ask", "ask" | "approve-all":
                return MustAsk(f"A rule of {kept.who} wants a person to be asked.")
            case _:
                return None

    def _by_policy(self, wish: PermissionWish) -> PermissionAnswer | MustAsk:
        if self.policy == "approve-all":
            return PermissionAnswer(True, "The policy approve-all allows it.")
        allows = f"The policy {self.policy} allows reading"
        if wish.kind == "read" and wish.paths and all(map(self._is_below, wish.paths)):
            return PermissionAnswer(True, f"{allows} below the folder.")
        if self.policy == "ask":
            return MustAsk(f"{allows} below {self.cwd}; all else is asked for.")
        if wish.kind != "read":
            return self._refuse(f"{allows}, and this is “{wish.kind}”.")
        return self._refuse(f"{allows} below {self.cwd} only.")

    def _refuse(self, reason: str) -> PermissionAnswer:
        return PermissionAnswer(False, reason if self.given else f"{reason} {_HOW_TO_ALLOW}")

    def _is_below(self, path: str) -> bool:
        try:
            real = Path(os.path.realpath(self.cwd / path))
        except (OSError, ValueError):
            return False
        return real.is_relative_to(self.cwd)


def record(
    wish: PermissionWish, answer: PermissionAnswer, by: str, redactor: Redactor
) -> PermissionDecided:
    """What was decided, as it is written down."""
    return PermissionDecided(
        request=wish.request_id,
        wish=wish.kind,
        about=redactor.text(wish.about),
        allowed=answer.allowed,
        by=by,
        reason=answer.reason,
    )
