"""The commands about settings, each thin: settings, settings set, settings reset."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Yes, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="Show or change the server's settings.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Setting name, such as max_tasks.")]


@app.callback(invoke_without_command=True)
def settings(context: typer.Context, data: Data = None, as_json: AsJson = False) -> None:
    """List the settings of the running server: value, default, and where each is set."""
    if context.invoked_subcommand is not None:
        if data or as_json:
            raise CommandRefused(f"Put the options after {context.invoked_subcommand}.")
        return
    from airboss.cli.setting.listing import show_settings

    show_settings(reach(data)(), is_json=as_json)


@app.command("set")
def setting_set(
    name: Name,
    value: Annotated[
        list[str], typer.Argument(metavar="VALUE", help="New value; “none” unsets it.")
    ],
    yes: Yes = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Change a setting. Overrides the settings file, but not options and variables."""
    from airboss.cli.setting.listing import change_setting

    change_setting(reach(data)(), name, value, is_sure=yes, is_json=as_json)


@app.command("reset")
def setting_reset(name: Name, yes: Yes = False, data: Data = None, as_json: AsJson = False) -> None:
    """Reset a setting to the value in the settings file, or to its default."""
    from airboss.cli.setting.listing import reset_setting

    reset_setting(reach(data)(), name, is_sure=yes, is_json=as_json)
