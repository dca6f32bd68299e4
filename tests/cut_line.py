"""A line between a client and a server that a test can cut: what comes is swallowed, or refused."""

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

_PIECE: Final = 1 << 16
_LOOK_SECONDS: Final = 0.02
# Closed so, the other side hears of it at once.
_RESET: Final = struct.pack("ii", 1, 0)

State = Literal["whole", "swallows", "refuses"]


@dataclass
class CutLine:
    """Passes on what comes to `port`, as long as it is whole. Swallowing, it takes what comes and
    says nothing, as a cable that was pulled does; what was taken is lost for good, so healing ends
    those connections. Refusing, it ends all connections and lets nobody in."""

    target: tuple[str, int]
    port: int
    state: State = "whole"
    _pairs: list[tuple[socket.socket, socket.socket]] = field(
        default_factory=list[tuple[socket.socket, socket.socket]]
    )
    _mute: set[int] = field(default_factory=set[int])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def swallow(self) -> None:
        with self._lock:
            self.state = "swallows"
            self._mute = {id(pair) for pair in self._pairs}

    def refuse(self) -> None:
        with self._lock:
            self.state = "refuses"
            self._end_all()

    def heal(self) -> None:
        with self._lock:
            if self.state == "swallows":
                self._end_all()
            self.state = "whole"

    def _end_all(self) -> None:
        for pair in self._pairs:
            for side in pair:
                _reset(side)
        self._pairs.clear()
        self._mute.clear()

    def _take_in(self, listening: socket.socket) -> None:
        client, _ = listening.accept()
        with self._lock:
            if self.state == "refuses":
                _reset(client)
                return
            try:
                pair = (client, socket.create_connection(self.target, timeout=5))
            except OSError:
                _reset(client)
                return
            for side in pair:
                side.setblocking(True)
            self._pairs.append(pair)
            if self.state == "swallows":
                self._mute.add(id(pair))
        for source, sink in (pair, pair[::-1]):
            threading.Thread(target=self._pump, args=(pair, source, sink), daemon=True).start()

    def _pump(
        self,
        pair: tuple[socket.socket, socket.socket],
        source: socket.socket,
        sink: socket.socket,
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(_PIECE):
                if id(pair) not in self._mute:
                    sink.sendall(piece)
        with self._lock:
            # What was cut by a pulled cable tells the other side nothing.
            if id(pair) not in self._mute and pair in self._pairs:
                self._pairs.remove(pair)
                for side in pair:
                    # Closed alone, it stays open while another thread waits for what comes.
                    with contextlib.suppress(OSError):
                        side.shutdown(socket.SHUT_RDWR)
                    side.close()

    def serve(self, listening: socket.socket, ending: threading.Event) -> None:
        with selectors.DefaultSelector() as looking:
            looking.register(listening, selectors.EVENT_READ)
            while not ending.is_set():
                if looking.select(_LOOK_SECONDS):
                    with contextlib.suppress(OSError):
                        self._take_in(listening)
        with self._lock:
            self._end_all()


def _reset(side: socket.socket) -> None:
    with contextlib.suppress(OSError):
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        side.shutdown(socket.SHUT_RDWR)
    side.close()


@contextmanager
def cut_line_to(port: int) -> Generator[CutLine]:
    """In front of a server on this machine, for as long as this lasts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        line = CutLine(("127.0.0.1", port), listening.getsockname()[1])
        ending = threading.Event()
        serving = threading.Thread(target=line.serve, args=(listening, ending), daemon=True)
        serving.start()
        try:
            yield line
        finally:
            ending.set()
            serving.join(5)
