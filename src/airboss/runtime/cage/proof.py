"""Whether a cage holds on this machine: one is started, and ways out of it are tried."""

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airboss.cage_settings import CageProfile
from airboss.errors import CageUnavailable
from airboss.runtime.cage.attempt import attempt
from airboss.runtime.cage.inside import ways
from airboss.runtime.cage.plan import CageKind, CagePlan
from airboss.runtime.cage.system import system_facts

# What a narrow cage does not promise.
_LEFT_OPEN: Final = frozenset({"seeing other processes"})
_SECRET: Final = "AIRBOSS_PROOF_TOKEN"  # noqa: S105 - the name of a variable
_LONGEST: Final = 300


@dataclass(frozen=True)
class Proof:
    """`through` are the ways that led out, by their names."""

    tried: int
    through: tuple[str, ...]


async def prove(kind: CageKind, data: Path) -> Proof:
    """With a scene of its own, beside `data`, the folder that a server keeps its things in."""
    with staged(data) as scene:
        work = Path(scene["work"])
        plan = CagePlan(kind, "proof", CageProfile(), work, "proof")
        environ = {**os.environ, _SECRET: scene["word"]}
        ended = await attempt(plan, Path(scene["data"][-1]), command_in(scene), environ=environ)
        if ended.code:
            words = ended.errors.decode(errors="replace").strip()[-_LONGEST:]
            raise CageUnavailable(f"The cage ended with {ended.code}: {words}")
        through = set(json.loads(ended.output)) | _damage(scene)
    left_open = _LEFT_OPEN if kind == "narrow" else frozenset[str]()
    tried = tuple(name for name in ways.WAYS if name not in left_open)
    return Proof(len(tried), tuple(name for name in tried if name in through))


@contextlib.contextmanager
def staged(data: Path) -> Generator[dict[str, Any]]:
    """Blocking. What somebody inside could want, with somebody who answers."""
    word = f"canary-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(tempfile.TemporaryDirectory(prefix="airboss-proof-"))
        folder = Path(os.path.realpath(made))
        work, outside, own = (folder / name for name in ("work", "outside", "data"))
        for place in (work / "place", outside, own):
            place.mkdir(parents=True)
        (outside / "canary").write_text(word, "utf-8")
        (work / "link").symlink_to(outside / "canary")
        shutil.copy(ways.__file__, work / "ways.py")
        port = _listening(stack, socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        _listening(stack, socket.AF_UNIX, str(outside / "s"))
        _listening(stack, socket.AF_UNIX, f"\0{word}")
        victim = subprocess.Popen(  # noqa: S603 - words of ours
            [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", word],
            stdin=subprocess.PIPE,
        )
        stack.callback(victim.communicate)
        stack.callback(victim.kill)
        yield {
            "word": word,
            "work": str(work),
            "outside": str(outside),
            "data": [os.path.realpath(data), str(own)],
            "port": port,
            "socket": str(outside / "s"),
            "victim": victim.pid,
        }


def command_in(scene: dict[str, Any]) -> tuple[str, ...]:
    """What tries all of them, in a cage or not."""
    work = Path(scene["work"])
    (work / "scene.json").write_text(json.dumps(scene), "utf-8")
    return (str(system_facts().python), "-I", str(work / "ways.py"), str(work / "scene.json"))


def _damage(scene: dict[str, Any]) -> set[str]:
    """What is seen from outside, whatever was said inside."""
    outside = Path(scene["outside"])
    found = set[str]()
    if (outside / "canary").read_text("utf-8") != scene["word"]:
        found.add("writing outside by a link")
    if {path.name for path in outside.iterdir()} != {"canary", "s"}:
        found.add("writing outside")
    return found


def _listening(stack: contextlib.ExitStack, family: int, address: Any) -> socket.socket:
    made = stack.enter_context(socket.socket(family, socket.SOCK_STREAM))
    made.bind(address)
    made.listen(8)
    return made
