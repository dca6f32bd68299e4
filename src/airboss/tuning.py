"""What we do to Python and the C library for the server's memory and start, and how to leave it.

`PARTS` lists all of it; docs/operating.md has what each saves. `AIRBOSS_NO_TUNING` names parts that
are left off, with commas between them, or is `all`: for whoever looks for a fault, or measures.
Nothing else changes with it.
"""

import contextlib
import gc
import os
import sys
from collections.abc import Generator, Mapping
from typing import Any, Final

VARIABLE: Final = "AIRBOSS_NO_TUNING"
ALL: Final = "all"
PARTS: Final[Mapping[str, str]] = {
    "lean-sdk": "The SDK's generated data classes are made without `__eq__` and `__repr__`, and "
    "without what describes their fields.",
    "one-heap": "glibc has one heap for all threads (`mallopt`).",
    "give-back": "Memory that loading the SDK needed is given back (`malloc_trim`).",
    "large-apart": "What is large has pages of its own, given back when it is freed (`mallopt`).",
    "one-pydantic": "Pydantic's first version is left out (`sys.modules`). FastAPI would load it, "
    "to ask of each class of ours whether it is one of that.",
    "freeze": "What stays for good is not looked through for garbage (`gc.freeze`), nor is an "
    "entry while it is read.",
}

_M_ARENA_MAX: Final = -8
_M_MMAP_THRESHOLD: Final = -3
_M_TRIM_THRESHOLD: Final = -1
# What is as large as this has pages of its own. Said by us, it does not rise with the largest that
# was ever freed. With a quarter of it a task takes 5 % more CPU time.
_LARGE_BYTES: Final = 512 * 1024
# So much of what is smaller is kept for the next.
_SPARE_BYTES: Final = 4 * 1024 * 1024


def is_on(part: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Words that name no part are for `unknown_parts` to say."""
    left_off = _named(environ)
    return not left_off & {ALL, part}


def unknown_parts(environ: Mapping[str, str] = os.environ) -> list[str]:
    """What the variable names and nobody knows: a typing error would go unseen."""
    return sorted(_named(environ) - {ALL, *PARTS})


def _named(environ: Mapping[str, str]) -> set[str]:
    return {word for part in environ.get(VARIABLE, "").split(",") if (word := part.strip())}


def share_one_heap() -> None:
    """Before any thread begins: each would get a heap of its own, and all but one of them wait for
    Python's lock anyway."""
    if is_on("one-heap"):
        with contextlib.suppress(OSError, AttributeError, TypeError):
            _c_library().mallopt(_M_ARENA_MAX, 1)


def keep_large_apart() -> None:
    """Else glibc would keep what a flood of output needed for the next one."""
    if is_on("large-apart"):
        with contextlib.suppress(OSError, AttributeError, TypeError):
            library = _c_library()
            library.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
            library.mallopt(_M_TRIM_THRESHOLD, _SPARE_BYTES)


def leave_out_unused() -> None:
    """Before FastAPI is loaded, which does without where this is not to be had."""
    if is_on("one-pydantic"):
        sys.modules.setdefault("pydantic.v1", None)  # type: ignore[arg-type]  # Python's own way


def give_back_freed() -> None:
    """After something large, done once: glibc would keep what that needed for the next time."""
    if is_on("give-back"):
        with contextlib.suppress(OSError, AttributeError, TypeError):
            _c_library().malloc_trim(0)


def keep_for_good() -> None:
    """All that is there now stays: to look through it for garbage, again and again, would hold the
    event loop up each time."""
    if is_on("freeze"):
        gc.freeze()


def _c_library() -> Any:
    import ctypes  # late: commands that need no server need none of it

    return ctypes.CDLL(None)


@contextlib.contextmanager
def unsearched() -> Generator[None]:
    """What is made meanwhile is no garbage, and the more there is, the longer a search takes: it
    would make reading something large more expensive for each part of it."""
    if not is_on("freeze") or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def making_what_stays() -> Generator[None]:
    """What is made meanwhile is large, stays for long and has no cycles."""
    with unsearched():
        try:
            yield
        finally:
            keep_for_good()
