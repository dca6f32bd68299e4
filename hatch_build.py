"""Refuses a wheel without the built front end. It never runs npm: `make setup` builds the pages."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FrontEndIsThere(BuildHookInterface[Any]):
    """A wheel without pages would serve an empty website, and nobody would notice until then."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        page = Path(self.root, "src", "airboss", "static", "index.html")
        if not page.is_file():
            raise FileNotFoundError(
                "The front end is not built: src/airboss/static/index.html is missing. "
                "Run `make web`, then build the wheel again."
            )
