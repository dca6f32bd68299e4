"""What is wrong with an MCP server, wherever it is described."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from airboss.provider_settings import is_credential, is_loopback, mistake_in_header

_OURS: Final = "AIRBOSS_"


def mistakes_in_address(
    url: str, headers: Mapping[str, str], *, private: bool = False, is_set: bool = False
) -> Iterator[tuple[str, str]]:
    """Each with the key behind the server's name. `is_set`: by the settings, which may more."""
    address = urlsplit(url)
    host = address.hostname or ""
    if is_loopback(host) and not is_set:
        yield (
            ".url",
            f"{host} is this machine. Describe the server in the settings, and name it {{}}.",
        )
    if address.scheme == "http" and not (is_loopback(host) or private):
        yield ".url", "Should begin with https, unless the settings say that it is private."
    if any(is_credential(name) for name, _ in parse_qsl(address.query, keep_blank_values=True)):
        yield ".url", "It has a secret in it. Put that into a variable, and name it in headers."
    for name, value in headers.items():
        if mistake := mistake_in_header(name):
            yield f".headers.{name}", mistake
        if is_credential(name) and "$" not in value:
            yield f".headers.{name}", "It has a secret in it. Write the name of a variable: $NAME."


def mistake_in_variable(name: str) -> str | None:
    """Why no server is given this one."""
    return (
        f"{name} is a variable of this server, and is passed on to nobody."
        if is_ours(name)
        else None
    )


def is_ours(name: str) -> bool:
    return name.startswith(_OURS)


def mistaken_names(servers: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The names of servers that the names of others begin with, each with why that cannot be."""
    for one, other in permutations(servers, 2):
        if f"{other}-".startswith(f"{one}-"):
            why = f'Its tools could be taken for those of "{one}".'
            yield other, f"{why} Give one of the two another name."
