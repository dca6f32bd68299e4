"""The doctor's row about extensions: those that nobody trusts, that failed, or that need Node."""

import asyncio
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Final

from airboss.extensions.shelf import ExtensionFile
from airboss.service.doctor_checks import Check
from airboss.service.extensions import Extensions

_ID: Final = "extensions"
_NODE: Final = 20
_NODE_SECONDS: Final = 5.0
_MOST_NAMED: Final = 5


async def check_extensions(extensions: Extensions, environ: Mapping[str, str]) -> Check:
    """Of the server's own project, and the user's."""
    found = await extensions.list(None)
    if not found:
        return Check(id=_ID, state="ok", summary="No extensions here.")
    failed = [*_reasons(found, "failed"), *_not_running(extensions, found)]
    if failed:
        summary = f"Extensions that failed: {len(failed)}."
        remedy = "Read the reason, fix it, and try it: airboss extension check PATH"
        return Check(id=_ID, state="fail", summary=summary, detail=_told(failed), remedy=remedy)
    scripts = [file for file in found if file.language == "javascript" and file.state != "disabled"]
    if scripts and (why := await _why_no_node(environ)):
        remedy = f"Install Node.js {_NODE} or newer, and restart the server with it on its PATH."
        summary = f"{why} {_names(scripts)} cannot run without it."
        return Check(id=_ID, state="fail", summary=summary, remedy=remedy)
    waiting = [file for file in found if file.state in ("untrusted", "changed")]
    if waiting:
        summary = f"Extensions that nobody has trusted as they are now: {len(waiting)}."
        remedy = "Read them in Settings, or with `airboss extension show NAME`, then trust them."
        return Check(id=_ID, state="warn", summary=summary, detail=_names(waiting), remedy=remedy)
    running = sum(file.runs for file in found)
    summary = f"{len(found)} found, {running} of them run in sessions."
    return Check(id=_ID, state="ok", summary=summary, detail=_names(found))


def _reasons(found: Sequence[ExtensionFile], state: str) -> list[str]:
    return [f"{file.name}: {file.reason}" for file in found if file.state == state]


def _not_running(extensions: Extensions, found: Sequence[ExtensionFile]) -> list[str]:
    """In an open session."""
    clean = extensions.redactor.text
    return [
        f"{file.name} in {run.session}: {clean(run.reason)}"
        for file in found
        if file.runs
        for run in extensions.running(file)
        if run.state == "failed"
    ]


def _told(lines: Sequence[str]) -> str:
    more = len(lines) - _MOST_NAMED
    return "\n".join([*lines[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def _names(files: Sequence[ExtensionFile]) -> str:
    more = len(files) - _MOST_NAMED
    names = ", ".join(file.name for file in files[:_MOST_NAMED])
    return f"{names} and {more} more" if more > 0 else names


async def _why_no_node(environ: Mapping[str, str]) -> str | None:
    program = await asyncio.to_thread(shutil.which, "node", path=environ.get("PATH"))
    if program is None:
        return "Node.js is not installed."
    try:
        async with asyncio.timeout(_NODE_SECONDS):
            process = await asyncio.create_subprocess_exec(
                *(program, "--version"),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
            said = (await process.communicate())[0].decode("utf-8", "replace").strip()
    except (OSError, TimeoutError):
        return f"{program} does not answer."
    version = re.match(r"v(\d+)\.", said)
    if version and int(version[1]) >= _NODE:
        return None
    return f"Node.js {_NODE} is needed, and {program} is {said or 'something else'}."
