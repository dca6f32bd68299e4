"""The commands about rules, each thin: rules, rules add, rules remove."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="Manage rules: what agents may do, must ask for, or may not do.")


class Verdicts(StrEnum):
    """What a rule says."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@app.callback(invoke_without_command=True)
def rules(context: typer.Context, data: Data = None, as_json: AsJson = False) -> None:
    """List the rules in order. The first rule that matches applies."""
    if context.invoked_subcommand is not None:
        if data or as_json:
            raise CommandRefused(f"Put the options after {context.invoked_subcommand}.")
        return
    from airboss.cli.rule.listing import show_rules

    show_rules(reach(data)(), is_json=as_json)


@app.command("add")
def rule_add(
    verdict: Annotated[Verdicts, typer.Argument(help="What the rule does.")],
    kind: Annotated[
        str | None,
        # `--wish` is its name of before.
        typer.Option(
            "--kind",
            "--wish",
            metavar="KIND",
            help="Kind of request: shell, write, read, url, host, mcp, …",
        ),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tool name; for an MCP server: SERVER/TOOL.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Shell command; * matches any text, ? one character."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="File path; FOLDER/* matches all files below a folder."),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Host name, such as example.com or *.example.com."),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Apply only to sessions that work in this folder."),
    ] = None,
    place: Annotated[
        int | None, typer.Option(min=1, help="Position in the list, from 1. [last]")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Add a rule. It takes effect immediately."""
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
    rule: Annotated[str, typer.Argument(metavar="ID", help="Rule id (airboss rules).")],
    data: Data = None,
) -> None:
    """Remove a rule. This takes effect immediately."""
    from airboss.cli.rule.listing import remove_rule

    remove_rule(reach(data)(), rule)
