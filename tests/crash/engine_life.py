"""One life of an engine with a toy executor, in a process that is to be killed.

Says `up` when it has taken up what was open, `first` with the first thing that is written, and
`ended` when the run has.
"""

import asyncio
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

from airboss.engine.durable import Engine
from airboss.engine.local_file import FILE, LocalFile
from airboss.entry.document import Work
from tests.engine.workshop import Diary, Workshop, random_work


class SayingDiary(Diary):
    said = False

    def write(self, *given: Any, **more: Any) -> None:
        super().write(*given, **more)
        if not self.said:
            self.said = True
            say("first")


def say(word: str) -> None:
    sys.stdout.write(f"{word} {time.monotonic()}\n")
    sys.stdout.flush()


def work_of(seed: int) -> Work:
    return random_work(Random(seed), 4)  # noqa: S311


async def live(folder: Path, seed: int) -> None:
    works = {"run_1": work_of(seed)}
    shop = Workshop(SayingDiary(folder / "diary.sqlite"), works, seconds=0.05)
    engine = Engine(LocalFile(folder / FILE), shop)
    say("begin")
    await engine.recover()
    if not await engine.known("run_1"):
        await engine.start("run_1")
    say("up")
    # A life before this one may have been killed between the end and its saying so.
    if shop.diary.find("run_1", "", "end") is None:
        await shop.end_of("run_1").wait()
    await engine.close()
    say("ended")


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), int(sys.argv[2])))
