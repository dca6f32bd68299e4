"""The commands about settings, each thin: settings, settings set, settings reset."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Yes, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer(help="Show and change the server's settings.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The setting, such as max_tasks.")]


@app.callback(invoke_without_command=True)
def settings(context: typer.Context, data: Data = None, as_json: AsJson = False) -> None:
    """List the settings of the server that runs: value, default, where each is set."""
    if context.invoked_subcommand is not None:
        if data or as_json:
            raise CommandRefused(f"Give the options behind {context.invoked_subcommand}.")
        return
    from airboss.cli.setting.listing import show_settings

    show_settings(reach(data)(), is_json=as_json)


@app.command("set")
def setting_set(
    name: Name,
    value: Annotated[
        list[str], typer.Argument(metavar="VALUE", help="What it is to be; “none” unsets it.")
    ],
    yes: Yes = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Change a setting. It holds over the file, and under options and variables."""
    from airboss.cli.setting.listing import change_setting

    change_setting(reach(data)(), name, value, is_sure=yes, is_json=as_json)


@app.command("reset")
def setting_reset(name: Name, yes: Yes = False, data: Data = None, as_json: AsJson = False) -> None:
    """Go back to what the file or the default says."""
    from airboss.cli.setting.listing import reset_setting

    reset_setting(reach(data)(), name, is_sure=yes, is_json=as_json)
