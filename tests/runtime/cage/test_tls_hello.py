"""The name in the first message of TLS."""

import random
import ssl

import pytest

from airboss.runtime.cage.tls_hello import NoHello, begins_like_tls, named_host


def hello(name: str | None) -> bytes:
    """As this machine's own TLS says it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    said = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), said, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return said.read()


def in_records(data: bytes, size: int) -> bytes:
    """The same message in records of at most `size` bytes."""
    body = data[5:]
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(data[:3] + len(part).to_bytes(2) + part for part in parts)


def extension(kind: int, body: bytes) -> bytes:
    return kind.to_bytes(2) + len(body).to_bytes(2) + body


def server_name(*names: bytes, kind: int = 0) -> bytes:
    listed = b"".join(bytes([kind]) + len(name).to_bytes(2) + name for name in names)
    return extension(0, len(listed).to_bytes(2) + listed)


def made(extensions: bytes, more: bytes = b"") -> bytes:
    body = b"\x03\x03" + bytes(32) + b"\x00" + b"\x00\x02\x13\x01" + b"\x01\x00"
    body += len(extensions).to_bytes(2) + extensions + more
    message = b"\x01" + len(body).to_bytes(3) + body
    return b"\x16\x03\x01" + len(message).to_bytes(2) + message


def test_the_name_is_read_from_a_real_hello() -> None:
    assert named_host(hello("example.org")) == "example.org"
    assert named_host(hello("EXAMPLE.org")) == "example.org"
    assert named_host(hello(None)) == ""


def test_a_hello_that_has_not_come_whole_is_waited_for() -> None:
    whole = hello("example.org")
    for length in range(len(whole)):
        assert named_host(whole[:length]) is None
    assert named_host(whole + b"more that follows") == "example.org"


def test_a_hello_may_come_in_several_records() -> None:
    whole = in_records(hello("example.org"), 200)
    assert named_host(whole) == "example.org"
    assert named_host(whole[:-1]) is None


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x80\x2e\x01\x03\x01",  # as it was before TLS
        b"\x16\x02\x00\x00\x05hello",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\xff\xff\x01",
        b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
        in_records(hello("example.org"), 3),
        made(server_name(b"a.example") + server_name(b"b.example")),
        made(server_name(b"a.example", b"b.example")),
        made(server_name(b"a.example", kind=1)),
        made(server_name(b"a\x00.example")),
        made(server_name("ä.example".encode())),
        made(server_name(b"")),
        made(server_name(b"a.example"), more=b"x"),
        made(extension(0, b"\x00\x05\x00\x00\x09a")),
    ],
)
def test_what_cannot_be_read_beyond_doubt_is_no_hello(said: bytes) -> None:
    with pytest.raises(NoHello):
        named_host(said)


def test_a_made_up_hello_is_read_like_a_real_one() -> None:
    assert named_host(made(extension(5, b"x") + server_name(b"a.example"))) == "a.example"
    assert named_host(made(b"")) == ""
    assert begins_like_tls(hello("a.example"))
    assert not begins_like_tls(b"GET")
    assert not begins_like_tls(b"")


def test_whatever_is_said_it_is_a_name_or_nothing() -> None:
    chance = random.Random(17)  # noqa: S311 - no secret
    whole = bytearray(hello("example.org"))
    for _ in range(3000):
        said = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            said[chance.randrange(len(said))] = chance.randrange(256)
        try:
            named_host(bytes(said))
        except NoHello:
            continue
