"""Rules of one's own: kept in order, read by every conversation, changed by people only."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from airboss.errors import Conflict, Invalid, NotFound, StoreUnavailable, TooMuch
from airboss.harness.patterns import fixed_part, literal, plain
from airboss.harness.rules import ALLOWABLE, HOST, WITH_PATHS, WITH_TOOL
from airboss.log.writer import now_ms
from airboss.model.audit_events import RulesChanged
from airboss.model.ids import RuleId, new_rule_id
from airboss.model.redaction import Redactor
from airboss.model.rules import LONGEST_WORDS, KeptRule, Rule
from airboss.net.host_names import host_name
from airboss.service.audit import Audit, actor
from airboss.service.rule_sharing import RuleSharing
from airboss.store.rules import RuleStore

_log = logging.getLogger("airboss.rules")

MOST_RULES: Final = 1000
# What can be denied or asked about, though nothing of it can be allowed by a rule.
_KINDS: Final = ALLOWABLE | {
    "extension-management",
    "extension-permission-access",
    "extension-env-access",
}
# Which kinds of requests have what a rule may name beside its kind.
_HAVE: Final = {
    "tool": WITH_TOOL,
    "command": frozenset({"shell"}),
    "path": WITH_PATHS | {"shell"},
    "host": frozenset({"url", "shell", HOST}),
}


@dataclass
class Rules:
    """Loaded once; `current` is what holds now, and is on disk."""

    store: RuleStore
    redactor: Redactor
    audit: Audit | None = None
    current: tuple[KeptRule, ...] = ()
    # Other processes that have the same rules.
    sharing: RuleSharing | None = None
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> None:
        self.current = tuple(await self.store.all())

    async def look(self) -> None:
        """What other processes changed is known here."""
        if self.sharing and (version := await self.sharing.news()) is not None:
            await self.load()  # these are as new as that, or newer
            await self.sharing.saw(version)

    async def follow(self, sharing: RuleSharing) -> None:
        """For ever: what others change holds here."""
        self.sharing = sharing
        async for _ in sharing.changes():
            with contextlib.suppress(StoreUnavailable):  # the log has said that by itself
                await self.look()

    async def add(self, rule: Rule, who: str, place: int | None = None) -> KeptRule:
        """At the end, or at this place (0 is the first). One that holds already, word for word, is
        not written twice unless it is to stand elsewhere."""
        if any(self.redactor.count(text) for text in _words(rule).values()):
            raise Invalid("This rule contains a secret. Replace it with *.")
        settled = await asyncio.to_thread(settle, rule)
        async with self._changes():
            same = next((kept for kept in self.current if kept.rule == settled), None)
            if same and place is None:
                return same
            if len(self.current) >= MOST_RULES:
                raise TooMuch(f"The limit of {MOST_RULES} rules is reached. Remove some first.")
            at = len(self.current) if place is None else min(place, len(self.current))
            kept = KeptRule(id=new_rule_id(), rule=settled, who=who, made_at=now_ms())
            await self.store.add(kept, at)
            self.current = (*self.current[:at], kept, *self.current[at:])
        _log.info("%s added the rule %s: %s", who, kept.id, rule_text(settled))
        await self._record(who, "added", kept)
        return kept

    async def remove(self, rule: str, who: str) -> KeptRule:
        async with self._changes():
            gone = next((kept for kept in self.current if kept.id == rule), None)
            if gone is None:
                raise NotFound("rule", rule)
            await self.store.remove(gone.id)
            self.current = tuple(kept for kept in self.current if kept.id != gone.id)
        _log.info("%s removed the rule %s: %s", who, gone.id, rule_text(gone.rule))
        await self._record(who, "removed", gone)
        return gone

    async def arrange(self, ids: Sequence[str], who: str) -> tuple[KeptRule, ...]:
        """Each of them once: who has not seen one of them does not say where it stands."""
        async with self._changes():
            known = {kept.id: kept for kept in self.current}
            if sorted(ids) != sorted(known):
                raise Conflict("The order must list every rule once. Load the rules again first.")
            await self.store.arrange([RuleId(rule) for rule in ids])
            self.current = tuple(known[RuleId(rule)] for rule in ids)
        _log.info("%s reordered the rules", who)
        if self.audit:
            await self.audit.write(RulesChanged(by=actor(who), change="arranged"))
        return self.current

    @contextlib.asynccontextmanager
    async def _changes(self) -> AsyncGenerator[None]:
        """One at a time, on what is known everywhere; it holds everywhere at the end."""
        async with self._changing:
            await self.look()
            before = self.current
            yield
            if self.sharing and self.current is not before:
                await self.look()
                await self.sharing.hold()

    async def _record(self, who: str, change: Literal["added", "removed"], kept: KeptRule) -> None:
        if self.audit:
            text = rule_text(kept.rule)
            await self.audit.write(
                RulesChanged(by=actor(who), change=change, rule=kept.id, text=text)
            )


def rule_text(rule: Rule) -> str:
    """In one line."""
    named = _words(rule).items()
    words = [f"{'kind' if name == 'wish' else name} {text}" for name, text in named]
    return " ".join([rule.verdict, *(words or ["everything"])])


def settle(rule: Rule) -> Rule:
    """The rule with its paths resolved and its host as the network knows it: a link that is turned
    later changes nothing. One that could never hold, or would hold for too much, is refused."""
    named = _words(rule)
    wrong = next((name for name, text in named.items() if not _is_usable(text)), None)
    if wrong:
        raise Invalid(f"{wrong}: should have 1 to {LONGEST_WORDS} characters.")
    _check_kind(rule)
    for name, kinds in _HAVE.items():
        if name in named and rule.wish is not None and rule.wish not in kinds:
            raise Invalid(
                f"A request of the kind {rule.wish} has no {name}. "
                f"Use {name} with {', '.join(sorted(kinds))}."
            )
    return rule.model_copy(
        update={
            "path": rule.path and _settled_path(rule.path),
            "host": rule.host and _settled_host(rule.host),
            "folder": rule.folder and _settled_folder(rule.folder),
        }
    )


def _words(rule: Rule) -> dict[str, str]:
    return rule.model_dump(exclude={"verdict"}, exclude_none=True)


def _is_usable(text: str) -> bool:
    return bool(text.strip()) and len(text) <= LONGEST_WORDS and "\0" not in text


def _check_kind(rule: Rule) -> None:
    kinds = ALLOWABLE if rule.verdict == "allow" else _KINDS
    if rule.wish is not None and rule.wish not in kinds:
        raise Invalid(f"There is no kind of request {rule.wish}. Use {', '.join(sorted(kinds))}.")
    if rule.verdict != "allow":
        return
    if rule.wish is None and (rule.tool is None or rule.command or rule.path or rule.host):
        raise Invalid("A rule that allows must name the kind of request, or only a tool.")
    if rule.wish == "shell" and (rule.path or rule.host):
        raise Invalid(
            "The files and hosts that a command uses are not known. Name the command instead."
        )


def _settled_path(pattern: str) -> str:
    if ".." in pattern.replace("\\", "/").split("/"):
        raise Invalid("path: should not contain “..”.")
    fixed = fixed_part(pattern)
    whole = len(fixed) == len(pattern)
    folder = fixed if whole else fixed[: fixed.rfind("/") + 1]
    if not folder:
        return pattern
    resolve = os.path.realpath if os.path.isabs(pattern) else os.path.normpath
    real = literal(resolve(plain(folder) or folder))
    return real if whole else f"{real.rstrip('/')}/{pattern[len(folder) :]}".removeprefix("./")


def _settled_host(pattern: str) -> str:
    if pattern == "*":
        return pattern
    below = "*." if pattern.startswith("*.") else ""
    name = host_name(pattern.removeprefix(below).strip("[]"))
    if name is None:
        raise Invalid("host: should be a name such as example.com, or *.example.com.")
    return f"{below}{name}"


def _settled_folder(folder: str) -> str:
    if not os.path.isabs(folder):
        raise Invalid("folder: should be an absolute path.")
    return os.path.realpath(folder)
