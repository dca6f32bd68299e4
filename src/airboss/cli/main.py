"""The command `airboss`: its commands, each thin. What a command needs is imported when it runs."""

import sys
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer

from airboss.cli.account import commands as account_commands
from airboss.cli.audit import commands as audit_commands
from airboss.cli.cage import commands as cage_commands
from airboss.cli.database import commands as database_commands
from airboss.cli.doctor.options import Deep, Repair
from airboss.cli.entry import commands as entry_commands
from airboss.cli.extension import commands as extension_commands
from airboss.cli.help_pages import HelpedGroup
from airboss.cli.inbox import commands as inbox_commands
from airboss.cli.machine import commands as machine_commands
from airboss.cli.options import (
    AsJson,
    CageUseOption,
    Data,
    DatabaseOption,
    LabelOption,
    Patience,
    Permissions,
    SharedRootOption,
    Yes,
    named,
    reach,
    whole,
    without_password,
)
from airboss.cli.provider import commands as provider_commands
from airboss.cli.rule import commands as rule_commands
from airboss.cli.run import commands as run_commands
from airboss.cli.screen import say_wrong
from airboss.cli.secret import commands as secret_commands
from airboss.cli.session import commands as session_commands
from airboss.cli.setting import commands as setting_commands
from airboss.cli.task import commands as task_commands
from airboss.cli.token import commands as token_commands
from airboss.cli.trouble import CommandRefused, Exit, Trouble
from airboss.errors import AirbossError
from airboss.runtime.undumpable import hide_process


