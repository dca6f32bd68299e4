"""An editor's side of the Language Server Protocol: what a person sees while they type."""

import json
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

_CAPABILITIES: Final[Mapping[str, Any]] = {
    "workspace": {"configuration": True, "workspaceFolders": True},
    "textDocument": {
        "completion": {"completionItem": {"snippetSupport": False}},
        "hover": {"contentFormat": ["plaintext"]},
        "diagnostic": {},
    },
}
_LANGUAGES: Final = {".py": "python", ".mjs": "javascript"}


class LanguageServer:
    """One that was started. `settings` are what it reads of its editor, by section."""

    def __init__(
        self, to: IO[bytes], of: IO[bytes], root: Path, settings: Mapping[str, Any]
    ) -> None:
        self._to, self._of = to, of
        self._settings = settings
        self._number = 0
        self._told: dict[str, list[dict[str, Any]]] = {}
        folders = [{"uri": root.as_uri(), "name": root.name}]
        self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": folders,
                "capabilities": _CAPABILITIES,
            },
        )
        self._send({"method": "initialized", "params": {}})

    def open(self, file: Path, text: str, version: int = 1) -> None:
        """Shows it this text, which need not be on the disk."""
        shown = {"uri": file.as_uri(), "version": version}
        language = _LANGUAGES[file.suffix]
        opened = {**shown, "languageId": language, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": opened}})

    def close(self, file: Path) -> None:
        closed = {"textDocument": {"uri": file.as_uri()}}
        self._send({"method": "textDocument/didClose", "params": closed})

    def completed(self, file: Path, text: str) -> set[str]:
        """What it offers at the sign `‸` of this text."""
        found = cast("dict[str, Any] | None", self._at("textDocument/completion", file, text))
        items = cast("list[dict[str, Any]]", found["items"] if found else [])
        return {str(one["label"]) for one in items}

    def hovered(self, file: Path, text: str) -> str:
        """What it says about the word at the sign `‸` of this text."""
        found = cast("dict[str, Any] | None", self._at("textDocument/hover", file, text))
        contents: object = found["contents"] if found else ""
        return str(cast("dict[str, Any]", contents)["value"] if isinstance(contents, dict) else "")

    def complaints(self, file: Path, text: str) -> list[tuple[int, str]]:
        """What it underlines, by the line."""
        self.open(file, text)
        asked = {"textDocument": {"uri": file.as_uri()}}
        found = cast("dict[str, Any]", self._ask("textDocument/diagnostic", asked))
        self.close(file)
        items = cast("list[dict[str, Any]]", found["items"])
        # Hints, such as those about names that are not used, are no complaints.
        return [
            (one["range"]["start"]["line"] + 1, str(one["message"]))
            for one in items
            if one.get("severity", 1) <= 2
        ]

    def _at(self, method: str, file: Path, text: str) -> Any:
        before, _, after = text.partition("‸")
        self.open(file, before + after)
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        try:
            return self._ask(method, {"textDocument": {"uri": file.as_uri()}, "position": place})
        finally:
            self.close(file)

    def end(self) -> None:
        self._ask("shutdown")
        self._send({"method": "exit"})

    def _ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method} | ({"params": params} if params else {}))
        while True:
            message = self._read()
            if "method" not in message:
                if message["id"] == number:
                    assert "error" not in message, message["error"]
                    return message.get("result")
            elif "id" in message:
                self._send({"id": message["id"], "result": self._answer(message)})

    def _answer(self, message: dict[str, Any]) -> object:
        if message["method"] != "workspace/configuration":
            return None
        return [self._settings.get(one.get("section", "")) for one in message["params"]["items"]]

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._to.flush()

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self._of.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        return json.loads(self._of.read(length))


@contextmanager
def language_server(
    words: Sequence[str], root: Path, settings: Mapping[str, Any] | None = None
) -> Generator[LanguageServer]:
    process = subprocess.Popen(
        words, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        try:
            server = LanguageServer(process.stdin, process.stdout, root, settings or {})
            yield server
            server.end()
        except BaseException:
            process.kill()
            raise
