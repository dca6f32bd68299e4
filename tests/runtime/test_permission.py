"""Reading what an agent asks leave for, as recorded from the runtime."""

from airboss.runtime.permission import PermissionWish, wish


def test_a_shell_command_is_read_with_the_paths_it_may_touch() -> None:
    request = {
        "kind": "shell",
        "toolCallId": "call_1",
        "fullCommandText": "cat notes.txt",
        "intention": "look",
        "possiblePaths": ["notes.txt"],
        "canOfferSessionApproval": False,
    }
    assert wish({"requestId": "p1", "permissionRequest": request}) == PermissionWish(
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
        read = wish({"requestId": "p1", "permissionRequest": request})
        return read.kind, read.paths, read.about

    assert about(kind="read", path="/a", intention="Read file: /a") == ("read", ("/a",), "/a")
    assert about(kind="write", fileName="/b", diff="…") == ("write", ("/b",), "/b")
    assert about(kind="url", url="http://x", intention="look") == ("url", (), "http://x")
    assert about(kind="mcp", serverName="s", toolName="add") == ("mcp", (), "add")


def test_what_nobody_knows_is_still_a_wish() -> None:
    assert wish({"permissionRequest": {"kind": "telepathy", "path": 3}}).kind == "telepathy"
    assert wish({"requestId": "p1", "permissionRequest": "?"}).kind == "unknown"
    assert wish({}) == PermissionWish("", None, "unknown", None, (), None, None, "", {})
