"""The commands about a session at work, each thin: ask, queue."""

from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, reach

app = typer.Typer()

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="See: airboss sessions")]


@app.command()
def ask(
    session: SessionId,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Ask a session something beside its work; nothing of that stays in its history."""
    from airboss.cli.queue import show_answer

    show_answer(reach(data)(), session, question, is_json=as_json)


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
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List what waits in a session, and change it until it is delivered."""
    from airboss.cli.queue import Change, show_queue

    wish = Change(clear, drop, change, first)
    show_queue(reach(data)(), session, wish, is_json=as_json)
