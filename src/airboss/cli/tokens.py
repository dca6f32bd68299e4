"""Tokens with a name, for other people and programs. They are kept in the data folder."""

from airboss.cli.screen import aside, moment, out, print_json, print_table
from airboss.store.folder import DataFolder
from airboss.store.tokens import NamedTokens


def add_token(folder: DataFolder, name: str) -> None:
    """The token alone on the output; nobody sees it again."""
    token = NamedTokens(folder).add(name)
    out().line(token)
    pen = aside()
    if pen.is_terminal:
        pen.line(pen.styled("Keep it now: it is not shown again.", "dim"))


def list_tokens(folder: DataFolder, *, is_json: bool) -> None:
    names = NamedTokens(folder).names()
    if is_json:
        items = [{"name": name, "created_at": at} for name, at in names.items()]
        print_json({"items": items})
        return
    if not names:
        aside().line("No named tokens. Make one with: airboss token add NAME")
        return
    print_table(("Name", "Made"), [(name, moment(at)) for name, at in names.items()], out())


def remove_token(folder: DataFolder, name: str) -> None:
    NamedTokens(folder).remove(name)
    aside().line(f"The token {name} no longer opens anything.")
