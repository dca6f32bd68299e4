"""What is asked of the way out, read strictly."""

import pytest

from airboss.runtime.cage.http_head import HeadInvalid, RequestHead, read_head


def head(*lines: str) -> bytes:
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def test_a_tunnel_names_its_host_and_port() -> None:
    found = read_head(head("CONNECT Example.ORG.:8443 HTTP/1.1", "Host: other.example:8443"))
    assert found == RequestHead("CONNECT", "example.org", 8443)
    assert found.is_tunnel


def test_a_plain_request_is_sent_on_alone_to_the_host_that_was_checked() -> None:
    found = read_head(
        head(
            "POST http://example.org:81/a?b=c HTTP/1.1",
            "Host: evil.example",
            "Proxy-Authorization: Basic eDp5",
            "Proxy-Connection: keep-alive",
            "Connection: keep-alive, X-Secret",
            "X-Secret: 1",
            "Upgrade: websocket",
            "Accept: */*",
            "Content-Length: 3",
        )
    )
    assert (found.host, found.port, found.length) == ("example.org", 81, 3)
    assert found.sent_on == head(
        "POST /a?b=c HTTP/1.1",
        "Host: example.org:81",
        "Accept: */*",
        "Content-Length: 3",
        "Connection: close",
    )


@pytest.mark.parametrize(
    ("target", "path"),
    [("http://a.example", "/"), ("HTTP://a.example?q", "/?q"), ("http://a.example/x%20", "/x%20")],
)
def test_the_rest_of_an_address_is_the_path(target: str, path: str) -> None:
    assert read_head(head(f"GET {target} HTTP/1.1")).target == path


@pytest.mark.parametrize(
    "place",
    [
        "127.0.0.1:80",
        "1.1.1.1:443",
        "[::1]:443",
        "[::ffff:10.0.0.1]:443",
        "2130706433:443",
        "0x7f.0.0.1:443",
        "0177.0.0.1:443",
        "127.1:443",
        "user@example.org:443",
        "a%2eexample:443",
        "example.org",
        "example.org:",
        "example.org:0",
        "example.org:65536",
        "example.org:+443",
        "example.org:44 3",
        "example.org:٤٤٣",
        ":443",
        "a..b:443",
        "example.org:443:443",
        "a/b:443",
    ],
)
def test_a_place_that_is_not_a_name_and_a_port_is_refused(place: str) -> None:
    with pytest.raises(HeadInvalid):
        read_head(f"CONNECT {place} HTTP/1.1\r\n\r\n".encode())


@pytest.mark.parametrize(
    "lines",
    [
        ("GET / HTTP/1.1", "Host: example.org"),
        ("GET https://example.org/ HTTP/1.1",),
        ("GET ftp://example.org/ HTTP/1.1",),
        ("GET http://user:pass@example.org/ HTTP/1.1",),
        ("GET http://example.org/#x HTTP/1.1",),
        ("GET http:// HTTP/1.1",),
        ("GET http://example.org/ HTTP/2",),
        ("GET  http://example.org/ HTTP/1.1",),
        ("GET http://example.org/ a HTTP/1.1",),
        ("G\x00T http://example.org/ HTTP/1.1",),
        ("",),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(lines: tuple[str, ...]) -> None:
    with pytest.raises(HeadInvalid, match=r"\.$"):
        read_head(head(*lines))


@pytest.mark.parametrize(
    "headers",
    [
        ("Content-Length: 3", "Content-Length: 3"),
        ("Content-Length: 3", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: chunked, identity",),
        ("Transfer-Encoding: \x0bchunked",),
        ("Transfer-Encoding : chunked",),
        ("Content-Length: 3, 3",),
        ("Content-Length: +3",),
        ("Content-Length: 0x3",),
        ("Content-Length: -1",),
        ("Content-Length:",),
        ("Content-Length: 9999999999999999",),
        ("X: a\nTransfer-Encoding: chunked",),
        ("X: a\rTransfer-Encoding: chunked",),
        ("X: a", " folded: b"),
        ("no colon",),
        (": no name",),
        ("X: \x00",),
        ("X y: a",),
    ],
)
def test_what_two_readers_could_understand_in_two_ways_is_refused(
    headers: tuple[str, ...],
) -> None:
    with pytest.raises(HeadInvalid):
        read_head(head("POST http://example.org/ HTTP/1.1", *headers))


def test_a_tunnel_with_a_body_is_refused() -> None:
    with pytest.raises(HeadInvalid, match="no body"):
        read_head(head("CONNECT a.example:443 HTTP/1.1", "Content-Length: 5"))
    assert read_head(head("CONNECT a.example:443 HTTP/1.1", "Content-Length: 0")).is_tunnel


def test_too_many_headers_are_refused() -> None:
    with pytest.raises(HeadInvalid, match="at most 200"):
        read_head(head("GET http://a.example/ HTTP/1.1", *(["X: y"] * 201)))
