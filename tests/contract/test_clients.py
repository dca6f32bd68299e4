"""Clients that well-known tools generate from the API's description run a job as they are: the
commands and the programs are those of docs/clients.md, word for word."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.portal import Portal
from tests.trials import whole_only

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/clients.md").read_text("utf-8")
COMMANDS = re.findall(r"^```sh\n(.*docs/api\.json.*)\n```$", PAGE, re.MULTILINE)
[PYTHON] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
HEY_API, OPENAPI_FETCH = re.findall(r"^```ts\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TSC = ROOT / "web/node_modules/.bin/tsc"
PROJECT = ROOT / "tests/clients"

# A generator, a compiler and a job, one after the other.
pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def sample_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """As those have it who try Airboss: the built-in entry on the built-in rehearsal."""
    portal = Portal(tmp_path_factory.mktemp("sample"), script=None)
    portal.start()
    yield portal
    portal.stop()


def run(folder: Path, *words: str | Path, **environ: str) -> str:
    """One command to its end, with the tools of this repository and without a network."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": tools, "npm_config_offline": "true", **environ}
    done = subprocess.run(words, cwd=folder, env=given, capture_output=True, text=True, timeout=200)
    # What npm thinks of a developer's own settings says nothing about our description.
    said = [line for line in done.stderr.splitlines() if not line.startswith("npm warn")]
    assert (done.returncode, said) == (0, []), f"{done.stdout}{done.stderr}"
    return done.stdout


def generated_in(folder: Path, tool: str) -> str:
    """What the tool says while it makes its client, with the page's own command."""
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs/api.json", folder / "docs/api.json")
    (folder / "node_modules").symlink_to(PROJECT / "node_modules")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    [command] = [one for one in COMMANDS if tool in one]
    return run(folder, *command.split())


def compiled(folder: Path, program: str) -> Path:
    """The program beside the generated code, with every type checked."""
    (folder / "program.ts").write_text(program, "utf-8")
    options = {
        "extends": str(PROJECT / "tsconfig.json"),
        "compilerOptions": {"rootDir": ".", "outDir": "built"},
        "files": ["program.ts"],
    }
    (folder / "tsconfig.json").write_text(json.dumps(options), "utf-8")
    run(folder, TSC, "--project", folder)
    return folder / "built/program.js"


def assert_a_run_was_followed(told: str) -> None:
    """All of its events in their order, and its outcome."""
    *lines, outcome = told.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1)), told
    kinds = [line.split()[1] for line in lines]
    assert (kinds[0], kinds[-1]) == ("run.accepted", "run.ended"), told
    assert "run.work.started" in kinds
    assert outcome == "sample: succeeded"


def place_of(portal: Portal) -> dict[str, str]:
    return {"AIRBOSS_URL": portal.url, "AIRBOSS_TOKEN": portal.token}


def test_the_page_has_a_command_for_each_tool() -> None:
    assert len(COMMANDS) == 3


def test_a_python_client_runs_a_job(sample_portal: Portal, tmp_path: Path) -> None:
    said = generated_in(tmp_path, "openapi-python-client")
    assert said.strip() == "Generating airboss_client"  # no warning: nothing is left out
    described = json.loads((ROOT / "docs/api.json").read_text("utf-8"))
    operations = {
        operation["operationId"]
        for methods in described["paths"].values()
        for operation in methods.values()
    }
    made = {path.stem for path in (tmp_path / "airboss_client/api").glob("*/[a-z]*.py")}
    assert made == operations
    (tmp_path / "program.py").write_text(PYTHON, "utf-8")
    told = run(tmp_path, sys.executable, "-W", "error", "program.py", **place_of(sample_portal))
    assert_a_run_was_followed(told)


def test_a_client_by_hey_api_follows_the_events_of_a_job(
    sample_portal: Portal, tmp_path: Path
) -> None:
    said = generated_in(tmp_path, "hey-api").lower()
    assert [word for word in ("warn", "skip", "error", "fail") if word in said] == []
    made = (tmp_path / "airboss-client/sdk.gen.ts").read_text("utf-8")
    functions = set(re.findall(r"^export const (\w+) =", made, re.MULTILINE))
    assert functions >= {"startRun", "showRun", "followFeed", "listInbox", "signIn", "decide"}
    told = run(tmp_path, "node", compiled(tmp_path, HEY_API), **place_of(sample_portal))
    assert_a_run_was_followed(told)


# One tool for each language is in the tests; this one makes types alone, out of the same words.
@whole_only
def test_a_client_on_openapi_typescript_runs_a_job(sample_portal: Portal, tmp_path: Path) -> None:
    said = generated_in(tmp_path, "npx openapi-typescript").lower()
    assert [word for word in ("warn", "skip", "error", "fail") if word in said] == []
    told = run(tmp_path, "node", compiled(tmp_path, OPENAPI_FETCH), **place_of(sample_portal))
    assert_a_run_was_followed(told)
