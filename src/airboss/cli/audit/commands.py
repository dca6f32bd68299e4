"""The command about the audit, thin."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Patience, reach

app = typer.Typer()


@app.command()
def audit(
    limit: Annotated[
        int, typer.Option(min=1, help="Maximum number to list, counted from the newest.")
    ] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep printing new ones.")] = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Show the audit log: who did what, and from where. Newest last. Requires the role own."""
    from airboss.cli.audit.acts import follow_audit, show_audit

    if follow:
        raise typer.Exit(follow_audit(reach(data), limit, wait, is_json=as_json))
    show_audit(reach(data)(), limit, is_json=as_json)
