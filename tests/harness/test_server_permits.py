"""Calls of servers outside of a cage: passed on once each, where somebody allowed them."""

import json
from typing import Any

import pytest

from airboss.harness.proxy_terms import ProxyRefused
from airboss.harness.server_permits import ServerPermits
from airboss.runtime.permission import PermissionAnswer, PermissionRequest, permission_request


def asked(server: str, tool: str, **arguments: Any) -> PermissionRequest:
    request = {"kind": "mcp", "serverName": server, "toolName": tool, "args": arguments}
    return permission_request({"requestId": "1", "permissionRequest": request})


def said(message: Any) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(message).encode(), "more_body": False}

    return receive


def call(tool: object, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, **({"arguments": arguments} if arguments else {})}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def answered(allowed: bool, permits: ServerPermits, *names: str, **arguments: Any) -> None:
    async def decide(_: PermissionRequest) -> PermissionAnswer:
        return PermissionAnswer(allowed, "")

    assert (await permits.deciding(decide)(asked(*names, **arguments))).allowed is allowed


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


@pytest.mark.parametrize(
    ("allowed", "called"),
    [
        ({"page": 1}, {"page": 2}),
        ({"page": 1}, {}),
        ({}, {"page": 1}),
        ({"all": 1}, {"all": True}),
        ({"page": "1"}, {"page": 1}),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}),
    ],
)
async def test_nor_is_the_same_one_with_other_arguments(
    allowed: dict[str, Any], called: dict[str, Any]
) -> None:
    permits = ServerPermits()
    await answered(True, permits, "wiki", "wiki-read", **allowed)
    with pytest.raises(ProxyRefused, match="Nobody allowed this call"):
        await permits.passed("wiki", said(call("read", **called)))
    await permits.passed("wiki", said(call("read", **allowed)))


async def test_the_same_arguments_may_be_written_in_another_way() -> None:
    permits = ServerPermits()
    await answered(True, permits, "wiki", "wiki-read", page=1, where={"a": 0.5, "b": 1e21})
    await permits.passed("wiki", said(call("read", where={"b": 10**21, "a": 0.5}, page=1.0)))


LONG = "confluence_" + "x" * 60


@pytest.mark.parametrize(
    ("written", "tool", "fits"),
    [
        ("wiki-confluence_page_attachments_get", "confluence_page_attachments_delete", False),
        ("wiki-readPage", "readpage", False),
        ("wiki-read-page", "read_page", False),
        ("wiki-read-page", "read/page", True),
        (f"wiki-{LONG}"[:64], LONG, True),
        (f"wiki-{LONG}"[:63] + "2", LONG, True),
        (f"wiki-{LONG}"[:64], LONG.replace("_", "-"), False),
        (f"wiki-{LONG}"[:64], "confluence_", False),
    ],
)
async def test_names_are_compared_as_far_as_the_runtime_writes_them(
    written: str, tool: str, fits: bool
) -> None:
    permits = ServerPermits()
    await answered(True, permits, "wiki", written)
    if fits:
        await permits.passed("wiki", said(call(tool)))
    else:
        with pytest.raises(ProxyRefused, match="Nobody allowed this call"):
            await permits.passed("wiki", said(call(tool)))


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
