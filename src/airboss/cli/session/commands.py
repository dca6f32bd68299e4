"""The commands about a session and what is left of it, each thin: ask, queue, export."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Yes, named, reach

app = typer.Typer()

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="See: airboss sessions")]


@app.command()
def ask(
    session: SessionId,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Ask a session something beside its work. Nothing of that stays in its history."""
    from airboss.cli.session.queue import show_answer

    show_answer(reach(data)(), named(data, session, "ses"), question, is_json=as_json)


class Formats(StrEnum):
    """What an export is written as."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


@app.command()
def export(
    name: Annotated[str, typer.Argument(metavar="SESSION|RUN")],
    form: Annotated[
        Formats, typer.Option("--format", help="html: one file that opens anywhere.")
    ] = Formats.HTML,
    file: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Or - for stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
    data: Data = None,
) -> None:
    """Write all that was said in a session or a run to a file."""
    from airboss.cli.export import export as write_export

    whole = named(data, name, "ses", "run")
    raise typer.Exit(write_export(reach(data)(), whole, form.value, file, force=force))


@app.command()
def queue(
    session: SessionId,
    clear: Annotated[bool, typer.Option("--clear", help="Drop all that people asked for.")] = False,
    drop: Annotated[
        str | None, typer.Option(metavar="REQUEST", help="Drop one that waits.")
    ] = None,
    change: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="REQUEST TEXT", help="Let one say something else."),
    ] = None,
    first: Annotated[str | None, typer.Option(metavar="REQUEST", help="Let one come next.")] = None,
    yes: Yes = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List what waits in a session. It can be changed until it is delivered."""
    from airboss.cli.session.queue import QueueChange, show_queue

    change_asked = QueueChange(clear, drop, change, first, yes)
    show_queue(reach(data)(), named(data, session, "ses"), change_asked, is_json=as_json)
