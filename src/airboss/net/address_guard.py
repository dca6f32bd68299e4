"""Where may be connected to: a name is looked up once, and all of its answers are checked.

Apart from the client for HTTP, which takes a while to load and which not everybody needs.
"""

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from airboss.errors import AirbossError
from airboss.net.addresses import is_local_name, is_metadata, is_metadata_name, is_public

# Of the addresses of a name so many are tried.
_MOST_ADDRESSES: Final = 3
# So long a name is looked up. The system may take longer, so it does that in threads that nothing
# else waits for.
_SECONDS: Final = 10.0
_LOOKING_UP: Final = ThreadPoolExecutor(8, "airboss-names")


class AddressBlocked(AirbossError):
    """The host is in it, and no more of the address: a path may hold a secret. Where `is_private`,
    whoever means it to be reached can allow it."""

    def __init__(self, host: str, *, is_private: bool) -> None:
        self.is_private = is_private
        what = "not a public address" if is_private else "where a cloud keeps its machines' keys"
        super().__init__(f"{host} is {what}")


class NameNotFound(AirbossError):
    """It may be found later."""


@dataclass(frozen=True)
class Egress:
    """Where requests may go. `allows_private` is for what is meant to be on this machine or in this
    network; where clouds keep their machines' keys nobody goes at all. Names are looked up in
    `threads`."""

    allows_private: bool = False
    threads: ThreadPoolExecutor = field(default=_LOOKING_UP, repr=False, compare=False)

    def apart(self, at_once: int) -> "Egress":
        """The same for somebody who may name whom they like: a name may be slow on purpose, and so
        many slow ones keep only their own others waiting."""
        return replace(self, threads=ThreadPoolExecutor(at_once, "airboss-names-apart"))

    async def addresses(self, host: str, port: int) -> list[str]:
        """Where to connect to for a name or an address, those of IPv4 first."""
        name = host.strip("[]")
        if self.check(name):  # there is nothing to look up, which would take a thread
            return [name]
        look_up = partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM)
        try:
            async with asyncio.timeout(_SECONDS):
                found = await asyncio.get_running_loop().run_in_executor(self.threads, look_up)
        except TimeoutError:
            raise NameNotFound(f"{name} was not found within {_SECONDS:g} s") from None
        except (OSError, UnicodeError) as error:
            raise NameNotFound(f"{name} was not found: {error}") from error
        found.sort(key=lambda one: one[0] != socket.AF_INET)
        known = list(dict.fromkeys(str(one[4][0]) for one in found))
        for address in known:  # one bad answer is enough
            self._check_address(name, address)
        return known[:_MOST_ADDRESSES]

    def check(self, name: str) -> bool:
        """What can be said before a name is looked up. Whether it is an address."""
        self._check_name(name)
        is_address = _is_address(name)
        if is_address:
            self._check_address(name, name)
        return is_address

    def _check_name(self, name: str) -> None:
        if is_metadata_name(name):
            raise AddressBlocked(name, is_private=False)
        if is_local_name(name) and not self.allows_private:
            raise AddressBlocked(name, is_private=True)

    def _check_address(self, name: str, address: str) -> None:
        if is_metadata(address):
            raise AddressBlocked(name, is_private=False)
        if not self.allows_private and not is_public(address):
            raise AddressBlocked(name, is_private=True)


def _is_address(name: str) -> bool:
    """As computers write it: other ways of writing one are left to the system to read."""
    try:
        return str(ipaddress.ip_address(name)) == name
    except ValueError:
        return False
