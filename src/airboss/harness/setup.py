"""Makes the one description of a session, of all that is said about it: settings first, then the
entry, the task and the request. What comes later goes over what came before.

Who may not widen what the server allows cannot do so here either: such a wish does not count.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TypeVar

from airboss.errors import AirbossError, Invalid, SettingsInvalid
from airboss.harness.agents import SessionAgents, counting, must_offer
from airboss.harness.hook_plan import HookPlan
from airboss.harness.servers import SessionServers
from airboss.harness.session_cage import SessionCage, check_profiles
from airboss.harness.skills import skills_in
from airboss.harness.variables import check_listed, reserved
from airboss.model.cage_bounds import ServerCages
from airboss.model.setup import (
    USUAL,
    CommandSetup,
    ContextSetup,
    HookSetup,
    SectionChange,
    Setup,
    SystemMessageSetup,
    ToolSetup,
)
from airboss.model.setup_bounds import section_widens
from airboss.model.tool_lists import SERVERS, ToolList, mistake_in
from airboss.session_keys import (
    BLOCK_AT,
    CLI_ACCOUNT,
    COMPACT_AT,
    NOT_IN_ORDER,
    NOTHING_SAID,
    TOO_EARLY,
    Effort,
    Instructions,
    SectionKeys,
    SessionKeys,
    SystemMessageKeys,
    ToolKeys,
    ToolSearch,
)
from airboss.settings import Settings

Value = TypeVar("Value")
Clean = Callable[[str], str]


@dataclass(frozen=True)
class Said:
    """What is said in one place. `where` comes before the name of a key, such as `entry.`."""

    keys: SessionKeys
    where: str = ""
    # The server's own settings, a file that a person trusts, or a request of the role `own`.
    may_widen: bool = False
    snake_case: bool = False
    # Said in a file: what it names beside itself must still be what a person trusted.
    must_be_trusted: bool = False
    is_settings: bool = False

    def place(self, key: str) -> str:
        name = key if self.snake_case else SessionKeys.model_fields[key].alias
        return f"{self.where}{name}"


def in_settings(keys: SessionKeys) -> Said:
    return Said(keys, "settings: session.", may_widen=True, snake_case=True, is_settings=True)


def check_settings(settings: Settings) -> None:
    """What only we know to mean nothing: the settings' own types do not."""
    try:
        check_listed(settings.session.variables or (), reserved(settings))
        plan = SetupPlan((in_settings(settings.session),))
        plan.check_servers(())
        plan.check_tools()
        plan.check_agents()
        plan.check_account([account.name for account in settings.accounts])
        plan.hooks.check()
        plan.check_context()
        cages = ServerCages.of(settings)
        check_profiles(cages, settings.data)
        SessionCage(plan.said, cages).check()
    except Invalid as error:
        raise SettingsInvalid(str(error)) from None


