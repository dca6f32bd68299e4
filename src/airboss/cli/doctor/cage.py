"""The check of cages: one is started, and ways out of it are tried."""

import asyncio
from typing import Final

from airboss.cli.doctor.checks import CheckedMachine, CheckResult
from airboss.errors import AirbossError

_TELL_US: Final = "Do not rely on cages here. This is a bug in Airboss. Please report it."
_ALLOW_NARROW: Final = "Or set cage_narrow = true in the settings to use the narrow one."


def check_cage(subject: CheckedMachine) -> CheckResult:
    # Only this check needs the models of the settings, and what starts a cage.
    from airboss.cli.cage.listing import ORDINARY_USER, given, known_cages, limits_in_words
    from airboss.runtime.cage.ability import ability
    from airboss.runtime.cage.group import group_version
    from airboss.runtime.cage.proof import prove

    try:
        cages = known_cages(subject.folder.path)
    except AirbossError:
        remedy = "Fix the settings file first."
        return CheckResult("warn", "Not checked: the settings file is not valid.", remedy=remedy)
    if not cages.are_offered:
        return CheckResult("ok", 'Not checked: cages are turned off (cage = "off").')
    found = ability(subject.environ)
    if found.kind == "none":
        state = "fail" if cages.use == "always" else "warn"
        return CheckResult(state, "None: no cage holds here.", found.why, found.advice)
    try:
        proof = asyncio.run(prove(found.kind, subject.folder.path))
    except AirbossError as error:
        return CheckResult("fail", f"No cage could be started. {error}", remedy=_TELL_US)
    if proof.through:
        ways = ", ".join(proof.through)
        return CheckResult("fail", f"These ways lead out of a cage: {ways}.", remedy=_TELL_US)
    version = group_version()
    limits = limits_in_words(version, found)
    tried = f"{proof.tried} ways out were tried, and none led out."
    if found.kind == "narrow":
        is_given = given(cages, found) == "narrow"
        state = "fail" if cages.use == "always" and not is_given else "warn"
        advice = found.advice if is_given else f"{found.advice} {_ALLOW_NARROW}"
        summary = f"Narrow: only a cage without network holds here. {tried}"
        return CheckResult(state, summary, f"{found.why} {limits}", advice)
    if found.is_unbounded:
        state = "fail" if cages.use == "always" else "warn"
        return CheckResult(state, f"Strong: {tried} {limits}", found.why, ORDINARY_USER)
    return CheckResult("ok", f"Strong: {tried}", f"{found.why} {limits}")
