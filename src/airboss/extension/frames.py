"""Messages as bytes: JSON in frames with `Content-Length`, over two descriptors."""

import json
import os
import re
import threading
from typing import Any, cast

MOST_SENT = 4 << 20
MOST_READ = 64 << 20
_HEADER = re.compile(rb"content-length: *(\d{1,12})\s*", re.IGNORECASE)


class KitFrames:
    """Reads in one thread, writes in any. The descriptors are the caller's."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = os.fdopen(incoming, "rb", closefd=False)
        self._outgoing = outgoing
        self._lock = threading.Lock()

    def write(self, message: dict[str, Any]) -> None:
        """Raises a ValueError for a message that the host would not take."""
        text = json.dumps(message, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        body = text.encode("utf-8", "replace")
        if len(body) > MOST_SENT:
            raise ValueError(f"a message has {len(body):,} bytes; {MOST_SENT:,} are the most")
        rest = memoryview(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        with self._lock:
            while rest:
                rest = rest[os.write(self._outgoing, rest) :]

    def read(self) -> dict[str, Any] | None:
        """The next message; None when the host has closed. What is no frame is passed over."""
        while line := self._incoming.readline(1 << 16):
            header = _HEADER.fullmatch(line)
            if header is None:
                continue
            while self._incoming.readline(1 << 16).strip():
                pass
            size = int(header[1])
            if size > MOST_READ:
                raise ValueError(f"Airboss sent a message of {size:,} bytes")
            body = self._incoming.read(size)
            if len(body) < size:
                return None
            message = json.loads(body)
            if isinstance(message, dict):
                return cast("dict[str, Any]", message)
        return None
