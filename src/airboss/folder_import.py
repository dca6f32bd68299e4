"""Brings one server's data folder into an empty database that several machines share.

The folder stays as it is. A copy of it is brought up to date, as a server does that starts, and
sent in one transaction: an import that was cut off has left nothing, and begins anew.
"""

import asyncio
import contextlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from airboss.engine.engine_import import SPARED, import_engine
from airboss.engine.homes import WALK
from airboss.engine.local_file import FILE as ENGINE_FILE
from airboss.errors import AirbossError, NotFound, StoreUnavailable
from airboss.log.appending import SHARED
from airboss.log.journal import Journal
from airboss.log.log import EventLog
from airboss.log.parts import parts_of_rows
from airboss.log.writer import now_ms
from airboss.machines.member import new_worker_id
from airboss.machines.shared_roots import SharedRoots
from airboss.model.runs import OPEN_RUNS, LoneRunView, RunView
from airboss.settings import Settings
from airboss.shared_database import ENGINE_SCHEMA, SCHEMA, migrate, moves_to_make
from airboss.store.dialect import SHARED_EPOCH
from airboss.store.folder import DataFolder
from airboss.store.images import kind_of
from airboss.store.machine_tables import images
from airboss.store.postgres_import import ImportTarget, Progress, importing
from airboss.store.said_texts import words_of
from airboss.store.sqlite_database import SqliteDatabase
from airboss.store.sqlite_source import SqliteSource, copy_files, files_of
from airboss.store.tables import Block, escaped, metadata

# What may be in an empty database: how far each schema is.
_SPARED: Final = {SCHEMA: ("migrations",), ENGINE_SCHEMA: SPARED}
_COPY: Final = "airboss-import-"
_BUG: Final = "This is a bug in Airboss. Please report it. Nothing was imported."
_OPEN_BLOCKS: Final = (
    "SELECT stream, block FROM open_starts JOIN events USING (stream, seq) WHERE block IS NOT NULL"
)
_DELTAS: Final = """
SELECT seq, at, body, block FROM events WHERE stream = ? AND role = 'delta' ORDER BY seq
"""
_PARTS: Final = ("stream", "seq", "first", "at", "kind", "block", "text", "marks")
_STREAMS: Final = ("stream", "owner", "epoch", "head", "bytes")
_VIEWS: Final = "SELECT stream, kind, state, body FROM views"


@dataclass(frozen=True)
class Imported:
    """How many rows each table was given, and what goes on."""

    rows: Mapping[str, int]
    streams: int
    open_runs: int


def import_folder(folder: DataFolder, url: str, settings: Settings, progress: Progress) -> Imported:
    """Blocks. Refused while a server has the folder, and where the database is not empty."""
    if not folder.database.is_file():
        raise StoreUnavailable(
            f"The folder {folder.path} has no database of Airboss. Name the data folder of the "
            "server that you want to move: --data DIR"
        )
    with folder.kept_still(), _place_of_copy() as made:
        moves_to_make(url)
        migrate(url)
        with importing(url, progress) as target:
            target.take(_SPARED)
        copy = _copied(folder, made)
        asyncio.run(_bring_up_to_date(copy))
        with SqliteSource.opened(copy.database) as source, importing(url, progress) as target:
            target.take(_SPARED)
            whole = _Import(source, target, folder, settings)
            return whole.run(copy.path / ENGINE_FILE)


@contextlib.contextmanager
def _place_of_copy() -> Generator[Path]:
    """One that was left by an import that was killed is deleted: nobody holds its lock."""
    for left in Path(tempfile.gettempdir()).glob(f"{_COPY}*"):
        with contextlib.suppress(OSError, AirbossError):
            if left.lstat().st_uid == os.geteuid() and not left.is_symlink():
                with DataFolder(left).kept_still():
                    shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_COPY) as made, DataFolder(Path(made)).kept_still():
        yield Path(made)


def _copied(folder: DataFolder, place: Path) -> DataFolder:
    copy_files([*files_of(folder.database), *files_of(folder.path / ENGINE_FILE)], place)
    copy = DataFolder(place)
    if folder.journal.is_dir():
        shutil.copytree(folder.journal, copy.journal)
    return copy


async def _bring_up_to_date(copy: DataFolder) -> None:
    """Today's tables, and the deltas that were shown and not written when the server was killed."""
    database = SqliteDatabase(copy.database)
    await database.open()
    try:
        async with EventLog(database, Journal(copy.journal)).running():
            pass
    finally:
        await database.close()


