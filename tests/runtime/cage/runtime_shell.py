"""Ways out tried by the real runtime: `python -m … KIND FOLDER SHARE`, in a cage, or free of one.

Its own shell runs the attempts (all, or every SHAREth), its tools for files are pointed at what
lies outside, and something is left behind that does not want to end. A program, so that an ordinary
user can run it. It says as JSON what got through.
"""

import asyncio
import json
import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from airboss.runtime.cage.plan import CageKind
from airboss.runtime.session import RuntimeSession
from tests.runtime.cage.attempt_table import Scene
from tests.runtime.cage.attempts import ATTEMPTS
from tests.runtime.cage.escape import answers_in, command_in, damage, staged
from tests.runtime.cage.yard import Yard, last_output, said
from tests.runtime.conftest import Flight, Listener, in_flight, running, soon
from tests.runtime.copilot_service import Stage, on_stage

Kind: TypeAlias = CageKind | Literal["free"]

SECONDS: Final = 120.0
TOOLS: Final = (
    ("view", {"path": "CANARY"}),
    ("create", {"path": "MADE", "file_text": "made"}),
    ("edit", {"path": "CANARY", "old_str": "canary", "new_str": "changed"}),
    ("glob", {"pattern": "*", "path": "FOLDER"}),
    ("grep", {"pattern": "canary", "path": "FOLDER", "output_mode": "content"}),
)
_DAEMON: Final = "setsid nohup sh -c 'trap \"\" HUP INT TERM; sleep 612; : {}' >/dev/null 2>&1 &"


async def tried(kind: Kind, scene: Scene, folder: Path, share: int) -> dict[str, Any]:
    names, token = tuple(ATTEMPTS)[::share], f"left-{os.getpid()}"
    async with (
        on_stage(Stage()) as stage,
        in_flight(stage, folder, dict(os.environ)) as flight,
    ):
        flight = replace(flight, folder=Path(scene.work))
        yard = Yard(flight, Path(scene.data), "narrow" if kind == "narrow" else "strong")
        listener = Listener()
        try:
            opening = flight.session if kind == "free" else yard.session
            session = await opening(listener)
            opened = await _opened_by_tools(flight, session, listener, scene)
            tools_damage = damage(scene, is_narrow=kind == "narrow")
            await said(session, listener, f"shell {_DAEMON.format(token)} echo left", SECONDS)
            was_left = bool(running(token))
            command = shlex.join(command_in(scene, names))
            await said(session, listener, f"shell {command}", SECONDS)
            # The tool may have answered before its command was over.
            is_over = await soon(Path(scene.work, "out.json").exists, SECONDS)
            assert is_over, last_output(flight)
        finally:
            await yard.stop()
    return {
        "user": os.geteuid(),
        "answers": answers_in(scene),
        "tools": opened,
        "damage": [*tools_damage, *damage(scene, is_narrow=kind == "narrow")],
        "daemon": [was_left, await soon(lambda: not running(token), 10)],
    }


async def _opened_by_tools(
    flight: Flight, session: RuntimeSession, listener: Listener, scene: Scene
) -> list[str]:
    """Those that showed or did something outside."""
    outside = Path(scene.outside)
    places = {
        "CANARY": str(outside / "long"),
        "FOLDER": scene.outside,
        "MADE": str(outside / "made"),
    }
    found: list[str] = []
    for tool, given in TOOLS:
        arguments = {name: places.get(value, value) for name, value in given.items()}
        await said(session, listener, f"call {tool} {json.dumps(arguments)}", SECONDS)
        output = last_output(flight)
        is_done = "made" in os.listdir(outside) or scene.word not in _text(outside / "long")
        if scene.word in output or "doomed" in output or is_done:
            found.append(tool)
        (outside / "made").unlink(missing_ok=True)
        (outside / "long").write_text(scene.word, "utf-8")
    return found


def _text(path: Path) -> str:
    return path.read_text("utf-8")


def main() -> None:
    kind, folder, share = sys.argv[1:]
    with staged(Path(folder)) as scene:
        os.environ["CANARY" if kind == "free" else "SECRET_CANARY"] = scene.word
        home = Path(folder) / "runtime"
        home.mkdir()
        how: Kind = "free" if kind == "free" else "narrow" if kind == "narrow" else "strong"
        found = asyncio.run(tried(how, scene, home, int(share)))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
