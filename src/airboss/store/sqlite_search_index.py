"""How what was said is kept for being looked for: by triggers, in the transaction that writes or
deletes the events. Where SQLite has no FTS5 the texts are kept all the same, and read through."""

from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

# Of a longer text only the beginning is found.
LONGEST: Final = 65_536
_JSON: Final = "json_extract({event}.body, '$.{field}')"


def _text(event: str) -> str:
    """What is looked for in an event. The arguments of a tool are JSON inside of JSON: their line
    ends would stick to the words."""

    def field(name: str) -> str:
        return f"coalesce({_JSON.format(event=event, field=name)}, '')"

    plain = f"replace(replace({field('arguments')}, '\\n', char(10)), '\\\"', '\"')"
    return f"""substr(CASE {event}.kind
        WHEN 'tool.started' THEN {field("name")} || ' ' || {plain}
        WHEN 'tool.ended' THEN {field("text")} || ' ' || {field("error.message")}
        WHEN 'aside.answered' THEN {field("question")} || char(10) || {field("answer")}
        WHEN 'question.asked' THEN {field("question")}
        WHEN 'session.error' THEN {field("message")}
        WHEN 'run.accepted' THEN {field("user_input")}
        WHEN 'task.accepted' THEN {field("user_input")}
        WHEN 'task.checked' THEN {field("reason")}
        ELSE {field("text")} END, 1, {LONGEST})"""


_KINDS: Final = """(
    'prompt.accepted', 'prompt.changed', 'message.ended', 'reasoning.ended', 'tool.started',
    'tool.ended', 'aside.answered', 'question.asked', 'session.error', 'run.accepted',
    'task.accepted', 'task.decided', 'task.checked')"""
_KEEP: Final = "INSERT INTO said (stream, seq, at, kind, text)"
_KEPT_TRIGGERS: Final = (
    f"""CREATE TRIGGER IF NOT EXISTS events_said AFTER INSERT ON events
    WHEN new.kind IN {_KINDS} AND json_valid(new.body) BEGIN
        {_KEEP} SELECT * FROM (
            SELECT new.stream, new.seq, new.at, new.kind, {_text("new")} AS text
        ) WHERE trim(text) <> '';
    END""",  # noqa: S608 - words of ours
    f"""CREATE TRIGGER IF NOT EXISTS events_unsaid AFTER DELETE ON events
    WHEN old.kind IN {_KINDS} BEGIN
        DELETE FROM said WHERE stream = old.stream AND seq = old.seq;
    END""",  # noqa: S608 - words of ours
)
_WHAT_WAS_THERE: Final = f"""{_KEEP} SELECT * FROM (
    SELECT stream, seq, at, kind, {_text("events")} AS text FROM events
    WHERE kind IN {_KINDS} AND json_valid(body)
) WHERE trim(text) <> '' ORDER BY at, stream, seq"""  # noqa: S608 - words of ours
_INDEX: Final = """CREATE VIRTUAL TABLE IF NOT EXISTS said_words USING fts5(
    text, content='said', content_rowid='id', tokenize='unicode61 remove_diacritics 2')"""
_INDEX_TRIGGERS: Final = {
    "said_indexed": """CREATE TRIGGER said_indexed AFTER INSERT ON said BEGIN
        INSERT INTO said_words (rowid, text) VALUES (new.id, new.text);
    END""",
    "said_unindexed": """CREATE TRIGGER said_unindexed AFTER DELETE ON said BEGIN
        INSERT INTO said_words (said_words, rowid, text) VALUES ('delete', old.id, old.text);
    END""",
}


def keep_texts(connection: Connection) -> None:
    """From now on, and of all events that there are."""
    for trigger in _KEPT_TRIGGERS:
        connection.exec_driver_sql(trigger)
    connection.exec_driver_sql(_WHAT_WAS_THERE)


def has_fts5(connection: Connection) -> bool:
    try:
        connection.exec_driver_sql("CREATE VIRTUAL TABLE temp.probe USING fts5(text)")
    except OperationalError:
        return False
    connection.exec_driver_sql("DROP TABLE temp.probe")
    return True


def keep_index(connection: Connection) -> None:
    """As this machine's SQLite can: a folder may come from one that could, or could not."""
    is_kept = is_indexed(connection)
    if is_kept == has_fts5(connection):
        return
    if is_kept:
        for name in _INDEX_TRIGGERS:
            connection.exec_driver_sql(f"DROP TRIGGER {name}")
        return
    connection.exec_driver_sql(_INDEX)
    connection.exec_driver_sql("INSERT INTO said_words (said_words) VALUES ('rebuild')")
    for trigger in _INDEX_TRIGGERS.values():
        connection.exec_driver_sql(trigger)


def is_indexed(connection: Connection) -> bool:
    found = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name = 'said_indexed'"
    return bool(connection.exec_driver_sql(found).scalar_one())