@dataclass(frozen=True)
class SetupPlan:
    """All that is said about a session that is to be opened, in order."""

    said: Sequence[Said]

    def place(self, key: str) -> str:
        """Where the word on this key was that counts."""
        found = [one.place(key) for one in self.said if key in one.keys.said]
        return found[-1] if found else key

    @property
    def agents(self) -> SessionAgents:
        return SessionAgents(self.said)

    @property
    def servers(self) -> SessionServers:
        return SessionServers(self.said)

    @property
    def hooks(self) -> HookPlan:
        return HookPlan(self.said)

    @property
    def _effort(self) -> Effort | None:
        return self.agents.effort or self._last(lambda keys: keys.reasoning_effort)

    def check_effort(self, model: str, efforts: Sequence[str] | None) -> None:
        """Refused where the model is known to offer others; of some nobody knows which."""
        if self._effort is None:
            return
        selected = self.agents.selected
        is_agents = self.agents.effort and not self.said[-1].keys.reasoning_effort
        place = self.place("reasoning_effort")
        if selected and is_agents:
            place = f"{selected.place}.reasoningEffort"
        must_offer(place, model, self._effort, efforts)

    def made(
        self,
        clean: Clean,
        directories: Sequence[Path] = (),
        skills: Sequence[Path] = (),
        hooks: Sequence[HookSetup] = (),
    ) -> Setup:
        """`clean` takes secrets out of texts: what is said here is written down. `directories`,
        `skills` and `hooks` are those that were found."""
        instructions: Instructions | None = self._last(lambda keys: keys.instructions)
        return Setup(
            reasoning_effort=self._effort,
            system_message=self._system_message(clean),
            instructions=instructions or USUAL.instructions,
            tools=self._tools(),
            directories=tuple(str(path) for path in directories),
            context=self._context(),
            agents=self.agents.made(clean),
            commands=self._commands(clean),
            agent=self.agents.name,
            skills=tuple(str(path) for path in skills),
            skills_need_trust=bool(skills) and self._skills_said().must_be_trusted,
            account=self.account,
            identity=(self._granted(lambda keys: keys.identity) or USUAL.identity).lower(),
            mcp_servers=self.servers.made(clean),
            hooks=tuple(hooks),
        )

    def check_account(self, names: Collection[str]) -> None:
        """Refused where no account of the settings is called so."""
        for one in self.said:
            name = one.keys.account
            if name is not None and name != CLI_ACCOUNT and name not in names:
                known = f"There are: {', '.join((*names, CLI_ACCOUNT))}."
                raise Invalid(f'{one.place("account")}: There is no account "{name}". {known}')

    @property
    def account(self) -> str | None:
        return self._granted(lambda keys: keys.account)

    def _granted(self, pick: Callable[[SessionKeys], Value | None]) -> Value | None:
        """The last word of those who may widen what the server allows."""
        found = (pick(one.keys) for one in reversed(self.said) if one.may_widen)
        return next((value for value in found if value is not None), None)

    def _commands(self, clean: Clean) -> dict[str, CommandSetup]:
        """All that are named, wherever: a person sends each on purpose."""
        return {
            name: CommandSetup(description=clean(one.description), prompt=clean(one.prompt))
            for _, name, one in counting(self.said, lambda keys: keys.commands)
        }

    def _last(self, pick: Callable[[SessionKeys], Value | None]) -> Value | None:
        found = (pick(one.keys) for one in reversed(self.said))
        return next((value for value in found if value is not None), None)

    def check_tools(self) -> None:
        """Refused where a word means no tool: the runtime would take it for a name of none."""
        for one in self.said:
            tools = one.keys.tools
            for key, words in (("allow", tools.allow), ("deny", tools.deny)) if tools else ():
                for index, word in enumerate(words or ()):
                    if mistake := mistake_in(word, self.servers.names):
                        raise Invalid(f"{one.place('tools')}.{key}[{index}]: {mistake}")

    def check_agents(self) -> None:
        is_asked_for = any(one.keys.tools and one.keys.tools.github for one in self.said)
        self.agents.check((*(SERVERS if is_asked_for else ()), *self.servers.names))

    def check_servers(self, variables: Collection[str]) -> None:
        self.servers.check(variables)

    def find_skills(self, cwd: Path, check: Callable[[str], Path]) -> tuple[Path, ...]:
        """The real paths of the folders with skills: the runtime passes over one that is missing.
        Also refused where an agent names a skill that is in none of them."""
        said = self._skills_said()
        found: dict[Path, list[str]] = {}
        for index, word in enumerate(said.keys.skills or ()):
            place = f"{said.place('skills')}[{index}]"
            try:
                path = check(str(cwd / Path(word).expanduser()))
                found[path] = skills_in(path)
            except (AirbossError, RuntimeError) as error:  # the latter: there is no such home
                raise Invalid(f"{place}: {error}") from None
        self.agents.check_skills([name for names in found.values() for name in names])
        return tuple(found)

    def _skills_said(self) -> Said:
        said = [one for one in self.said if one.may_widen and one.keys.skills is not None]
        return said[-1] if said else Said(NOTHING_SAID)

    def find_directories(self, cwd: Path, check: Callable[[str], Path]) -> tuple[Path, ...]:
        """The real paths of the folders beside the working directory, which relative ones begin at.
        `check` refuses what agents may not work in."""
        said = [one for one in self.said if one.may_widen and one.keys.directories is not None]
        found: dict[Path, None] = {}
        for index, word in enumerate((said[-1].keys.directories or ()) if said else ()):
            try:
                found[check(str(cwd / Path(word).expanduser()))] = None
            except (AirbossError, RuntimeError) as error:  # the latter: there is no such home
                raise Invalid(f"{said[-1].place('directories')}[{index}]: {error}") from None
        return tuple(found)

    def check_context(self) -> None:
        """Refused where the work would wait before anything is summarized."""
        self._context()

    def _context(self) -> ContextSetup:
        context = ContextSetup(
            infinite=self._last(lambda keys: keys.context and keys.context.infinite),
            compact_at=self._last(lambda keys: keys.context and keys.context.compact_at),
            block_at=self._last(lambda keys: keys.context and keys.context.block_at),
        )
        if (context.compact_at or COMPACT_AT) >= (context.block_at or BLOCK_AT):
            is_late = context.compact_at is not None
            key, mistake = ("compactAt", NOT_IN_ORDER) if is_late else ("blockAt", TOO_EARLY)
            raise Invalid(f"{self.place('context')}.{key}: {mistake}")
        return context

    def _tools(self) -> ToolSetup:
        """What they say who may not widen holds beside what the others say."""
        widest = self._tool_keys(may_widen=True)
        search: ToolSearch | None = self._last(lambda keys: keys.tools and keys.tools.search)
        lists = [_list_of(widest), _list_of(self._tool_keys(may_widen=False))]
        return ToolSetup(
            lists=tuple(one for one in lists if one != ToolList()),
            search=search or USUAL.tools.search,
            github=bool(widest.github),
            of_servers=self.servers.tools,
        )

    def _tool_keys(self, *, may_widen: bool) -> ToolKeys:
        said = [one.keys.tools for one in self.said if one.may_widen is may_widen]
        return reduce(
            lambda keys, more: keys.model_copy(
                update={name: getattr(more, name) for name in more.said}
            ),
            (keys for keys in said if keys is not None),
            ToolKeys(),
        )

    def _system_message(self, clean: Clean) -> SystemMessageSetup | None:
        message = SystemMessageSetup()
        for one in self.said:
            if one.keys.system_message is not None:
                message = _over(message, one.keys.system_message, one.may_widen, clean)
        return None if message == SystemMessageSetup() else message


