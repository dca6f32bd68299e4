"""What an author sees in an editor while they write: language servers are asked about a new
extension as it is, and as it becomes."""

import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from airboss.extensions.editor_types import lend_types
from airboss.extensions.skeletons import scaffold
from tests.extension.language_server import LanguageServer, language_server

PROGRAMS = Path(__file__).parents[2] / "web/node_modules/.bin"
PYTHON_SETTINGS = {
    "python": {"pythonPath": sys.executable},
    "python.analysis": {"typeCheckingMode": "strict"},
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[LanguageServer, Path]]:
    file = scaffold(tmp_path_factory.mktemp("python") / "tools", "python")
    words = (str(PROGRAMS / "pyright-langserver"), "--stdio")
    with language_server(words, file.parent, PYTHON_SETTINGS) as editor:
        yield editor, file


@pytest.fixture(scope="module")
def javascript(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[LanguageServer, Path]]:
    project = tmp_path_factory.mktemp("javascript")
    file = scaffold(project / ".github/extensions/tools", "javascript")
    assert lend_types(file.parent.parent)
    with language_server((str(PROGRAMS / "tsc"), "--lsp", "--stdio"), project) as editor:
        yield editor, file


def test_python_offers_hooks_fields_and_words(python: tuple[LanguageServer, Path]) -> None:
    editor, file = python
    text = file.read_text("utf-8")
    hooks = editor.completed(file, text.replace("@hook.pre_tool_use", "@hook.‸pre_tool_use"))
    assert {"pre_tool_use", "session_start", "error_occurred"} <= hooks
    fields = editor.completed(file, text.replace("use.arguments", "use.‸arguments"))
    assert {"tool", "arguments", "session", "cwd", "at"} <= fields
    more = text.replace("import Deny,", "import Call, Deny, Result, session,")
    begin = f'{more}\n\n@tool\nasync def other(call: Call) -> Result:\n    """Is another."""\n    '
    assert {"id", "tool", "session"} <= editor.completed(file, f"{begin}call.‸")
    assert {"log", "send", "ask", "on"} <= editor.completed(file, f"{begin}session.‸")
    kinds = editor.completed(file, f'{begin}return Result("done", "‸")')
    assert {'"success"', '"denied"'} <= kinds


def test_python_tells_what_a_hook_may_answer(python: tuple[LanguageServer, Path]) -> None:
    editor, file = python
    text = file.read_text("utf-8")
    told = editor.hovered(file, text.replace("@hook.pre_tool_use", "@hook.pre_‸tool_use"))
    assert "`Deny`, `Ask`, `Allow`" in told
    assert "The agent reads why" in editor.hovered(
        file, text.replace("return Deny", "return De‸ny")
    )


def test_python_underlines_what_cannot_be(python: tuple[LanguageServer, Path]) -> None:
    editor, file = python
    text = file.read_text("utf-8")
    assert editor.complaints(file, text) == []
    [(line, told)] = editor.complaints(file, text.replace("use.arguments", "use.argumets"))
    assert text.splitlines()[line - 1].lstrip().startswith("if ")
    assert 'attribute "argumets" for class "ToolUse"' in told
    wrong = text.replace("Deny | None:", "str:").replace("Deny(", "str(").replace("None\n", '""\n')
    assert any('"str" is not assignable' in told for _, told in editor.complaints(file, wrong))


def test_javascript_offers_hooks_and_the_session(javascript: tuple[LanguageServer, Path]) -> None:
    editor, file = javascript
    text = file.read_text("utf-8")
    assert {"onPreToolUse?", "onSessionStart?"} <= {
        *editor.completed(file, text.replace("onPreToolUse", "‸"))
    }
    joined = text.replace("await join", "const session = await join")
    assert {"log", "send", "on", "workspacePath"} <= editor.completed(file, f"{joined}\nsession.‸")
    assert "toolName: string" in editor.hovered(file, text.replace("({ toolName", "({ tool‸Name"))


def test_javascript_is_checked_where_one_asks_for_it(
    javascript: tuple[LanguageServer, Path],
) -> None:
    editor, file = javascript
    text = f"// @ts-check\n{file.read_text('utf-8')}"
    assert editor.complaints(file, text) == []
    [(line, told)] = editor.complaints(file, text.replace('"deny"', '"no"'))
    assert text.splitlines()[line - 1].lstrip().startswith("onPreToolUse")
    assert "PreToolUse" in told or '"no"' in told


def test_the_types_are_lent_where_git_does_not_see_them(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folder = scaffold(tmp_path / ".github/extensions/tools", "javascript").parent.parent
    package = folder / "node_modules/@github/copilot-sdk"
    assert lend_types(folder)
    (package / "sdk").unlink()
    (package / "sdk").symlink_to(tmp_path / "the runtime of last year")
    assert lend_types(folder)
    assert (package / "sdk/extension.d.ts").is_file()
    words = ["git", "-C", tmp_path, "status", "--porcelain", "-uall"]
    seen = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    assert seen.split() == ["??", ".github/extensions/tools/extension.mjs"]


def test_what_somebody_has_installed_is_left_as_it_is(tmp_path: Path) -> None:
    package = tmp_path / "node_modules/@github/copilot-sdk"
    package.mkdir(parents=True)
    assert lend_types(tmp_path)
    assert list(package.iterdir()) == []
    shutil.rmtree(package.parent)
    assert lend_types(tmp_path)
    assert (package / "sdk/extension.d.ts").is_file()
    assert not (tmp_path / "node_modules/.gitignore").exists()
