"""What DBOS, asyncio and the Copilot SDK keep private is used in one module each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.private_use import private_use

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src/airboss"
# Where objects of the packages are at hand; no others may import them.
NEAR = ("engine", "runtime")
# The list of what is used is in each, with its reason.
ALLOWED = {
    "engine/dbos_internals.py": ("asyncio.", "dbos.", "."),
    "runtime/sdk_internals.py": ("copilot.", "."),
}
# DBOS's tables; those that have one plain word as a name may be somebody else's as well.
TABLES = (
    "application_versions",
    "dbos_migrations",
    "operation_outputs",
    "workflow_events",
    "workflow_events_history",
    "workflow_input",
    "workflow_output",
    "workflow_schedules",
    "workflow_status",
    "workflow_uuid",
)


def used_by(path: Path) -> Iterator[str]:
    is_far = path.relative_to(SOURCES).parts[0] not in NEAR
    return private_use(path.read_text("utf-8"), TABLES, is_far=is_far)


def test_only_two_modules_use_what_others_keep_private() -> None:
    used = {
        path.relative_to(SOURCES).as_posix(): set(used_by(path)) for path in SOURCES.rglob("*.py")
    }
    found = {path: names for path, names in used.items() if names}
    assert found.keys() == ALLOWED.keys(), {
        path: sorted(names) for path, names in found.items() if path not in ALLOWED
    }
    for path, names in found.items():
        others = {name for name in names if "." in name and not name.startswith(ALLOWED[path])}
        assert not others, path


def test_no_other_module_asks_the_type_checker_to_look_away() -> None:
    silent = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if "reportPrivate" in path.read_text("utf-8")
    }
    assert silent <= ALLOWED.keys()


def test_the_list_of_tables_is_the_one_that_dbos_has() -> None:
    from dbos._schemas.system_database import SystemSchema

    known = {table.name for table in SystemSchema.metadata_obj.tables.values()}
    plain = {name for name in known if "_" not in name}
    assert known - plain == set(TABLES) - {"dbos_migrations", "workflow_uuid"}


@pytest.mark.parametrize(
    "code",
    [
        "import dbos._core",
        "import dbos._core as core",
        "from dbos._core import WorkflowHandleAsyncPolling",
        "from dbos import _core",
        "if TYPE_CHECKING:\n    from copilot._jsonrpc import JsonRpcClient",
        "def late():\n    from copilot import _jsonrpc",
        "import asyncio\nasyncio._set_running_loop(None)",
        "from asyncio import _set_running_loop",
        "client._client",
        "client.rpc._client.request()",
        "self._process.client._sessions.clear()",
        "calls()[0]._client = None",
        "del client._client",
        "getattr(client, '_client')",
        "getattr(client, '_client', None)",
        "hasattr(client, '_client')",
        "builtins.getattr(client, '_' 'client')",
        "getattr(client, '_' + 'client')",
        "setattr(client, f'_{name}', 1)",
        "operator.attrgetter('rpc._client')(client)",
        "vars(client)['_client']",
        "client.__dict__['_client']",
        "import_module('dbos._core')",
        "from copilot import CopilotClient\nclass Mine(CopilotClient): pass",
        "import copilot\nclass Mine(copilot.session.CopilotSession): pass",
        "rows = 'SELECT 1 FROM workflow_status'",
        "rows = f'DELETE FROM operation_outputs WHERE {condition}'",
    ],
)
def test_it_is_found_however_it_is_written(code: str) -> None:
    assert list(private_use(code, TABLES))


def test_far_from_the_packages_a_module_may_use_what_its_own_classes_define() -> None:
    code = "class Mine:\n    def _read(self): ...\n\ndef read(mine): return mine.{}"
    assert not list(private_use(code.format("_read"), is_far=True))
    assert list(private_use(code.format("_read")))
    assert list(private_use(code.format("_client"), is_far=True))


@pytest.mark.parametrize(
    "code",
    [
        "from dbos import DBOS, error",
        "from __future__ import annotations",
        "self._client = cls._client",
        "client.__class__",
        "import asyncio\nclass Mine(asyncio.Protocol): pass",
        "getattr(error, 'orig', None)",
        "from copilot import Tool\nTool(name='_x')",
        "words = 'a workflow of its own'",
    ],
)
def test_what_is_public_or_ones_own_is_not(code: str) -> None:
    assert not list(private_use(code, TABLES))
