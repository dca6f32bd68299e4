"""`airboss export`: all that was said, in a file of one's own."""

import codecs
import contextlib
import os
import re
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from airboss.cli.client import Client
from airboss.cli.screen import aside, out, visible, visible_line
from airboss.cli.trouble import CommandRefused, Exit, Trouble

_NAME = re.compile(r'filename="([A-Za-z0-9._-]+)"')


def export(client: Client, name: str, form: str, file: Path | None, *, force: bool) -> Exit:
    """Without a file, one in this folder with the name that the server gives it."""
    what = "runs" if name.startswith("run_") else "sessions"
    place = f"/api/v1/{what}/{quote(name, safe='')}/export"
    with client.download(place, format=form) as answer:
        pieces = answer.iter_bytes()
        if file == Path("-"):
            _print(pieces)
            return Exit.DONE
        given = _NAME.search(answer.headers.get("content-disposition", ""))
        file = file or Path(given.group(1) if given else f"export.{form}")
        with _opened(file, force=force) as opened:
            for piece in pieces:
                opened.write(piece)
    aside().line(f"Exported to {visible_line(str(file))}.")
    return Exit.DONE


def _print(pieces: Iterable[bytes]) -> None:
    """As it is where a program reads it; on a terminal nothing of it drives that. JSON leaves
    characters as they are that some terminals obey."""
    pen = out()
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for piece in pieces:
        if pen.is_terminal:
            pen.write(visible(decoder.decode(piece)))
        else:
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


@contextlib.contextmanager
def _opened(file: Path, *, force: bool) -> Generator[BinaryIO]:
    """Whole or not at all: beside its place first."""
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if file.exists() and not force:
            raise CommandRefused(
                f"{visible_line(str(file))} already exists. Pass --force to overwrite it."
            )
        with part.open("xb") as opened:
            yield opened
        part.replace(file)
    except OSError as error:
        said = visible_line(str(file))
        raise Trouble(f"Could not write {said}: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
