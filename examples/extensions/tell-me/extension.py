"""Lets the agent tell you something or ask you, and tells you when a long turn is over."""

import shutil
import subprocess
import time
from typing import Annotated

from airboss.extension import ErrorOccurred, Event, Notify, Result, hook, session, tool

# A turn that took longer than this is worth a word when it is over.
LONG = 60.0

begun = time.monotonic()


@tool(repeatable=True)
async def tell_me(
    text: Annotated[str, "one or two sentences"],
    urgent: Annotated[bool, "whether it cannot wait"] = False,
) -> str:
    """Tells the person who watches this session something they should know now."""
    await session.log(text, level="warning" if urgent else "info")
    show("The agent says", text)
    return "They were told."


@tool(seconds=3600)
async def ask_me(
    question: str, choices: Annotated[list[str] | None, "if there are only these answers"] = None
) -> Result:
    """Asks the person who watches this session, and waits for the answer. Ask only if you cannot
    go on without it."""
    show("The agent asks", question)
    answer = await session.ask(question, choices or ())
    return Result("They did not answer.", "failure") if answer is None else Result(answer)


@hook.error_occurred
def failed(occurred: ErrorOccurred) -> Notify | None:
    """Errors that the runtime gets over by itself need nobody."""
    return None if occurred.recoverable else Notify(f"The agent cannot go on: {occurred.error}")


def begin(_: Event) -> None:
    global begun
    begun = time.monotonic()


async def over(_: Event) -> None:
    minutes, seconds = divmod(round(time.monotonic() - begun), 60)
    if minutes * 60 + seconds >= LONG:
        await session.log(f"Done after {minutes} min {seconds} s.")
        show("The agent is done", str(session.cwd))


session.on("user.message", begin)
session.on("session.idle", over)


def show(title: str, text: str) -> None:
    """On the desktop of the machine that runs the agent, if it has one."""
    if program := shutil.which("notify-send"):
        subprocess.run([program, "--", title, text], timeout=5, check=False)
