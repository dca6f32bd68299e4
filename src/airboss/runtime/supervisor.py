"""Stands between the server and the agent runtime, and outlives neither of them. Linux only.

A program of its own (`command_line`). Orphans of the runtime become its children, also those that
cleared their environment or forked twice. When the runtime or the server ends, it ends all that is
left below it, and then itself.

Every start of a runtime waits for its start, and it is there for as long as that: so it imports
nothing of ours, and no module that brings others along, such as `contextlib`.
"""

from __future__ import annotations

import errno
import os
import sys
import time

TYPE_CHECKING = False  # `typing` itself would be a third of our start
if TYPE_CHECKING:
    import signal
    from typing import NoReturn
else:
    import _signal as signal  # the same functions and numbers, without the names' classes

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36

# How long the runtime may take to end by itself when the server is gone.
_GRACE_SECONDS = 0.5
# A process that cannot be killed (another user's, a hanging disk) is given up after this.
_GIVE_UP_SECONDS = 5.0
_LOOK_SECONDS = 1.0
_STARTED = 19  # of the fields behind the name in /proc/PID/stat
# How long its environment is, a process says itself (PR_SET_MM): so much of it is read.
_MOST_ENVIRON_BYTES = 1 << 18
_MOST_VARIABLES = 4096
_PIECE_BYTES = 1 << 16


# Imported rather than run, so that it need not be compiled each time.
_BEGIN = "import sys; sys.path.append(sys.argv.pop(1)); import supervisor; supervisor.main()"


def command_line(note: str, runtime: str) -> list[str]:
    """Runs `runtime` for this process; the runtime's own arguments come behind."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [sys.executable, "-I", "-S", "-c", _BEGIN, here, note, str(os.getpid()), runtime]


def prctl(option: int, value: int) -> bool:
    """Whether the kernel did it."""
    try:
        import _ctypes  # of which `ctypes` is made: it costs a sixth of that

        us = _ctypes.dlopen(None, 0)  # pyright: ignore[reportArgumentType]  # the program itself
        function = _ctypes.dlsym(us, "prctl")
        return _ctypes.call_function(function, (option, value, 0, 0, 0)) == 0
    except (ImportError, OSError, AttributeError, TypeError):
        return False


def stat_of(pid: int) -> tuple[str, int, int]:
    """State, parent and start time (in the kernel's ticks) of a process."""
    descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    try:
        said = os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    fields = said[said.rindex(b")") + 2 :].split()  # a name may have spaces and brackets in it
    return fields[0].decode(), int(fields[1]), int(fields[_STARTED])


def environ_of(pid: int) -> bytes:
    """The beginning of it. Without a file object around it, which costs as much as the reading."""
    descriptor, environ = os.open(f"/proc/{pid}/environ", os.O_RDONLY), b""
    try:
        while left := _MOST_ENVIRON_BYTES - len(environ):
            piece = os.read(descriptor, min(left, _PIECE_BYTES))
            if not piece:
                break
            environ += piece
    finally:
        os.close(descriptor)
    return environ


def variables_in(environ: bytes) -> list[bytes]:
    return environ.split(b"\0", _MOST_VARIABLES)


def boot_id() -> str:
    """Start times count from the boot: after another one the same pair is another process."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as said:
        return said.read().strip()


def supervise(note: str, server: int, command: list[str]) -> NoReturn:
    """Run `command` with our input and output until it or the server ends."""
    heard = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1}
    # Nobody takes hold of the pipes to the server by way of this process.
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    prctl(PR_SET_PDEATHSIG, signal.SIGUSR1)
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    runtime = _start(command, note, heard)
    _let_go_of_pipes()
    children = SupervisedChildren(runtime)
    _watch(children, server, heard)
    _end_all(children)
    _unlink(note)
    _end(children.status or 0, heard)


class SupervisedChildren:
    """The runtime, and the orphans that came to us."""

    def __init__(self, runtime: int) -> None:
        self.runtime = runtime
        self.status: int | None = None  # of the runtime, when it ended

    def bury(self) -> bool:
        """Those that ended; whether there are others."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.runtime:
                self.status = status


def _start(command: list[str], note: str, heard: set[signal.Signals]) -> int:
    """The runtime, which runs only when it is written down which process that is."""
    written, write = os.pipe()
    us = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(write)
            if os.read(written, 1):
                os.close(written)
                _become(command, us, heard)
        finally:
            os._exit(127)
    _write_down(note, us, pid)
    os.write(write, b"!")
    os.close(written)
    os.close(write)
    return pid


def _become(command: list[str], supervisor: int, heard: set[signal.Signals]) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:
        return
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and it would be inherited
        signal.signal(ignored, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
    program = "node" if command[0].endswith(".js") else command[0]
    arguments = ["node", *command] if program == "node" else command
    for _ in range(50):
        try:
            os.execvp(program, arguments)  # noqa: S606 - the runtime that was located
        except OSError as error:
            # A fresh copy may still be open for writing, in a child that somebody just forked.
            if error.errno == errno.ETXTBSY:
                time.sleep(0.02)
                continue
            os.write(2, f"{program} cannot be run: {error.strerror}\n".encode())
            return


def _write_down(note: str, supervisor: int, runtime: int) -> None:
    """Whole or not at all. Without it the runtime works, and only a crash would not find it."""
    part = f"{note}.part"
    try:
        ids = " ".join(f"{pid} {stat_of(pid)[2]}" for pid in (supervisor, runtime))
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, f"{boot_id()} {ids}\n".encode())
        finally:
            os.close(descriptor)
        os.replace(part, note)
    except OSError:
        _unlink(part)


def _unlink(path: str) -> None:
    try:  # noqa: SIM105 - contextlib costs as much as half of our start
        os.unlink(path)
    except OSError:
        pass


def _let_go_of_pipes() -> None:
    """They are the runtime's: the server must see them end when that ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for pipe in (0, 1, 2):
        os.dup2(nothing, pipe)
    os.close(nothing)


def _watch(children: SupervisedChildren, server: int, heard: set[signal.Signals]) -> None:
    """Return when the runtime ended, when the server is gone, or when we are told to end."""
    until = None
    while True:
        children.bury()
        if children.status is not None:
            return
        if os.getppid() != server:
            until = until or time.monotonic() + _GRACE_SECONDS
            if time.monotonic() >= until:
                return
        # The thread that started us may end before the server does, and its signal with it.
        said = signal.sigtimedwait(heard, _LOOK_SECONDS if until is None else 0.05)
        if said is not None and said.si_signo == signal.SIGTERM:
            return


def _end_all(children: SupervisedChildren) -> None:
    """Kill until none is left: one that is being killed may just have started another."""
    end = time.monotonic() + _GIVE_UP_SECONDS
    while children.bury() and time.monotonic() < end:
        for pid in _descendants():
            try:  # noqa: SIM105 - as above
                os.kill(pid, signal.SIGKILL)
            except OSError:  # it is over
                pass
        time.sleep(0.005)


def _descendants() -> set[int]:
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                parents[int(name)] = stat_of(int(name))[1]
            except (OSError, ValueError):  # it is over
                continue
    found, more = {os.getpid()}, True
    while more:
        below = {pid for pid, parent in parents.items() if parent in found} - found
        found |= below
        more = bool(below)
    return found - {os.getpid()}


def _end(status: int, heard: set[signal.Signals]) -> NoReturn:
    """As the runtime did: with its exit code, or by its signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))


def main() -> NoReturn:
    try:
        supervise(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
    except OSError as error:
        sys.exit(f"The agent runtime's supervisor failed: {error.strerror or error}")
