"""The built front end and the documentation: what lies in the package's `static` folder, and
nothing else. Builds put compressed copies beside the files, sent to those who can read them."""

import os
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.staticfiles import NotModifiedResponse, StaticFiles

import airboss
from airboss.http.encodings import PLAIN, SUFFIXES, preferred

PAGES = Path(airboss.__file__).parent / "static"

_FOR_EVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
# Not asked of the system: some call a script plain text, and under nosniff it would not run.
_KINDS = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/vnd.microsoft.icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain",
}
_CODINGS = {suffix: name for name, suffix in SUFFIXES.items()}
_BUILD = re.compile(r'<meta name="airboss-build" content="(\w+)"')
_NOT_BUILT = (
    "The pages of Airboss are not built yet. The API works.\n"
    "In a clone of the project, run: make web\n"
)
_NO_PAGE = "Nothing was found at this address. The first page is /, the documentation is /docs/."
_DOCS = "/docs"
_DOCS_NOT_BUILT = (
    "The documentation of Airboss is not built yet. The pages and the API work.\n"
    "In a clone of the project, run: make docs\n"
)


class Pages(StaticFiles):
    """Files by their name; `/`, `/docs/` and the folders below it are their `index.html`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, check_dir=False)
        self._index = folder / "index.html"
        self._docs = folder / "docs"
        # The folder may come later, when the pages are built while we serve.
        self.config_checked = True

    async def get_response(self, path: str, scope: MutableMapping[str, Any]) -> Response:
        if f"{scope['path']}/".startswith("/api/"):
            raise HTTPException(404)
        try:
            response = await self._best(_file_of(scope["path"], path), scope)
        except HTTPException as error:
            if error.status_code == 405:
                raise HTTPException(405) from error
            return await self._instead(scope["path"])
        # The builder puts a hash of the content into the names below `assets`.
        hashed = scope["path"].startswith("/assets/")
        response.headers["Cache-Control"] = _FOR_EVER if hashed else _ASK_AGAIN
        return response

    async def _best(self, name: str, scope: MutableMapping[str, Any]) -> Response:
        """In the encoding that is wanted most of those that were built."""
        if Path(name).suffix in _CODINGS:  # a copy is no file of its own
            raise HTTPException(404)
        for coding in preferred(Headers(scope=scope).get("accept-encoding")):
            if coding == PLAIN:
                break
            try:
                return await super().get_response(name + SUFFIXES[coding], scope)
            except HTTPException as error:
                if error.status_code == 405:
                    raise
        return await super().get_response(name, scope)

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: MutableMapping[str, Any],
        status_code: int = 200,
    ) -> Response:
        file = Path(full_path)
        coding = _CODINGS.get(file.suffix)
        named = file.stem if coding else file.name
        kind = _KINDS.get(Path(named).suffix, "application/octet-stream")
        response = FileResponse(file, status_code, media_type=kind, stat_result=stat_result)
        response.headers["Vary"] = "Accept-Encoding"
        if coding:
            response.headers["Content-Encoding"] = coding
            # Other bytes need another tag, also where they happen to be as many.
            response.headers["ETag"] = f'{response.headers["ETag"][:-1]}-{coding}"'
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response

    async def _instead(self, address: str) -> Response:
        """Where no file is. One that may not be read is, to the outside, not there."""
        fresh = {"Cache-Control": "no-store"}
        if address == _DOCS:  # its pages' links are relative to the folder
            return RedirectResponse(f"{_DOCS}/", 308, fresh)
        if address.startswith(f"{_DOCS}/"):
            try:
                page = await anyio.Path(self._docs / "404.html").read_bytes()
            except OSError:
                return PlainTextResponse(_DOCS_NOT_BUILT, 503, fresh)
            return HTMLResponse(page, 404, fresh)
        if not await anyio.to_thread.run_sync(self._index.is_file):
            return PlainTextResponse(_NOT_BUILT, 503, fresh)
        raise HTTPException(404, _NO_PAGE)


def _file_of(address: str, path: str) -> str:
    if address == "/":
        return "index.html"
    is_folder = address.startswith(f"{_DOCS}/") and address.endswith("/")
    return f"{path}/index.html" if is_folder else path


def build_of(folder: Path) -> str | None:
    """Which build the pages in a folder are of; none where there are no pages."""
    try:
        said = _BUILD.search((folder / "index.html").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return said[1] if said else None


def install(app: FastAPI, folder: Path = PAGES) -> None:
    """Serves the pages wherever no route is: a mount would also take the routes' wrong methods."""
    app.router.default = Pages(folder)
