"""What a rehearsal is played on: a server of its own, whose every model is the script. It has a
folder of its own, and ends with whoever started it, however that ends, and the folder with it."""

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from airboss.runtime.rehearsal.script import Loader, Script, parse_script
from airboss.store.folder import DataFolder

PREFIX: Final = "airboss-rehearsal-"
START_SECONDS: Final = 60.0
_BUILTIN: Final = Path(__file__).with_name("builtin.yaml")
# What would lead to another server, or to a model that costs something.
_LEFT_OUT: Final = (
    "AIRBOSS_DATA",
    "AIRBOSS_URL",
    "AIRBOSS_TOKEN",
    "AIRBOSS_WEBHOOK_SECRET",
    "COPILOT_GITHUB_TOKEN",
    "GH_TOKEN",
    "GITHUB_TOKEN",
)


def builtin_text() -> str:
    """The script that says yes to everything."""
    return _BUILTIN.read_text(encoding="utf-8")


def with_models(text: str, where: str, ids: Sequence[str]) -> str:
    """The script, as one that offers these models too: each of them is played."""
    script: Script = parse_script(text, where)
    raw: dict[str, Any] = yaml.load(text, Loader)  # noqa: S506 - a safe loader of ours
    known = [model.model_dump() for model in script.models]
    missing = [{"id": name} for name in ids if name not in {model["id"] for model in known}]
    return yaml.safe_dump({**raw, "models": [*known, *missing]}, allow_unicode=True)


@dataclass(frozen=True)
class Stage:
    """A folder that is thrown away, and how the server in it is started."""

    folder: Path

    @property
    def data(self) -> DataFolder:
        return DataFolder(self.folder / "data")

    @property
    def log(self) -> Path:
        return self.folder / "serve.log"

    @property
    def script(self) -> Path:
        return self.folder / "script.yaml"

    def words(self, permissions: str, roots: Sequence[Path], *more: str) -> list[str]:
        """It ends as soon as its standard input does."""
        # -P: an `airboss.py` in the folder is an entry, and not the package.
        begin = [sys.executable, "-P", "-m", "airboss", "serve", "--port", "0"]
        own = ["--data", str(self.data.path), "--with-parent", str(self.folder)]
        told = ["--rehearsal", str(self.script), "--permissions", permissions]
        places = [word for root in roots for word in ("--root", str(root))]
        return [*begin, *own, *told, *places, *more]

    def why_not_started(self) -> str:
        """Its last words."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            lines = []
        said = (lines or ["no output."])[-1].removeprefix("error: ")
        return f"The temporary server did not start: {said}"


def stage_environment(environ: Mapping[str, str], but: Collection[str] = ()) -> dict[str, str]:
    return {name: text for name, text in environ.items() if name not in {*_LEFT_OUT, *but}}
