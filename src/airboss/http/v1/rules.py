"""Rules of one's own, over v1: in the order in which they hold."""

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from airboss.http.services import UseRules, Who
from airboss.http.v1.streams import Asked
from airboss.model.rules import KeptRule, Rule
from airboss.service.rules import MOST_RULES

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])


class NewRule(Asked):
    """A rule, and where it goes: 0 is the first place; without one it goes to the end."""

    rule: Rule
    place: int | None = Field(default=None, ge=0, le=MOST_RULES)


class RuleOrder(Asked):
    """Every rule by its id, once."""

    ids: list[Annotated[str, Field(max_length=64)]] = Field(max_length=MOST_RULES)


class RuleList(BaseModel):
    """Of several that match a wish the first holds."""

    items: tuple[KeptRule, ...]


@router.get("")
async def list_rules(rules: UseRules) -> RuleList:
    """All of them, in their order."""
    return RuleList(items=rules.current)


@router.post("", status_code=201)
async def add_rule(asked: NewRule, rules: UseRules, who: Who, response: Response) -> KeptRule:
    """It holds at once, also for sessions that are open. Paths are resolved as they are now."""
    kept = await rules.add(asked.rule, who, asked.place)
    response.headers["Location"] = f"/api/v1/rules/{kept.id}"
    return kept


@router.put("/order")
async def arrange_rules(asked: RuleOrder, rules: UseRules, who: Who) -> RuleList:
    """Refused where one is missing: somebody else has changed them meanwhile."""
    return RuleList(items=await rules.arrange(asked.ids, who))


@router.delete("/{rule}", status_code=204)
async def remove_rule(rule: str, rules: UseRules, who: Who) -> None:
    """It holds no longer, at once."""
    await rules.remove(rule, who)
