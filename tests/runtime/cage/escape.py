"""The scene outside a cage, and ways out tried: `python -m … KIND FOLDER [WALL…] [-- NAME…]`.

A program, so that it can be run by an ordinary user. It says as JSON what got through without a
cage and in one, with the named walls taken away, and what of the scene was changed. Where some of
the ways are named, only these are tried, and only in the cage.
"""

import asyncio
import contextlib
import ctypes
import json
import marshal
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from airboss.cage_settings import CageProfile
from airboss.runtime.cage.attempt import Attempted, run
from airboss.runtime.cage.life import CONFIG, Caged, CageLife
from airboss.runtime.cage.plan import CageKind, CagePlan
from airboss.runtime.cage.system import system_facts
from tests.runtime.cage.attempt_table import Scene
from tests.runtime.cage.attempts import ATTEMPTS

CODE: Final = Path(__file__).parent
# Each wall, and the options of bubblewrap that it is made of, with how many words follow each.
NAMESPACES: Final = {
    "net": {"--unshare-net": 0},
    "pid": {"--unshare-pid": 0},
    "ipc": {"--unshare-ipc": 0},
    "uts": {"--unshare-uts": 0, "--hostname": 1},
    "cgroup": {"--unshare-cgroup-try": 0},
    "user": {"--unshare-user": 0, "--uid": 1, "--gid": 1, "--disable-userns": 0},
}


