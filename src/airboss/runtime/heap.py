"""What the C library keeps of our memory, and gives back when told. Other libraries do it alone."""

import contextlib
import ctypes

_M_ARENA_MAX = -8


def share_one_heap() -> None:
    """Before any thread begins: each would get a heap of its own, and all but one of them wait for
    Python's lock anyway."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back_freed() -> None:
    """After something large, done once: glibc would keep what that needed for the next time."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
