"""What is asked of the way out: the head of an HTTP request, read strictly. What two readers could
understand in two ways is refused: one of them would be at the other end."""

import re
from dataclasses import dataclass
from typing import Final

from airboss.errors import Invalid
from airboss.net.host_names import host_name, plain_address

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# As it goes over the wire: nothing that ends a line, or that only some readers would see.
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_TARGET: Final = re.compile(r"[\x21-\x7e]+")
_HTTP: Final = re.compile(r"http://([^/?#]*)([/?][^#]*)?", re.IGNORECASE)
_VERSIONS: Final = frozenset({"HTTP/1.0", "HTTP/1.1"})
_MOST_HEADERS: Final = 200
_LONGEST_LENGTH: Final = 15
# Meant for whoever stands between, so not sent on.
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "content-length",
        "upgrade",
    }
)
Headers = tuple[tuple[str, str], ...]


class HeadInvalid(Invalid):
    """It cannot be read beyond doubt; whoever sent it is told why."""


@dataclass(frozen=True)
class RequestHead:
    """Where it wants to go. Without a target it is a tunnel. A body has a length, or comes in
    chunks."""

    method: str
    host: str
    port: int
    target: str | None = None
    headers: Headers = ()
    length: int | None = None
    is_chunked: bool = False

    @property
    def is_tunnel(self) -> bool:
        return self.target is None

    @property
    def sent_on(self) -> bytes:
        """One request and no other on this connection, to the host that was checked."""
        named = {name.lower() for name in _named_in_connection(self.headers)}
        place = self.host if self.port == 80 else f"{self.host}:{self.port}"
        kept = [
            f"{name}: {value}"
            for name, value in self.headers
            if name.lower() not in _HOP_BY_HOP | named
        ]
        framing = [] if self.length is None else [f"Content-Length: {self.length}"]
        framing = ["Transfer-Encoding: chunked"] if self.is_chunked else framing
        first = f"{self.method} {self.target} HTTP/1.1"
        lines = [first, f"Host: {place}", *kept, *framing, "Connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def read_head(raw: bytes) -> RequestHead:
    """Of all bytes up to the empty line, with it."""
    first, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, target, version = _first_line(first)
    if version not in _VERSIONS:
        raise HeadInvalid("Only HTTP/1.1 is spoken here.")
    headers = _headers(lines)
    length, is_chunked = _framing(headers)
    if method == "CONNECT":
        if length or is_chunked:
            raise HeadInvalid("A tunnel has no body.")
        host, port = _place(target, None)
        return RequestHead(method, host, port)
    found = _HTTP.fullmatch(target)
    if found is None:
        raise HeadInvalid("Ask for a whole http:// address, or for a tunnel (CONNECT host:port).")
    host, port = _place(found[1], 80)
    path = found[2] or "/"
    wanted = path if path.startswith("/") else f"/{path}"
    return RequestHead(method, host, port, wanted, headers, length, is_chunked)


def _first_line(line: str) -> tuple[str, str, str]:
    parts = line.split(" ")
    if len(parts) != 3 or not _TOKEN.fullmatch(parts[0]) or not _TARGET.fullmatch(parts[1]):
        raise HeadInvalid("The first line of the request cannot be read.")
    return parts[0], parts[1], parts[2]


def _headers(lines: list[str]) -> Headers:
    if len(lines) > _MOST_HEADERS:
        raise HeadInvalid(f"A request may have at most {_MOST_HEADERS} headers.")
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, value = line.partition(":")
        # A space before the colon, or at the beginning, is read by some as part of another header.
        if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise HeadInvalid("A header of the request cannot be read.")
        found.append((name, value.strip(" \t")))
    return tuple(found)


def _framing(headers: Headers) -> tuple[int | None, bool]:
    """Where the body ends: said once, in one way."""
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    codings = [value for name, value in headers if name.lower() == "transfer-encoding"]
    if len(lengths) + len(codings) > 1:
        raise HeadInvalid("The length of the body is said more than once.")
    if codings:
        if codings[0].lower() != "chunked":
            raise HeadInvalid("The only transfer coding that is known here is chunked.")
        return None, True
    if not lengths:
        return None, False
    digits = lengths[0]
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_LENGTH):
        raise HeadInvalid("The length of the body cannot be read.")
    return int(digits), False


def _place(written: str, default: int | None) -> tuple[str, int]:
    """A host by its name, and a port; whoever has a tunnel must say the port."""
    if "@" in written:
        raise HeadInvalid("An address with a name and a password in it is not used here.")
    if written.startswith("["):
        raise HeadInvalid("Hosts are called by name here, not by address.")
    named, colon, digits = written.partition(":")
    name = host_name(named)
    if name is None or "%" in named:
        raise HeadInvalid("This is not the name of a host.")
    if plain_address(name) is not None:
        raise HeadInvalid("Hosts are called by name here, not by address.")
    if not colon and default is not None:
        return name, default
    port = int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 5 else 0
    if not 0 < port <= 65_535:
        raise HeadInvalid("There is no such port.")
    return name, port


def _named_in_connection(headers: Headers) -> list[str]:
    values = [value for name, value in headers if name.lower() == "connection"]
    return [part.strip() for value in values for part in value.split(",")]
