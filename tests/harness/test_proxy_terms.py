"""A call through the proxy with a body that is not the one that came."""

from typing import Any

from airboss.harness.proxy_terms import with_body


async def never() -> Any:
    return {"type": "http.disconnect"}


async def test_a_call_with_another_body_says_how_long_that_is() -> None:
    headers = [(b"content-length", b"9"), (b"transfer-encoding", b"chunked"), (b"accept", b"*/*")]
    scope, receive = with_body({"type": "http", "headers": headers}, never, b"plain")
    assert scope["headers"] == [(b"accept", b"*/*"), (b"content-length", b"5")]
    assert await receive() == {"type": "http.request", "body": b"plain", "more_body": False}
    assert (await receive())["type"] == "http.disconnect"
