"""`airboss extension`: created without a server, listed, shown, trusted and switched with one."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.portal import Portal


@pytest.fixture(scope="module")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    folder = tmp_path_factory.mktemp("commands")
    portal = Portal(folder, extra_environ={"COPILOT_HOME": str(folder / "copilot")})
    (portal.work / ".git").mkdir(parents=True)
    portal.start()
    yield portal
    portal.stop()


def said(portal: Portal, *words: str) -> str:
    done = portal.run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(portal: Portal, *words: str) -> Any:
    return json.loads(said(portal, *words, "--json"))


def test_a_new_one_is_written_without_a_server(nowhere: Portal) -> None:
    nowhere.work.mkdir()
    home = {"COPILOT_HOME": str(nowhere.folder / "copilot")}
    done = nowhere.run("extension", "new", "my-tools", **home)
    assert done.stdout == "Created .github/extensions/my-tools/extension.py\n", done.stderr
    assert "airboss extension test .github/extensions/my-tools" in done.stderr
    again = nowhere.run("extension", "new", "my-tools", "--mjs", **home)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    bad = nowhere.run("extension", "new", "My Tools", **home)
    assert (bad.returncode, "small letters" in bad.stderr) == (2, True)
    own = nowhere.run("extension", "new", "mine", "--user", "--mjs", "--json", **home)
    assert json.loads(own.stdout) == {
        "name": "mine",
        "scope": "user",
        "language": "javascript",
        "path": f"{nowhere.folder}/copilot/extensions/mine",
    }
    other = nowhere.run("extension", "new", "other", "--mjs", **home)
    assert "your editor finds the types of the SDK in node_modules" in other.stderr
    types = nowhere.work / ".github/extensions/node_modules/@github/copilot-sdk"
    assert (types / "sdk/extension.d.ts").is_file()
    no_runtime = {**home, "COPILOT_CLI_PATH": "/nowhere/copilot"}
    lone = nowhere.run("extension", "new", "lone", "--user", "--mjs", **no_runtime)
    assert (lone.returncode, "could not be put beside it: " in lone.stderr) == (0, True)
    assert not nowhere.data.exists()


def test_one_is_listed_shown_trusted_and_switched(portal: Portal) -> None:
    empty = portal.run("extensions")
    assert (empty.stdout, "airboss extension new NAME" in empty.stderr) == ("", True)
    said(portal, "extension", "new", "my-tools")
    [row] = said(portal, "extensions").splitlines()
    assert row.split("\t")[:4] == ["my-tools", "project", "untrusted", "python"]
    shown = portal.run("extension", "show", "my-tools")
    assert "def my_tools_hello(" in shown.stdout
    place = f"{portal.work}/.github/extensions/my-tools"
    assert f"airboss trust {place}" in shown.stderr
    trusted = said(portal, "trust", place)
    assert trusted == f"Trusted in its current form: the extension my-tools ({place})\n"
    assert told(portal, "extensions")["items"][0]["state"] == "ready"
    assert "extension\tunchanged" in said(portal, "trust", "--list")
    with open(f"{place}/extension.py", "a", encoding="utf-8") as file:
        file.write("# more\n")
    assert "+# more" in said(portal, "extension", "show", "my-tools")
    off = portal.run("extension", "disable", "my-tools")
    assert off.stdout == "my-tools is disabled. Somebody disabled it.\n"
    assert "airboss extension reload" in off.stderr
    assert told(portal, "extension", "enable", "my-tools")["state"] == "changed"
    gone = portal.run("extension", "show", "none")
    assert (gone.returncode, "There is no project extension none." in gone.stderr) == (2, True)


def test_a_chat_begins_with_what_nobody_trusts_as_it_is(portal: Portal) -> None:
    folder = portal.work / "apart"
    (folder / ".git").mkdir(parents=True)
    file = folder / ".github/extensions/ready-made/extension.py"
    file.parent.mkdir(parents=True)
    file.write_text("# nothing\n", encoding="utf-8")

    def named() -> list[str]:
        line = portal.run("chat", "hello", "--cwd", str(folder)).stderr.partition("\n")[2]
        told = re.search(r"^Not trusted as they are: (.*)\. See: airboss extensions$", line, re.M)
        # Others lie above this project.
        names = told[1].split(", ") if told else []
        return [name for name in names if name.startswith("ready-made")]

    assert named() == ["ready-made"]
    said(portal, "trust", str(file.parent))
    assert named() == []
    file.write_text("# something else\n", encoding="utf-8")
    assert named() == ["ready-made (changed)"]


def test_a_project_is_trusted_with_each_of_its_extensions_by_name(portal: Portal) -> None:
    said(portal, "extension", "new", "one")
    said(portal, "extension", "new", "odd")
    (portal.work / ".github/extensions/odd/extension.mjs").touch()
    done = portal.run("trust", str(portal.work))
    assert done.returncode == 0, done.stderr
    assert "the extension one (" in done.stdout
    assert "Not trusted: the extension odd. The folder has both" in done.stderr
    states = {item["name"]: item["state"] for item in told(portal, "extensions")["items"]}
    assert (states["one"], states["odd"]) == ("ready", "failed")
