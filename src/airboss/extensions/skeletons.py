"""What a new extension begins with: a file that works as it is, to be changed."""

import contextlib
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final

from airboss.errors import Conflict, Invalid, StoreUnavailable
from airboss.extension_settings import NAME_RULE
from airboss.extensions.discovery import MAIN_FILES, Language, extension_at

_LONGEST_TOOL: Final = 64
_TOOL: Final = "_hello"
# To go through a folder one need not be able to list it.
_THROUGH: Final = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER: Final = _THROUGH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

_PYTHON: Final = '''"""Say here in one sentence what this extension does."""

from typing import Annotated

from airboss.extension import Deny, ToolUse, hook, tool


@tool
def {tool}(name: Annotated[str, "who to greet"]) -> str:
    """Greets somebody. The agent reads this text when it chooses a tool."""
    return f"Hello, {{name}}!"


@hook.pre_tool_use(tools=["bash"])
def check_command(use: ToolUse) -> Deny | None:
    """Is asked before each shell command runs. Returning nothing lets it go on."""
    if "rm -rf /" in str(use.arguments.get("command")):
        return Deny("This would delete everything.")
    return None
'''

_JAVASCRIPT: Final = """// Say here in one sentence what this extension does.
import {{ joinSession }} from "@github/copilot-sdk/extension";

await joinSession({{
  tools: [
    {{
      name: "{tool}",
      description: "Greets somebody. The agent reads this text when it chooses a tool.",
      parameters: {{
        type: "object",
        properties: {{ name: {{ type: "string", description: "who to greet" }} }},
        required: ["name"],
      }},
      handler: async ({{ name }}) => `Hello, ${{name}}!`,
    }},
  ],
  hooks: {{
    // Is asked before each tool runs. Returning nothing lets it go on.
    onPreToolUse: async ({{ toolName, toolArgs }}) => {{
      if (toolName === "bash" && JSON.stringify(toolArgs).includes("rm -rf /")) {{
        return {{
          permissionDecision: "deny",
          permissionDecisionReason: "This would delete everything.",
        }};
      }}
    }},
  }},
}});
"""
_TEXTS: Final = {"python": _PYTHON, "javascript": _JAVASCRIPT}


def skeleton(name: str, language: Language) -> str:
    """The text of the main file. Its tool has a name that no other extension has."""
    word = name.replace("-", "_")
    begin = word if word[0].isalpha() else f"x{word}"
    return _TEXTS[language].format(tool=f"{begin[: _LONGEST_TOOL - len(_TOOL)]}{_TOOL}")


def scaffold(place: Path, language: Language) -> Path:
    """Writes a new extension into this folder, and answers its main file. Blocking. A link on the
    way is an error: an agent could have put it there since somebody looked where that leads."""
    if extension_at(place, "project").fault == NAME_RULE:
        raise Invalid(NAME_RULE)
    exists = Conflict(f"{place} exists already. Choose another name, or edit what is there.")
    if os.path.lexists(place):
        raise exists
    file = place / MAIN_FILES[language]
    try:
        with _new_folder(place) as folder:
            handle = os.open(file.name, _NEW, 0o666, dir_fd=folder)
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(skeleton(place.name, language))
    except FileExistsError:  # somebody else made it a moment ago
        raise exists from None
    except OSError as error:
        raise StoreUnavailable(
            f"{file} could not be written: {error.strerror}. Free some space, or fix the "
            "permissions of the folder."
        ) from None
    return file


@contextlib.contextmanager
def _new_folder(place: Path) -> Generator[int]:
    """Made step by step from the root, with those above it that are missing."""
    with contextlib.ExitStack() as opened:
        here = os.open(place.anchor, _FOLDER)
        opened.callback(os.close, here)
        for step in place.parts[1:-1]:
            here = _entered(step, here)
            opened.callback(os.close, here)
        os.mkdir(place.name, dir_fd=here)
        here = os.open(place.name, _FOLDER, dir_fd=here)
        opened.callback(os.close, here)
        yield here


def _entered(step: str, above: int) -> int:
    try:
        return os.open(step, _FOLDER, dir_fd=above)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # somebody else made it a moment ago
            os.mkdir(step, dir_fd=above)
    return os.open(step, _FOLDER, dir_fd=above)
