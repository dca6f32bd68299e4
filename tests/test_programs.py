"""Programs of somebody's own: what they say is bounded, and their end is noticed."""

import asyncio
import sys

import pytest

from airboss.programs import APART, end_group, hear, hear_the_rest

pytestmark = pytest.mark.anyio

TALKS = "import sys\nwhile True: sys.stdout.write('x' * 65536)"


async def test_the_end_of_one_that_was_left_in_mid_word_is_noticed() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", TALKS), stdout=asyncio.subprocess.PIPE, **APART
    )
    assert process.stdout is not None
    await process.stdout.read(1)
    # Nobody reads: what it says fills up all that is between it and us.
    await asyncio.sleep(0.5)
    end_group(process)
    async with asyncio.timeout(10):
        await hear_the_rest(process)
        await process.wait()


async def test_of_what_it_says_the_beginning_is_kept() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "print('x' * 300_000)"), stdout=asyncio.subprocess.PIPE, **APART
    )
    heard = bytearray()
    await hear(process.stdout, heard, 1000)
    assert (len(heard), await process.wait()) == (1000, 0)
