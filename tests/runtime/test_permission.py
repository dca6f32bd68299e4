"""Reading what an agent asks permission for, as recorded from the runtime."""

from airboss.runtime.hooks import ASKED_BY_THE_GATE
from airboss.runtime.permission import PermissionRequest, permission_request


def test_a_shell_command_is_read_with_the_paths_it_may_touch() -> None:
    request = {
        "kind": "shell",
        "toolCallId": "call_1",
        "fullCommandText": "cat notes.txt",
        "intention": "look",
        "possiblePaths": ["notes.txt"],
        "canOfferSessionApproval": False,
    }
    assert permission_request(
        {"requestId": "p1", "permissionRequest": request}
    ) == PermissionRequest(
        request_id="p1",
        call="call_1",
        kind="shell",
        tool=None,
        paths=("notes.txt",),
        command="cat notes.txt",
        url=None,
        about="cat notes.txt",
        raw=request,
    )


def test_reading_writing_fetching_and_tools_name_what_they_are_about() -> None:
    def about(**request: object) -> tuple[str, tuple[str, ...], str]:
        read = permission_request({"requestId": "p1", "permissionRequest": request})
        return read.kind, read.paths, read.about

    assert about(kind="read", path="/a", intention="Read file: /a") == ("read", ("/a",), "/a")
    assert about(kind="write", fileName="/b", diff="…") == ("write", ("/b",), "/b")
    assert about(kind="url", url="http://x", intention="look") == ("url", (), "http://x")
    assert about(kind="mcp", serverName="s", toolName="add") == ("mcp", (), "add")


def test_what_nobody_knows_is_still_a_wish() -> None:
    assert (
        permission_request({"permissionRequest": {"kind": "telepathy", "path": 3}}).kind
        == "telepathy"
    )
    assert permission_request({"requestId": "p1", "permissionRequest": "?"}).kind == "unknown"
    assert permission_request({}) == PermissionRequest(
        "", None, "unknown", None, (), None, None, "", {}
    )


def test_what_our_gate_has_asked_is_a_tool_of_a_server_and_what_another_hook_asks_is_not() -> None:
    def asked(message: str, server: str | None) -> PermissionRequest:
        request = {
            "kind": "hook",
            "toolName": "s-add",
            "toolArgs": {"a": 1},
            "hookMessage": message,
        }
        data = {"requestId": "p1", "permissionRequest": {**request, "toolCallId": "call_1"}}
        return permission_request(data, server)

    ours = asked(ASKED_BY_THE_GATE, "s")
    assert (ours.kind, ours.tool, ours.call, ours.about) == ("mcp", "s-add", "call_1", "s-add")
    told = {"kind": "mcp", "toolCallId": "call_1", "toolName": "s-add", "args": {"a": 1}}
    assert ours.raw == {**told, "serverName": "s"}
    assert asked(ASKED_BY_THE_GATE, None).raw == told
    assert asked("because", "s").kind == "hook"
