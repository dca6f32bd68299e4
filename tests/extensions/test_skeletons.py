"""What a new extension begins with."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from airboss.errors import Conflict, Invalid, StoreUnavailable
from airboss.extensions.skeletons import scaffold, skeleton
from tests.trials import whole_only


def test_a_new_extension_is_written_once(tmp_path: Path) -> None:
    file = scaffold(tmp_path / ".github/extensions/my-tools", "python")
    assert file.name == "extension.py"
    assert "def my_tools_hello(" in file.read_text(encoding="utf-8")
    with pytest.raises(Conflict, match="exists already"):
        scaffold(file.parent, "javascript")
    assert [one.name for one in file.parent.iterdir()] == ["extension.py"]
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Conflict):
        scaffold(tmp_path / "link", "python")
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="could not be written"):
        scaffold(tmp_path / "file/name", "python")


@pytest.mark.parametrize("name", ["Big", "a b", "-a", "..", "é", "x" * 65, "a\n"])
def test_a_name_that_cannot_be_used_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Invalid, match="small letters"):
        scaffold(Path(f"{tmp_path}/{name}"), "python")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("a", "a_hello"),
        ("a-b_c", "a_b_c_hello"),
        ("9lives", "x9lives_hello"),
        ("x" * 64, "x" * 58 + "_hello"),
    ],
)
def test_its_tool_has_a_name_of_its_own_that_may_be_used(name: str, tool: str) -> None:
    assert f"def {tool}(" in skeleton(name, "python")
    assert f'name: "{tool}"' in skeleton(name, "javascript")


PYRIGHT = Path(__file__).parents[2] / "web/node_modules/.bin/pyright"


@whole_only
def test_an_editor_knows_what_it_is_made_of(tmp_path: Path) -> None:
    """As it is there is nothing to say against it; what cannot be is said at its line."""
    file = scaffold(tmp_path / "tools", "python")
    text = file.read_text(encoding="utf-8")

    def said(text: str) -> list[tuple[int, str]]:
        file.write_text(text, encoding="utf-8")
        (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
        words = [str(PYRIGHT), "--outputjson", "--pythonpath", sys.executable, str(file)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)["generalDiagnostics"]
        return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found]

    assert said(text) == []
    found = said(text.replace("use.arguments.get", "use.argumets.get"))
    [line] = {line for line, _ in found}
    assert text.splitlines()[line - 1].lstrip().startswith("if ")
    assert any('attribute "argumets" for class "ToolUse"' in message for _, message in found)
    wrong = text.replace("Deny | None:", "str:").replace("Deny(", "str(").replace("None\n", '""\n')
    told = "".join(message for _, message in said(wrong))
    assert '"str" is not assignable' in told
