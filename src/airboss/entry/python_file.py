"""An entry in Python: the program runs in a process of its own, and only its entry comes back."""

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any, Final, TextIO

from airboss.entry.shape import measure, plain_data
from airboss.entry.violations import ROOT, EntryInvalid, EntryUnparsed, Violation

SECONDS: Final = 30
# What a program needs to run at all; secrets of the server's environment stay where they are.
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ")


def run_python(path: Path, prefix: str = "", seconds: float = SECONDS) -> object:
    """What the file exports as `entry`, as JSON has it."""
    import airboss  # found by the child where we have it from

    package = str(Path(airboss.__file__).parent.parent)
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ}
    where = prefix + ROOT
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, on a file that a person trusted
            [sys.executable, "-P", "-B", "-m", "airboss.entry.python_file", str(path.absolute())],
            env={**environ, "PYTHONPATH": package, "PYTHONUTF8": "1"},
            cwd=path.absolute().parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"The program did not end within {seconds:g} seconds."
        raise EntryUnparsed([Violation(where, reason)]) from None
    try:
        told = json.loads(done.stdout)
    except ValueError:
        reason = f"The program ended with exit code {done.returncode}, without an entry."
        raise EntryUnparsed([Violation(where, reason)]) from None
    if "reason" in told:
        place = told.get("line")
        raise EntryUnparsed([Violation(where, told["reason"], line=place, column=place and 1)])
    return told["entry"]


def _run(path: str) -> dict[str, Any]:
    """Inside the child: the entry, or why there is none."""
    names: dict[str, Any] = {"__name__": "airboss_entry", "__file__": path}
    try:
        code = compile(Path(path).read_bytes(), path, "exec")
        exec(code, names)  # noqa: S102 - this is what the file is for
    except SyntaxError as error:
        return {"reason": f"Is not Python: {error.msg}.", "line": error.lineno}
    except SystemExit:
        return {"reason": "The program ended itself before it had an entry."}
    except Exception as error:  # noqa: BLE001 - a stranger's program, at the border
        words = "".join(traceback.format_exception_only(error)).strip()
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == path
        ]
        return {"reason": f"The program failed: {words}", "line": lines[-1] if lines else None}
    if "entry" not in names:
        return {"reason": "The program does not export `entry`."}
    return _wire(names["entry"])


def _wire(entry: object) -> dict[str, Any]:
    try:
        measure(entry, "")
        plain = plain_data(entry)
        json.dumps(plain, allow_nan=False)
    except EntryInvalid as error:
        return {"reason": str(error)}
    except (TypeError, ValueError) as error:
        return {"reason": f"`entry` holds what JSON cannot write: {error}."}
    return {"entry": plain}


def main(output: TextIO) -> None:
    # What the program prints is its own business, and not the entry.
    sys.stdout = sys.stderr
    json.dump(_run(sys.argv[1]), output)
    output.flush()


if __name__ == "__main__":
    main(sys.stdout)
