"""Makes the one description of a session, of all that is said about it: settings first, then the
entry, the task and the request. What comes later goes over what came before.

Who may not widen what the server allows cannot do so here either: such a wish does not count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TypeVar

from airboss.errors import AirbossError, Invalid, SettingsInvalid
from airboss.model.setup import (
    USUAL,
    ContextSetup,
    SectionChange,
    Setup,
    SystemMessageSetup,
    ToolSetup,
)
from airboss.model.setup_bounds import section_widens
from airboss.model.tool_lists import ToolList, mistake_in
from airboss.session_keys import (
    BLOCK_AT,
    COMPACT_AT,
    NOT_IN_ORDER,
    Instructions,
    SectionKeys,
    SessionKeys,
    SystemMessageKeys,
    ToolKeys,
    ToolSearch,
)

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

    def place(self, key: str) -> str:
        name = key if self.snake_case else SessionKeys.model_fields[key].alias
        return f"{self.where}{name}"


def in_settings(keys: SessionKeys) -> Said:
    return Said(keys, "settings: session.", may_widen=True, snake_case=True)


def check_settings(keys: SessionKeys) -> None:
    """What only we know to mean nothing: the settings' own types do not."""
    try:
        SetupPlan((in_settings(keys),)).check_tools()
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

    def check_effort(self, model: str, efforts: Sequence[str] | None) -> None:
        """Refused where the model is known to offer others; of some nobody knows which."""
        effort = self._last(lambda keys: keys.reasoning_effort)
        if effort is None or efforts is None or effort in efforts:
            return
        offered = (
            f"It offers: {', '.join(efforts)}." if efforts else "It offers none: leave it out."
        )
        place = self.place("reasoning_effort")
        raise Invalid(f'{place}: The model {model} does not offer the effort "{effort}". {offered}')

    def made(self, clean: Clean, directories: Sequence[Path] = ()) -> Setup:
        """`clean` takes secrets out of texts: what is said here is written down. `directories` are
        those of `find_directories`."""
        instructions: Instructions | None = self._last(lambda keys: keys.instructions)
        return Setup(
            reasoning_effort=self._last(lambda keys: keys.reasoning_effort),
            system_message=self._system_message(clean),
            instructions=instructions or USUAL.instructions,
            tools=self._tools(),
            directories=tuple(str(path) for path in directories),
            context=self._context(),
        )

    def _last(self, pick: Callable[[SessionKeys], Value | None]) -> Value | None:
        found = (pick(one.keys) for one in reversed(self.said))
        return next((value for value in found if value is not None), None)

    def check_tools(self) -> None:
        """Refused where a word means no tool: the runtime would take it for a name of none."""
        for one in self.said:
            tools = one.keys.tools
            for key, words in (("allow", tools.allow), ("deny", tools.deny)) if tools else ():
                for index, word in enumerate(words or ()):
                    if mistake := mistake_in(word):
                        raise Invalid(f"{one.place('tools')}.{key}[{index}]: {mistake}")

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

    def _context(self) -> ContextSetup:
        context = ContextSetup(
            infinite=self._last(lambda keys: keys.context and keys.context.infinite),
            compact_at=self._last(lambda keys: keys.context and keys.context.compact_at),
            block_at=self._last(lambda keys: keys.context and keys.context.block_at),
        )
        if (context.compact_at or COMPACT_AT) >= (context.block_at or BLOCK_AT):
            raise Invalid(f"{self.place('context')}.compactAt: {NOT_IN_ORDER}")
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
        for name, section in (keys.sections or {}).items()
        if may_widen or not section_widens(section)
    }
    replace = None if may_widen else message.replace
    return message.model_copy(
        update={"sections": {**message.sections, **sections}, "replace": replace}
    )


def _changed(section: SectionKeys | str, clean: Clean) -> SectionChange:
    if not isinstance(section, SectionKeys):
        return SectionChange(action="remove")
    if section.append is not None:
        return SectionChange(action="append", text=clean(section.append))
    if section.prepend is not None:
        return SectionChange(action="prepend", text=clean(section.prepend))
    return SectionChange(action="replace", text=clean(section.replace or ""))