@dataclass(frozen=True)
class _Import:
    source: SqliteSource
    target: ImportTarget
    folder: DataFolder
    settings: Settings

    @cached_property
    def place(self) -> str:
        """The data folder's id: its machine goes on with what only it has."""
        return self.folder.owner_id()

    def run(self, engine: Path) -> Imported:
        known = self.source.tables()
        for table in [name for name in metadata.tables if name in known]:
            fill = {"events": self._events, "streams": self._streams, "said": self._said}
            fill.get(table, self._as_it_is)(table)
        self.target.fill(SCHEMA, "images", [one.name for one in images.columns], self._images())
        open_runs = self._work()
        import_engine(engine, self.target)
        self.target.weigh()
        self._verify()
        streams = self.target.counts[f"{SCHEMA}.streams"]
        return Imported(self.target.counts, streams, open_runs)

    def _as_it_is(self, table: str) -> None:
        columns = self._columns(table)
        self._fill(table, columns, self.source.rows(table, columns))

    def _columns(self, table: str) -> list[str]:
        columns, there = self.source.columns(table), self.target.columns(SCHEMA, table)
        if missing := set(columns) - set(there):
            raise StoreUnavailable(f"{table} has no place for {', '.join(missing)}. {_BUG}")
        return columns

    def _fill(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """What belongs to one machine is this folder's there."""
        if "place" not in columns and "place" in self.target.columns(SCHEMA, table):
            columns, rows = [*columns, "place"], ((*row, self.place) for row in rows)
        self.target.fill(SCHEMA, table, columns, rows)

    def _events(self, table: str) -> None:
        """Deltas of open blocks are kept apart there."""
        columns = self._columns(table)
        opened = {(stream, block) for stream, block in self.source.asked(_OPEN_BLOCKS)}
        places = [columns.index(name) for name in ("stream", "role", "block")]
        escape = [
            number
            for number, name in enumerate(columns)
            if metadata.tables[table].columns[name].type is Block
        ]
        apart = 0

        def rows() -> Iterator[Sequence[Any]]:
            nonlocal apart
            for row in self.source.rows(table, columns):
                stream, role, block = (row[place] for place in places)
                if role == "delta" and (stream, block) in opened:
                    apart += 1
                    continue
                changed = list(row)
                for number in escape:
                    changed[number] = row[number] and escaped(row[number])
                yield changed

        self._fill(table, columns, rows())
        self.target.fill(SCHEMA, "parts", _PARTS, self._parts(opened))
        if self.target.counts[f"{SCHEMA}.{table}"] + apart != self.source.count(table):
            raise StoreUnavailable(f"Not all events were sent. {_BUG}")

    def _parts(self, opened: set[tuple[str, str]]) -> Iterator[Sequence[Any]]:
        for stream in sorted({stream for stream, _ in opened}):
            deltas = [
                (seq, at, body)
                for seq, at, body, block in self.source.asked(_DELTAS, (stream,))
                if (stream, block) in opened
            ]
            for part in parts_of_rows(stream, deltas):
                yield (*part[:5], escaped(part[5]), *part[6:])

    def _streams(self, table: str) -> None:
        """Nobody owns them: whoever is first goes on with them."""
        rows = (
            (stream, None, SHARED_EPOCH if stream in SHARED else max(epoch, 1), head, size)
            for stream, _, epoch, head, size in self.source.rows(table, _STREAMS)
        )
        self._fill(table, _STREAMS, rows)

    def _said(self, table: str) -> None:
        columns = self._columns(table)
        text = columns.index("text")
        rows = (
            (*row, " ".join(f"'{word}'" for word in words_of(row[text])))
            for row in self.source.rows(table, columns)
        )
        self._fill(table, [*columns, "words"], rows)

    def _images(self) -> Iterator[Sequence[Any]]:
        """Of sessions that there are; whatever else lies there is nobody's."""
        streams = {row[0] for row in self.source.rows("streams", ("stream",))}
        for file in sorted(self.folder.images.glob("*/*")):
            session = file.parent.name
            with contextlib.suppress(NotFound, OSError):
                kind = kind_of(session, file.name)
                if session in streams and file.is_file():
                    at = round(file.stat().st_mtime * 1000)
                    yield session, file.name, kind, file.read_bytes(), at

    def _work(self) -> int:
        """Open runs, and the server that had them: it was stopped."""
        me, name = new_worker_id(), self.settings.name or platform.node()
        columns = ("id", "place", "name", "host", "pid", "version", "state", "seen_at")
        row = (me, self.place, name, platform.node(), 0, version("airboss"), "left", now_ms())
        self.target.fill(SCHEMA, "workers", columns, [row])
        roots = SharedRoots.marked(self.settings.shared_roots)
        kinds = (RunView.stream_kind, LoneRunView.stream_kind)
        rows = [
            (
                *(run, run.rpartition("_")[2], _labels_of(body), roots.root_of(_cwd_of(body))),
                *(self.place, WALK, me),
            )
            for run, kind, state, body in self.source.asked(_VIEWS)
            if kind in kinds and state in OPEN_RUNS
        ]
        columns = ("run", "key", "labels", "root", "place", "walk", "held_for")
        self.target.fill(SCHEMA, "work", columns, rows)
        return len(rows)

    def _verify(self) -> None:
        self.target.verify()
        heads = {row[0]: row[1] for row in self.source.rows("streams", ("stream", "head"))}
        if heads != self.target.heads():
            raise StoreUnavailable(f"The streams did not come to the same numbers. {_BUG}")
        late = [name for name, seq in self.target.furthest().items() if seq > heads.get(name, 0)]
        if late:
            raise StoreUnavailable(f"{late[0]} has events behind its end. {_BUG}")


def _labels_of(body: str) -> str:
    return json.dumps(sorted(json.loads(body).get("labels") or ()))


def _cwd_of(body: str) -> str:
    cwd = json.loads(body).get("cwd")
    return cwd if isinstance(cwd, str) else ""
