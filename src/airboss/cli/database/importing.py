"""`airboss database import`: a data folder into an empty database, with its progress."""

import time
from typing import Final

from airboss.cli.screen import Spinner, aside, out, print_json
from airboss.cli.trouble import Exit, Trouble
from airboss.errors import StoreUnavailable
from airboss.folder_import import Imported, import_folder
from airboss.settings import Settings
from airboss.store.folder import DataFolder

_SAY_SECONDS: Final = 10.0


class ImportProgress:
    """How far it is: on a terminal on one line, else now and then."""

    def __init__(self) -> None:
        self._pen = aside()
        self._spinner = Spinner(self._pen)
        self._last = time.monotonic()

    def __call__(self, table: str, rows: int) -> None:
        said = f"{table}: {rows:,} rows"
        self._spinner.show(said)
        if not self._pen.is_terminal and time.monotonic() - self._last > _SAY_SECONDS:
            self._last = time.monotonic()
            self._pen.line(said)

    def end(self) -> None:
        self._spinner.hide()


def import_and_tell(folder: DataFolder, url: str, settings: Settings, *, is_json: bool) -> Exit:
    told = ImportProgress()
    try:
        done = import_folder(folder, url, settings, told)
    except StoreUnavailable as error:
        raise Trouble(str(error)) from error
    finally:
        told.end()
    if is_json:
        print_json({"rows": done.rows, "streams": done.streams, "open_runs": done.open_runs})
    else:
        _say(done, folder)
    return Exit.DONE


def _say(done: Imported, folder: DataFolder) -> None:
    pen = out()
    for table, rows in done.rows.items():
        if rows:
            pen.line(f"{table}\t{rows}")
    pen.line(
        f"{done.streams} streams were imported and counted; {done.open_runs} open runs continue "
        "when a server starts."
    )
    pen.line(
        f"Start it with the same data folder: airboss serve --data {folder.path} --database URL. "
        "Its own database is not used any more; keep it as a backup."
    )
