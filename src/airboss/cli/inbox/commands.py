"""The commands about what waits for a person, each thin: inbox, approve, deny, answer, decline."""

from enum import StrEnum
from typing import Annotated

import typer

from airboss.cli.options import AsJson, Data, Patience, named, reach
from airboss.cli.trouble import CommandRefused

app = typer.Typer()

ItemName = Annotated[
    str,
    typer.Argument(metavar="ITEM", help="Item id (airboss inbox), or its last four characters."),
]


class Kinds(StrEnum):
    """What can wait for a person."""

    APPROVAL = "approval"
    QUESTION = "question"
    LIMIT = "limit"
    PLAN = "plan"
    SWITCH = "switch"
    SIGN_IN = "sign-in"


@app.command()
def inbox(
    item: Annotated[
        str | None, typer.Argument(metavar="[ITEM]", help="Show this item in full.")
    ] = None,
    kind: Annotated[Kinds | None, typer.Option(help="Show only items of this kind.")] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Show only items of this session.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="ID", help="Show only items of this run.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep showing new and settled items.")
    ] = False,
    wait: Patience = 120,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """List what is waiting for you: approvals, questions and more."""
    from airboss.cli.inbox.listing import InboxFilter, show_inbox, show_item

    session = named(data, session, "ses") if session else None
    run = named(data, run, "run") if run else None
    wanted = InboxFilter(kind.value if kind else None, session, run)
    if item is not None:
        if watch or wanted != InboxFilter():
            raise CommandRefused(
                "To show one item, leave out --watch, --kind, --session and --run."
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
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="Of a plan: what should be different."),
    ] = None,
    always: Annotated[
        bool,
        typer.Option(
            "--always", help="Also allow it from now on, with the rule that the item shows."
        ),
    ] = False,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Approve an agent's request or plan. At a limit, let it continue. Sign in at a server."""
    from airboss.cli.inbox import deciding

    said = " ".join(words or ())
    deciding.approve(reach(data)(), item, said, always=always, is_json=as_json)


@app.command()
def deny(
    item: ItemName,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]", help="Reason, which is sent to the agent."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Deny an agent's request, or reject its plan. At a limit, end the agent's turn."""
    from airboss.cli.inbox import deciding

    deciding.deny(reach(data)(), item, " ".join(words or ()), is_json=as_json)


@app.command()
def answer(
    item: ItemName,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT]",
            help="A choice (number or label) or text; @FILE reads a file, - stdin.",
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Fill in a form field; repeatable."),
    ] = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Answer an agent's question."""
    from airboss.cli.inbox import deciding
    from airboss.cli.task.start import text_of

    said = None if text is None else text_of(text)
    deciding.answer(reach(data)(), item, said, field or (), is_json=as_json)


@app.command()
def decline(item: ItemName, data: Data = None, as_json: AsJson = False) -> None:
    """Decline to answer a question, or to sign in. The agent continues without."""
    from airboss.cli.inbox import deciding

    deciding.decline(reach(data)(), item, is_json=as_json)
