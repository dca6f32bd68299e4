"""Runs the ways out: `python -m tests.runtime.cage.attempts SCENE OUT [NAME…]`, in a cage or not.

Each has a process of its own, since some end it. What was written is seen from outside as well.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

from tests.runtime.cage import file_attempts, kernel_attempts, network_attempts
from tests.runtime.cage.attempt_table import ATTEMPTS, Attempt, Scene

# Known by the table once they are imported.
MODULES: Final = (file_attempts, kernel_attempts, network_attempts)
_SECONDS: Final = 10


def tried(one: Attempt, scene: Scene) -> dict[str, Any]:
    """In a process of its own."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        signal.alarm(_SECONDS)
        try:
            through, said = bool(one.act(scene)), ""
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is the answer
            through, said = False, f"{type(error).__name__}: {error}"
        os.write(write, json.dumps({"through": through, "said": said[:300]}).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        answer = answers.read()
    _, status = os.waitpid(pid, 0)
    ended = {"through": False, "said": f"ended: {os.waitstatus_to_exitcode(status)}"}
    return json.loads(answer) if answer else ended


def main() -> None:
    scene = Scene(**json.loads(Path(sys.argv[1]).read_text("utf-8")))
    names = sys.argv[3:] or list(ATTEMPTS)
    found = {name: tried(ATTEMPTS[name], scene) for name in names}
    out = Path(sys.argv[2])
    out.with_suffix(".new").write_text(json.dumps(found), "utf-8")
    out.with_suffix(".new").rename(out)  # whole, or not there


if __name__ == "__main__":
    main()
