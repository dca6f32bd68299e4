"""A person says yes before something is lost; a script says `--yes`."""

import sys

from airboss.cli.screen import aside, visible_line
from airboss.cli.trouble import CommandRefused


def confirmed(question: str, *, losing: str, is_sure: bool) -> bool:
    """Asked in a terminal. Elsewhere nobody can answer: it is refused, with what would be lost."""
    if is_sure:
        return True
    if not sys.stdin.isatty():
        raise CommandRefused(f"{visible_line(losing)} Pass --yes to confirm.")
    aside().write(f"{visible_line(f'{losing} {question}')} [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
