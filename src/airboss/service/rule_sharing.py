"""Rules that several processes share: each reads them anew when they changed, and a change has come
into force when every one that lives has done so."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from airboss.errors import RuntimeUnavailable
from airboss.log.log import EventLog
from airboss.store.rule_versions import RuleVersions

RULES: Final = "rules"
_AGAIN_SECONDS: Final = 0.05
_MOST_SECONDS: Final = 30.0


@dataclass
class RuleSharing:
    """What this process has seen of the rules, and what all others have."""

    log: EventLog
    versions: RuleVersions
    _seen: int = -1

    async def news(self) -> int | None:
        """The version to be read; none where it was."""
        version = await self.versions.current()
        return None if version == self._seen else version

    async def saw(self, version: int) -> None:
        await self.versions.note_seen(version)
        self._seen = version

    async def hold(self) -> None:
        """Until what is known here holds everywhere."""
        self.log.announce(RULES)
        late: list[str] = []
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                while late := await self.versions.behind(self._seen):  # noqa: ASYNC110 - others say it
                    await asyncio.sleep(_AGAIN_SECONDS)
        except TimeoutError:
            raise RuntimeUnavailable(
                "The rules are changed, but these servers have not seen it yet: "
                f"{', '.join(late)}. Look at them, or stop them."
            ) from None

    async def changes(self) -> AsyncGenerator[None]:
        """Whenever they may have changed."""
        with self.log.changes(RULES) as heard:
            while not heard.is_over:
                yield
                await heard.within()
