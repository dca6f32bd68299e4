"""Calls of the C library, without `ctypes`: its import would be a fifth of the warden's start."""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The program itself, with the library that it was built with.
_US: Any = None


def call(what: str, name: str, *arguments: int | bytes | None) -> int:
    """What it returns; where that is below zero, raises `what` with what the kernel says."""
    said = _called(name, arguments)
    if said < 0:
        why = _why(name, arguments)
        raise OSError(why, f"{what}: {posix.strerror(why)}")
    return said


def tried(name: str, *arguments: int | bytes | None) -> int:
    """What it returns, whatever that is."""
    return _called(name, arguments)


def address_of(data: bytes) -> int:
    """Of its letters, which CPython has behind the head of the object. They are there for as long
    as the object is."""
    return id(data) + bytes.__basicsize__ - 1


def _called(name: str, arguments: tuple[Any, ...]) -> int:
    try:
        import _ctypes  # of which `ctypes` is made

        return _ctypes.call_function(_ctypes.dlsym(_ctypes.dlopen(_US, 0), name), arguments)
    except (ImportError, AttributeError, TypeError):  # another Python than we know
        return _slowly(name, arguments)[0]


def _why(name: str, arguments: tuple[Any, ...]) -> int:
    """Said once more: what failed fails again, and then we learn why."""
    return _slowly(name, arguments)[1]


def _slowly(name: str, arguments: tuple[Any, ...]) -> tuple[int, int]:
    import ctypes

    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    said: int = function(*arguments)
    return said, ctypes.get_errno()
