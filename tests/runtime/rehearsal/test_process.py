"""The server alone in a process of its own."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import httpx2
import pytest

pytestmark = pytest.mark.anyio


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "airboss.runtime.rehearsal",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_it_says_where_it_is_and_ends_when_told(tmp_path: Path) -> None:
    script = tmp_path / "play.yaml"
    script.write_text("models: [{id: mine}]", encoding="utf-8")
    process = await start("--script", str(script), "--key", "sesame")
    assert process.stdout
    ready = json.loads(await process.stdout.readline())
    async with httpx2.AsyncClient() as client:
        answer = await client.get(
            ready["base_url"] + "/models", headers={"authorization": "Bearer sesame"}
        )
    process.send_signal(signal.SIGTERM)
    _, complaints = await process.communicate()
    assert ready["key"] == "sesame"
    assert [model["id"] for model in answer.json()["data"]] == ["mine"]
    assert (process.returncode, complaints) == (0, b"")


async def test_a_script_that_is_wrong_is_refused_at_the_start(tmp_path: Path) -> None:
    script = tmp_path / "play.yaml"
    script.write_text("rules: 1", encoding="utf-8")
    process = await start("--script", str(script))
    told, complaints = await process.communicate()
    assert (process.returncode, told) == (2, b"")
    assert complaints.decode() == f"{script}:1:1: rules: should be a list.\n"
