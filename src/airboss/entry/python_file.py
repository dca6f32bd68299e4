"""An entry in Python: the program runs in a process of its own, and only its entry comes back."""

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TextIO

from airboss.entry.advice import of_text
from airboss.entry.shape import measure, plain_data
from airboss.entry.violations import ROOT, EntryInvalid, EntryUnparsed, Violation

SECONDS: Final = 30
# What a program needs to run at all; secrets of the server's environment stay where they are.
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ")


@dataclass(frozen=True)
class Program:
    """How the process is started that runs the file. It writes what it found to its output."""

    words: tuple[str, ...]
    environ: Mapping[str, str]
    cwd: Path


def our_program(module: str, *words: str) -> tuple[list[str], dict[str, str]]:
    """The words that start a module of ours by itself, and the environment that it gets."""
    import airboss  # found by the child where we have it from

    package = str(Path(airboss.__file__).parent.parent)
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ}
    # -P: an `airboss.py` in the folder must not stand in for the package.
    begin = [sys.executable, "-P", "-B", "-m", module]
    return [*begin, *words], {**environ, "PYTHONPATH": package, "PYTHONUTF8": "1"}


def program(path: Path, digest: str = "") -> Program:
    """With a digest, a file that holds anything else is not run."""
    whole = path.absolute()
    words, environ = our_program("airboss.entry.python_file", str(whole), digest)
    return Program(tuple(words), environ, whole.parent)


def run_python(path: Path, prefix: str = "", seconds: float = SECONDS) -> object:
    """What the file exports as `entry`, as JSON has it."""
    wanted = program(path)
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter, on a file that a person trusted
            wanted.words,
            env=wanted.environ,
            cwd=wanted.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what it prints is its own business, however much it is
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise unended(seconds, prefix) from None
    return entry_of_output(done.stdout, done.returncode, prefix)


def unended(seconds: float, prefix: str = "") -> EntryUnparsed:
    return _refused(prefix, f"The program did not end within {seconds:g} seconds.")


def too_long(most: int, prefix: str = "") -> EntryUnparsed:
    return _refused(prefix, f"The program's entry is larger than {most >> 20} MiB.")


def _refused(prefix: str, reason: str, line: int | None = None) -> EntryUnparsed:
    column = 1 if line is not None else None
    advice = of_text("python", reason)
    where = prefix + ROOT
    return EntryUnparsed([Violation(where, reason, line=line, column=column, advice=advice)])


def entry_of_output(output: bytes, code: int | None, prefix: str = "") -> object:
    """What the process found: the entry, or an error that says why there is none."""
    try:
        said = json.loads(output)
    except ValueError:
        reason = f"The program ended with exit code {code}, without an entry."
        raise _refused(prefix, reason) from None
    if "reason" in said:
        raise _refused(prefix, said["reason"], said.get("line"))
    return said["entry"]


def _run(path: str, digest: str) -> dict[str, Any]:
    """Inside the child: the entry, or why there is none."""
    names: dict[str, Any] = {"__name__": "airboss_entry", "__file__": path}
    try:
        content = Path(path).read_bytes()
        if digest and sha256(content).hexdigest() != digest:
            return {"reason": "The file changed while it was read."}
        exec(compile(content, path, "exec"), names)  # noqa: S102 - this is what the file is for
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
    sys.stdout = sys.stderr  # what the program prints is not the entry
    json.dump(_run(*sys.argv[1:3]), output)
    output.flush()


if __name__ == "__main__":
    main(sys.stdout)
