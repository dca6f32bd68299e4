"""The settings of a running server: where each comes from, and those that people change."""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr

from airboss.errors import Conflict, Invalid, NotFound, SettingsInvalid
from airboss.log.writer import now_ms
from airboss.model.audit_events import SettingChanged
from airboss.model.redaction import Redactor
from airboss.service.audit import Audit, actor
from airboss.setting_facts import SETTING_FACTS, Effect, Kind, SettingFacts
from airboss.setting_sources import SettingSources, value_at
from airboss.settings import Settings, shown_settings
from airboss.store.settings import KeptSetting, SettingStore, is_of_a_list

_log = logging.getLogger("airboss.settings")

Source: TypeAlias = Literal["change", "file", "option", "variable", "default"]
SettingValue: TypeAlias = StrictBool | StrictInt | StrictFloat | StrictStr | list[StrictStr] | None
_LONGEST: Final = 64 * 1024


class Setting(BaseModel):
    """One setting: what it means, what it is, and who says so."""

    model_config = ConfigDict(frozen=True)

    name: str
    meaning: str
    kind: Kind
    # One of these, where there are only some.
    choices: tuple[str, ...]
    value: SettingValue
    default: SettingValue
    # What the server works with now, where `value` waits for the next start; else the same.
    in_use: SettingValue
    source: Source
    # In words: the file with its line, the option, the variable.
    set_in: str
    effect: Effect
    changeable: bool
    # An option or a variable sets it, which a change does not outdo.
    locked: bool
    # Why it cannot be changed here, and what to do instead.
    why_not: str
    # A change of it can delete what nobody brings back.
    deletes: bool
    changed_by: str | None = None
    changed_at: int | None = None
    # Why the change that is kept is not used: it was fine when it was made.
    problem: str | None = None


