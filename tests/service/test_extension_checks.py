"""The doctor's row about extensions."""

from pathlib import Path

from airboss.model.redaction import Redactor
from airboss.service.extension_checks import check_extensions
from airboss.service.extensions import Extensions, RunningExtension
from airboss.service.folders import Folders
from tests.extensions.shelves import shelved_in


def node_in(folder: Path, says: str) -> dict[str, str]:
    folder.mkdir()
    program = folder / "node"
    program.write_text(f"#!/bin/sh\necho {says}\n", encoding="utf-8")
    program.chmod(0o700)
    return {"PATH": str(folder)}


async def test_it_says_what_is_there_what_waits_and_what_is_missing(tmp_path: Path) -> None:
    async with shelved_in(tmp_path) as shelved:
        root = shelved.project
        extensions = Extensions(shelved.shelf, Folders(root, (root,)), Redactor(("secret-1",)))
        new, old = node_in(tmp_path / "new", "v20.1.0"), node_in(tmp_path / "old", "v18.20.1")

        async def found(environ: dict[str, str]) -> tuple[str, str]:
            check = await check_extensions(extensions, environ)
            return check.state, f"{check.summary} {check.detail}".strip()

        assert await found(old) == ("ok", "No extensions here.")
        await shelved.trusts(shelved.write("guard"))
        assert await found(old) == ("ok", "1 found, 1 of them run in sessions. guard")
        script = shelved.write("bell", file="extension.mjs")
        state, said = await found(old)
        assert state == "fail"
        assert said.startswith("Node.js 20 is needed, and ")
        assert said.endswith("/node is v18.20.1. bell cannot run without it.")
        assert (await found({"PATH": str(tmp_path)}))[1].startswith("Node.js is not installed.")
        waiting = "Extensions that nobody has trusted as they are now: 1. bell"
        assert await found(new) == ("warn", waiting)
        await shelved.trusts(script)
        assert await found(new) == ("ok", "2 found, 2 of them run in sessions. bell, guard")
        failed = RunningExtension("ses_1", "failed", reason="It said secret-1.")
        extensions.running = lambda file: [failed] if file.name == "guard" else []
        state, said = await found(new)
        assert (state, "guard in ses_1: It said " in said, "secret-1" in said) == (
            *("fail", True),
            False,
        )
