"""What a doctor says about the accounts of Copilot and the homes of the runtimes."""

import os
import stat

from pydantic import BaseModel, ConfigDict

from airboss.harness.accounts import Accounts, AccountState, clock
from airboss.service.doctor_checks import Check
from airboss.store.folder import DataFolder


class StatusPart(BaseModel):
    """A part of what a server says about itself."""

    model_config = ConfigDict(frozen=True)


def accounts_check(accounts: Accounts) -> Check:
    states = accounts.states() if accounts.accounts else ()
    if not states:
        return Check(id="accounts", state="ok", summary="No accounts in the settings.")
    broken = [one for one in states if one.state != "fine"]
    summary = f"{len(states) - len(broken)} of {len(states)} can be used"
    if not broken:
        return Check(id="accounts", state="ok", summary=summary)
    return Check(
        id="accounts",
        state="fail" if len(broken) == len(states) else "warn",
        summary=summary,
        detail=" ".join(_words(one) for one in broken),
        remedy="Give each account a valid token, or wait until it is tried again.",
    )


def _words(one: AccountState) -> str:
    until = "" if one.resting_until is None else f", until {clock(one.resting_until)}"
    return f"{one.name}: {(one.why or '').rstrip('.')}{until}."


def homes_check(folder: DataFolder) -> Check:
    homes = [home for home in folder.all_homes() if home.is_dir()]
    open_ones = [str(home) for home in homes if os.name != "nt" and _is_open(home.stat().st_mode)]
    folders = "1 folder" if len(homes) == 1 else f"{len(homes)} folders"
    summary = f"{folders} for the agent runtime's files"
    if open_ones:
        detail = f"Others can read {', '.join(open_ones)}."
        remedy = f"Run `chmod 700 {' '.join(open_ones)}`."
        return Check(id="homes", state="warn", summary=summary, detail=detail, remedy=remedy)
    return Check(id="homes", state="ok", summary=summary)


def _is_open(mode: int) -> bool:
    return bool(mode & (stat.S_IRWXG | stat.S_IRWXO))
