"""Secrets that are kept on the server's machine, over v1. They go in; they never come out."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use, Who
from airboss.http.v1.streams import RequestBody
from airboss.store.kept_secrets import KeptSecret, SecretPlace

router = Router(prefix="/api/v1/secrets", tags=["settings"])

SecretName = Annotated[str, Path(max_length=100)]


class NewSecret(RequestBody):
    """A key or a token."""

    value: Annotated[str, Field(max_length=10_000, repr=False)]


class SecretFacts(BaseModel):
    """What is known of a secret, which is not the secret itself."""

    name: str
    # The system's keyring, or a file of the data folder that only the server's user can read.
    place: SecretPlace
    # When it was put in, in milliseconds.
    at: int


class SecretList(BaseModel):
    """By name."""

    items: tuple[SecretFacts, ...]


def facts_of(kept: KeptSecret) -> SecretFacts:
    return SecretFacts(name=kept.name, place=kept.place, at=kept.at)


@router.get("")
async def list_secrets(use: Use) -> SecretList:
    """List the names of the secrets that are kept on this machine, never their values."""
    return SecretList(items=tuple(facts_of(kept) for kept in use.secrets.all()))


@router.put("/{name}", responses={422: refused("The name or the value cannot be used.")})
async def keep_secret(name: SecretName, asked: NewSecret, use: Use, who: Who) -> SecretFacts:
    """Keep a secret on the server's machine under this name, instead of what was there. In the
    system's keyring if there is one, else in a file that only the server's user can read."""
    return facts_of(await use.secrets.keep(name, asked.value, who))


@router.delete(
    "/{name}", status_code=204, responses={409: refused("A provider or an account uses it.")}
)
async def remove_secret(name: SecretName, use: Use, who: Who) -> None:
    """Remove a secret from this machine."""
    await use.secrets.remove(name, who)
