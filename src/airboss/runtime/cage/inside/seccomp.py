"""The filter of system calls: a program for the kernel, made from the table, and put up."""

from __future__ import annotations

import struct

from airboss.runtime.cage.inside import libc, syscalls

ALLOW = 0x7FFF0000
KILL = 0x80000000
EPERM, ENOSYS, EOPNOTSUPP, EAFNOSUPPORT = 1, 38, 95, 97
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
STREAM, SEQUENCE = 1, 5

_LOAD, _EQUAL, _AT_LEAST, _HAS, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
# Where the kernel has what a filter looks at: the number, the architecture, the arguments.
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST, _SECOND = 16, 24
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_TYPE = 0xF
_SET_USER_ID = 0o4000
# O_CREAT and O_TMPFILE: without them whatever stands in the place of a mode means nothing.
_CREATES = 0o100 | 0o20000000
# They put words into a terminal as if somebody had typed them.
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
# They make a copy of all that a disk has, below any folder of it: two of btrfs, one of bcachefs.
# Only the kind and the number in it say which request it is.
_SNAPSHOTS = (0x9401, 0x9417, 0xBC10)
_REQUEST = 0xFFFF
# Whoever opens a file that has one waits for its holder, also outside. Those of files, and those
# that newer kernels also have of folders.
_LEASES = (1024, 1040)
# Where the kernel finds the words and the environment of a process: who looks at them from outside
# would read as much as it likes.
_SET_MEMORY_MAP = (35,)
_NO_NEW_PRIVILEGES = 38
_SET_FILTER = 1


def _said(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("HBBI", code, yes, no, value & 0xFFFFFFFF)


def _refuse(error: int) -> bytes:
    return _said(_RETURN, 0x00050000 | error)


def _only_these_sockets(number: int, families: list[int]) -> list[bytes]:
    """Other families than these are not there. Left with the number loaded again."""
    tests = [_said(_EQUAL, family, yes=len(families) - at) for at, family in enumerate(families)]
    inner = [_said(_LOAD, _FIRST), *tests, _refuse(EAFNOSUPPORT), _said(_LOAD, _NUMBER)]
    return [_said(_EQUAL, number, no=len(inner)), *inner]


def _only_connected(number: int) -> list[bytes]:
    """Datagrams need no `connect` to reach the socket of a service. A raw socket of a path is one
    of datagrams as well."""
    inner = [
        _said(_LOAD, _SECOND),
        _said(_AND, _TYPE),
        *(_said(_EQUAL, STREAM, yes=2), _said(_EQUAL, SEQUENCE, yes=1)),
        _refuse(EPERM),
        _said(_LOAD, _NUMBER),
    ]
    return [_said(_EQUAL, number, no=len(inner)), *inner]


def _without(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Refused where the argument is one of these."""
    inner = [_said(_LOAD, argument)]
    for value in values:
        inner += [_said(_EQUAL, value, no=1), _refuse(EPERM)]
    inner.append(_said(_LOAD, _NUMBER))
    return [_said(_EQUAL, number, no=len(inner)), *inner]


def _no_rights_of_the_owner(machine: str) -> list[bytes]:
    """No file becomes a program that runs with the rights of its owner, which is the server's user:
    outside, anybody could start it."""
    parts: list[bytes] = []
    for number, mode, flags in syscalls.MODES[machine].values():
        inner = [_said(_LOAD, _FIRST + 8 * mode), _said(_HAS, _SET_USER_ID, no=1), _refuse(EPERM)]
        if flags is not None:
            inner = [_said(_LOAD, _FIRST + 8 * flags), _said(_HAS, _CREATES, no=len(inner)), *inner]
        inner.append(_said(_LOAD, _NUMBER))
        parts += [_said(_EQUAL, number, no=len(inner)), *inner]
    return parts


def _apart(machine: str) -> list[bytes]:
    """What namespaces do elsewhere: nothing that others have, and no other process."""
    parts: list[bytes] = []
    for number in syscalls.SHARED[machine].values():
        parts += [_said(_EQUAL, number, no=1), _refuse(ENOSYS)]
    for number in syscalls.ATTRIBUTES[machine].values():
        # As by a disk that has none: who copies a file then does without.
        parts += [_said(_EQUAL, number, no=1), _refuse(EOPNOTSUPP)]
    for number, bounds in syscalls.NAMING[machine].values():
        inner: list[bytes] = []
        for argument, bound in bounds.items():
            inner += [_said(_LOAD, _FIRST + 8 * argument), _said(_AT_LEAST, bound, no=1)]
            inner.append(_refuse(EPERM))
        inner.append(_said(_LOAD, _NUMBER))
        parts += [_said(_EQUAL, number, no=len(inner)), *inner]
    return parts


def _no_requests(number: int) -> list[bytes]:
    """To devices and disks. Left with something else loaded than the number."""
    inner = [
        _said(_LOAD, _SECOND),
        *(_said(_EQUAL, _TIOCSTI, yes=1), _said(_EQUAL, _TIOCLINUX, no=1), _refuse(EPERM)),
        _said(_AND, _REQUEST),
    ]
    for snapshot in _SNAPSHOTS:
        inner += [_said(_EQUAL, snapshot, no=1), _refuse(EPERM)]
    return [_said(_EQUAL, number, no=len(inner)), *inner]


def program(machine: str, *, network: bool, debuggers: bool) -> bytes:
    """The filter. Without `network`, which only a cage without namespaces is, there is no way to a
    socket that somebody else has, or to another process."""
    calls = syscalls.CALLS[machine]
    parts = [
        _said(_LOAD, _ARCHITECTURE),
        _said(_EQUAL, syscalls.ARCHITECTURES[machine], yes=1),
        _said(_RETURN, KILL),
        _said(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        parts += [_said(_AT_LEAST, _X32, no=1), _refuse(ENOSYS)]
    for name, number in syscalls.refused(machine, debuggers=debuggers).items():
        error = ENOSYS if name in syscalls.UNKNOWN else EPERM
        parts += [_said(_EQUAL, number, no=1), _refuse(error)]
    parts += [
        *(_said(_EQUAL, calls["clone"], no=4), _said(_LOAD, _FIRST)),
        *(_said(_HAS, _NEW_NAMESPACES, no=1), _refuse(EPERM), _said(_LOAD, _NUMBER)),
    ]
    parts += _no_rights_of_the_owner(machine)
    parts += _without(calls["fcntl"], _SECOND, _LEASES)
    parts += _without(calls["prctl"], _FIRST, _SET_MEMORY_MAP)
    parts += _only_these_sockets(calls["socketpair"], [UNIX])
    if network:
        parts += _only_these_sockets(calls["socket"], [UNIX, INET, INET6, NETLINK])
    else:
        parts += [_said(_EQUAL, calls["connect"], no=1), _refuse(EPERM)]
        parts += _only_these_sockets(calls["socket"], [UNIX])
        parts += _only_connected(calls["socket"]) + _only_connected(calls["socketpair"])
        parts += _apart(machine)
    parts += [*_no_requests(calls["ioctl"]), _said(_RETURN, ALLOW)]
    return b"".join(parts)


def put_up(machine: str, *, network: bool, debuggers: bool) -> None:
    """From now on, for this process and all that it starts."""
    made = program(machine, network=network, debuggers=debuggers)
    said = struct.pack("HxxxxxxQ", len(made) // 8, libc.address_of(made))
    libc.call("no_new_privs", "prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.call("seccomp", "syscall", syscalls.CALLS[machine]["seccomp"], _SET_FILTER, 0, said)
