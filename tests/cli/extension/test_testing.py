"""`airboss extension check` and `test`: what one brings, what is wrong with it, and if it works."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.portal import Portal
from tests.trials import sampled

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests/fixtures/extensions"
EXAMPLES = ROOT / "examples/extensions"

TOOL = """from airboss.extension import tool

@tool
def shout(word: str, times: int = 1) -> str:
    "Says it aloud."
    return word.upper() * times
"""


@pytest.fixture
def here(nowhere: Portal, quick_python: dict[str, str]) -> Portal:
    """No server runs here, and none is left behind."""
    nowhere.work.mkdir()
    home, notes = nowhere.folder / "copilot", nowhere.folder / "notes"
    notes.mkdir()
    # The samples of the seed write down what they hear.
    nowhere.extra_environ |= {**quick_python, "COPILOT_HOME": str(home), "NOTES": str(notes)}
    return nowhere


def written(here: Portal, name: str, text: str, file: str = "extension.py") -> Path:
    folder = here.work / name
    folder.mkdir()
    (folder / file).write_text(text, encoding="utf-8")
    return folder


def told(here: Portal, *words: str, code: int = 0) -> Any:
    done = here.run("extension", *words, "--json")
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout)


def test_what_it_brings_is_said_without_a_server_or_a_data_folder(here: Portal) -> None:
    folder = written(here, "loud", TOOL)
    done = here.run("extension", "check", str(folder / "extension.py"))
    assert done.stdout.startswith("tool shout\n  Says it aloud.\n  {"), done.stderr
    assert (done.returncode, done.stderr) == (0, "No errors. Tools: 1.\n")
    [tool] = told(here, "check", "loud")["tools"]
    assert (tool["name"], tool["repeatable"]) == ("shout", False)
    assert tool["parameters"]["required"] == ["word"]
    assert not here.data.exists()
    assert sorted(os.listdir(folder)) == ["extension.py"]


def test_one_of_the_project_can_be_meant_by_its_name(here: Portal) -> None:
    (here.work / ".git").mkdir()
    folder = here.work / ".github/extensions/loud"
    folder.mkdir(parents=True)
    (folder / "extension.py").write_text(TOOL, encoding="utf-8")
    assert [tool["name"] for tool in told(here, "check", "loud")["tools"]] == ["shout"]
    fault = told(here, "check", "quiet", code=1)["fault"]
    assert fault == f"{here.work / 'quiet'}: there is no such folder."


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("extension.py", "x = 1\n\nx.y\n", "extension.py:3: AttributeError: "),
        ("extension.py", "def (:\n", "extension.py:1: SyntaxError: "),
        (
            "extension.py",
            TOOL.replace("times: int", "times: object"),
            "extension.py:3: TypeError: ",
        ),
        (
            "extension.py",
            TOOL.replace("shout", "bash"),
            "extension.py:4: Its tool bash has a name ",
        ),
        ("extension.mjs", "let a = 1;\n\nnull.b;\n", "extension.mjs:3: TypeError: "),
        ("extension.mjs", "let a = 1;\nlet = ;\n", "extension.mjs:2: SyntaxError: "),
        ("extension.mjs", "let a;\nimport './none.mjs';\n", "extension.mjs:2: Error [ERR_MODULE"),
        ("extension.mjs", "let a;\nimport 'no-such';\n", "extension.mjs:2: Error [ERR_MODULE"),
        ("main.py", "", "there is no such folder"),
    ],
)
def test_a_fault_is_told_with_its_place(here: Portal, file: str, text: str, fault: str) -> None:
    folder = written(here, "odd", text, file)
    path = folder / file if file == "main.py" else folder
    said = told(here, "check", str(path), code=1)
    assert (said["valid"], said["tools"]) == (False, [])
    assert fault in said["fault"]
    if file == "extension.py":
        done = here.run("extension", "test", str(folder))
        assert (done.returncode, done.stdout) == (1, f"{said['fault']}\n")


def test_a_new_one_is_tested_with_an_agent_that_is_thrown_away(here: Portal) -> None:
    assert here.run("extension", "new", "my-tools").returncode == 0
    place = ".github/extensions/my-tools"
    before = set(Path(here.folder).rglob("*"))
    done = here.run("extension", "test", place)
    assert (done.returncode, done.stderr) == (0, "3 of 3 answered.\n"), done.stdout
    rows = [line.split("\t")[:4] for line in done.stdout.splitlines()]
    assert rows[0] == ["ok", "hook", "preToolUse", "nothing"]
    assert rows[1] == ["ok", "tool", "my_tools_hello", "Hello, example!"]
    assert rows[2][:3] == ["ok", "tool", "bash"]
    assert set(Path(here.folder).rglob("*")) == before
    script = here.work / "script.yaml"
    script.write_text(
        "rules:\n  - steps:\n"
        "      - call: {tool: my_tools_hello, arguments: {name: you}}\n"
        "      - call: {tool: my_tools_hello, arguments: {}}\n"
        "      - say: Done.\n",
        encoding="utf-8",
    )
    said = told(here, "test", place, "--script", "script.yaml", code=1)
    calls = [(one["outcome"], one["text"]) for one in said["tried"] if one["what"] == "tool"]
    assert calls[0] == ("ok", "Hello, you!")
    assert calls[1][0] == "failed"
    assert "name" in calls[1][1]


def test_one_that_crashes_or_does_not_answer_fails_the_test(here: Portal) -> None:
    text = TOOL.replace("return word", "import os\n    os._exit(3)\n    return word")
    written(here, "crashing", text)
    said = told(here, "test", "crashing", code=1)
    assert [one["outcome"] for one in said["tried"]].count("no answer") == 1
    assert "exit code 3" in json.dumps(said["tried"])


@pytest.mark.skipif(shutil.which("node") is None, reason="Node runs some of them")
@pytest.mark.parametrize(
    "folder",
    sampled(
        1,
        [
            *sorted(EXAMPLES.glob("*/extension.mjs")),
            *sorted(EXAMPLES.glob("*/extension.py")),
            *sorted(FIXTURES.glob("seed-*/extension.*")),
        ],
    ),
    ids=lambda file: file.parent.name,
)
def test_the_examples_and_the_samples_of_the_guide_work(here: Portal, folder: Path) -> None:
    said = told(here, "test", str(folder.parent))
    assert not [one for one in said["tried"] if one["outcome"] == "no answer"]
    tools = {one["name"] for one in said["tools"]}
    assert tools <= {one["name"] for one in said["tried"]}
