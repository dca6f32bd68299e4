"""A browser's way in: a one-time code for a cookie, and a fresh address for the next browser."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from airboss.http import problems
from airboss.http.refusals import Gate, Refused
from airboss.service.access import COOKIE_SECONDS, Access
from airboss.store.tokens import LOCAL

router = APIRouter(prefix="/api/v1", tags=["access"])


class SignIn(BaseModel):
    """The code of a printed address, from its fragment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(min_length=1, max_length=200)


class Link(BaseModel):
    """An address that gets in once, within ten minutes."""

    url: str


def one_time_address(access: Access, origin: str, name: str) -> str:
    """The fragment never leaves the browser: no log and no proxy sees the code."""
    return f"{origin}/" if name == LOCAL else f"{origin}/#code={access.new_code(name)}"


async def _access(request: Request) -> Access:
    return request.app.state.services.access


async def _origin(request: Request) -> str:
    return request.scope["airboss.origin"]


UseAccess = Annotated[Access, Depends(_access)]
UseOrigin = Annotated[str, Depends(_origin)]


@router.post("/signin", status_code=204)
async def sign_in(
    asked: SignIn, request: Request, access: UseAccess, origin: UseOrigin
) -> Response:
    """Exchanges a one-time code for a cookie."""
    # Under --no-token everybody is in already, with an old code too.
    if request.scope.get("airboss.who") == LOCAL:
        return Response(status_code=204)
    cookie = access.exchange(asked.code)
    if cookie is None:
        return await _wrong_code(request)
    return _with_cookie(access, cookie, origin, COOKIE_SECONDS)


@router.post("/signout", status_code=204)
async def sign_out(access: UseAccess, origin: UseOrigin) -> Response:
    """Takes the cookie away."""
    return _with_cookie(access, "", origin, 0)


@router.post("/links", status_code=201)
async def make_link(request: Request, access: UseAccess, origin: UseOrigin) -> Link:
    """A fresh one-time address, for the caller's own name."""
    return Link(url=one_time_address(access, origin, request.scope["airboss.who"]))


async def _wrong_code(request: Request) -> Response:
    gate: Gate = request.scope["airboss.gate"]
    wrong = Refused(
        401,
        "wrong_code",
        "This code was used already, is older than ten minutes, or is another server's. "
        "Ask for a fresh address.",
        guessed=True,
    )
    refused = await gate.refuse(request.scope, wrong)
    return problems.answer(request.scope["path"], refused.status, refused.code, refused.detail)


def _with_cookie(access: Access, value: str, origin: str, seconds: int) -> Response:
    response = Response(status_code=204)
    response.set_cookie(
        access.cookie_name,
        value,
        max_age=seconds,
        path="/",
        secure=origin.startswith("https://"),
        httponly=True,
        samesite="strict",
    )
    return response