def _list_of(keys: ToolKeys) -> ToolList:
    return ToolList(allow=keys.allow, deny=keys.deny or ())


def _over(
    message: SystemMessageSetup, keys: SystemMessageKeys, may_widen: bool, clean: Clean
) -> SystemMessageSetup:
    """What is appended adds up; what is put in the place of something takes that place alone."""
    if keys.append is not None:
        texts = [text for text in (message.append, clean(keys.append)) if text]
        return message.model_copy(update={"append": "\n\n".join(texts)})
    if keys.replace is not None:
        return SystemMessageSetup(replace=clean(keys.replace)) if may_widen else message
    sections = {
        name: _changed(section, clean)
        if may_widen
        else _added(message.sections.get(name), _changed(section, clean))
        for name, section in (keys.sections or {}).items()
        if may_widen or not section_widens(section)
    }
    replace = None if may_widen else message.replace
    return message.model_copy(
        update={"sections": {**message.sections, **sections}, "replace": replace}
    )


def _added(before: SectionChange | None, more: SectionChange) -> SectionChange:
    """The earlier change stays as it is, and what is added comes behind its text."""
    if before is None:
        return more
    text = "\n\n".join(text for text in (before.text, more.text) if text)
    action = "replace" if before.action == "remove" else before.action
    return SectionChange(action=action, text=text)


def _changed(section: SectionKeys | str, clean: Clean) -> SectionChange:
    if not isinstance(section, SectionKeys):
        return SectionChange(action="remove")
    if section.append is not None:
        return SectionChange(action="append", text=clean(section.append))
    if section.prepend is not None:
        return SectionChange(action="prepend", text=clean(section.prepend))
    return SectionChange(action="replace", text=clean(section.replace or ""))
