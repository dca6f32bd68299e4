"""The commands about a session and what is left of it, each thin."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Permissions, Yes, named, reach

app = typer.Typer()

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="Session id (airboss sessions).")]


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
        str | None, typer.Option(metavar="TEXT", help="What the summary is to dwell on.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Replace the history of an idle session by a summary."""
    from airboss.cli.session.queue import show_compaction

    show_compaction(reach(data)(), named(data, session, "ses"), instructions, is_json=as_json)


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
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Let a session go on with another model, effort or policy."""
    from airboss.cli.session.queue import show_switch

    asked = {
        "model": model,
        "reasoningEffort": effort,
        "permissions": permissions.value if permissions else None,
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
