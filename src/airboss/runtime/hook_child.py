"""The process in which a hook's Python function runs: its input is given, its answer is written."""

import asyncio
import inspect
import json
import sys
import traceback
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO


def answer(path: str, function: str, digest: str, given: object) -> dict[str, Any]:
    """What the function says. With a digest, a file that holds anything else is not run."""
    content = Path(path).read_bytes()
    if digest and sha256(content).hexdigest() != digest:
        raise SystemExit("The file has changed since the session was opened.")
    names: dict[str, Any] = {"__name__": "airboss_hook", "__file__": path}
    exec(compile(content, path, "exec"), names)  # noqa: S102 - this is what the file is for
    if not callable(names.get(function)):
        raise SystemExit(f"{path} has no function {function}.")
    said = names[function](given)
    if inspect.iscoroutine(said):
        said = asyncio.run(said)
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise SystemExit(f"{function} returned {type(said).__name__}; it should return a dict.")
    return said  # pyright: ignore[reportUnknownVariableType]


def main(output: TextIO) -> None:
    sys.stdout = sys.stderr  # what the function prints is not its answer
    try:
        path, function, digest = sys.argv[1:4]
        said = json.dumps(answer(path, function, digest, json.load(sys.stdin)))
    except Exception as error:  # noqa: BLE001 - a stranger's program, at the border
        sys.stderr.write("".join(traceback.format_exception_only(error)))
        raise SystemExit(1) from None
    output.write(said)
    output.flush()


if __name__ == "__main__":
    main(sys.stdout)
