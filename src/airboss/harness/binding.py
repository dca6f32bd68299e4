"""What a session of the runtime is bound to: with what else it may not be resumed.

Its history was made for one service, one folder and one account. Where one of them is another by
now, and nobody wished that for this session, the agent begins anew, and everybody is told.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, Literal, TypeAlias

from airboss.harness.models import Route
from airboss.model.setup import USUAL, Setup
from airboss.model.views import SessionView
from airboss.store.bindings import BindingRow, BindingStore, MalformedBinding

Mode: TypeAlias = Literal["cli", "token", "byok"]

_NO_ADDRESS: Final = "none"
# What a switch of the model changes, which is a person's wish.
_OF_THE_MODEL: Final = ("provider", "model", "wire", "address")
_CHANGED: Final = {
    "provider": "the provider of its model",
    "model": "its model",
    "wire": "the wire of its provider",
    "address": "the address of its provider",
    "cwd": "its folder",
    "identity": "its identity",
    "home": "the runtime's home folder",
    "mode": "the kind of its sign-in",
    "profile": "its account",
}
_UNREADABLE: Final = "What its earlier conversation was bound to cannot be read."
_ELSEWHERE: Final = "Its earlier conversation is on another machine."
START_OVER: Final = (
    "This conversation was started over: the earlier messages of this session are not known to "
    "you any more, though the people you work for can still read them. When a request refers to "
    "them, say so and ask for what you need. Files in the working directory may hold earlier work."
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Holder:
    """Whose a session of the runtime is: the identity with its home, how it signs in, and the
    account. Nothing secret is in it."""

    identity: str = "default"
    home: str = ""
    mode: Mode = "cli"
    profile: str = ""


@dataclass(frozen=True)
class BoundTo:
    """All that a resumed session must have in common with what it was."""

    provider: str
    model: str
    wire: str
    address: str
    cwd: str
    identity: str
    home: str
    mode: str
    profile: str

    @property
    def key(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def why_not(self, kept: Mapping[str, str], excused: frozenset[str] = frozenset()) -> str | None:
        """In words, where something is another than it was; `excused` is what somebody wished."""
        now = asdict(self)
        other = [
            _CHANGED[name]
            for name in now
            if name not in excused and kept.get(name, "") != now[name]
        ]
        if not other:
            return None
        names = other[0] if len(other) == 1 else f"{', '.join(other[:-1])} and {other[-1]}"
        verb = "is" if len(other) == 1 else "are"
        return f"{names[0].upper()}{names[1:]} {verb} different from before."


def bound_to(route: Route, cwd: str, holder: Holder) -> BoundTo:
    upstream, provider = route.upstream, route.provider or {}
    if upstream is not None:
        name, address = upstream.name, _print(upstream.base_url)
    else:  # the rehearsal's address is another at every start
        name, address = ("rehearsal" if provider else "copilot"), _NO_ADDRESS
    wire = "/".join(str(provider[key]) for key in ("type", "wire_api") if provider.get(key))
    mode = "byok" if provider else holder.mode
    return BoundTo(
        provider=name,
        model=route.model,
        wire=wire,
        address=address,
        cwd=cwd,
        identity=holder.identity,
        home=holder.home,
        mode=mode,
        profile="" if mode == "byok" else holder.profile,
    )


def _print(secret: str) -> str:
    return f"sha256:{hashlib.sha256(secret.encode()).hexdigest()[:12]}"


def default_holder(_route: Route, _setup: Setup = USUAL) -> Holder:
    """Where all sessions are the same one's."""
    return Holder()


def wishes(view: SessionView, row: BindingRow) -> frozenset[str]:
    """The parts that are another because somebody wished so: a session's model changes by a
    person's switch only."""
    return frozenset(_OF_THE_MODEL if view.model != row.model else ())


@dataclass
class Bindings:
    """Those of all sessions. Where the store fails, what is known is kept in memory, and the
    session goes on."""

    store: BindingStore
    _unkept: dict[tuple[str, int], BindingRow] = field(
        default_factory=dict[tuple[str, int], BindingRow]
    )
    _waiting: dict[tuple[str, int], BindingRow] = field(
        default_factory=dict[tuple[str, int], BindingRow]
    )
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def why_restart(self, view: SessionView, now: BoundTo) -> str | None:
        """Why the runtime's session may not be resumed. One of which nothing is kept was opened by
        an earlier version, or cut off as it began: what it is found with counts. So it does where
        the store cannot be read just now."""
        try:
            row = await self.find(view)
        except MalformedBinding as error:
            _log.warning("%s", error)
            await self._forget(view.id)
            return _UNREADABLE
        except Exception as error:  # noqa: BLE001 - a border: it stands beside the work
            _log.warning("The binding of session %s cannot be read: %s", view.id, error)
            return None
        if row and row.is_elsewhere:
            return _ELSEWHERE
        return row and now.why_not(row.parts, wishes(view, row))

    async def find(self, view: SessionView) -> BindingRow | None:
        number = view.runtime_number
        kept = self._unkept.get((view.id, number))
        return kept or await self.store.find(view.id, number)

    async def keep(self, row: BindingRow) -> None:
        """With all others that were to be kept while somebody wrote: many sessions begin at once,
        and each transaction waits for the disk."""
        self._waiting[row.session, row.number] = row
        async with self._writing:
            rows, self._waiting = self._waiting, {}
            if rows:
                await asyncio.shield(self._keep(rows))

    async def _keep(self, rows: Mapping[tuple[str, int], BindingRow]) -> None:
        try:
            await self.store.keep(*rows.values())
        except Exception as error:  # noqa: BLE001 - a border: it stands beside the work
            self._unkept.update(rows)
            names = ", ".join(session for session, _ in rows)
            _log.warning("What sessions are bound to is not kept (%s): %s", names, error)
        else:
            for key in rows:
                self._unkept.pop(key, None)

    async def _forget(self, session: str) -> None:
        with contextlib.suppress(Exception):  # what stays is not read either
            await self.store.forget([session])
