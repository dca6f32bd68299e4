"""A real PostgreSQL for tests: one server for each process of tests, a database for each test.

It runs as an ordinary user, and commits reach the disk as they do for people. A test may stop and
start it: tests of one process come one after the other.
"""

import functools
import os
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import psycopg
import pytest
from filelock import FileLock

OLDEST: Final = 15
MISSING: Final = f"PostgreSQL {OLDEST} or newer is not here. Run: make postgres"
USER: Final = "airboss"

Mode = Literal["smart", "fast", "immediate"]

_START_SECONDS: Final = 60
# Small: a run of tests has several of these at once.
_OPTIONS: Final = {
    "shared_buffers": "32MB",
    "max_connections": "100",
    "max_worker_processes": "2",
    "autovacuum": "off",
    "max_wal_size": "256MB",
    "log_min_messages": "fatal",
    "lc_messages": "C",
}


def _folders() -> list[Path]:
    """Newest first; scripts/postgres.sh looks in the same places."""
    given = os.environ.get("POSTGRES_BIN")
    on_path = shutil.which("postgres")
    installed = [
        *Path("/usr/lib/postgresql").glob("*/bin"),
        *Path("/usr").glob("pgsql-*/bin"),
        *Path("/opt/homebrew/opt").glob("postgresql@*/bin"),
    ]
    found = [Path(given)] if given else []
    found += sorted(installed, key=_major, reverse=True)
    return [*found, Path(on_path).resolve().parent] if on_path else found


def _major(folder: Path) -> int:
    """0 where the programs are not all there."""
    if not all((folder / name).exists() for name in ("initdb", "pg_ctl", "postgres")):
        return 0
    said = subprocess.run(
        [folder / "postgres", "--version"], capture_output=True, text=True, check=False
    )
    number = re.search(r"\d+", said.stdout)
    return int(number[0]) if number else 0


@functools.cache
def programs() -> Path | None:
    """The folder with `initdb` and `pg_ctl`, where there is one that is new enough."""
    return next((folder for folder in _folders() if _major(folder) >= OLDEST), None)


def _user() -> str | None:
    """Whom the server runs as: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return None
    known = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _run(*words: object, cwd: Path) -> None:
    done = subprocess.run(
        [str(word) for word in words],
        **_as_user(),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=_START_SECONDS + 10,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def _as_user() -> dict[str, Any]:
    user = _user()
    return {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": ()} if user else {}


@dataclass
class Postgres:
    """A server with its own folder, on loopback and on a socket in that folder."""

    bin: Path
    folder: Path
    password: str
    port: int = 0
    _databases: int = 0
    _templates: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        options = {
            **_OPTIONS,
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
        }
        said = " ".join(f"-c {name}={value}" for name, value in options.items())
        log = self.folder / "log"
        pg_ctl = (self.bin / "pg_ctl", "-D", self.data, "-l", log, "-w", "-t", _START_SECONDS)
        _run(*pg_ctl, "-o", said, "start", cwd=self.folder)

    def stop(self, mode: Mode = "fast") -> None:
        """`fast` ends all connections in order; `immediate` is a crash, which the start mends."""
        if self.is_running:
            _run(self.bin / "pg_ctl", "-D", self.data, "-w", "-m", mode, "stop", cwd=self.folder)

    def restart(self, mode: Mode = "fast", *, away_seconds: float = 0) -> None:
        self.stop(mode)
        time.sleep(away_seconds)
        self.start()

    @contextmanager
    def away(self, mode: Mode = "fast") -> Generator[None]:
        """Not there for as long as this lasts."""
        self.stop(mode)
        try:
            yield
        finally:
            self.start()

    @property
    def pid(self) -> int | None:
        try:
            return int((self.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return None

    @property
    def is_running(self) -> bool:
        return self.pid is not None

    def url(self, database: str = "postgres", *, port: int | None = None) -> str:
        """By loopback, with its password in it; by way of another port where one stands between."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{port or self.port}/{database}"

    def socket_url(self, database: str = "postgres") -> str:
        """By the socket, where this user needs no password."""
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}"

    def new_database(self, template: str | None = None) -> str:
        """The name of one that is empty, or a copy of a template."""
        self._databases += 1
        name = f"test_{self._databases}"
        copied = f' TEMPLATE "{template}"' if template else ""
        self.execute(f'CREATE DATABASE "{name}"{copied}')
        return name

    def template(self, name: str, prepare: Callable[[str], None]) -> str:
        """A database that is made once, by `prepare` on its URL, and copied from then on."""
        if name not in self._templates:
            made = self.new_database()
            prepare(self.url(made))
            self._templates[name] = made
        return self._templates[name]

    def drop(self, name: str) -> None:
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def answers(self, asked: str, *values: object) -> list[Any]:
        with psycopg.connect(self.socket_url()) as connection:
            return connection.execute(asked.encode(), values).fetchall()

    def execute(self, statement: str, database: str = "postgres") -> list[Any]:
        """As the owner of the server; what it answers, if anything."""
        with psycopg.connect(self.socket_url(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []


def _make(folder: Path, bin_folder: Path, password: str) -> None:
    """A fresh cluster, which takes about two seconds."""
    secret = folder / "password"
    secret.write_text(password, encoding="utf-8")
    _give(secret)
    try:
        _run(
            *(bin_folder / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", secret),
            *("--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C"),
            cwd=folder,
        )
    finally:
        secret.unlink()


def _give(path: Path) -> None:
    if user := _user():
        known = pwd.getpwnam(user)
        os.chown(path, known.pw_uid, known.pw_gid)


def _new_folder(parent: Path | None) -> Path:
    """The server's user has to come by, and the name of a socket has at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=parent))
    _give(folder)
    return folder


def _where() -> Path | None:
    """In memory with all else, unless its user may not go there."""
    given = Path(tempfile.gettempdir())
    if _user() is None or all(place.stat().st_mode & 0o001 for place in (given, *given.parents)):
        return given if len(str(given)) < 60 else Path("/tmp")  # noqa: S108
    return Path("/tmp")  # noqa: S108


def _copied(kept: Path, bin_folder: Path, password: str, folder: Path) -> None:
    """The cluster is made once for a run of tests; its processes have a copy each."""
    with FileLock(kept.with_name("postgres.lock")):
        if not kept.exists():
            made = _new_folder(_where())
            _make(made, bin_folder, password)
            shutil.move(made / "data", kept)
            made.rmdir()
    shutil.copytree(kept, folder / "data", copy_function=shutil.copy)
    for place, names, files in os.walk(folder / "data"):
        for path in (Path(place), *(Path(place) / name for name in (*names, *files))):
            _give(path)
    (folder / "data").chmod(0o700)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running_postgres(shared: Path | None = None) -> Generator[Postgres]:
    """From its start to its end; `shared` is a folder for what a run of tests makes once."""
    found = programs()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    folder = _new_folder(_where())
    try:
        if shared is None:
            server = Postgres(found, folder, secrets.token_hex(8), _free_port())
            _make(folder, found, server.password)
        else:
            # The copies have one password, which is no secret: nobody but us comes to loopback.
            server = Postgres(found, folder, "airboss", _free_port())
            _copied(shared / "postgres", found, server.password, folder)
        server.start()
        try:
            yield server
        finally:
            _end(server)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end(server: Postgres) -> None:
    """Nothing of it is kept: it need not end in order."""
    if server.pid is not None:
        try:
            server.stop("immediate")
        except (AssertionError, subprocess.TimeoutExpired):
            os.kill(server.pid, signal.SIGKILL)
