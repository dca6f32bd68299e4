"""What a worker asks once a second, in one statement: whether anything waits for it, or is another
than it knows, of which no notice came. PostgreSQL only."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from airboss.model.runs import OPEN_RUNS
from airboss.model.views import OPEN_STATES, SessionView
from airboss.store.claims import FITTING, LEFT_OPEN, Claims
from airboss.store.commands import FOR_ME
from airboss.store.decided_chats import DECIDED

_LOOK: Final = text(
    f"""
    SELECT me.state,
        EXISTS (SELECT 1 {FITTING.replace(":states", ":open")}) AS waits,
        EXISTS (SELECT 1 {LEFT_OPEN.replace(":states", ":chats")}) AS left_open,
        EXISTS (SELECT 1 {DECIDED}) AS decided,
        EXISTS (SELECT 1 {FOR_ME}) AS asked,
        me.rules_seen < coalesce((SELECT epoch FROM duties WHERE name = 'rules'), 0) AS rules,
        (SELECT digest FROM installed WHERE name = 'entry') AS entry,
        (SELECT md5(string_agg(concat_ws(' ', id, name, role, hash, expires_at), ',' ORDER BY id))
            FROM tokens) AS tokens,
        (SELECT md5(string_agg(id, ',' ORDER BY id)) FROM sign_ins) AS sign_ins
    FROM workers AS me WHERE me.id = :me
    """  # noqa: S608 - words of ours
)


@dataclass(frozen=True)
class Found:
    """At one moment."""

    state: str
    # Runs or chats that nobody has, or chats to go on with.
    has_work: bool
    # Somebody asks for something.
    is_asked: bool
    # The rules are newer than those that this worker has seen.
    has_new_rules: bool
    # The digest of the installed entry.
    entry: str | None
    # Another text where other people may come in.
    access: tuple[str | None, str | None]


@dataclass(frozen=True)
class PulseStore:
    """In the name of one worker."""

    claims: Claims

    async def look(self) -> Found | None:
        """None: this worker is gone."""
        given = self.claims.given(OPEN_RUNS)
        given |= {"open": given.pop("states"), "chats": list(OPEN_STATES)}
        given["kind"] = SessionView.stream_kind
        row = await self.claims.database.read(lambda c: c.execute(_LOOK, given).first())
        if row is None:
            return None
        has_work = row.waits or row.left_open or row.decided
        access = row.tokens, row.sign_ins
        return Found(row.state, has_work, row.asked, row.rules, row.entry, access)
