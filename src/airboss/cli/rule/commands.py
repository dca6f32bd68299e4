"""The commands about rules, each thin: rules, rules add, rules remove."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="What agents may do without permission, only with it, or never.")


class Verdicts(StrEnum):
    """What a rule says."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@app.callback(invoke_without_command=True)
def rules(context: typer.Context, data: Data = None, as_json: AsJson = False) -> None:
    """List the rules in their order: of several that match, the first holds."""
    if context.invoked_subcommand is not None:
        if data or as_json:
            raise CommandRefused(f"Give the options behind {context.invoked_subcommand}.")
        return
    from airboss.cli.rule.listing import show_rules

    show_rules(reach(data)(), is_json=as_json)


@app.command("add")
def rule_add(
    verdict: Annotated[Verdicts, typer.Argument(help="What it says.")],
    kind: Annotated[
        str | None,
        # `--wish` is its name of before.
        typer.Option("--kind", "--wish", metavar="KIND", help="shell, write, read, url, mcp, …"),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="A tool; of an MCP server: SERVER/TOOL.")
    ] = None,
    command: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A command; * is any letters, ? is one.")
    ] = None,
    path: Annotated[
        str | None, typer.Option(metavar="PATH", help="A file; below a folder: FOLDER/*.")
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="NAME", help="example.com, or *.example.com.")
    ] = None,
    folder: Annotated[
        str | None, typer.Option(metavar="DIR", help="Only for sessions that work there.")
    ] = None,
    place: Annotated[
        int | None, typer.Option(min=1, help="1 is the first. [behind all others]")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make a rule; it holds at once."""
    from airboss.cli.rule.listing import add_rule

    named = {
        "wish": kind,
        "tool": tool,
        "command": command,
        "path": path,
        "host": host,
        "folder": folder,
    }
    add_rule(reach(data)(), verdict.value, named, place, is_json=as_json)


@app.command("remove")
def rule_remove(
    rule: Annotated[str, typer.Argument(metavar="ID", help="The rule.")], data: Data = None
) -> None:
    """Remove a rule; it holds no longer, at once."""
    from airboss.cli.rule.listing import remove_rule

    remove_rule(reach(data)(), rule)
