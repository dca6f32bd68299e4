"""What the host starts, as `python -m airboss.extension PATH/extension.py` would."""

import asyncio
import os
import sys
from pathlib import Path
from typing import NoReturn, cast

from airboss.extension import __version__
from airboss.extension.child import KitProcess, end_with_the_host, moved_streams
from airboss.extension.faults import Fault, read_extension
from airboss.extension.frames import KitFrames
from airboss.extension.place import HostError, KitPlace, enter
from airboss.extension.work import tell

_FAULT, _MISUSE, _REFUSED = 1, 2, 3


def main() -> NoReturn:
    """Ends at once: threads of tools that still run hold nothing up."""
    code = run(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """The exit code of an extension that did not come to live."""
    session = os.environ.get("SESSION_ID", "")
    if len(arguments) != 1 or not session:
        return _say("Airboss starts this, with SESSION_ID. Try `airboss extension test`.", _MISUSE)
    file = Path(arguments[0])
    incoming, outgoing = moved_streams()
    end_with_the_host(incoming)
    sys.stdout = open(  # noqa: SIM115 - as long as the process
        1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    place = KitPlace(session=session, cwd=Path.cwd())
    enter(place)
    try:
        read_extension(file, "extension")
        asyncio.run(_live(place, KitFrames(incoming, outgoing)))
    except Fault as fault:
        return _say(str(fault), _FAULT)
    except BaseException as ended:  # noqa: BLE001 - it has ended, and says why
        error = _first_of(ended)
        if isinstance(error, HostError):
            return _say(f"{file.name}: {error}", _REFUSED)
        tell(error)
        return _say(f"{file.name}: {type(error).__name__}: {error}", _FAULT)
    return 0


def _first_of(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        error = next(
            (one for one in group.exceptions if isinstance(one, HostError)), group.exceptions[0]
        )
    return error


async def _live(place: KitPlace, frames: KitFrames) -> None:
    await KitProcess(place, frames, __version__).live()


def _say(line: str, code: int) -> int:
    sys.stderr.write(f"{line}\n")
    return code


if __name__ == "__main__":
    main()
