"""The options of the doctor."""

from typing import Annotated

import typer

Deep = Annotated[bool, typer.Option("--deep", help="Also call models and ask hooks.")]
Repair = Annotated[bool, typer.Option("--repair", help="Repair what Airboss itself keeps.")]
