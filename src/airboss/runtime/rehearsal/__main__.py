"""Serves a script in a process of its own: `python -m airboss.runtime.rehearsal --script FILE`."""

import argparse
import asyncio
import json
import signal
import sys
from pathlib import Path

from airboss.errors import AirbossError
from airboss.runtime.rehearsal import RehearsalServer, Script, builtin_script, load_script


async def serve(script: Script, port: int, key: str | None) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopping.set)
    async with RehearsalServer(script, port, key) as server:
        ready = {"base_url": server.base_url, "key": server.api_key}
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await stopping.wait()


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m airboss.runtime.rehearsal", description=__doc__
    )
    parser.add_argument("--script", type=Path, help="what to play; without it the built-in script")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key", help="the API key to ask for; without it a random one")
    asked = parser.parse_args()
    try:
        script = load_script(asked.script) if asked.script else builtin_script()
        asyncio.run(serve(script, asked.port, asked.key))
    except AirbossError as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
