"""The commands about what waits for a person, each thin: inbox, approve, deny, answer, decline."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Patience, named, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer()

ItemName = Annotated[
    str, typer.Argument(metavar="ITEM", help="See: airboss inbox. A part of its id will do.")
]


class Kinds(StrEnum):
    """What can wait for a person."""

    APPROVAL = "approval"
    QUESTION = "question"
    LIMIT = "limit"


@app.command()
def inbox(
    item: Annotated[
        str | None, typer.Argument(metavar="[ITEM]", help="Show this one whole.")
    ] = None,
    kind: Annotated[Kinds | None, typer.Option(help="Only these.")] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what this session asks.")
    ] = None,
    run: Annotated[str | None, typer.Option(metavar="ID", help="Only what this run asks.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show what comes and goes.")] = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List what waits for you: approvals, questions, limits."""
    from airboss.cli.inbox.listing import InboxFilter, show_inbox, show_item

    session = named(data, session, "ses") if session else None
    run = named(data, run, "run") if run else None
    wanted = InboxFilter(kind.value if kind else None, session, run)
    if item is not None:
        if watch or wanted != InboxFilter():
            raise CommandRefused(
                "One item is shown alone: leave out --watch and what chooses among many."
            )
        show_item(reach(data)(), item, is_json=as_json)
    elif watch:
        from airboss.cli.inbox.watch import watch as watch_inbox

        raise typer.Exit(watch_inbox(reach(data), wanted, wait, is_json=as_json))
    else:
        show_inbox(reach(data)(), wanted, is_json=as_json)


@app.command()
def approve(
    item: ItemName,
    always: Annotated[
        bool, typer.Option("--always", help="From now on: with the rule that the item shows.")
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Allow what an agent asks permission for. At a limit: let it go on."""
    from airboss.cli.inbox import deciding

    deciding.approve(reach(data)(), item, always=always, is_json=as_json)


@app.command()
def deny(
    item: ItemName,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[WORDS]", help="Why: the agent is told so.")
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Refuse what an agent asks permission for."""
    from airboss.cli.inbox import deciding

    deciding.deny(reach(data)(), item, " ".join(words or ()), is_json=as_json)


@app.command()
def answer(
    item: ItemName,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]", help="A choice by number or label, or words; @FILE, - for stdin."
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of a form; repeatable, also for a list."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Answer what an agent asks."""
    from airboss.cli.inbox import deciding
    from airboss.cli.task.start import text_of

    said = None if text is None else text_of(text)
    deciding.answer(reach(data)(), item, said, field or (), is_json=as_json)


@app.command()
def decline(item: ItemName, data: Data = None, as_json: AsJson = False) -> None:
    """Leave a question without an answer. The agent goes on by its own judgement."""
    from airboss.cli.inbox import deciding

    deciding.decline(reach(data)(), item, is_json=as_json)
