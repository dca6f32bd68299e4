"""A command of one's own that prints the token of an account."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from airboss.errors import NotSignedIn
from airboss.programs import APART, end_group, hear

SECONDS: Final = 15.0
# The runtime refuses a token that it may renew if it does not last longer than this.
SHORTEST_RENEWED: Final = 3600
_MOST_OUTPUT: Final = 64 * 1024


class NoToken(NotSignedIn):
    """There is none where it should be."""


@dataclass(frozen=True)
class AccountToken:
    """A token, and for how many seconds it is good, where that was said."""

    text: str = field(repr=False)
    seconds: int | None = None

    @property
    def is_renewed(self) -> bool:
        """Whether the runtime asks for the next one by itself."""
        return self.seconds is not None and self.seconds > SHORTEST_RENEWED


async def run_token_command(words: Sequence[str], environ: Mapping[str, str]) -> AccountToken:
    """Without a shell, and without variables of ours. What it prints is told to nobody."""
    clean = {name: text for name, text in environ.items() if not name.startswith("AIRBOSS_")}
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=clean,
            **APART,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise NoToken(f"The command {words[0]} could not be run: {reason}.") from error
    try:
        async with asyncio.timeout(SECONDS):
            said = bytearray()
            await hear(process.stdout, said, _MOST_OUTPUT)
            code = await process.wait()
    except TimeoutError:
        raise NoToken(f"The command {words[0]} took longer than {SECONDS:g} s.") from None
    finally:
        end_group(process)
    if code:
        raise NoToken(f"The command {words[0]} ended with code {code}.")
    return _read(words[0], said.decode("utf-8", "replace").strip())


def _read(command: str, said: str) -> AccountToken:
    """The token alone, or JSON that also says for how long it is good."""
    if not said.startswith("{"):
        if said and len(said.split()) == 1:
            return AccountToken(said)
        raise NoToken(f"The command {command} did not print a token and nothing else.")
    try:
        table = cast("dict[str, Any]", json.loads(said))
    except (ValueError, RecursionError):
        raise NoToken(f"The command {command} printed JSON that cannot be read.") from None
    text, seconds = table.get("accessToken"), table.get("expiresIn")
    if not isinstance(text, str) or not text.strip():
        raise NoToken(f"The command {command} printed JSON without accessToken.")
    return AccountToken(text.strip(), seconds if isinstance(seconds, int) else None)