@dataclass
class SettingChanges:
    """Loaded once, before anything is made of the settings. Changes are on disk when they hold."""

    sources: SettingSources
    store: SettingStore
    redactor: Redactor
    audit: Audit
    # What cannot be used any more, and why.
    problems: dict[str, str] = field(default_factory=dict[str, str])
    # Hears of every change: what can take it at once does.
    apply: Callable[[Settings], None] = lambda _: None
    # Told of every change, once it is listed.
    announce: Callable[[], None] = lambda: None
    _kept: dict[str, KeptSetting] = field(default_factory=dict[str, KeptSetting])
    # What this server works with, where a change waits for the next start.
    at_start: Settings = field(default_factory=Settings)
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def load(self) -> Settings:
        """What this server starts with. A change that cannot be used keeps nobody from starting."""
        self.at_start = self.sources.settings(await self._read())
        return self.at_start

    async def reload(self) -> None:
        """What another server changed in the same place is in force here, too."""
        async with self._changing:
            before = self._changes()
            changes = await self._read()
            if changes != before:
                self.apply(self.sources.settings(changes))

    async def _read(self) -> dict[str, Any]:
        """Those that can be used."""
        good: dict[str, Any] = {}
        self._kept, self.problems = {}, {}
        for kept in await self.store.all():
            if is_of_a_list(kept.name):  # a provider or an account that was added
                continue
            facts = SETTING_FACTS.get(kept.name)
            if facts is None or facts.fixed:
                _log.warning("Ignored the stored setting %s: it is not known here.", kept.name)
                continue
            self._kept[kept.name] = kept
            try:
                self.sources.settings({**good, kept.name: kept.value})
                good[kept.name] = kept.value
            except SettingsInvalid as error:
                self.problems[kept.name] = str(error)
                _log.warning("Ignored the stored setting %s: %s", kept.name, error)
        return good

    def all(self) -> tuple[Setting, ...]:
        values = shown_settings(self.sources.settings(self._changes()))
        in_use = shown_settings(self.at_start)
        defaults = shown_settings(Settings())
        return tuple(
            self._shown(name, facts, values, in_use, defaults)
            for name, facts in SETTING_FACTS.items()
        )

    def one(self, name: str) -> Setting:
        found = next((setting for setting in self.all() if setting.name == name), None)
        if found is None:
            raise NotFound("setting", name)
        return found

    async def change(self, name: str, value: SettingValue, who: str) -> Setting:
        """Kept, and in force as soon as it can be. Refused in the words of the file's checks."""
        async with self._changing:
            before = self._to_be_changed(name)
            self._must_be_storable(name, value)
            changes = {**self._changes(), name: value}
            try:
                settings = self.sources.settings(changes)
            except SettingsInvalid as error:
                raise Invalid(str(error)) from error
            settled = value_at(settings.model_dump(mode="json"), name)
            if name.startswith("loop_detection.") and settled != value:
                # The file takes the default then; a person is there to be told.
                raise Invalid(f"{name}: Input should be a whole number greater than 0")
            kept = KeptSetting(name, settled, who, now_ms())
            await self.store.put(kept)
            self._kept[name] = kept
            self.problems.pop(name, None)
            self.apply(settings)
        self.announce()
        await self._record(who, "changed", before)
        return self.one(name)

    async def reset(self, name: str, who: str) -> Setting:
        """Back to what the file says, or the default. Twice is as good as once."""
        async with self._changing:
            before = self.one(name)
            if name not in self._kept:
                return before
            changes = self._changes()
            changes.pop(name, None)
            try:
                settings = self.sources.settings(changes)
            except SettingsInvalid as error:
                raise Conflict(f"Could not reset {name}: {error}") from error
            await self.store.remove(name)
            del self._kept[name]
            self.problems.pop(name, None)
            self.apply(settings)
        self.announce()
        await self._record(who, "reset", before)
        return self.one(name)

    def _changes(self) -> dict[str, Any]:
        return {name: kept.value for name, kept in self._kept.items() if name not in self.problems}

    def _to_be_changed(self, name: str) -> Setting:
        setting = self.one(name)
        if not setting.changeable:
            raise Conflict(f"{name} cannot be changed here. {setting.why_not}")
        return setting

    def _must_be_storable(self, name: str, value: SettingValue) -> None:
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            text.encode()
        except ValueError:  # infinite, or half of a character
            raise Invalid(f"{name}: should be a number or a text that can be stored.") from None
        if len(text) > _LONGEST or "\0" in "".join(_texts(value)):
            raise Invalid(f"{name}: should be text of at most {_LONGEST} characters without NUL.")
        if self.redactor.count(text):
            raise Invalid(f"{name}: the value contains a secret. Secrets cannot be stored here.")

    async def _record(self, who: str, change: Literal["changed", "reset"], before: Setting) -> None:
        after = self.one(before.name)
        _log.info("%s: %s the setting %s", who, change, before.name)
        await self.audit.write(
            SettingChanged(
                by=actor(who),
                change=change,
                name=before.name,
                value=json.dumps(after.value, ensure_ascii=False),
                before=json.dumps(before.value, ensure_ascii=False),
            )
        )

    def _shown(
        self,
        name: str,
        facts: SettingFacts,
        values: dict[str, Any],
        in_use: dict[str, Any],
        defaults: dict[str, Any],
    ) -> Setting:
        value, kept = value_at(values, name), self._kept.get(name)
        source, set_in = self._source(name, facts)
        if source == "variable" and value is None:
            value = self.sources.variables[name][1]
        used = value_at(in_use, name) if facts.effect == "next_start" and not facts.fixed else value
        why_not = self._why_not(name, facts, source, set_in)
        return Setting(
            name=name,
            meaning=facts.meaning,
            kind=facts.kind,
            choices=facts.choices,
            value=self._clean(value),
            default=self._clean(value_at(defaults, name)),
            in_use=self._clean(used),
            source=source,
            set_in=self.redactor.text(set_in),
            effect=facts.effect,
            changeable=not why_not,
            locked=source in ("option", "variable") and not facts.fixed,
            why_not=self.redactor.text(why_not),
            deletes=facts.deletes,
            changed_by=kept and kept.who,
            changed_at=kept and kept.at,
            problem=self.problems.get(name),
        )

    def _source(self, name: str, facts: SettingFacts) -> tuple[Source, str]:
        sources = self.sources
        if sources.has_option(name):
            return "option", facts.option or "the start of the server"
        if name in self._kept and name not in self.problems:
            return "change", "here"
        if sources.is_in_file(name):
            line = sources.line_of(name)
            return "file", f"{sources.file}{f', line {line}' if line else ''}"
        if name in sources.variables:
            return "variable", sources.variables[name][0]
        return "default", "the default"

    def _why_not(self, name: str, facts: SettingFacts, source: Source, set_in: str) -> str:
        if facts.fixed:
            where = [f"in {self.sources.file}"] if self.sources.file and name != "data" else []
            where += [f"by {facts.option}"] if facts.option else []
            return f"{facts.fixed} Set it {' or '.join(where)}, and restart the server."
        if source in ("option", "variable"):
            return f"{set_in} sets it. To change it here, restart the server without {set_in}."
        return ""

    def _clean(self, value: SettingValue) -> SettingValue:
        if isinstance(value, str):
            return self.redactor.text(value)
        if isinstance(value, list):
            return [self.redactor.text(one) for one in value]
        return value


def _texts(value: SettingValue) -> list[str]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, str) else []
