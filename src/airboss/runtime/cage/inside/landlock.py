"""Landlock: which folders a process and all that it starts may read and write, by the kernel."""

from __future__ import annotations

import posix
import struct

from airboss.runtime.cage.inside import libc

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION, _BELOW = 1, 1
_NO_NEW_PRIVILEGES = 38
_KIND, _FOLDER = 0o170000, 0o040000

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_TRUNCATE, _DEVICE_CALLS = 1 << 14, 1 << 15
_READ = _EXECUTE | _READ_FILE | _READ_FOLDER
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CALLS
# How many rights each version knows; those that are newer add none of these.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_SCOPED_SINCE = 6
_NETWORK_SINCE = 4
# Sockets without a name in the file system, and signals, end at this process's own domain.
_SCOPES = 3
_PORTS = 3
NARROW_NEEDS = 6


def version() -> int:
    """That of this kernel; 0 where it has none, or has it turned off."""
    return max(0, libc.tried("syscall", _CREATE, None, 0, _VERSION))


def rights(known: int) -> tuple[int, int]:
    """Those to handle, and those of a folder that may be written: no device is made anywhere."""
    handled = (1 << _RIGHTS[min(known, 5)]) - 1
    return handled, handled & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE)


def put_up(read: list[str], write: list[str], listed: list[str], *, network: bool) -> None:
    """From now on nothing but these is there. What does not exist is left out. Without `network`,
    no port is listened at or connected to."""
    known = version()
    handled, writing = rights(known)
    ports = 0 if network or known < _NETWORK_SINCE else _PORTS
    said = struct.pack("QQQ", handled, ports, _SCOPES if known >= _SCOPED_SINCE else 0)
    said = said[: 24 if known >= _SCOPED_SINCE else 16 if known >= _NETWORK_SINCE else 8]
    rules = libc.call("landlock_create_ruleset", "syscall", _CREATE, said, len(said), 0)
    for paths, mask in ((read, _READ), (write, writing), (listed, _READ_FOLDER)):
        for path in paths:
            _allow(rules, path, mask & handled)
    libc.call("no_new_privs", "prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.call("landlock_restrict_self", "syscall", _RESTRICT, rules, 0)
    posix.close(rules)


def _allow(rules: int, path: str, mask: int) -> None:
    try:
        place = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
    except OSError:
        return
    try:
        if posix.fstat(place).st_mode & _KIND != _FOLDER:
            mask &= _OF_A_FILE
        rule = struct.pack("=Qi", mask, place)
        libc.call(f"landlock_add_rule {path}", "syscall", _ADD, rules, _BELOW, rule, 0)
    finally:
        posix.close(place)
