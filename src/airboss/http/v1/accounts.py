"""The accounts of Copilot over v1: which can be used, which of them rest, and those that are added
with a token. No token comes out."""

from typing import Annotated, Literal

from fastapi import Path, Response
from pydantic import BaseModel, Field

from airboss.harness.accounts import AccountState
from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Services, Use, Who
from airboss.http.v1.streams import RequestBody
from airboss.service.copilot_accounts import AccountTrial

router = Router(prefix="/api/v1", tags=["server"])

AccountName = Annotated[str, Path(max_length=100)]
_FROM_FILE = refused("It comes from the settings file, or the name is taken.")
_UNUSABLE = refused("The name or the token cannot be used: `detail` says why.")


class SignInToken(RequestBody):
    """A GitHub token of somebody who has Copilot."""

    token: Annotated[str, Field(max_length=10_000, repr=False)]


class NewAccount(SignInToken):
    """An account, and what it is called here."""

    name: Annotated[str, Field(max_length=100)]


class ShownAccount(BaseModel):
    """Somebody whose Copilot sessions use. Its token is never shown."""

    name: str
    # Where its token comes from, in words.
    how: str
    # `resting`: it was refused, and others come first for a while; `missing`: it has no token.
    state: Literal["fine", "resting", "missing"]
    # How many are open on it.
    sessions: int
    # In ms, UTC.
    resting_until: int | None = None
    why: str | None = None
    # Who added it here; null for one of the settings file, the environment or the Copilot CLI.
    added_by: str | None = None


class AccountList(BaseModel):
    """In the order in which new sessions use them. Where the settings name none, it is the one that
    the environment or the Copilot CLI gives."""

    items: list[ShownAccount]


@router.get("/accounts")
async def list_accounts(use: Use) -> AccountList:
    """List the accounts of Copilot and how each of them is."""
    return AccountList(items=[_shown(use, one) for one in use.sessions.accounts.states()])


@router.post("/accounts", status_code=201, responses={409: _FROM_FILE, 422: _UNUSABLE})
async def add_account(asked: NewAccount, use: Use, who: Who, response: Response) -> ShownAccount:
    """Sign an account in with a token. It is used at once, without a restart; the token is kept on
    the server's machine and never shown."""
    await use.copilot_accounts.add(asked.name, asked.token, who)
    response.headers["Location"] = f"/api/v1/accounts/{asked.name}"
    return _found(use, asked.name)


@router.post("/account-tests", responses={422: _UNUSABLE})
async def test_account(asked: SignInToken, use: Use) -> AccountTrial:
    """Try a token that is not kept yet: ask Copilot which models it offers to it."""
    return await use.copilot_accounts.test(asked.token)


@router.post("/accounts/{name}/test")
async def test_known_account(name: AccountName, use: Use) -> AccountTrial:
    """Try an account now, also one that rests: ask Copilot which models it offers to it."""
    return await use.copilot_accounts.test_known(name)


@router.put("/accounts/{name}", responses={409: _FROM_FILE, 422: _UNUSABLE})
async def change_account(name: AccountName, asked: SignInToken, use: Use, who: Who) -> ShownAccount:
    """Give an account that was added here another token."""
    await use.copilot_accounts.change(name, asked.token, who)
    return _found(use, name)


@router.delete("/accounts/{name}", status_code=204, responses={409: _FROM_FILE})
async def remove_account(name: AccountName, use: Use, who: Who) -> None:
    """Sign out an account that was added here, and delete its token. Its sessions go on with
    another account when they are resumed."""
    await use.copilot_accounts.remove(name, who)


def _found(use: Services, name: str) -> ShownAccount:
    return next(_shown(use, one) for one in use.sessions.accounts.states() if one.name == name)


def _shown(use: Services, one: AccountState) -> ShownAccount:
    until = None if one.resting_until is None else int(one.resting_until * 1000)
    return ShownAccount(
        name=one.name,
        how=one.how,
        state=one.state,
        sessions=one.sessions,
        resting_until=until,
        why=one.why,
        added_by=use.copilot_accounts.added_by(one.name),
    )
