"""The hooks of a session that is to be opened: as said in all places, and as found on disk."""

import ast
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airboss import strange_files
from airboss.errors import Invalid
from airboss.model.setup import HookSetup
from airboss.model.tool_lists import mistake_in
from airboss.runtime.hook_process import LARGEST_SCRIPT, digest_of_file
from airboss.session_keys import HOOK_SECONDS, NOT_OF_TOOL, TOOL_HOOKS, HookKeys, HookName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from airboss.harness.setup import Said

_WHOLE: Final = "Should be an absolute path, or the name of a program: settings are in no folder."


@dataclass(frozen=True)
class SaidHook:
    """One hook, and where it is said."""

    name: HookName
    keys: HookKeys
    place: str
    said: "Said"

    @property
    def is_of_settings(self) -> bool:
        return self.said.snake_case


@dataclass(frozen=True)
class HookPlan:
    """All that is said about hooks, in the order in which they are asked: those of the settings
    come first, and none takes the place of another."""

    said: "Sequence[Said]"

    def __iter__(self) -> Iterator[SaidHook]:
        for one in self.said:
            for name, hooks in (one.keys.hooks or {}).items():
                for index, keys in enumerate(hooks):
                    yield SaidHook(name, keys, f"{one.place('hooks')}.{name}[{index}]", one)

    def check(self) -> None:
        """What no file need be looked at for."""
        servers = {name for one in self.said for name in one.keys.mcp_servers or ()}
        for hook in self:
            # Who asks for one session knows its servers.
            known = servers if hook.said.where == "" else None
            if mistake := mistake_in_tool(hook.name, hook.keys.tool, known):
                raise Invalid(f"{hook.place}.tool: {mistake}")
            if hook.keys.on_host is not None and not hook.is_of_settings:
                raise Invalid(f"{hook.place}.onHost: Only the settings may have it. Leave it out.")
            word = _first(hook.keys)
            if hook.is_of_settings and _is_path(word) and not _whole(word).is_absolute():
                key = "python" if hook.keys.python else "command[0]"
                raise Invalid(f"{hook.place}.{key}: {_WHOLE}")

    def find(self, cwd: Path, clean: "Callable[[str], str]") -> tuple[HookSetup, ...]:
        """Those that count, with their files as they are now. Refused where one is missing."""
        return tuple(found_hook(hook, cwd, clean) for hook in self if hook.said.may_widen)


def mistake_in_tool(
    name: str, tool: str | None, servers: "Collection[str] | None" = None
) -> str | None:
    """Without `servers` it is not known which there will be."""
    if tool is None:
        return None
    if name not in TOOL_HOOKS:
        return NOT_OF_TOOL
    if servers is not None:
        return mistake_in(tool, servers)
    return None if "/" in tool else mistake_in(tool)


def _first(keys: HookKeys) -> str:
    return keys.python or (keys.command or ("",))[0]


def _is_path(word: str) -> bool:
    return "/" in word or os.sep in word or word.startswith("~") or ".py:" in word


def _whole(word: str) -> Path:
    try:
        return Path(word).expanduser()
    except RuntimeError:  # there is no such home
        return Path(word)


def found_hook(hook: SaidHook, cwd: Path, clean: "Callable[[str], str]") -> HookSetup:
    keys = hook.keys
    command, python = (), None
    if keys.python is not None:
        file, _, function = keys.python.rpartition(":")
        path = Path(os.path.normpath(cwd / _whole(file)))
        _must_have(path, function, f"{hook.place}.python")
        python = f"{path}:{function}"
        named = [str(path)]
    else:
        command = _words(keys.command or (), cwd, f"{hook.place}.command")
        named = [word for word in command if os.path.isabs(word)]
        _must_be_free_of_secrets(command, clean, f"{hook.place}.command")
    return HookSetup(
        hook=hook.name,
        command=command,
        python=python,
        tool=keys.tool,
        seconds=keys.seconds or HOOK_SECONDS,
        sub_agents=keys.sub_agents,
        on_host=bool(keys.on_host),
        place=hook.place,
        files={} if hook.is_of_settings else digests_of(named),
        needs_trust=hook.said.must_be_trusted,
    )


def _words(words: "Sequence[str]", cwd: Path, place: str) -> tuple[str, ...]:
    program = words[0]
    if not _is_path(program):
        if shutil.which(program) is None:
            raise Invalid(f'{place}[0]: There is no program "{program}" on the PATH of the server.')
        return tuple(words)
    path = os.path.normpath(cwd / _whole(program))
    if not os.path.isfile(path):
        raise Invalid(f"{place}[0]: There is no program {path}.")
    if not os.access(path, os.X_OK):
        raise Invalid(f"{place}[0]: {path} is not executable. Run `chmod +x` on it.")
    return (path, *(_file_or_word(word, cwd) for word in words[1:]))


def _must_be_free_of_secrets(
    words: "Sequence[str]", clean: "Callable[[str], str]", place: str
) -> None:
    """They are written down with the session. Without its secret the program would be another."""
    for index, word in enumerate(words):
        if clean(word) != word:
            raise Invalid(
                f"{place}[{index}]: It has a secret in it. Put that into a file that the program "
                "reads."
            )


def _file_or_word(word: str, cwd: Path) -> str:
    """A path that is written from where we stand; all else is as it is."""
    path = os.path.normpath(cwd / word)
    return path if word.startswith(("./", "../")) and os.path.isfile(path) else word


def _must_have(file: Path, function: str, place: str) -> None:
    try:
        names = set(_names_in(ast.parse(strange_files.read(file, LARGEST_SCRIPT), str(file))))
    except FileNotFoundError:
        raise Invalid(f"{place}: There is no file {file}.") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise Invalid(f"{place}: {file} cannot be read: {why}.") from None
    except (SyntaxError, ValueError) as error:
        raise Invalid(f"{place}: {file} is not Python: {error}.") from None
    except (RecursionError, MemoryError):  # the parser's own bounds
        raise Invalid(f"{place}: {file} is nested too deeply to be read.") from None
    if function not in names:
        raise Invalid(f'{place}: {file} has no function "{function}".')


def _names_in(module: ast.Module) -> Iterator[str]:
    for part in module.body:
        match part:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield part.name
            case ast.Assign():
                yield from (name.id for name in part.targets if isinstance(name, ast.Name))
            case ast.ImportFrom() | ast.Import():
                yield from (name.asname or name.name for name in part.names)
            case _:
                pass


def digests_of(files: "Sequence[str]") -> dict[str, str]:
    """Of those that are files, and small enough to be scripts."""
    found: dict[str, str] = {}
    for file in files:
        try:
            is_script = os.path.isfile(file) and os.path.getsize(file) <= LARGEST_SCRIPT
        except OSError:
            continue
        if is_script and (digest := digest_of_file(file)) is not None:
            found[file] = digest
    return found
