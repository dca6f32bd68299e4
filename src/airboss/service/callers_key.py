"""A caller's own key for what it asks: asked again with it, through whatever server, it counts
once."""

import asyncio
import contextlib
from collections.abc import Generator
from contextvars import ContextVar
from hashlib import sha256
from typing import Final
from weakref import WeakValueDictionary

_KEY: Final[ContextVar[str | None]] = ContextVar("callers_key", default=None)
_AT_WORK: Final[WeakValueDictionary[str, asyncio.Lock]] = WeakValueDictionary()


@contextlib.contextmanager
def asked_with(key: str | None) -> Generator[None]:
    """The first verb that is called here is asked for with this key."""
    token = _KEY.set(key)
    try:
        yield
    finally:
        _KEY.reset(token)


def take_key(who: str, verb: str, target: str) -> str | None:
    """The name of what is asked now: of this caller, and of nobody else. What is done for it, and
    what begins then, has none."""
    key = _KEY.get()
    if key is None:
        return None
    _KEY.set(None)
    whole = "\0".join((who, verb, target, key))
    return f"key_{sha256(whole.encode()).hexdigest()}"


def lock_of(name: str) -> asyncio.Lock:
    """So that it is not done twice at the same time."""
    return _AT_WORK.setdefault(name, asyncio.Lock())
