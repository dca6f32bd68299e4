"""Runs inside the walls before the runtime: hands the doors out, puts up what is left, becomes it.

A door is a listening socket of the cage whose other end the server holds: nothing forwards inside,
and the server has no port for it. Whatever fails here ends the cage; there is no lesser one.
"""

from __future__ import annotations

import array
import ctypes
import errno
import json
import os
import resource
import signal
import socket
import sys
import time

from airboss.runtime.cage.inside import landlock, seccomp, syscalls

TYPE_CHECKING = False  # `typing` itself would be a third of our start
if TYPE_CHECKING:
    from typing import Any, NoReturn

TAKEN = b"taken"
FAILED = 97
_BACKLOG = 128
_LAST_CAPABILITY = 63
_DROP_BOUND, _CLEAR_AMBIENT, _AMBIENT = 24, 4, 47
_CAPABILITIES_V3 = 0x20080522
_BUSY_LOOKS = 50


def fail(words: str) -> NoReturn:
    sys.stderr.write(f"The cage could not be closed: {words}\n")
    sys.stderr.flush()
    os._exit(FAILED)


def hand_out(hand: str, ports: list[int]) -> None:
    """The doors, to the server; it learns by the same socket which process this is."""
    doors = [_listening(port) for port in ports]
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(hand)
        numbers = array.array("i", [door.fileno() for door in doors])
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if doors else []
        out.sendmsg([b"doors"], rights)
        if out.recv(len(TAKEN)) != TAKEN:
            fail("the server did not take its doors.")
    for door in doors:
        door.close()


def _listening(port: int) -> socket.socket:
    door = socket.socket()
    door.bind(("127.0.0.1", port))
    door.listen(_BACKLOG)
    return door


def drop_capabilities() -> None:
    """Root without them is only the owner of its files. Nothing that is started has them again."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_AMBIENT, _CLEAR_AMBIENT, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        libc.prctl(_DROP_BOUND, capability, 0, 0, 0)
    head = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    if libc.capset(head, (ctypes.c_uint32 * 6)()) < 0:
        raise OSError(ctypes.get_errno(), "capset")


def set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def put_up_walls(said: dict[str, Any]) -> None:
    """In this order: what is put up first must still let the next be put up."""
    machine = os.uname().machine
    network = bool(said["network"])
    if rules := said["landlock"]:
        if landlock.version() < rules["needs"]:
            fail(f"this kernel has no Landlock of version {rules['needs']}.")
        if landlock.version():
            paths = (rules["read"], rules["write"], rules["listed"])
            landlock.put_up(*paths, network=network)
    set_limits(said["limits"])
    drop_capabilities()
    if said["seccomp"]:
        if machine not in syscalls.CALLS:
            fail(f"there is no table of system calls for {machine}.")
        seccomp.put_up(machine, network=network, debuggers=bool(said["debuggers"]))


def become(command: list[str]) -> NoReturn:
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and it would be inherited
        signal.signal(ignored, signal.SIG_DFL)
    for _ in range(_BUSY_LOOKS):
        try:
            os.execvp(command[0], command)  # noqa: S606 - what the server says, behind the walls
        except OSError as error:
            # A fresh copy may still be open for writing, in a child that somebody just forked.
            if error.errno != errno.ETXTBSY:
                fail(f"{command[0]} cannot be run: {error.strerror}.")
            time.sleep(0.02)
    fail(f"{command[0]} is being written.")


def main() -> NoReturn:
    with open(sys.argv[1], encoding="utf-8") as file:
        said = json.load(file)
    try:
        if said["hand"]:
            hand_out(said["hand"], said["ports"])
        os.chdir(said["cwd"])
        put_up_walls(said)
    except OSError as error:
        fail(f"{error.filename or ''} {error.strerror or error}.".lstrip())
    become(said["command"] + sys.argv[2:])
