"""Runs inside the walls before the runtime: hands the doors out, puts up what is left, leaves the
starter of programs behind, becomes the runtime.

A door is a listening socket of the cage whose other end the server holds: nothing forwards inside,
and the server has no port for it. Whatever fails here ends the cage; there is no lesser one.
"""

from __future__ import annotations

import _socket
import errno
import posix  # of which `os` is made
import resource
import struct
import sys
import time

from airboss.runtime.cage.inside import landlock, libc, seccomp, syscalls

TYPE_CHECKING = False  # `typing` itself would be a third of our start
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn
else:
    import _signal as signal  # the same functions and numbers, without the names' classes

TAKEN = b"taken"
FAILED = 97
_BACKLOG = 128
_LAST_CAPABILITY = 63
_DROP_BOUND, _CLEAR_AMBIENT, _AMBIENT = 24, 4, 47
_CAPABILITIES_V3 = 0x20080522
_SET_DEATH_SIGNAL, _SET_DUMPABLE = 1, 4
_BUSY_LOOKS = 50


def fail(words: str) -> NoReturn:
    sys.stderr.write(f"The cage could not be closed: {words}\n")
    sys.stderr.flush()
    end()


def end() -> NoReturn:
    """At once, with nothing of Python's own end."""
    import os  # seldom needed: it would be a fifth of our start

    os._exit(FAILED)


def look_at_mounts(mounted: list[tuple[str, int, int]]) -> None:
    """Whether each is what the server had looked at: it was mounted by its path, and another cage
    may write around that."""
    for path, device, number in mounted:
        found = posix.stat(path)
        if (found.st_dev, found.st_ino) != (device, number):
            fail(f"{path} was replaced meanwhile. Try again.")


def hand_out(hand: str, ports: list[int]) -> _socket.socket:
    """The doors, and behind them one end of the socket over which programs are asked for; the
    other is returned. The server learns by the same way which process this is."""
    asked, asking = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
    handed = [*(_listening(port) for port in ports), asking]
    folder, _, name = hand.rpartition("/")
    posix.chdir(folder)  # a path in a deep folder is too long for a socket
    out = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    out.connect(name)
    numbers = struct.pack(f"{len(handed)}i", *(one.fileno() for one in handed))
    out.sendmsg([b"doors"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
    if out.recv(len(TAKEN)) != TAKEN:
        fail("the server did not take its doors.")
    for used in (out, *handed):
        used.close()
    return asked


def _listening(port: int) -> _socket.socket:
    door = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    door.bind(("127.0.0.1", port))
    door.listen(_BACKLOG)
    return door


def take_wire(numbers: tuple[int, ...]) -> None:
    """What comes in and goes out, where the processes around us had nothing of it."""
    for target, number in enumerate(numbers):
        posix.dup2(number, target)
        posix.close(number)


def drop_capabilities() -> None:
    """Root without them is only the owner of its files. Nothing that is started has them again."""
    libc.tried("prctl", _AMBIENT, _CLEAR_AMBIENT, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        libc.tried("prctl", _DROP_BOUND, capability, 0, 0, 0)
    libc.call("capset", "capset", struct.pack("Ii", _CAPABILITIES_V3, 0), bytes(24))


def raise_descriptors() -> None:
    """What is on its way over sockets counts for all programs of a user: who may have more than an
    agent can send does not wait for one that fills them."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, hard = resource.getrlimit(kind)
        if kind == resource.RLIMIT_NOFILE:
            hard //= 2  # the rest is for the next warden
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def put_up_walls(said: dict[str, Any]) -> None:
    """In this order: what is put up first must still let the next be put up."""
    machine = posix.uname().machine
    network = bool(said["network"])
    if rules := said["landlock"]:
        if landlock.version() < rules["needs"]:
            fail(f"this kernel has no Landlock of version {rules['needs']}.")
        if landlock.version():
            paths = (rules["read"], rules["write"], rules["listed"])
            landlock.put_up(*paths, network=network)
    set_limits(said["limits"])
    if said["drops_capabilities"]:
        drop_capabilities()
    if said["seccomp"]:
        if machine not in syscalls.CALLS:
            fail(f"there is no table of system calls for {machine}.")
        seccomp.put_up(machine, network=network, debuggers=bool(said["debuggers"]))


def leave_starter(asked: _socket.socket) -> None:
    """Behind all walls, and before any program of an agent. Its neighbours cannot look into it."""
    if posix.fork():
        asked.close()
        return
    try:
        # With the runtime; in a cage without namespaces nobody else would see to it.
        libc.call("death signal", "prctl", _SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
        libc.call("no dumps", "prctl", _SET_DUMPABLE, 0, 0, 0, 0)
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for number in range(3):  # the runtime's: its end would not be seen while we hold them
            posix.dup2(nothing, number)
        asked.recv(1, _socket.MSG_PEEK)  # most cages never ask, and load nothing for it
        from airboss.runtime.cage.inside import starter

        starter.Starter(asked.detach()).serve()
    finally:
        end()


def become(command: list[str]) -> NoReturn:
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and it would be inherited
        signal.signal(ignored, signal.SIG_DFL)
    for _ in range(_BUSY_LOOKS):
        try:
            _execute(command)
        except OSError as error:
            # A fresh copy may still be open for writing, in a child that somebody just forked.
            if error.errno != errno.ETXTBSY:
                fail(f"{command[0]} cannot be run: {error.strerror}.")
            time.sleep(0.02)
    fail(f"{command[0]} is being written.")


def _execute(command: list[str]) -> None:
    """What the server says, behind the walls."""
    if "/" in command[0]:
        posix.execv(command[0], command)
    import os  # a command that somebody tries, to be searched for

    os.execvp(command[0], command)  # noqa: S606


def main(said: dict[str, Any]) -> NoReturn:
    """`said` is the server's, from where nobody inside can write."""
    try:
        take_wire(said["wire"])
        look_at_mounts(said["mounted"])
        raise_descriptors()
        asked = hand_out(said["hand"], said["ports"])
        posix.chdir(said["cwd"])
        posix.nice(said["nice"])
        put_up_walls(said)
        leave_starter(asked)
    except OSError as error:
        fail(f"{error.filename or ''} {error.strerror or error}.".lstrip())
    become(said["command"] + sys.argv[1:])
