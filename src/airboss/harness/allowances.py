"""What a person allowed until a session ends, and an extension for one call: it turns what would be
asked into a yes, and nothing else. What a rule or the policy refuses stays refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from airboss.harness.permissions import MustAsk, PolicyRule, Ruling
from airboss.model.ids import RuleId
from airboss.model.rules import KeptRule
from airboss.model.views import SessionView, View
from airboss.runtime.permission import PermissionAnswer, PermissionRequest


@dataclass(frozen=True, slots=True)
class Allowance:
    """An extension's yes to one call, and why."""

    extension: str
    why: str


_NOTHING: Final[Mapping[str, "Allowance"]] = MappingProxyType({})


def ruling_of(
    policy: PolicyRule,
    request: PermissionRequest,
    rules: Sequence[KeptRule],
    view: View | None,
    allowed: Mapping[str, Allowance] = _NOTHING,
) -> Ruling:
    """By rules and policy; where those want a person to be asked, by what was allowed before in the
    session that `view` is of, and last by what an extension said of this call: `allowed` has that
    by the block of each."""
    ruling = policy.decide(request, tuple(rules))
    if not isinstance(ruling.answer, MustAsk):
        return ruling
    ruling = _by_session(policy, request, view, ruling)
    allowance = _allowance(request.call, allowed)
    if allowance is None or ruling.rule is not None or not policy.may_be_widened(request):
        return ruling
    if not isinstance(ruling.answer, MustAsk):
        return ruling
    why = f": {allowance.why}" if allowance.why else "."
    answer = PermissionAnswer(True, f"The extension {allowance.extension} allows it{why}")
    return Ruling(answer, f"extension {allowance.extension}")


def _allowance(call: str | None, allowed: Mapping[str, Allowance]) -> Allowance | None:
    """A model may use the id of a call again: the block of the second one has a number behind it,
    and the first one is over."""
    if not call or not allowed:
        return None
    named = (block for block in list(allowed) if block == call or block.startswith(f"{call}~"))
    return next((allowed.get(block) for block in named), None)


def _by_session(
    policy: PolicyRule, request: PermissionRequest, view: View | None, ruling: Ruling
) -> Ruling:
    allowed = view.allowances if isinstance(view, SessionView) else ()
    if not allowed:
        return ruling
    kept = tuple(
        KeptRule(id=RuleId("session"), rule=rule, who="this session", made_at=0) for rule in allowed
    )
    if not policy.has_rule(request, kept):  # else the policy would speak, over the rule that asks
        return ruling
    found = policy.decide(request, kept)
    is_allowed = not isinstance(found.answer, MustAsk) and found.answer.allowed
    return found if is_allowed else ruling
