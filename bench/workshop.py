"""The processes of a benchmark: models, servers, the bare SDK. All of them end with it."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.wire import Address, Caller, Failed, calling

AIRBOSS = Path(sys.executable).with_name("airboss")
SECONDS = 120.0

# One word, and a second of talk: fifty pieces, one every 20 ms; and the answer to a condition.
SCRIPT = """
models: [{id: bench, name: Bench, multiplier: 0}, {id: judge, name: Judge, multiplier: 0}]
chunk_ms: 20
chunk_chars: 8
rules:
  - when: "talk for a second"
    steps: [{say: "%s"}]
  - when: "is it done"
    steps: [{call: {tool: job_boolean_true, arguments: {argument: "it is"}}}, {say: "Yes."}]
  - steps: [{say: "Yes."}]
""" % ("one two " * 50)


@dataclass(frozen=True)
class Source:
    """A model server: where it is and the key to it."""

    name: str
    base_url: str
    key: str
    model: str
    # Of the same server, for who works with more than one.
    others: tuple[str, ...] = ()

    def provider(self) -> dict[str, Any]:
        return {"type": "openai", "base_url": self.base_url, "api_key": self.key}


@contextlib.asynccontextmanager
async def running(
    *command: str, environ: Mapping[str, str] | None = None, log: Path | None = None
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A process that is asked to end afterwards, and ended when it does not."""
    with (log or Path(os.devnull)).open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=dict(environ) if environ is not None else None,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.communicate(), 10)
        except TimeoutError:
            process.kill()
            await process.communicate()


async def first_line(process: asyncio.subprocess.Process) -> str:
    if process.stdout is None:
        raise Failed("A process without an output.")
    line = await asyncio.wait_for(process.stdout.readline(), SECONDS)
    if not line:
        raise Failed(f"Process {process.pid} ended before it said anything.")
    return line.decode()


@contextlib.asynccontextmanager
async def rehearsal(folder: Path, words: str = SCRIPT) -> AsyncGenerator[Source]:
    """The scripted model, in a process of its own."""
    script = folder / "script.yaml"
    script.write_text(words, encoding="utf-8")
    module = ("-m", "airboss.runtime.rehearsal", "--script", str(script), "--port", "0")
    async with running(sys.executable, *module) as process:
        ready = json.loads(await first_line(process))
        yield Source("scripted", ready["base_url"], ready["key"], "bench", ("judge",))


@contextlib.asynccontextmanager
async def flood() -> AsyncGenerator[Source]:
    """The model that says when it spoke, in a process of its own."""
    async with running(sys.executable, "-m", "bench.model") as process:
        ready = json.loads(await first_line(process))
        yield Source("flood", ready["base_url"], ready["key"], "flood")


@dataclass(frozen=True)
class Server:
    """`airboss serve` in a process of its own."""

    address: Address
    pid: int
    work: Path

    async def open(self, caller: Caller, source: Source, **keys: Any) -> str:
        request = {"model": f"{source.name}/{source.model}", "cwd": str(self.work), **keys}
        view = await caller.post("/api/v1/sessions", request)
        return str(view["id"])


def _settings(sources: tuple[Source, ...]) -> str:
    return "".join(
        f'[[providers]]\nname = "{source.name}"\ntype = "openai"\n'
        f'base_url = "{source.base_url}"\nkey_variable = "BENCH_KEY_{source.name.upper()}"\n'
        f"models = {json.dumps([source.model, *source.others])}\n"
        for source in sources
    )


def environment(sources: tuple[Source, ...]) -> dict[str, str]:
    """Ours, without what a developer's own Airboss or sign-in would bring in."""
    foreign = ("AIRBOSS_", "COPILOT_", "GH_TOKEN", "GITHUB_TOKEN")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(foreign)}
    return {**kept, **{f"BENCH_KEY_{source.name.upper()}": source.key for source in sources}}


def command(data: Path, work: Path, port: int = 0) -> tuple[str, ...]:
    options = ("--port", str(port), "--data", str(data), "--root", str(work))
    return (str(AIRBOSS), "serve", *options)


def prepare(folder: Path, *sources: Source, more: str = "") -> tuple[Path, Path]:
    """A data folder with its settings, and a folder to work in. `more` are settings of its own."""
    data, work = folder / "data", folder / "work"
    for made in (data, work):
        made.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / "settings.toml").write_text(f"{more}{_settings(sources)}", encoding="utf-8")
    return data, work


@contextlib.asynccontextmanager
async def airboss(
    folder: Path,
    *sources: Source,
    options: tuple[str, ...] = (),
    more: str = "",
    database: str | None = None,
) -> AsyncGenerator[Server]:
    """With its own file, or on a database that it shares with others."""
    data, work = prepare(folder, *sources, more=more)
    log = folder / "serve.log"
    words = (*command(data, work), *options)
    environ = environment(sources)
    if database is not None:
        environ["AIRBOSS_DATABASE"] = database
    async with running(*words, environ=environ, log=log) as process:
        try:
            said = await first_line(process)
        except Failed as failed:
            raise Failed(f"{failed} {log.read_text(encoding='utf-8')[-600:]}") from None
        port = urlsplit(said.split()[-1]).port or 0
        address = Address(port, (data / "token").read_text(encoding="utf-8").strip())
        await until_ready(address)
        yield Server(address, process.pid, work)


async def until_ready(address: Address) -> None:
    """Returns when /readyz says so. Asked every few milliseconds."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            async with calling(address) as caller:
                await caller.get("/readyz")
                return
        except (OSError, Failed, asyncio.IncompleteReadError):
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.005)
