"""A way in and out for browsers: a one-time code becomes a sign-in, and all of those are listed."""

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from airboss.http import problems
from airboss.http.callers import caller
from airboss.http.credentials import Caller
from airboss.http.description import refused
from airboss.http.devices import device
from airboss.http.refusals import RefusalExit, RefusedAnswer
from airboss.http.roles import Router, asker
from airboss.model.ids import SignInId
from airboss.model.roles import Role
from airboss.model.sign_ins import SignIn
from airboss.service.access import Access
from airboss.service.sign_ins import SIGN_IN_SECONDS, SignIns
from airboss.store.tokens import LOCAL

router = Router(prefix="/api/v1", tags=["access"])


class SignInCode(BaseModel):
    """The code of a printed address, from its fragment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(min_length=1, max_length=200)
    replace: bool = Field(
        default=True,
        description="With `false`, a browser that is signed in under another name stays signed in: "
        "nothing changes, the code stays valid, and `instead_of` is that name.",
    )


class SignedIn(BaseModel):
    """The part of the sign-in that the page keeps and sends as `X-Airboss-Key`; the other part is
    the cookie. Null where no token is needed, and where nothing was done. `who` is the name that
    the code is for, `instead_of` the one that would have been replaced by it."""

    key: str | None
    who: str | None = None
    instead_of: str | None = None


class SignInState(BaseModel):
    """Whether whoever asks is in: as whom, what they may do, and the names of this server, at which
    links lead back to it. Else `code` and `detail` say why not, as other routes refuse it."""

    signed_in: bool
    who: str | None = None
    role: Role | None = None
    hosts: tuple[str, ...] = ()
    code: str | None = None
    detail: str | None = None


class ListedSignIn(SignIn):
    """One browser that is signed in; `this` is the one that asks."""

    this: bool


class SignInList(BaseModel):
    """The newest first: the role `own` sees all of them, others those of their name."""

    items: list[ListedSignIn]


class Link(BaseModel):
    """An address that gets in once, within ten minutes."""

    url: str


def one_time_address(origin: str, code: str) -> str:
    """The fragment never leaves the browser: no log and no proxy sees the code."""
    return f"{origin}/#code={code}"


async def _access(request: Request) -> Access:
    return request.app.state.services.access


async def _sign_ins(request: Request) -> SignIns:
    return request.app.state.services.sign_ins


async def _origin(request: Request) -> str:
    return request.scope["airboss.origin"]


async def _own_sign_in(request: Request) -> SignInId | None:
    found: Caller | None = request.scope.get("airboss.caller")
    return found.sign_in if found else None


UseAccess = Annotated[Access, Depends(_access)]
UseSignIns = Annotated[SignIns, Depends(_sign_ins)]
UseOrigin = Annotated[str, Depends(_origin)]
Own = Annotated[SignInId | None, Depends(_own_sign_in)]
Who = Annotated[str, Depends(caller)]


@router.get("/signin", response_model=SignInState)
async def show_sign_in(request: Request) -> Response | SignInState:
    """Show whether the caller is signed in. Needs no token."""
    refusal: RefusedAnswer | None = request.scope.get("airboss.refusal")
    if refusal is None:
        who = await asker(request)
        hosts = request.scope["airboss.hosts"]
        return SignInState(signed_in=True, who=who.name, role=who.role, hosts=hosts)
    if refusal.guessed:  # as slowly as everywhere, and written down
        gate: RefusalExit = request.scope["airboss.gate"]
        refusal = await gate.refuse(request.scope, refusal)
    if refusal.status != 401:
        return _problem(request, refusal)
    return SignInState(signed_in=False, code=refusal.code, detail=refusal.detail)


@router.post(
    "/signin",
    response_model=SignedIn,
    responses={401: refused("The code was already used, has expired, or is for another server.")},
)
async def sign_in(
    asked: SignInCode,
    request: Request,
    access: UseAccess,
    sign_ins: UseSignIns,
    origin: UseOrigin,
    own: Own,
) -> Response:
    """Exchange a one-time code for a sign-in of thirty days: a cookie, and a key for the page."""
    # Under --no-token everybody is in already, with an old code too.
    if request.scope.get("airboss.who") == LOCAL:
        return JSONResponse({"key": None, "who": LOCAL, "instead_of": None})
    current = request.scope.get("airboss.who")
    name = await access.name_of(asked.code)
    if not asked.replace and own is not None and name not in (None, current):
        return JSONResponse({"key": None, "who": name, "instead_of": current})
    if name is None or await access.take(asked.code) is None:
        return await _wrong_code(request)
    agent = request.headers.get("user-agent", "")
    begun = await sign_ins.begin(name, request.scope["airboss.peer"], device(agent), own)
    answer = JSONResponse({"key": begun.key, "who": name, "instead_of": None})
    _set_cookie(answer, access, begun.cookie, origin, SIGN_IN_SECONDS)
    return answer


@router.post("/signout", status_code=204)
async def sign_out(
    access: UseAccess, sign_ins: UseSignIns, origin: UseOrigin, who: Who, own: Own
) -> Response:
    """Sign out the caller immediately and delete the cookie."""
    if own is not None:
        await sign_ins.end(own, who)
    answer = Response(status_code=204)
    _set_cookie(answer, access, "", origin, 0)
    return answer


@router.get("/signins")
async def list_sign_ins(sign_ins: UseSignIns, who: Who, own: Own) -> SignInList:
    """List who is signed in, from where, since when and until when."""
    found = sign_ins.seen_by(who)
    items = [ListedSignIn(**one.model_dump(), this=one.id == own) for one in found]
    return SignInList(items=items)


@router.delete("/signins/{sign_in}", status_code=204)
async def end_sign_in(sign_in: str, sign_ins: UseSignIns, who: Who) -> None:
    """End a sign-in immediately. Its open connections are closed within two seconds."""
    await sign_ins.end(sign_in, who)


@router.delete("/signins", status_code=204)
async def end_sign_ins(
    sign_ins: UseSignIns,
    who: Who,
    own: Own,
    others: Annotated[bool, Query(description="Sign out all browsers except this one.")] = False,
) -> None:
    """End all sign-ins that `GET` lists."""
    await sign_ins.end_all(who, but=own if others else None)


@router.post("/links", status_code=201)
async def make_link(request: Request, access: UseAccess, origin: UseOrigin, who: Who) -> Link:
    """Create a one-time sign-in link for the caller. It is void once the caller's sign-in ends."""
    found: Caller | None = request.scope.get("airboss.caller")
    if found is None:  # no token is needed here
        return Link(url=f"{origin}/")
    code = await access.make_code(who, found.is_in, found.sign_in)
    return Link(url=one_time_address(origin, code))


async def _wrong_code(request: Request) -> Response:
    gate: RefusalExit = request.scope["airboss.gate"]
    wrong = RefusedAnswer(
        401,
        "wrong_code",
        "This code was already used, is older than ten minutes, or is for another server. "
        "Get a new link with `airboss link`.",
        guessed=True,
    )
    return _problem(request, await gate.refuse(request.scope, wrong))


def _problem(request: Request, refusal: RefusedAnswer) -> Response:
    return problems.answer(request.scope["path"], refusal.status, refusal.code, refusal.detail)


def _set_cookie(response: Response, access: Access, value: str, origin: str, seconds: int) -> None:
    response.set_cookie(
        access.cookie_name,
        value,
        max_age=seconds,
        path="/",
        secure=origin.startswith("https://"),
        httponly=True,
        samesite="strict",
    )
