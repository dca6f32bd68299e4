"""Secrets that people put in while a server runs: kept, hidden at once, and never told."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from airboss.errors import Conflict, StoreUnavailable
from airboss.model.audit_events import SecretChanged
from airboss.model.redaction import Redactor
from airboss.service.audit import Audit, actor
from airboss.store.kept_secrets import KeptSecret, KeptSecrets, SecretPlace, checked_value

_log = logging.getLogger("airboss.secrets")
# A keyring that is locked may ask somebody at a screen, for ever.
_KEYRING_SECONDS: Final = 20.0


@dataclass
class Secrets:
    kept: KeptSecrets
    redactor: Redactor
    audit: Audit
    # Who uses one, in words; and who is told when one was put in.
    user_of: Callable[[str], str | None] = lambda _: None
    put_in: Callable[[str], None] = lambda _: None
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def all(self) -> tuple[KeptSecret, ...]:
        return self.kept.all()

    async def place_of_new(self) -> SecretPlace:
        return await _in_time(self.kept.place_of_new)

    async def keep(self, name: str, value: str, who: str) -> KeptSecret:
        """Hidden before it is kept: nothing that goes wrong here tells it."""
        self.redactor.learn(checked_value(value))
        async with self._changing:
            kept = await _in_time(self.kept.keep, name, value)
        self.put_in(name)
        await self._record(who, "kept", kept)
        return kept

    async def remove(self, name: str, who: str, *, is_used: bool = True) -> None:
        user = self.user_of(name) if is_used else None
        if user is not None:
            raise Conflict(f"The secret {name} is in use by {user}. Remove that first.")
        async with self._changing:
            removed = await _in_time(self.kept.remove, name)
        await self._record(who, "removed", removed)

    async def _record(self, who: str, change: Literal["kept", "removed"], kept: KeptSecret) -> None:
        _log.info("%s: %s the secret %s", who, change, kept.name)
        await self.audit.write(
            SecretChanged(by=actor(who), change=change, name=kept.name, place=kept.place)
        )


async def load_secrets(kept: KeptSecrets) -> None:
    """Before a server starts. A keyring that does not answer keeps nobody from starting."""
    try:
        await _in_time(kept.load)
    except StoreUnavailable as error:
        _log.warning("Secrets that are kept cannot be read: %s", error)


async def _in_time(work: Callable[..., Any], *given: str) -> Any:
    try:
        async with asyncio.timeout(_KEYRING_SECONDS):
            return await asyncio.to_thread(work, *given)
    except TimeoutError:
        raise StoreUnavailable(
            f"The system's keyring did not answer within {_KEYRING_SECONDS:g} s. It may be locked: "
            "unlock it, or turn it off for the server by "
            "PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring."
        ) from None
