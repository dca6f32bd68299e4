"""`airboss database migrate`: brings both schemas up to date, and says what it did."""

from dataclasses import asdict

from airboss.cli.screen import out, print_json, waited
from airboss.cli.trouble import Exit, Trouble
from airboss.errors import StoreUnavailable
from airboss.shared_database import Move, migrate, moves_to_make


def migrate_and_tell(url: str, *, is_dry: bool, is_json: bool) -> Exit:
    try:
        moves = moves_to_make(url)
        if not is_dry:
            waited("Migrating the database", lambda: migrate(url))
    except StoreUnavailable as error:
        raise Trouble(str(error)) from error
    if is_json:
        print_json({"dry_run": is_dry, "schemas": [asdict(move) for move in moves]})
    else:
        for move in moves:
            out().line(told(move, is_dry=is_dry))
    return Exit.DONE


def told(move: Move, *, is_dry: bool) -> str:
    if move.after == move.before:
        return f"The schema {move.schema} is up to date ({move.before})."
    verb = "would be" if is_dry else "was"
    if move.before:
        return f"The schema {move.schema} {verb} brought from {move.before} to {move.after}."
    return f"The schema {move.schema} {verb} made ({move.after})."
