"""The pages about models: a provider of one's own, and the model that plays a script."""

import json
import subprocess
import sys
import textwrap
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import yaml

from tests.cli.guides.guide import Guide, Visit

_SERVICE = [sys.executable, "-m", "airboss.runtime.rehearsal"]
_WRONG = "rules:\n  - steps:\n      - say: One.\n      - say: Two.\n        sleep: 1\n"
_UNLUCKY = """\
rules:
  - when: "Is the plan|plan.md"
    steps: [{fail: {status: 400}}]
"""


@contextmanager
def rehearsal_service() -> Generator[dict[str, str]]:
    """Where it answers, and the key that it wants."""
    with subprocess.Popen(_SERVICE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def open_service() -> Generator[str]:
    """The same for everybody on this machine, without a key, as local models are served."""
    with rehearsal_service() as service:

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                url = service["base_url"].removesuffix("/v1") + self.path
                headers = {"Authorization": f"Bearer {service['key']}"}
                headers["Content-Type"] = "application/json"
                answer = httpx2.post(url, content=body, headers=headers, timeout=30)
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers["Content-Type"])
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, format: str, *args: object) -> None:
                """Nobody reads it."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Door) as door:
            threading.Thread(target=door.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{door.server_port}/v1"
            door.shutdown()


def providers(visit: Visit, settings: str) -> None:
    address = visit.kept.enter_context(open_service())
    assert "http://127.0.0.1:11434/v1" in settings
    visit.home.data.mkdir(parents=True)
    file = visit.home.data / "settings.toml"
    file.write_text(settings.replace("http://127.0.0.1:11434/v1", address), encoding="utf-8")


def models_of_an_entry(visit: Visit, shown: str) -> None:
    """The page shows the models alone; an entry has more around them."""
    entry: dict[str, Any] = yaml.safe_load(shown)
    models: dict[str, str] = entry["models"]
    entry |= {"promptVariables": {}, "tasks": {}, "jobs": {}, "grid": []}
    visit.write("airboss.yaml", yaml.safe_dump(entry))
    visit.said("airboss check")
    offered = visit.said("airboss models")
    assert all(model in offered for model in models.values())


def refused_script(visit: Visit, shown: str) -> None:
    visit.write("my.yaml", _WRONG)
    said = visit.said("airboss serve --rehearsal my.yaml; test $? = 2")
    assert shown.strip() in said


def program_with_a_script(visit: Visit, shown: str) -> None:
    """The page shows the middle of a program, which has a `path` and runs in a loop."""
    imports, _, rest = shown.partition("\n\n")
    program = (
        f"import asyncio, httpx2, pathlib\n{imports}\nasync def main(path):\n"
        f"{textwrap.indent(rest, '    ')}"
        "        headers = {'Authorization': 'Bearer ' + provider['api_key']}\n"
        "        models = httpx2.AsyncClient(headers=headers)\n"
        "        print((await models.get(provider['base_url'] + '/models')).text)\n"
        "        await models.aclose()\n"
        "asyncio.run(main(pathlib.Path('unlucky.yaml')))\n"
    )
    visit.write("program.py", program)
    assert '"rehearsal"' in visit.said("python program.py")


GUIDES = {
    "docs/use-your-own-provider.md": Guide(
        is_served=False,
        names={"…": "a-key"},
        shown={'[[providers]]\nname = "local"': providers, "models:": models_of_an_entry},
    ),
    "docs/rehearsal.md": Guide(
        is_served=False,
        files={"unlucky.yaml": _UNLUCKY},
        names={"…": "x"},
        codes={"airboss rehearse deliver --script unlucky.yaml --input …": 1},
        shown={
            "my.yaml:4:9": refused_script,
            "from airboss.runtime.rehearsal import": program_with_a_script,
        },
    ),
}
