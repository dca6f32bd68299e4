"""Runs the tests when an agent has edited files, and lets it fix what fails."""

import asyncio
import json
import os
import shutil
import signal
from pathlib import Path

from airboss.extension import Event, ToolDone, hook, session

EDITS = ["edit", "create", "apply_patch", "str_replace", "str_replace_editor", "insert"]
# How often in a row the agent is told that they fail, and how long they may take.
TRIES = 3
SECONDS = 600
KEPT = 4_000

edited = False
tries = 0


@hook.post_tool_use(tools=EDITS)
async def note(use: ToolDone) -> None:
    global edited
    edited = True


async def check(event: Event) -> None:
    """At the end of a turn in which something was edited."""
    global edited, tries
    command = tests_of(session.cwd)
    if not edited or not command or event.data.get("aborted"):
        return
    edited = False
    failed = await run(command)
    if not failed:
        tries = 0
        await session.log(f"{' '.join(command)}: the tests pass.")
    elif tries == TRIES:
        tries = 0
        await session.log(f"The tests still fail after {TRIES} tries.", level="warning")
    else:
        tries += 1
        await session.send(f"`{' '.join(command)}` fails after your edits. Fix it.\n\n{failed}")


session.on("session.idle", check)


def tests_of(folder: Path) -> list[str]:
    """`make test`, `npm test` or `pytest`: the first that this folder has."""
    makefile = folder / "Makefile"
    if makefile.is_file() and "\ntest:" in f"\n{makefile.read_text('utf-8', 'replace')}":
        return ["make", "test"]
    package = folder / "package.json"
    if package.is_file() and "test" in json.loads(package.read_text("utf-8")).get("scripts", {}):
        return ["npm", "test"]
    if (folder / "tests").is_dir() and shutil.which("pytest"):
        return ["pytest", "-q"]
    return []


async def run(command: list[str]) -> str:
    """The end of what a failing command says; nothing if it does not fail."""
    running = await asyncio.create_subprocess_exec(
        *command,
        cwd=session.cwd,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = await asyncio.wait_for(running.communicate(), SECONDS)
    except TimeoutError:
        return f"It took longer than {SECONDS} s."
    finally:
        if running.returncode is None:
            os.killpg(running.pid, signal.SIGKILL)
    return said.decode("utf-8", "replace")[-KEPT:] if running.returncode else ""
