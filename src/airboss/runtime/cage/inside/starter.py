"""Stays in a cage when the warden has become the runtime: it starts the programs that the server
asks for. All walls were put up before it, so they hold around it and around all that it starts.

It is asked over a socket that was handed out before the first program of an agent ran, and nobody
in the cage has another end of it. Neighbours cannot read or write its memory (`warden.py`).
"""

from __future__ import annotations

import array
import json
import os
import select
import signal
import socket

TYPE_CHECKING = False  # `typing` itself would be a third of our start
if TYPE_CHECKING:
    import subprocess
    from typing import Any

# A question has one packet. What is longer is refused before it is sent.
LONGEST = 128 * 1024
_PIPES = 3


class Starter:
    """`asked` is the socket to the server. When that is closed, everything here ends."""

    def __init__(self, asked: int) -> None:
        self._asked = socket.socket(fileno=asked)
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def serve(self) -> None:
        ended, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake)
        looked = select.poll()
        looked.register(self._asked, select.POLLIN)
        looked.register(ended, select.POLLIN)
        while True:
            for number, _ in looked.poll():
                if number == ended:
                    os.read(ended, 4096)
                elif not self._take():
                    return
            self._tell_ended()

    def _take(self) -> bool:
        """One question; whether there may be another."""
        room = socket.CMSG_SPACE(_PIPES * array.array("i").itemsize)
        said, rights, _, _ = self._asked.recvmsg(LONGEST, room)
        pipes = array.array("i")
        for level, kind, data in rights:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                pipes.frombytes(data[: len(data) - len(data) % pipes.itemsize])
        if not said:
            return False
        question = json.loads(said)
        try:
            if "words" in question:
                self._start(question, list(pipes))
            elif (process := self._running.get(question["number"])) is not None:
                _signal(process, question["signal"])
        finally:
            for pipe in pipes:
                os.close(pipe)
        return True

    def _start(self, question: dict[str, Any], pipes: list[int]) -> None:
        import subprocess  # most cages never need it

        number = question["number"]
        try:
            given, said, errors = pipes
            self._running[number] = subprocess.Popen(  # noqa: S603 - what the server says
                question["words"],
                stdin=given,
                stdout=said,
                stderr=errors,
                env={**os.environ, **question["env"]},
                cwd=question["cwd"],
                process_group=0,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._say(number, failed=getattr(error, "strerror", None) or str(error))
        else:
            self._say(number, started=True)

    def _tell_ended(self) -> None:
        for number, process in list(self._running.items()):
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _signal(process, signal.SIGKILL)  # what it left in its group
            del self._running[number]
            self._say(number, code=process.wait())

    def _say(self, number: int, **said: object) -> None:
        self._asked.sendall(json.dumps({"number": number, **said}).encode())


def _wake(_: int, __: object) -> None:
    """Without a handler of it, no signal wakes anybody."""


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """To its group, whose number is nobody else's before it is waited for."""
    try:  # noqa: SIM105 - contextlib is nothing that a cage's start should wait for
        os.killpg(process.pid, number)
    except OSError:
        pass
