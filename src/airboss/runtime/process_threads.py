"""Threads in which processes of agents are looked at and ended. How long that takes is up to what
those processes are: so nothing else waits in the same threads.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Who is killed may take seconds to be gone, and most sweeps wait for that.
SWEEPS: Final = ThreadPoolExecutor(8, "airboss-sweep")
WATCHES: Final = ThreadPoolExecutor(4, "airboss-watch")


async def in_threads(
    threads: ThreadPoolExecutor, call: Callable[P, T], *given: P.args, **named: P.kwargs
) -> T:
    work = partial(call, *given, **named)
    return await asyncio.get_running_loop().run_in_executor(threads, work)
