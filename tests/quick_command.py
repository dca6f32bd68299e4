"""The command `airboss` for a shell, out of the nursery: a file that asks this process for it.

What runs is the command itself, with the streams, the folder and the environment that the shell
gave it; only its imports are saved. `python -m airboss`, by which a rehearsal starts its server, is
the same. Where there is no `/proc`, an interpreter starts for each.
"""

import json
import socket
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.nursery import Streams, can_be_forked, the_nursery

_FILE = """\
#!{python} -IS
import json, os, signal, socket, sys

words = sys.argv[1:]
if sys.argv[0].endswith("python"):
    if words[:3] != ["-P", "-m", "airboss"]:
        os.execv({python!r}, [{python!r}, *words])
    words = words[3:]
asked = {{"words": words, "cwd": os.getcwd(), "pid": os.getpid()}}
asked["environ"] = dict(os.environ)
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
heard = line.makefile("rw")
print(json.dumps(asked), file=heard, flush=True)
pid = int(heard.readline())
if not pid:
    os.execv({python!r}, [{python!r}, "-P", "-m", "airboss", *words])
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, frame: os.kill(pid, number))
code = int(heard.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def quick_command_in(folder: Path) -> Generator[Path]:
    """A folder for `PATH` that has the command, and the Python that it starts servers with."""
    folder.mkdir(parents=True, exist_ok=True)
    # The address of such a socket has room for some hundred characters only.
    with TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as listening:
        address = str(Path(short, "asked"))
        listening.bind(address)
        listening.listen()
        threading.Thread(target=_answer_all, args=(listening,), daemon=True).start()
        for name in ("airboss", "python"):
            file = folder / name
            file.write_text(_FILE.format(python=sys.executable, address=address), encoding="utf-8")
            file.chmod(0o755)
        yield folder
        listening.shutdown(socket.SHUT_RDWR)


def _answer_all(listening: socket.socket) -> None:
    while True:
        try:
            line, _ = listening.accept()
        except OSError:  # it was closed: the test is over
            return
        threading.Thread(target=_answer, args=(line,), daemon=True).start()


def _answer(line: socket.socket) -> None:
    with line, line.makefile("rw") as heard:
        asked: dict[str, Any] = json.loads(heard.readline())
        environ: dict[str, str] = asked["environ"]
        if not Path("/proc/self/fd").exists() or not can_be_forked(environ):
            print(0, file=heard, flush=True)
            return
        said, out, wrong = (f"/proc/{asked['pid']}/fd/{number}" for number in range(3))
        streams = Streams(said, out, wrong)
        child = the_nursery().fork(tuple(asked["words"]), environ, Path(asked["cwd"]), streams)
        print(child.pid, file=heard, flush=True)
        print(child.wait(300), file=heard, flush=True)
