"""The rules that hold, in their order. What they mean is not known here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import Connection, delete, select, update

from airboss.errors import StoreUnavailable
from airboss.model.ids import RuleId
from airboss.model.rules import KeptRule, Rule
from airboss.store.database import Database
from airboss.store.dialect import keeps_parts
from airboss.store.rule_versions import count_change
from airboss.store.tables import rules


@dataclass(frozen=True)
class RuleStore:
    database: Database

    async def all(self) -> list[KeptRule]:
        """Every one of them, or none: without one that denies, the others would allow more."""

        def work(connection: Connection) -> list[KeptRule]:
            found = connection.execute(select(rules).order_by(rules.c.place))
            return [_kept(row.id, row.body, row.who, row.made_at) for row in found]

        return await self.database.read(work)

    async def add(self, kept: KeptRule, place: int) -> None:
        """At this place; those from there on move down by one."""
        values = {
            "id": kept.id,
            "place": place,
            "body": kept.rule.model_dump_json(exclude_none=True),
            "who": kept.who,
            "made_at": kept.made_at,
        }

        def work(connection: Connection) -> None:
            behind = update(rules).where(rules.c.place >= place)
            connection.execute(behind.values(place=rules.c.place + 1))
            connection.execute(rules.insert().values(values))

        await self._change(work)

    async def remove(self, rule: RuleId) -> None:
        def work(connection: Connection) -> None:
            mine = rules.c.id == rule
            place = connection.execute(select(rules.c.place).where(mine)).scalar()
            connection.execute(delete(rules).where(mine))
            if place is not None:
                behind = update(rules).where(rules.c.place > place)
                connection.execute(behind.values(place=rules.c.place - 1))

        await self._change(work)

    async def _change(self, work: Callable[[Connection], None]) -> None:
        def counted(connection: Connection) -> None:
            work(connection)
            if keeps_parts(connection):  # others share it
                count_change(connection)

        await self.database.write(counted)

    async def arrange(self, ids: Sequence[RuleId]) -> None:
        def work(connection: Connection) -> None:
            for place, rule in enumerate(ids):
                connection.execute(update(rules).where(rules.c.id == rule).values(place=place))

        await self._change(work)


def _kept(rule: str, body: str, who: str, made_at: int) -> KeptRule:
    try:
        words = Rule.model_validate_json(body)
    except ValidationError as error:
        raise StoreUnavailable(
            f"The rule {rule} in the database cannot be read, and without it the others could "
            "allow too much. Put a backup in its place, or delete it from the table `rules`."
        ) from error
    return KeptRule(id=RuleId(rule), rule=words, who=who, made_at=made_at)
