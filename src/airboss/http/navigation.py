"""Addresses of the API that a browser opens like a page. They are refused: a link must not act."""

import re
from collections.abc import Mapping
from html import escape

from starlette.responses import HTMLResponse, Response

from airboss.http import problems
from airboss.http.bounds import Headers
from airboss.http.credentials import Credentials
from airboss.http.refusals import RefusedAnswer

NOT_A_PAGE = "not_a_page"

_STOP = "/api/stop"
_HOW_TO_STOP = (
    "Opening this address does not stop the server. To stop it, open Airboss and click "
    "“Stop Server” in Settings, or run `airboss stop`. "
    "In a script, send the token: `Authorization: Bearer …`."
)
_GENERALLY = (
    "This address is part of the API and does nothing when you open it in a browser. "
    "Use the Airboss pages instead. In a script, send the token: `Authorization: Bearer …`."
)
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not a page · Airboss</title>
<h1>This is not a page</h1>
<p>{detail}</p>
<p><a href="/{page}">Open Airboss</a></p>
</html>
"""


def is_api(path: str) -> bool:
    return path == "/api" or path.startswith("/api/")


def check_is_no_navigation(path: str, headers: Headers, shown: Credentials) -> None:
    """Browsers say what they ask for: a page's own `fetch` is for nothing that they show
    themselves. What says nothing of the kind is a script, or a browser so old that it has only
    its cookie, which is not enough."""
    modes = headers.get(b"sec-fetch-mode", ())
    shown_as = headers.get(b"sec-fetch-dest", ())
    sites = headers.get(b"sec-fetch-site", ())
    if (
        b"navigate" in modes
        or any(kind != b"empty" for kind in shown_as)
        or (b"none" in sites and shown.is_cookie_at_most)
    ):
        raise RefusedAnswer(403, NOT_A_PAGE, _HOW_TO_STOP if path == _STOP else _GENERALLY)


def in_words(
    path: str, headers: Headers, refused: RefusedAnswer, said: Mapping[str, str]
) -> Response:
    """For whoever reads it: a person gets a page, without script and style."""
    if any(b"text/html" in kinds for kinds in headers.get(b"accept", ())):
        page = "settings.html#about" if path == _STOP else ""
        detail = re.sub("`(.+?)`", r"<code>\1</code>", escape(refused.detail, quote=False))
        words = _PAGE.format(detail=detail, page=page)
        return HTMLResponse(words, refused.status, {"Cache-Control": "no-store", **said})
    return problems.answer(path, refused.status, refused.code, refused.detail, said)
