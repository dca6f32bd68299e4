"""The tables, in SQLAlchemy Core. Times are integer milliseconds, UTC."""

from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    text,
)

metadata = MetaData()

# Milliseconds, and numbers of events, are more than PostgreSQL's INTEGER holds. SQLite's holds all,
# and only a column of that name is the row's own number.
Big = BigInteger().with_variant(Integer, "sqlite")

# What stands for the character that PostgreSQL keeps in no text, and for itself.
_ESCAPE = "\uf8fe"


def escaped(name: str) -> str:
    return name.replace(_ESCAPE, f"{_ESCAPE}e").replace("\0", f"{_ESCAPE}0")


def unescaped(name: str) -> str:
    return name.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}e", _ESCAPE)


class _Escaped(TypeDecorator[str]):
    """A name of somebody else's, with whatever characters."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value and escaped(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value and unescaped(value)


Block = Text().with_variant(_Escaped(), "postgresql")

# What was said. `role` tells a block's start, its deltas and its end apart. When the end is
# written, deltas between which nothing else was said become one row, `merged`, that finds its text
# in the end (`end_seq`). A block's name is its provider's, and some are very long.
events = Table(
    "events",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("seq", Big, primary_key=True),
    Column("at", Big, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("role", String(8)),
    Column("block", Block),
    Column("end_seq", Big),
    Column("marks", LargeBinary),
    sqlite_with_rowid=False,
)

# What people and agents said, as text to be looked for; the newest has the highest id.
said = Table(
    "said",
    metadata,
    Column("id", Big, primary_key=True),
    Column("stream", String(64), nullable=False),
    Column("seq", Big, nullable=False),
    Column("at", Big, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Index("said_by_event", "stream", "seq", unique=True),
)

# The starts of the blocks that have no end yet: few, however long the stream is.
open_starts = Table(
    "open_starts",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("seq", Big, primary_key=True),
    sqlite_with_rowid=False,
)

# Where the events come from that must not be said twice, such as the end of a mission. What works
# again after a crash says them again, and finds them here.
origins = Table(
    "origins",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("origin", String(200), primary_key=True),
    Column("seq", Big, nullable=False),
    sqlite_with_rowid=False,
)

# Which run was started with a caller's own key: asked for again, it is not started again.
run_keys = Table(
    "run_keys",
    metadata,
    Column("who", String(64), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("run", String(64), nullable=False),
    Column("at", Big, nullable=False),
    sqlite_with_rowid=False,
)

# Who may write in a stream, and how far it has come. `epoch` grows whenever it gets another owner:
# who was the owner before writes nothing any more. SQLite has one owner, `here`.
streams = Table(
    "streams",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("owner", String(64)),
    Column("epoch", Big, nullable=False),
    Column("head", Big, nullable=False),
    # Of its events, as they were written.
    Column("bytes", Big, nullable=False),
    Index("streams_by_owner", "owner"),
    sqlite_with_rowid=False,
)

# What a stream's events fold into, written in the transaction that writes them. What lists are
# narrowed by stands in columns of its own, the same on every database (store/view_rows.py).
views = Table(
    "views",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("state", String(32), nullable=False),
    Column("created_at", Big, nullable=False),
    Column("seq", Big, nullable=False),
    Column("body", Text, nullable=False),
    Column("updated_at", Big),
    Column("ended_at", Big),
    # Of runs only.
    Column("job", Text),
    Column("model", Text),
    Column("task", Text),
    Column("run", Text),
    Column("own_run", Text),
    Column("pinned", Integer),
    Column("for_person", Integer),
    Column("milliseconds", Big),
    Column("requests", Big),
    # Each between two line ends.
    Column("tags", Text),
    # What people know it by, folded, each on a line.
    Column("names", Text),
    Index("views_by_time", "kind", "created_at", "stream"),
    Index("views_by_state", "kind", "state"),
    Index(
        "views_by_job",
        "job",
        "state",
        "created_at",
        "stream",
        sqlite_where=text("job IS NOT NULL"),
    ),
)

# How far the callers of `live` have read, and the channels of notices.
positions = Table(
    "positions",
    metadata,
    Column("stream", String(64), primary_key=True),
    Column("seq", Big, nullable=False),
    Column("drained", Integer, nullable=False, default=0),
)

# What a channel of notices has still to tell: events of the stream `inbox`.
deliveries = Table(
    "deliveries",
    metadata,
    Column("channel", String(16), primary_key=True),
    Column("seq", Big, primary_key=True),
    Column("attempts", Integer, nullable=False),
    sqlite_with_rowid=False,
)

# Entries that were used, finished, by the digest of their canonical JSON. They never change.
entries = Table(
    "entries",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("body", Text, nullable=False),
    Column("created_at", Big, nullable=False),
)

# The last entry of each file that could be used. `file_digest` is of the file's bytes.
last_good = Table(
    "last_good",
    metadata,
    Column("source", Text, primary_key=True),
    Column("digest", String(64), nullable=False),
    Column("file_digest", String(64), nullable=False),
    Column("at", Big, nullable=False),
)

# What a person trusts. A file counts as long as it has this digest, an extension's folder as long
# as all files in it have; a folder of entries has none.
trust = Table(
    "trust",
    metadata,
    Column("path", Text, primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("digest", String(64)),
    Column("who", String(64), nullable=False),
    Column("at", Big, nullable=False),
)

# The folders of extensions that somebody turned off.
disabled_extensions = Table(
    "disabled_extensions",
    metadata,
    Column("path", Text, primary_key=True),
    Column("who", String(64), nullable=False),
    Column("at", Big, nullable=False),
    sqlite_with_rowid=False,
)

# Rules of one's own, in the order in which they hold.
rules = Table(
    "rules",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("place", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("who", String(64), nullable=False),
    Column("made_at", Big, nullable=False),
)

# Browsers that are signed in. `cookie` and `key` are hashes: nobody gets in with what lies here.
# `token` stands for the token that the sign-in came from, and lasts as long as that.
sign_ins = Table(
    "sign_ins",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("cookie", String(64), nullable=False),
    Column("key", String(64), nullable=False),
    Column("name", String(64), nullable=False),
    Column("token", String(64), nullable=False),
    Column("address", String(64), nullable=False),
    Column("device", String(100), nullable=False),
    Column("since", Big, nullable=False),
    Column("until", Big, nullable=False),
    Column("used_at", Big, nullable=False),
    sqlite_with_rowid=False,
)

# Settings that were changed while a server ran. They hold over the file, and under options.
settings = Table(
    "settings",
    metadata,
    Column("name", String(64), primary_key=True),
    # As JSON.
    Column("value", Text, nullable=False),
    Column("who", String(64), nullable=False),
    Column("at", Big, nullable=False),
    sqlite_with_rowid=False,
)

# The runtime's sessions that ours have had, by their number: what each was made with, as names and
# prints. The last one is in use.
bindings = Table(
    "bindings",
    metadata,
    Column("session", String(64), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("runtime", String(128), nullable=False),
    Column("model", Text, nullable=False),
    # As JSON.
    Column("parts", Text, nullable=False),
    Column("at", Big, nullable=False),
    sqlite_with_rowid=False,
)
