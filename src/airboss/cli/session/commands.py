"""The commands about a session and what is left of it, each thin."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import (
    AccountOption,
    AsJson,
    CageProfileOption,
    Data,
    IdentityOption,
    Patience,
    Permissions,
    Yes,
    named,
    reach,
)
from airboss.cli.trouble import CommandRefused

app = typer.Typer()

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="Session id (airboss sessions).")]


@app.command()
def chat(
    prompt: Annotated[
        str | None, typer.Argument(help="Send this message, wait for the answer, and exit.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="ID", help="Model to use (airboss models).")
    ] = None,
    cwd: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Working folder. [this folder]")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue this session.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the session open when chat exits.")
    ] = False,
    effort: Annotated[
        str | None,
        typer.Option(metavar="EFFORT", help="How long it thinks: low, medium, high, xhigh, max."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Custom agent to use, from the settings or the entry."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Make a plan first; you approve it (airboss inbox).")
    ] = False,
    file: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Point the agent to this file or folder; repeatable."),
    ] = None,
    account: AccountOption = None,
    identity: IdentityOption = None,
    cage: CageProfileOption = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=AMOUNT", help="Ask before using more turns, tokens, cost, …"),
    ] = None,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Chat with an agent in the terminal or from a script."""
    from dataclasses import replace

    from airboss.cli.session.chat import ChatStart, run
    from airboss.cli.session.limits import read_limits

    limits = read_limits(limit or [])
    said = {"agent": agent, "account": account, "identity": identity, "cage": cage}
    keys = {name: word for name, word in said.items() if word is not None}
    if session and (cwd or limits or keys):
        raise CommandRefused(
            "--session cannot be combined with --cwd, --agent, --account, --identity, --cage or "
            "--limit: a session keeps its own."
        )
    session = named(data, session, "ses") if session else None
    start = ChatStart(model, cwd, session, prompt, keep, as_json, wait, limits, effort, keys)
    request = replace(start, plans=plan, files=tuple(file or ()))
    raise typer.Exit(run(reach(data), request))


@app.command()
def models(data: Data = None, as_json: AsJson = False) -> None:
    """List the models that sessions can use."""
    from airboss.cli.listing import show_models

    show_models(reach(data)(), is_json=as_json)


@app.command()
def accounts(data: Data = None, as_json: AsJson = False) -> None:
    """List Copilot accounts, and which of them can be used."""
    from airboss.cli.session.accounts import show_accounts

    show_accounts(reach(data)(), is_json=as_json)


@app.command()
def ask(
    session: SessionId,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Ask a session a side question. It is not added to the session's history."""
    from airboss.cli.session.queue import show_answer

    show_answer(reach(data)(), named(data, session, "ses"), question, is_json=as_json)


@app.command()
def compact(
    session: SessionId,
    instructions: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the summary should focus on.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Replace the history of an idle session with a summary."""
    from airboss.cli.session.queue import show_compaction

    show_compaction(reach(data)(), named(data, session, "ses"), instructions, is_json=as_json)


@app.command()
def fork(
    session: SessionId,
    before: Annotated[
        str | None,
        typer.Option(metavar="REQUEST", help="Copy only what was before this message."),
    ] = None,
    permissions: Annotated[
        Permissions | None,
        typer.Option(help="What the copy may do; caged puts it in a cage, others take it out."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Start a new session as a copy of an idle or interrupted one."""
    from airboss.cli.session.queue import show_fork

    policy = permissions.value if permissions else None
    show_fork(reach(data)(), named(data, session, "ses"), before, policy, is_json=as_json)


@app.command()
def mcp(
    session: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="Session id. [all open sessions]")
    ] = None,
    sign_in: Annotated[
        str | None, typer.Option(metavar="SERVER", help="Sign in to this server, in a browser.")
    ] = None,
    finish: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Finish with the address where the browser ended up."),
    ] = None,
    sign_out: Annotated[
        str | None, typer.Option(metavar="SERVER", help="Sign out of this server.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List the MCP servers of a session with their tools and errors. Or sign in to one."""
    from airboss.cli.session.servers import ServerWish, show_servers

    which = None if session is None else named(data, session, "ses")
    wish = ServerWish(sign_in, finish, sign_out)
    show_servers(reach(data)(), which, wish, is_json=as_json)


@app.command()
def switch(
    session: SessionId,
    model: Annotated[str | None, typer.Option(metavar="ID", help="See: airboss models")] = None,
    effort: Annotated[
        str | None, typer.Option(metavar="EFFORT", help="How long it thinks: low, medium, high, …")
    ] = None,
    permissions: Annotated[
        Permissions | None, typer.Option(help="What it may do; wider needs the role own.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help='One of its agents; "" for none.')
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Switch a session to another model, effort, agent or policy."""
    from airboss.cli.session.queue import show_switch

    asked = {
        "model": model,
        "reasoningEffort": effort,
        "permissions": permissions.value if permissions else None,
        "agent": agent,
    }
    show_switch(reach(data)(), named(data, session, "ses"), asked, is_json=as_json)


class Formats(StrEnum):
    """What an export is written as."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="SESSION|RUN", help="Id of a session or run.")],
    form: Annotated[
        Formats, typer.Option("--format", help="File format; html is one self-contained file.")
    ] = Formats.HTML,
    file: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file; - writes to stdout."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    data: Data = None,
) -> None:
    """Export a session or a run to a file."""
    from airboss.cli.export import export as write_export

    whole = named(data, name, "ses", "run")
    raise typer.Exit(write_export(reach(data)(), whole, form.value, file, force=force))


@app.command()
def queue(
    session: SessionId,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove all messages that people queued.")
    ] = False,
    drop: Annotated[
        str | None, typer.Option(metavar="REQUEST", help="Remove this message.")
    ] = None,
    change: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="REQUEST TEXT", help="Replace the text of a message."),
    ] = None,
    first: Annotated[
        str | None, typer.Option(metavar="REQUEST", help="Move this message to the front.")
    ] = None,
    yes: Yes = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List or change queued messages. You can change one until it is delivered."""
    from airboss.cli.session.queue import QueueChange, show_queue

    change_asked = QueueChange(clear, drop, change, first, yes)
    show_queue(reach(data)(), named(data, session, "ses"), change_asked, is_json=as_json)
