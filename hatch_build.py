"""Refuses a wheel without the built front end and documentation. It builds neither itself:
`make setup` does. The examples go into the package, where the editor's page finds them."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class FrontEndIsThere(BuildHookInterface[Any]):
    """A wheel without pages would serve an empty website, and nobody would notice until then."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        static = Path(self.root, "src", "airboss", "static")
        for what, page, target in (
            ("The front end", static / "index.html", "web"),
            ("The documentation", static / "docs" / "index.html", "docs"),
        ):
            if not page.is_file():
                raise FileNotFoundError(
                    f"{what} is not built: {page.relative_to(self.root)} is missing. "
                    f"Run `make {target}`, then build the wheel again."
                )
        build_data["force_include"][str(Path(self.root, "examples"))] = "airboss/examples"
