"""The tables that only a database of many machines has: who works, on what, and what one asks of
another. SQLite has one server, whose data folder says the same."""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from airboss.store.tables import (
    Block,
    bindings,
    disabled_extensions,
    last_good,
    trust,
)

machine_metadata = MetaData()

# Everybody who works, or serves pages. An id is new at each start; `place` is the data folder's and
# stays. Loss is a `beat` that does not move; `seen_at` is for pages only.
workers = Table(
    "workers",
    machine_metadata,
    Column("id", String(64), primary_key=True),
    Column("place", String(64), nullable=False),
    Column("name", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", String(64), nullable=False),
    # Which walks it can take up, each on a line.
    Column("walks", Text, nullable=False, server_default=""),
    # As JSON: lists of words, and of folders.
    Column("labels", Text, nullable=False, server_default="[]"),
    Column("roots", Text, nullable=False, server_default="[]"),
    Column("shared_roots", Text, nullable=False, server_default="[]"),
    # Of the same: their marks with their paths.
    Column("root_names", Text, nullable=False, server_default="[]"),
    # So many agents of jobs at once; 0 where it does not work.
    Column("slots", Integer, nullable=False, server_default="0"),
    # alive, draining, left, lost
    Column("state", String(16), nullable=False),
    Column("beat", BigInteger, nullable=False, server_default="0"),
    Column("seen_at", BigInteger, nullable=False, server_default="0"),
    # How far its clock is ahead of the database's.
    Column("offset_ms", BigInteger, nullable=False, server_default="0"),
    Column("rules_seen", BigInteger, nullable=False, server_default="0"),
    Column("began_at", BigInteger, nullable=False, server_default="0"),
    # When it left or was found lost, and how many runs it had then.
    Column("ended_at", BigInteger),
    Column("runs_left", Integer, nullable=False, server_default="0"),
    # Whoever watches it waits for so long; 0 where it does not say so.
    Column("lease_ms", BigInteger, nullable=False, server_default="0"),
    # Whether people can look at all of this there.
    Column("pages", Boolean, nullable=False, server_default="false"),
)

# The deltas of blocks that are open: those of a batch with nothing between them are one row, whose
# `seq` is the last one's. `marks` says where each of them ended. Gone with the block's end.
parts = Table(
    "parts",
    machine_metadata,
    Column("stream", String(64), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("first", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("block", Block, nullable=False),
    Column("text", Text, nullable=False),
    Column("marks", LargeBinary, nullable=False),
)

# Runs that are open, and what it takes to work on them. Their owner is in `streams`.
work = Table(
    "work",
    machine_metadata,
    Column("run", String(64), primary_key=True),
    # Sorts by time: the oldest is taken first.
    Column("key", String(64), nullable=False),
    Column("labels", Text, nullable=False, server_default="[]"),
    Column("root", Text),
    Column("place", String(64)),
    Column("walk", String(64), nullable=False),
    # Who had it last, and released it or was lost.
    Column("held_for", String(64)),
    # Whom somebody gave it to, and who that was. Nobody else takes it while that worker lives.
    Column("given_to", String(64)),
    Column("given_by", Text),
    Index("work_by_key", "key"),
)

# What is asked of the owner of a stream through a portal that is not it.
commands = Table(
    "commands",
    machine_metadata,
    Column("id", String(200), primary_key=True),
    Column("target", String(64), nullable=False),
    Column("verb", String(32), nullable=False),
    Column("body", Text, nullable=False),
    Column("who", Text, nullable=False),
    # new, taken, done, failed
    Column("state", String(16), nullable=False),
    Column("taken_by", String(64)),
    Column("answer", Text),
    Column("expires_at", BigInteger, nullable=False),
    Index("commands_by_target", "target", "state"),
)

# Tasks that are at work, or are about to be, where all machines together have a bound.
slots = Table(
    "slots",
    machine_metadata,
    Column("worker", String(64), primary_key=True),
    # The task's: it sorts by time, and who waited first goes first.
    Column("key", String(64), primary_key=True),
    Column("is_taken", Boolean, nullable=False),
)

# What one does for all.
duties = Table(
    "duties",
    machine_metadata,
    Column("name", String(64), primary_key=True),
    Column("owner", String(64)),
    Column("epoch", BigInteger, nullable=False, server_default="0"),
)

# What lies in the data folder of a single server. Secrets that are kept stay on their machine.
tokens = Table(
    "tokens",
    machine_metadata,
    Column("id", String(64), primary_key=True),
    # Of a data folder's own token: `owner@` and that folder's id.
    Column("name", String(128), nullable=False),
    Column("role", String(16), nullable=False),
    # A hash: nobody gets in with what lies here.
    Column("hash", String(128), nullable=False),
    Column("made_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    UniqueConstraint("name"),
)
codes = Table(
    "codes",
    machine_metadata,
    Column("hash", String(128), primary_key=True),
    Column("name", String(64), nullable=False),
    # Stands for the token of that name, and lasts as long as that.
    Column("token", String(64), nullable=False),
    # Of the browser that asked for it: void once that is signed out.
    Column("sign_in", String(64)),
    Column("expires_at", BigInteger, nullable=False),
)
# What was done to the tokens without a server, for the audit log: whoever takes a row tells it.
token_changes = Table(
    "token_changes",
    machine_metadata,
    Column("id", String(64), primary_key=True),
    Column("at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)
keys = Table(
    "keys",
    machine_metadata,
    Column("name", String(64), primary_key=True),
    Column("value", LargeBinary, nullable=False),
    Column("made_at", BigInteger, nullable=False),
)
images = Table(
    "images",
    machine_metadata,
    Column("stream", String(64), primary_key=True),
    Column("name", String(128), primary_key=True),
    Column("media_type", String(64), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("at", BigInteger, nullable=False),
)
installed = Table(
    "installed",
    machine_metadata,
    Column("name", String(64), primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("who", String(64), nullable=False),
    Column("at", BigInteger, nullable=False),
)

# Chats whose agents were not told what a person had decided when their worker was lost. Only their
# own place has their history: it resumes them when it is back.
decided_chats = Table(
    "decided_chats",
    machine_metadata,
    Column("session", String(64), primary_key=True),
    Column("place", String(64), nullable=False),
    Column("who", String(64), nullable=False),
    Index("decided_chats_by_place", "place"),
)


def _placed(table: Table, *, is_key: bool) -> Table:
    """The same, and whose each row is: the paths and the runtimes of a machine are its own."""
    place = Column(
        "place", String(64), primary_key=is_key, nullable=False, server_default=text("''")
    )
    others = [
        Column(one.name, one.type, primary_key=one.primary_key, nullable=one.nullable)
        for one in table.columns
    ]
    return Table(table.name, machine_metadata, place, *others)


# By the name that each has on a file, too.
PLACED: Final = {
    bindings.name: _placed(bindings, is_key=False),
    disabled_extensions.name: _placed(disabled_extensions, is_key=True),
    last_good.name: _placed(last_good, is_key=True),
    trust.name: _placed(trust, is_key=True),
}
