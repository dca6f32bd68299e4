"""The name in the first message of TLS: whom a client wants to talk to, before anything is secret.
Nothing is decrypted, and nothing but that name is looked at."""

from dataclasses import dataclass
from typing import Final

from airboss.net.host_names import host_name

_HANDSHAKE: Final = 0x16
_CLIENT_HELLO: Final = 1
_SERVER_NAME: Final = 0
_HOST_NAME: Final = 0
_LONGEST_RECORD: Final = 16_384
LONGEST_HELLO: Final = 32_768
# Honest ones come in one or two; each is looked at again whenever more has come.
_MOST_RECORDS: Final = 8
# What a client is told that named another host: its programs know how to say it.
UNRECOGNIZED_NAME: Final = bytes([0x15, 3, 3, 0, 2, 2, 112])


class NoHello(Exception):
    """It does not begin as TLS does, or cannot be read beyond doubt."""


@dataclass
class _Bytes:
    """Read from the front; a length that reaches beyond the end is no hello."""

    data: bytes
    at: int = 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise NoHello
        taken, self.at = self.data[self.at : end], end
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size))

    def block(self, size: int) -> "_Bytes":
        """What follows its own length."""
        return _Bytes(self.take(self.number(size)))

    @property
    def is_over(self) -> bool:
        return self.at == len(self.data)


def begins_like_tls(data: bytes) -> bool:
    return data[:1] == bytes([_HANDSHAKE])


def named_host(data: bytes) -> str | None:
    """The name, empty where none is said; None as long as the hello has not come whole."""
    message = _message(data)
    return None if message is None else _name_in(_Bytes(message))


def _message(data: bytes) -> bytes | None:
    """It may come in several records."""
    joined, at, records = b"", 0, 0
    while len(joined) < 4 or len(joined) < 4 + int.from_bytes(joined[1:4]):
        records += 1
        head = data[at : at + 5]
        if (head[:1] and not begins_like_tls(head)) or (head[1:2] and head[1] != 3):
            raise NoHello
        if len(head) < 5:
            return None
        length = int.from_bytes(head[3:5])
        if not 0 < length <= _LONGEST_RECORD or records > _MOST_RECORDS:
            raise NoHello
        joined += data[at + 5 : at + 5 + length]
        if joined and joined[0] != _CLIENT_HELLO:
            raise NoHello
        if len(joined) >= 4 and int.from_bytes(joined[1:4]) > LONGEST_HELLO:
            raise NoHello
        if len(data) < at + 5 + length:
            return None
        at += 5 + length
    return joined[4 : 4 + int.from_bytes(joined[1:4])]


def _name_in(hello: _Bytes) -> str:
    hello.take(2 + 32)  # version, random
    hello.block(1)  # session
    hello.block(2)  # ciphers
    hello.block(1)  # compressions
    if hello.is_over:
        return ""
    extensions = hello.block(2)
    found: list[str] = []
    while not extensions.is_over:
        kind, body = extensions.number(2), extensions.block(2)
        if kind == _SERVER_NAME:
            found.append(_server_name(body))
    if len(found) > 1 or not hello.is_over:
        raise NoHello
    return found[0] if found else ""


def _server_name(extension: _Bytes) -> str:
    names = extension.block(2)
    kind, written = names.number(1), names.block(2).data
    if kind != _HOST_NAME or not names.is_over or not extension.is_over or not written.isascii():
        raise NoHello
    name = host_name(written.decode("ascii"))
    if name is None:
        raise NoHello
    return name
