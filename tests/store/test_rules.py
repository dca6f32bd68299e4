"""Rules on disk: in order, whole, or not at all."""

import pytest
from sqlalchemy import text

from airboss.errors import StoreUnavailable
from airboss.model.ids import RuleId, new_rule_id
from airboss.model.rules import KeptRule, Rule
from airboss.store.database import Database
from airboss.store.rules import RuleStore


@pytest.fixture
def store(database: Database) -> RuleStore:
    return RuleStore(database)


def kept(command: str) -> KeptRule:
    rule = Rule(verdict="deny", command=command)
    return KeptRule(id=new_rule_id(), rule=rule, who="me", made_at=1)


async def test_rules_keep_their_order_through_every_change(store: RuleStore) -> None:
    a, b, c, d = (kept(name) for name in "abcd")
    await store.add(a, 0)
    await store.add(b, 1)
    await store.add(c, 0)
    await store.add(d, 2)
    assert await store.all() == [c, a, d, b]
    await store.remove(a.id)
    await store.remove(RuleId("rul_nobody"))
    await store.add(a, 1)
    assert await store.all() == [c, a, d, b]
    await store.arrange([b.id, a.id, d.id, c.id])
    assert await store.all() == [b, a, d, c]


async def test_one_rule_that_cannot_be_read_keeps_the_others_from_holding_alone(
    store: RuleStore,
) -> None:
    broken = kept("a")
    await store.add(broken, 0)
    await store.add(kept("b"), 1)
    spoil = text("UPDATE rules SET body = '{}' WHERE place = 0")
    await store.database.write(lambda connection: connection.execute(spoil).close())
    with pytest.raises(StoreUnavailable, match=f"The rule {broken.id} in the database"):
        await store.all()