class Commands(HelpedGroup):
    """The border of every command: how it ends, in words and as an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Trouble as trouble:
            say_wrong(str(trouble))
            raise typer.Exit(trouble.code) from None
        except AirbossError as error:
            say_wrong(str(error))
            raise typer.Exit(Exit.REFUSED) from None
        except KeyboardInterrupt:
            raise typer.Exit(Exit.STOPPED) from None
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(Exit.PIPE_CLOSED) from None


app = typer.Typer(
    cls=Commands,
    help="Run coding agents as dependable jobs and watch them live.",
    epilog="\b\nRun `airboss COMMAND --help` for options and an example.\n"
    "You can shorten any id, for example to its last four characters.\n"
    "Documentation: http://localhost:8888/docs on a running server.",
    no_args_is_help=True,
    # Plain help: the drawn one costs a third of the start-up time.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(token_commands.app, name="token", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(secret_commands.app, name="secret", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(account_commands.app, name="account", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(provider_commands.app, name="provider", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(extension_commands.app, name="extension", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(extension_commands.listing)
for part in (entry_commands, run_commands, inbox_commands, session_commands, audit_commands):
    app.add_typer(part.app)
app.add_typer(machine_commands.app)
app.add_typer(database_commands.app, name="database", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(task_commands.app, name="task", cls=HelpedGroup, no_args_is_help=True)
app.add_typer(rule_commands.app, name="rules", cls=HelpedGroup)
app.add_typer(setting_commands.app, name="settings", cls=HelpedGroup)
app.add_typer(cage_commands.app, name="cage", cls=HelpedGroup)


class States(StrEnum):
    """The states of a session."""

    OPENING = "opening"
    IDLE = "idle"
    WORKING = "working"
    INTERRUPTED = "interrupted"
    CLOSED = "closed"


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"airboss {version('airboss')}")
        raise typer.Exit


@app.callback()
def airboss(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    del version


@app.command()
def serve(
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 picks a free one. [8888]")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [127.0.0.1]")] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also accept requests for this host name; repeatable."),
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TLS certificate; needs --tls-key.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Private key of the TLS certificate.")
    ] = None,
    trusted_proxy: Annotated[
        bool,
        typer.Option("--trusted-proxy", help="A reverse proxy in front of the server handles TLS."),
    ] = False,
    no_token: Annotated[
        bool,
        typer.Option(
            "--no-token", help="Let anyone on this machine use the server without a token."
        ),
    ] = False,
    data: Data = None,
    entry: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Entry file to use. [the project's own]")
    ] = None,
    test: Annotated[
        bool, typer.Option("--test", help="Start in test mode, with the extra test API.")
    ] = False,
    test_folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with the entries of the test mode.")
    ] = None,
    permissions: Annotated[
        Permissions | None, typer.Option(help="What agents may do without approval. [ask]")
    ] = None,
    cage: CageUseOption = None,
    root: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder in which agents may work; repeatable."),
    ] = None,
    database: DatabaseOption = None,
    shared_root: SharedRootOption = None,
    label: LabelOption = None,
    no_work: Annotated[
        bool,
        typer.Option("--no-work", help="Run no agents here; other machines of the database do."),
    ] = False,
    max_tasks: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of job agents running at the same time. [16]"),
    ] = None,
    notify_command: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Command to run when something is waiting for you."),
    ] = None,
    webhook: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL to notify; sign with AIRBOSS_WEBHOOK_SECRET."),
    ] = None,
    rehearsal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Script for the rehearsal model.")
    ] = None,
    copilot_cli: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Agent runtime to use.")
    ] = None,
    settings: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Settings file. [DATA/settings.toml]")
    ] = None,
    with_parent: Annotated[
        Path | None,
        typer.Option(hidden=True, help="End with standard input, and remove this folder then."),
    ] = None,
) -> None:
    """Start the server."""
    from airboss.cli.folder import data_folder
    from airboss.cli.parent import Parent
    from airboss.setting_sources import SettingSources
    from airboss.settings import load_settings

    if settings is not None and not settings.is_file():
        raise CommandRefused(f"The settings file {settings} does not exist.")
    options = {
        "port": port,
        "host": host,
        "hosts": tuple(allow_host) if allow_host else None,
        "tls_certificate": whole(tls_certificate),
        "tls_key": whole(tls_key),
        "trusted_proxy": trusted_proxy or None,
        "no_token": no_token or None,
        "data": whole(data),
        "entry": whole(entry),
        "test": test or None,
        "test_folder": whole(test_folder),
        "permissions": permissions.value if permissions else None,
        "cage": cage.value if cage else None,
        "roots": tuple(whole(path) for path in root) if root else None,
        "database": without_password(database),
        "shared_roots": tuple(whole(path) for path in shared_root) if shared_root else None,
        "labels": tuple(label) if label else None,
        "work": False if no_work else None,
        "max_tasks": max_tasks,
        "notify_command": notify_command,
        "webhook_url": webhook,
        "rehearsal": whole(rehearsal),
        "copilot_cli": whole(copilot_cli),
    }
    file = settings or data_folder(data).settings
    chosen, sources = load_settings(file, options), SettingSources.read(file, options)
    # Imported last: a wrong option is told at once. None of it is garbage, so nobody looks for any.
    from airboss.tuning import leave_out_unused, making_what_stays

    leave_out_unused()
    with making_what_stays():
        from airboss.server import serve as run_server

    parent = Parent() if with_parent else None
    try:
        code = run_server(chosen, sources)
    finally:
        if parent and with_parent:
            parent.clean_up(with_parent)
    raise typer.Exit(code)


@app.command()
def setup() -> None:
    """Install the agent runtime with npm."""
    from airboss.cli.screen import out
    from airboss.runtime.install import install

    try:
        found = install(out().line)
    except AirbossError as error:
        raise Trouble(str(error)) from error
    out().line(f"The agent runtime is installed: {found.path}")


@app.command()
def doctor(
    data: Data = None, as_json: AsJson = False, deep: Deep = False, repair: Repair = False
) -> None:
    """Check this machine and the server for problems."""
    from airboss.cli.doctor import doctor as doctor_command

    raise typer.Exit(doctor_command.run(data, is_json=as_json, deep=deep, repair=repair))


@app.command()
def watch(
    session: Annotated[str, typer.Argument(metavar="ID", help="A run, a task run or a session.")],
    after: Annotated[int, typer.Option(min=0, help="Start after this event number (seq).")] = 0,
    once: Annotated[bool, typer.Option("--once", help="Exit when the agent is idle.")] = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Follow a run, a task run or a session live."""
    session = named(data, session, "run", "tsk", "ses")
    if session.startswith("run_"):
        from airboss.cli.run.watch import WatchOptions
        from airboss.cli.run.watch import watch as watch_job

        options = WatchOptions(as_json, wait, after, is_mine=False)
        raise typer.Exit(watch_job(reach(data), session, options))
    if session.startswith("tsk_"):
        from airboss.cli.task.watch import watch as watch_run

        raise typer.Exit(watch_run(reach(data), session, after, as_json, wait))
    from airboss.cli.session.watch import SessionViewer

    raise typer.Exit(SessionViewer(reach(data), session, after, once, as_json, wait).run())


@app.command()
def sessions(
    state: Annotated[States | None, typer.Option(help="Show only sessions in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number to list.")] = 20,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List sessions, newest first."""
    from airboss.cli.listing import show_sessions

    show_sessions(reach(data)(), state.value if state else None, limit, is_json=as_json)


@app.command()
def status(data: Data = None, as_json: AsJson = False) -> None:
    """Show the state of the server."""
    from airboss.cli.listing import show_status

    show_status(reach(data)(), is_json=as_json)


@app.command()
def link(data: Data = None) -> None:
    """Print a sign-in link for a browser. It works once."""
    from airboss.cli.listing import show_link

    show_link(reach(data)())


@app.command()
def stop(
    name: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="Run or task run to stop. [the server]")
    ] = None,
    yes: Yes = False,
    data: Data = None,
) -> None:
    """Stop a run, or the server. Stopping the server asks you to confirm, and waits."""
    if name is not None:
        from airboss.cli.run.listing import stop as stop_run

        raise typer.Exit(stop_run(reach(data)(), named(data, name, "run", "tsk")))
    from airboss.cli.folder import data_folder
    from airboss.cli.listing import stop_server

    raise typer.Exit(stop_server(reach(data)(), data_folder(data), is_sure=yes))


def _drop_output() -> None:
    """The reader is gone; what is left unwritten has nowhere to go."""
    import os

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def main() -> None:
    hide_process()  # a token may be in our environment
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that cannot show a character shows its number.
            stream.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
