"""A few ways out of a cage, tried from inside to show that none of them leads out.

`python ways.py SCENE` says as JSON which got through. Each has a process of its own, since a wall
may end it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SECONDS = 3
_NEW_USER = 0x10000000
_TRACE_ME = 0
_DETACH = 2


def data_folder(scene: dict[str, Any]) -> object:
    folders: list[str] = scene["data"]
    return [os.listdir(folder) for folder in folders if os.path.exists(folder)]


def file_outside(scene: dict[str, Any]) -> object:
    return Path(scene["outside"], "canary").read_text("utf-8")


def writing_outside(scene: dict[str, Any]) -> object:
    return Path(scene["outside"], "made").write_text("made", "utf-8")


def writing_by_a_link(scene: dict[str, Any]) -> object:
    with Path(scene["work"], "link").open("a", encoding="utf-8") as file:
        return file.write("more")


def secrets_of_the_environment(scene: dict[str, Any]) -> object:
    return scene["word"] in os.environ.values()


def network(scene: dict[str, Any]) -> object:
    with socket.create_connection(("127.0.0.1", scene["port"]), timeout=1) as reached:
        return reached


def socket_of_a_program(scene: dict[str, Any]) -> object:
    return _reached(scene["socket"])


def abstract_socket(scene: dict[str, Any]) -> object:
    return _reached("\0" + scene["word"])


def processes_of_others(scene: dict[str, Any]) -> object:
    said = Path("/proc", str(scene["victim"]), "cmdline").read_bytes()
    return scene["word"].encode() in said


def wire_of_the_runtime(scene: dict[str, Any]) -> object:
    """Of the processes around it: what is written there, the server takes for the runtime's."""
    for path in (f"/proc/{pid}/fd/{number}" for pid in (1, scene["victim"]) for number in (0, 1)):
        try:
            if os.readlink(path).startswith("pipe:"):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                return True
        except OSError:
            continue
    return False


def signals_to_others(scene: dict[str, Any]) -> object:
    os.kill(scene["victim"], 0)
    return processes_of_others(scene)


def ptrace(scene: dict[str, Any]) -> object:
    del scene
    return _libc("ptrace", _TRACE_ME, 0, 0, 0)


def mount(scene: dict[str, Any]) -> object:
    place = str(Path(scene["work"], "place")).encode()
    return _libc("mount", b"none", place, b"tmpfs", 0, None) and _libc("umount2", place, _DETACH)


def namespace(scene: dict[str, Any]) -> object:
    del scene
    return _libc("unshare", _NEW_USER)


WAYS: dict[str, Callable[[dict[str, Any]], object]] = {
    "reading the data folder": data_folder,
    "reading a file outside": file_outside,
    "writing outside": writing_outside,
    "writing outside by a link": writing_by_a_link,
    "secrets of the environment": secrets_of_the_environment,
    "the network": network,
    "the socket of another program": socket_of_a_program,
    "a socket without a path": abstract_socket,
    "seeing other processes": processes_of_others,
    "signals to other processes": signals_to_others,
    "the wire of the runtime": wire_of_the_runtime,
    "ptrace": ptrace,
    "a mount": mount,
    "a namespace of its own": namespace,
}


def gets_through(way: Callable[[dict[str, Any]], object], scene: dict[str, Any]) -> bool:
    pid = os.fork()
    if pid == 0:
        signal.alarm(_SECONDS)
        try:
            os._exit(0 if way(scene) else 1)
        except BaseException:  # noqa: BLE001 - whatever it is, it did not get through
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _reached(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(1)
        made.connect(address)
        return True


def _libc(name: str, *arguments: Any) -> bool:
    return getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) == 0


def main() -> None:
    scene = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    sys.stdout.write(json.dumps([name for name, way in WAYS.items() if gets_through(way, scene)]))


if __name__ == "__main__":
    main()