@contextlib.contextmanager
def staged(folder: Path) -> Generator[Scene]:
    """Everything that somebody inside could want, with somebody who answers."""
    word = f"canary-{secrets.token_hex(8)}"
    work, home, data, outside = (folder / name for name in ("work", "home", "data", "outside"))
    for place in (work, home / ".ssh", data / "cages/other/state", outside):
        place.mkdir(parents=True)
    _write(word, home / ".ssh/id", data / "airboss.db", data / "cages/other/state/s")
    _write(word, outside / "canary", outside / "long", outside / "doomed", outside / "named")
    _write("# mine\n", home / ".bashrc", data / "cages/other/walls")
    (outside / "canary").chmod(0o600)
    temporary = folder / "temporary"
    _write(word, temporary)
    (work / "link").symlink_to(home / ".ssh/id")
    (work / "link-to-canary").symlink_to(outside / "canary")
    (work / "link-to-socket").symlink_to(home / "s")
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    _copy_code(work)
    libc = ctypes.CDLL(None)
    queue = libc.msgget(0, 0o600)
    _, terminal = os.openpty()
    with _listening(home, word) as ports, (home / ".ssh/id").open("rb") as key:
        victim = subprocess.Popen(
            [_python(), "-c", "import time; time.sleep(600)", "a-canary-that-sleeps"],
            cwd=home,
            env={"CANARY": word},
            stdin=key,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            yield Scene(
                word=word,
                machine=socket.gethostname(),
                work=str(work),
                home=str(home),
                data=str(data),
                outside=str(outside),
                temporary=str(temporary),
                victim=victim.pid,
                queue=queue,
                terminal=os.ttyname(terminal),
                **ports,
            )
        finally:
            victim.kill()
            victim.communicate()
            libc.msgctl(queue, 0, None)


def _write(words: str, *paths: Path) -> None:
    for path in paths:
        path.write_text(words, "utf-8")


def _python() -> str:
    return str(system_facts().python)


def _copy_code(work: Path) -> None:
    target = work / "code" / "tests" / "runtime" / "cage"
    target.mkdir(parents=True)
    for path in CODE.glob("*attempt*.py"):
        if not path.name.startswith("test_"):
            shutil.copy(path, target)


@contextlib.contextmanager
def _listening(home: Path, word: str) -> Generator[dict[str, Any]]:
    with contextlib.ExitStack() as stack:

        def opened(family: int, kind: int, address: Any) -> socket.socket:
            made = stack.enter_context(socket.socket(family, kind))
            made.bind(address)
            if kind == socket.SOCK_STREAM:
                made.listen(64)
            return made

        inet = opened(socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", 0))  # noqa: S104
        six = opened(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
        datagrams = opened(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        opened(socket.AF_UNIX, socket.SOCK_STREAM, str(home / "s"))
        opened(socket.AF_UNIX, socket.SOCK_DGRAM, str(home / "d"))
        opened(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{word}-nobody")
        answering = threading.Thread(target=_answer, args=(datagrams,), daemon=True)
        answering.start()
        yield {
            "port": inet.getsockname()[1],
            "port_six": six.getsockname()[1],
            "datagrams": datagrams.getsockname()[1],
            "stream_socket": str(home / "s"),
            "datagram_socket": str(home / "d"),
            "abstract": f"{word}-nobody",
        }
        with contextlib.suppress(OSError):
            datagrams.shutdown(socket.SHUT_RDWR)
        answering.join(2)


def _answer(datagrams: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            said, back = datagrams.recvfrom(16)
            if not said:
                return
            datagrams.sendto(b"pong", back)


def command_in(scene: Scene, names: tuple[str, ...] = ()) -> tuple[str, ...]:
    work = Path(scene.work)
    (work / "scene.json").write_text(json.dumps(asdict(scene)), "utf-8")
    begin = f"import sys; sys.path.insert(0, {str(work / 'code')!r}); "
    begin += "from tests.runtime.cage import attempts; attempts.main()"
    out = work / "out.json"
    out.unlink(missing_ok=True)
    return (_python(), "-I", "-c", begin, str(work / "scene.json"), str(out), *names)


def answers_in(scene: Scene) -> dict[str, dict[str, Any]]:
    return json.loads(Path(scene.work, "out.json").read_text("utf-8"))


def uncaged(scene: Scene) -> dict[str, dict[str, Any]]:
    environ = {**os.environ, "CANARY": scene.word}
    subprocess.run(command_in(scene), check=True, env=environ, start_new_session=True)
    return answers_in(scene)


def damage(scene: Scene, *, is_narrow: bool = False) -> list[str]:
    """What of the scene is not as it was, seen from outside."""
    outside, home, data = Path(scene.outside), Path(scene.home), Path(scene.data)
    whole = {path.name for path in outside.iterdir()}
    changed = [
        str(path)
        for path in (outside / "canary", outside / "long", Path(scene.temporary))
        if path.read_text("utf-8") != scene.word
    ]
    if whole != {"canary", "long", "doomed", "named"}:
        changed.append(f"outside has {sorted(whole)}")
    if (home / ".bashrc").read_text("utf-8") != "# mine\n":
        changed.append("the home was written")
    if (data / "airboss.db").read_text("utf-8") != scene.word:
        changed.append("the data folder was written")
    if not (data / "cages/other/walls").read_text("utf-8"):
        changed.append("the walls of another cage")
    if not is_narrow and (outside / "canary").stat().st_mode & 0o777 != 0o600:
        changed.append("a mode")
    return changed


def take_away(life: CageLife, walls: tuple[str, ...]) -> None:
    """From a cage that is open and not started."""
    said = life.folders.doors / CONFIG
    config = marshal.loads(said.read_bytes())  # noqa: S302 - written by us
    options = life.folders.walls.read_text("utf-8").split("\0")[:-1]
    for wall in walls:
        match wall:
            case "seccomp":
                config["seccomp"] = False
            case "landlock":
                config["landlock"] = None
            case "mounts":
                config["mounted"] = []  # the warden would see other folders there, and refuse
                all_of_it = str(life.plan.cwd.parent)
                at = options.index("--chdir") - 2  # before the root is closed
                options[at:at] = ["--bind", all_of_it, all_of_it]
            case "proc":
                at = options.index("/proc", options.index("--remount-ro"))
                del options[at - 1 : at + 1]
            case "git":
                config["mounted"] = []
                options = _without_git(options)
            case "capabilities":
                config["drops_capabilities"] = False
                options[options.index("--cap-drop")] = "--cap-add"
            case _:
                options = _without(options, NAMESPACES[wall])
    said.write_bytes(marshal.dumps(config))
    life.folders.walls.write_text("".join(f"{word}\0" for word in options), "utf-8")


def _without(options: list[str], unwanted: dict[str, int]) -> list[str]:
    for option, words in unwanted.items():
        if option in options:
            at = options.index(option)
            options = [*options[:at], *options[at + 1 + words :]]
    return options


def _without_git(options: list[str]) -> list[str]:
    kept: list[str] = []
    at = 0
    while at < len(options):
        is_git = options[at] in {"--bind", "--ro-bind"} and "/.git" in options[at + 1]
        kept += [] if is_git else [options[at]]
        at += 3 if is_git else 1
    return kept


def plan_for(scene: Scene, kind: CageKind, **terms: Any) -> CagePlan:
    return CagePlan(kind, "default", CageProfile(**terms), Path(scene.work), "own")


async def caged(
    scene: Scene, kind: CageKind, without: tuple[str, ...] = (), names: tuple[str, ...] = ()
) -> dict[str, dict[str, Any]]:
    life = CageLife(plan_for(scene, kind), Path(scene.data))
    outer = await life.open(Caged(command_in(scene, names)))
    try:
        take_away(life, without)
        ended: Attempted = await run(life, outer, os.environ)
    finally:
        await life.close()
    if ended.code:
        raise AssertionError(f"{ended.code}: {ended.output!r} {ended.errors!r}")
    return answers_in(scene)


def through(answers: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, answer in answers.items() if answer["through"]]


def main() -> None:
    kind, folder, *rest = sys.argv[1:]
    walls, names = (
        (rest[: rest.index("--")], rest[rest.index("--") + 1 :]) if "--" in rest else (rest, [])
    )
    os.environ["CANARY"] = "nothing"
    found: dict[str, Any] = {"attempts": len(ATTEMPTS)}
    with staged(Path(folder) / "caged") as scene:
        os.environ["SECRET_CANARY"] = scene.word
        how: CageKind = "narrow" if kind == "narrow" else "strong"
        answers = asyncio.run(caged(scene, how, tuple(walls), tuple(names)))
        found |= {"caged": answers, "damage": damage(scene, is_narrow=kind == "narrow")}
    if not names:
        with staged(Path(folder) / "free") as scene:
            found |= {"free": uncaged(scene), "user": os.geteuid()}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
