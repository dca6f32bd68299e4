"""A runtime that somebody else starts: a real process with a port of its own, and its return."""

import os
import re
import socket
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from airboss.runtime.locate import locate

TOKEN = "somebody-elses-connection-token"


@dataclass
class OthersRuntime:
    """On the same port, also when it is started again."""

    home: Path
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    token: str | None = TOKEN
    port: int = 0
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
        secret = {"COPILOT_CONNECTION_TOKEN": self.token} if self.token else {}
        self.process = subprocess.Popen(
            [locate().path, "--headless", "--port", str(self.port), "--no-auto-login"],
            env={**os.environ, **self.environ, "COPILOT_HOME": str(self.home), **secret},
            cwd=self.home.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline().decode()
        assert re.search(rf"listening on port {self.port}\b", said), said

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(5)
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.process = None


@contextmanager
def others_runtime(home: Path, **environ: str) -> Generator[OthersRuntime]:
    runtime = OthersRuntime(home, environ)
    runtime.start()
    try:
        yield runtime
    finally:
        runtime.kill()
