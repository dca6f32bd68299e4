"""MCP servers over HTTP that tests start, and a person who signs in there with a browser."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2

FOLDER = Path(__file__).parent
SIGNED_IN = FOLDER / "signed_in.py"
_START_SECONDS = 40.0


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextlib.contextmanager
def started(program: Path, *words: str, **environ: str) -> Generator[str]:
    """The address of a server that was given a port as its first word."""
    port = free_port()
    running = subprocess.Popen(
        [sys.executable, str(program), str(port), *words],
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and not _listens(port):
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


def _listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


@dataclass(frozen=True)
class Wiki:
    """The server where somebody signs in."""

    address: str

    @property
    def url(self) -> str:
        return f"{self.address}/mcp"

    def known(self) -> dict[str, Any]:
        """The secrets that it gave, and how often it did."""
        return httpx2.get(f"{self.address}/known").json()

    def forget(self, *, everything: bool = False) -> None:
        httpx2.get(f"{self.address}/forget{'?all=1' if everything else ''}")


def person_at(url: str, said: str = "allow") -> dict[str, str]:
    """What the address has that a browser comes back to, when somebody allows or refuses it."""
    asked = httpx2.get(url)
    assert asked.status_code == 302, asked.text
    consent = urlsplit(asked.headers["location"])
    name = dict(parse_qsl(consent.query))["asked"]
    answered = httpx2.get(urljoin(url, f"/{said}?asked={name}"))
    return dict(parse_qsl(urlsplit(answered.headers["location"]).query))
