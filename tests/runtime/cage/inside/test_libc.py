"""Calls of the C library that are made without `ctypes`."""

import os

import pytest

from airboss.runtime.cage.inside import libc


def test_a_call_returns_what_the_library_says() -> None:
    assert libc.call("it", "getpid") == os.getpid()
    assert libc.tried("close", -1) == -1


def test_a_call_that_fails_says_what_and_why() -> None:
    with pytest.raises(OSError, match="the lock: Bad file descriptor"):
        libc.call("the lock", "close", -1)


def test_letters_are_where_they_are_said_to_be() -> None:
    said = b"these letters"
    read, write = os.pipe()
    try:
        # By its address the kernel finds the same: no copy is made.
        moved = (libc.address_of(said)).to_bytes(8, "little") + len(said).to_bytes(8, "little")
        assert libc.call("writev", "writev", write, moved, 1) == len(said)
        assert os.read(read, 64) == said
    finally:
        os.close(read)
        os.close(write)
