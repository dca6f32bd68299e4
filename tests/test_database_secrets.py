"""What lets one in at the database is seen by nobody, however it is written."""

from pathlib import Path

from airboss.app_parts import runtime_plan
from airboss.machine_settings import passwords_in
from airboss.settings import Settings
from airboss.store.folder import DataFolder


def test_a_password_is_known_as_it_is_and_as_it_stands_in_the_address() -> None:
    assert passwords_in("postgresql://me:a%2Fb%40c@db/airboss") == ["a/b@c", "a%2Fb%40c"]
    assert passwords_in("postgresql://me@db/airboss?password=a%20b") == ["a b", "a%20b"]
    assert passwords_in("postgresql://me:plain@db/airboss") == ["plain"]
    assert passwords_in("postgresql://me:word@[::1") == ["word"], "also where it is no address"
    assert passwords_in(None) == []


def test_agents_have_a_password_file_only_where_it_is_not_the_servers_own(tmp_path: Path) -> None:
    def hidden(database: str | None) -> tuple[str, ...]:
        settings = Settings(data=tmp_path, database=database)
        return runtime_plan(settings, DataFolder(tmp_path), {}, ()).secret_names

    assert "PGPASSFILE" in hidden("postgresql://me@db/airboss")
    assert "PGPASSFILE" not in hidden(None)
