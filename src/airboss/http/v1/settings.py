"""The settings of this server, over v1: where each comes from, changed and put back."""

from pydantic import BaseModel

from airboss.http.description import refused
from airboss.http.roles import Router
from airboss.http.services import Use, Who
from airboss.http.v1.streams import RequestBody
from airboss.service.setting_changes import Setting, SettingValue

router = Router(prefix="/api/v1/settings", tags=["settings"])

_FIXED = refused(
    "It cannot be changed here: an option or a variable sets it, or it is read only at start."
)


class NewValue(RequestBody):
    """What the setting is to be. Null is “not set”, where a setting may be that."""

    value: SettingValue


class SettingList(BaseModel):
    """Those that people change most come first."""

    items: tuple[Setting, ...]


@router.get("")
async def list_settings(use: Use) -> SettingList:
    """List the settings with meaning, default and where each is set. Contains no secrets."""
    return SettingList(items=use.settings.all())


@router.patch(
    "/{name}",
    responses={409: _FIXED, 422: refused("The value cannot be used.")},
)
async def change_setting(name: str, asked: NewValue, use: Use, who: Who) -> Setting:
    """Change a setting, in the database. Overrides the settings file, which is never written, but
    not options and variables. `effect` says when it takes effect."""
    return await use.settings.change(name, asked.value, who)


@router.delete("/{name}", responses={409: _FIXED})
async def reset_setting(name: str, use: Use, who: Who) -> Setting:
    """Reset a setting to the value in the settings file, or to its default."""
    return await use.settings.reset(name, who)
