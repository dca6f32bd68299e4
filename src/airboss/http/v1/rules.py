"""Rules of one's own, over v1: in the order in which they hold."""

from typing import Annotated

from fastapi import Response
from pydantic import BaseModel, Field, StrictInt
from starlette.convertors import StringConvertor, register_url_convertor

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import UseRules, Who
from airboss.http.v1.streams import RequestBody
from airboss.model.numbers import whole
from airboss.model.rules import KeptRule, Rule
from airboss.service.rules import MOST_RULES

router = Router(prefix="/api/v1/rules", tags=["rules"])


class _RuleName(StringConvertor):
    """Any name but the one that is an address of its own, which would answer to DELETE as well."""

    regex = "(?!order$)[^/]+"


register_url_convertor("rule", _RuleName())

Place = Annotated[StrictInt, Field(ge=0, le=MOST_RULES), whole]


class NewRule(RequestBody):
    """A rule, and where it goes: 0 is the first place; without one it goes to the end."""

    rule: Rule
    place: Place | None = None


class RuleOrder(RequestBody):
    """Every rule by its id, once."""

    ids: list[Annotated[str, Field(max_length=64)]] = Field(max_length=MOST_RULES)


class RuleList(BaseModel):
    """Of several that match a request the first holds."""

    items: tuple[KeptRule, ...]


@router.get("")
async def list_rules(rules: UseRules) -> RuleList:
    """List all rules in order."""
    return RuleList(items=rules.current)


@router.post(
    "",
    status_code=201,
    responses={422: refused("The rule could never match, or would match too much.")},
)
async def add_rule(asked: NewRule, rules: UseRules, who: Who, response: Response) -> KeptRule:
    """Add a rule. It takes effect immediately, also in open sessions. Paths are resolved now."""
    kept = await rules.add(asked.rule, who, asked.place)
    response.headers["Location"] = f"/api/v1/rules/{kept.id}"
    return kept


@router.put("/order")
async def arrange_rules(asked: RuleOrder, rules: UseRules, who: Who) -> RuleList:
    """Reorder the rules. Refused if one is missing, because somebody else changed them."""
    return RuleList(items=await rules.arrange(asked.ids, who))


@router.delete("/{rule:rule}", status_code=204)
async def remove_rule(rule: str, rules: UseRules, who: Who) -> None:
    """Remove a rule. This takes effect immediately."""
    await rules.remove(rule, who)
