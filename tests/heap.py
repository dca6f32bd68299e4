"""The memory of a process that has run tests for a long time. It is no part of what is tested, and
to look for garbage in all of it holds everybody up for tenths of a second."""

import gc


def settle() -> None:
    """What is there by now stays, and is not looked at again."""
    gc.collect()
    gc.freeze()
