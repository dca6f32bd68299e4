"""Which database a command is about: the option, the variable, or the settings file says it."""

from pathlib import Path
from typing import Any

from airboss.cli.folder import data_folder
from airboss.cli.options import without_password
from airboss.cli.trouble import CommandRefused
from airboss.settings import Settings, load_settings


def shared_address(database: str | None, data: Path | None, settings: Path | None) -> str:
    """As a server that is started so would have it."""
    return shared_settings(database, data, settings)[1]


def shared_settings(
    database: str | None, data: Path | None, settings: Path | None, **more: Any
) -> tuple[Settings, str]:
    """And all of its settings."""
    if settings is not None and not settings.is_file():
        raise CommandRefused(f"The settings file {settings} does not exist.")
    folder = data_folder(data)
    options = {"database": without_password(database), "data": folder.path, **more}
    chosen = load_settings(settings or folder.settings, options)
    if chosen.database is None:
        raise CommandRefused(
            "Name the database: --database postgresql://USER@HOST/DATABASE, AIRBOSS_DATABASE, or "
            "`database` in the settings file."
        )
    return chosen, chosen.database
