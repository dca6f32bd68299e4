"""Calls of servers outside of a cage: passed on once each, where somebody allowed them."""

import json
from typing import Any

import pytest

from airboss.harness.proxy_terms import ProxyRefused
from airboss.harness.server_permits import ServerPermits
from airboss.runtime.permission import PermissionAnswer, PermissionRequest, permission_request


def asked(server: str, tool: str) -> PermissionRequest:
    request = {"kind": "mcp", "serverName": server, "toolName": tool}
    return permission_request({"requestId": "1", "permissionRequest": request})


def said(message: Any) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}

    return receive


def call(tool: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool}}


async def answered(allowed: bool, permits: ServerPermits, *names: str) -> None:
    async def decide(_: PermissionRequest) -> PermissionAnswer:
        return PermissionAnswer(allowed, "")

    assert (await permits.deciding(decide)(asked(*names))).allowed is allowed


async def test_a_call_that_was_allowed_is_passed_on_once() -> None:
    permits = ServerPermits()
    await answered(True, permits, "wiki", "wiki-read_page")
    again = await permits.passed("wiki", said(call("read.page")))
    assert json.loads(again)["params"]["name"] == "read.page"
    with pytest.raises(ProxyRefused, match="Nobody allowed this call"):
        await permits.passed("wiki", said(call("read.page")))


@pytest.mark.parametrize(("server", "tool"), [("wiki", "write"), ("docs", "read"), ("wiki", 7)])
async def test_another_call_is_not(server: str, tool: object) -> None:
    permits = ServerPermits()
    await answered(True, permits, "wiki", "read")
    await answered(False, permits, "wiki", "write")
    with pytest.raises(ProxyRefused):
        await permits.passed(server, said(call(tool)))


async def test_what_is_no_call_goes_on_and_what_is_no_message_does_not() -> None:
    permits = ServerPermits()
    await permits.passed("wiki", said({"method": "tools/list", "id": 1}))
    for odd in ([call("read")], "text", None):
        with pytest.raises(ProxyRefused, match="not a message"):
            await permits.passed("wiki", said(odd))


def raw(body: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


async def test_what_is_passed_on_is_what_was_judged() -> None:
    """Whoever takes the first of two keys, or one in other letters, would make another call."""
    permits = ServerPermits()
    await answered(True, permits, "wiki", "read")
    twice = (
        b'{"id":1,"method":"tools/call","params":{"name":"write"},"params":{"name":"read"},"x":1}'
    )
    body = await permits.passed("wiki", raw(twice))
    assert b"write" not in body
    assert json.loads(body) == {"id": 1, "method": "tools/call", "params": {"name": "read"}}
    hidden = b'{"id":1,"Method":"tools/call","method":"ping","Params":{"name":"write"}}'
    body = await permits.passed("wiki", raw(hidden))
    assert json.loads(body) == {"id": 1, "method": "ping"}
