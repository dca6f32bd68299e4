"""Which cage holds on this machine, and the profiles of the settings."""

from pathlib import Path
from typing import Final, Literal, TypeAlias

from airboss.cage_settings import CageProfile
from airboss.cli.folder import data_folder
from airboss.cli.screen import out, print_json, print_table, visible_line
from airboss.model.cage_bounds import ServerCages, real_path
from airboss.runtime.cage.ability import Ability, ability
from airboss.runtime.cage.given_cage import held_here
from airboss.runtime.cage.group import group_version
from airboss.runtime.cage.own_code import own_code
from airboss.runtime.cage.profile import refusals
from airboss.settings import load_settings

Given: TypeAlias = Literal["strong", "narrow", "none"]
_HOLDS: Final = {
    "strong": "A strong cage holds here.",
    "narrow": "Only a narrow cage holds here, without any network.",
    "none": "No cage holds here.",
}
_GIVEN: Final = {
    "strong": "Sessions that ask for a cage get a strong one",
    "narrow": "Sessions that ask for a cage get a narrow one",
    "none": "Sessions get no cage",
}
_ROOT_ALONE: Final = (
    "There is no control group for cages here, and the kernel does not bound the processes of "
    "root: a watch alone ends a cage that is over its limits."
)
_BOUND: Final = (
    "There is no control group for cages here: the kernel bounds the processes of a cage, and a "
    "watch ends one that is over its memory."
)
_WATCH: Final = (
    "There is no control group for cages here: a watch ends a cage that is over its limits."
)
ORDINARY_USER: Final = (
    "Run the server as an ordinary user: then the kernel bounds the processes of a strong cage."
)


def known_cages(data: Path | None) -> ServerCages:
    """As a server would read them that is started without options."""
    folder = data_folder(data)
    return ServerCages.of(load_settings(folder.settings, {"data": folder.path})).pinned(real_path)


def given(cages: ServerCages, found: Ability) -> Given:
    """The cage that sessions get here, as the settings have it."""
    return held_here(cages, found).kind


def limits_in_words(version: int | None, found: Ability) -> str:
    if version is not None:
        return f"A control group (version {version}) bounds the memory and processes of a cage."
    if found.is_unbounded:
        return _ROOT_ALONE
    return _BOUND if found.kind == "strong" else _WATCH


def show_cage(data: Path | None, *, is_json: bool) -> None:
    cages, found = known_cages(data), ability()
    version = group_version() if found.kind != "none" else None
    profiles = {name: cages.profile(name) or CageProfile() for name in cages.names}
    wrong = {name: refusals(terms, *_places(data), own_code()) for name, terms in profiles.items()}
    if is_json:
        print_json(
            {
                "holds": found.kind,
                "why": found.why,
                "advice": found.advice,
                "cage": cages.use,
                "cage_narrow": cages.narrow,
                "given": given(cages, found),
                "control_group": version,
                "is_unbounded": found.is_unbounded,
                "profiles": [
                    {"name": name, **terms.model_dump(mode="json"), "wrong": wrong[name]}
                    for name, terms in profiles.items()
                ],
            }
        )
        return
    pen = out()
    pen.line(visible_line(f"{_HOLDS[found.kind]} {found.why}"))
    if found.advice:
        pen.line(visible_line(found.advice))
    setting = f'cage = "{cages.use}", cage_narrow = {str(cages.narrow).lower()}'
    pen.line(f"{_GIVEN[given(cages, found)]} ({setting}).")
    if not_given := _why_not_given(cages, found):
        pen.line(visible_line(not_given))
    elif found.kind != "none":
        pen.line(limits_in_words(version, found))
    pen.line()
    heads = ("Profile", "Also reads", "Also writes", "Hosts", "Other hosts", "Variables", "Limits")
    print_table(heads, (_row(name, terms) for name, terms in profiles.items()), pen)
    for name, reasons in wrong.items():
        for reason in reasons:
            pen.line(visible_line(f"Profile {name}: {reason}"))


def _why_not_given(cages: ServerCages, found: Ability) -> str:
    """Why sessions do not get the cage that holds here, and what to do, beside what is said of the
    machine already."""
    held = held_here(cages, found)
    if held.kind == found.kind or not cages.are_offered:
        return ""
    why = held.why.removeprefix(found.why).strip()
    return why if held.advice == found.advice else f"{why} {held.advice}"


def _row(name: str, terms: CageProfile) -> tuple[str, ...]:
    limits = f"{terms.memory_mb} MB, {terms.processes} processes, files of {terms.file_mb} MB"
    return (
        name,
        *(", ".join(words) or "-" for words in (terms.read, terms.write, terms.hosts)),
        {"refuse": "refused", "ask": "a person is asked"}[terms.unknown_hosts],
        ", ".join(terms.variables) or "-",
        f"{limits}, debuggers" if terms.debuggers else limits,
    )


def _places(data: Path | None) -> tuple[Path, Path]:
    return Path.home(), data_folder(data).path
