"""What a person allowed until a session ends: it turns what would be asked into a yes, and nothing
else. What a rule or the policy refuses stays refused."""

from collections.abc import Sequence

from airboss.harness.permissions import MustAsk, PolicyRule, Ruling
from airboss.model.ids import RuleId
from airboss.model.rules import KeptRule
from airboss.model.views import SessionView, View
from airboss.runtime.permission import PermissionRequest


def ruling_of(
    policy: PolicyRule, request: PermissionRequest, rules: Sequence[KeptRule], view: View | None
) -> Ruling:
    """By rules and policy; where those want a person to be asked, by what was allowed before in the
    session that `view` is of."""
    ruling = policy.decide(request, tuple(rules))
    allowed = view.allowances if isinstance(view, SessionView) else ()
    if not allowed or not isinstance(ruling.answer, MustAsk):
        return ruling
    kept = tuple(
        KeptRule(id=RuleId("session"), rule=rule, who="this session", made_at=0) for rule in allowed
    )
    found = policy.decide(request, kept)
    is_allowed = not isinstance(found.answer, MustAsk) and found.answer.allowed
    return found if is_allowed else ruling
