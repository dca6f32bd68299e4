"""What a new extension begins with: a file that works as it is, to be changed."""

import os
from pathlib import Path
from typing import Final

from airboss.errors import Conflict, Invalid, StoreUnavailable
from airboss.extension_settings import NAME_RULE
from airboss.extensions.discovery import MAIN_FILES, Language, extension_at

_LONGEST_TOOL: Final = 64
_TOOL: Final = "_hello"

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
    """Writes a new extension into this folder, and answers its main file. Blocking."""
    if extension_at(place, "project").fault == NAME_RULE:
        raise Invalid(NAME_RULE)
    exists = Conflict(f"{place} exists already. Choose another name, or edit what is there.")
    if os.path.lexists(place):
        raise exists
    file = place / MAIN_FILES[language]
    try:
        place.mkdir(parents=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(skeleton(place.name, language))
    except FileExistsError:  # somebody else made it a moment ago
        raise exists from None
    except OSError as error:
        raise StoreUnavailable(
            f"{file} could not be written: {error.strerror}. Free some space, or fix the "
            "permissions of the folder."
        ) from None
    return file
