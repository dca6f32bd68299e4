"""Every setting once, with its default and reason.

Options win over changes that were made while a server ran, those over the file, it over defaults.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from airboss.account_settings import Account
from airboss.cage_settings import CageProfile, CageUse
from airboss.errors import SettingsInvalid
from airboss.extension_settings import NO_EXTENSION_SETTINGS, ExtensionSettings
from airboss.fault_words import fault_place, fault_words, told_faults
from airboss.keys import PartName, be_address
from airboss.machine_settings import (
    MOST_LABELS,
    Label,
    database_address,
    database_from,
    shown_database,
)
from airboss.provider_settings import Provider
from airboss.runtime_settings import must_go_together, runtime_address
from airboss.session_keys import NOTHING_SET, ServerKeys, SessionSettings, ToolKeys
from airboss.setting_words import Command
from airboss.telemetry_settings import NO_TELEMETRY, Telemetry

Policy = Literal["ask", "caged", "approve-all", "read-only", "deny-all"]
OnRateLimit = Literal["ask", "yes", "no"]
POLICIES: tuple[Policy, ...] = ("ask", "caged", "approve-all", "read-only", "deny-all")

# Of a session's tools: what is no list of words.
_SWITCHES = ("search", "github")

# More are no time that a computer knows.
_MOST_DAYS = 1_000_000
# Tables that there may be several of.
_TABLES = re.compile(r"\s*\[\[\s*[\"']?(providers|accounts)[\"']?\s*\]\]")

_NO_LINES: Mapping[str, Sequence[int]] = {}


def _in_full(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no path has a NUL in it.")
    try:
        return path.expanduser().absolute()
    except RuntimeError:
        raise ValueError(f"there is no home folder of {path.parts[0]}.") from None


# Written out in full once, so that it means the same wherever the server works later.
FullPath = Annotated[Path, AfterValidator(_in_full)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LoopDetectors(_Frozen):
    """Which kinds of repetition are looked for."""

    repeat: bool = True
    poll: bool = True
    ping_pong: bool = True
    errors: bool = True


class LoopDetection(_Frozen):
    """When an agent counts as repeating itself. What is no count becomes the default."""

    enabled: bool = True
    # So many calls are remembered of each agent in a turn.
    history: int = 30
    # From so many on the agent is told, from so many it is refused, and whatever it is stopped.
    warning: int = 10
    critical: int = 20
    breaker: int = 30
    # Calls in a row of one tool that does not exist.
    unknown_tool: int = 10
    # After so many refused calls the turn ends: an agent that does not listen costs money.
    blocks: int = 5
    # So many equal calls behind a compaction, and the turn ends.
    after_compaction: int = 3
    detectors: LoopDetectors = LoopDetectors()

    @field_validator(
        "history",
        "warning",
        "critical",
        "breaker",
        "unknown_tool",
        "blocks",
        "after_compaction",
        mode="before",
    )
    @classmethod
    def _be_a_count(cls, value: object, info: ValidationInfo) -> object:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        return value if is_count else cls.model_fields[info.field_name or ""].default


class Settings(_Frozen):
    """What a server is started with."""

    # Seed 001's port.
    port: int = Field(default=8888, ge=0, le=65535)
    # Nobody else's machine reaches loopback.
    host: str = "127.0.0.1"
    # Names beside 127.0.0.1, localhost and [::1] that browsers may call us by, such as a proxy's.
    hosts: tuple[str, ...] = ()
    # What stands in front when `host` is not loopback: TLS of our own, or a proxy that ends it.
    tls_certificate: FullPath | None = None
    tls_key: FullPath | None = None
    trusted_proxy: bool = False
    # Loopback only, for machines with one user.
    no_token: bool = False
    data: FullPath = Field(default_factory=lambda: default_data_folder())
    # The entry to use; without one it is the project's own `airboss.yaml`, else the built-in one.
    entry: FullPath | None = None
    # Seed 001's test mode.
    test: bool = False
    test_folder: FullPath | None = None
    # Reading below the working directory needs no permission; all else is asked for.
    permissions: Policy = "ask"
    # Whether sessions may work in a cage (`offer`), must (`always`), or never do (`off`).
    cage: CageUse = "offer"
    # Whether one without namespaces counts as a cage where there is no other.
    cage_narrow: bool = False
    # More of them than this are not there at once; they are not counted as runtimes.
    max_cages: int = Field(default=24, gt=0)
    # What is inside of each, by a name; `default` is there without being written down.
    cages: dict[PartName, CageProfile] = Field(default_factory=dict)
    # An approval in a person's session counts as a no after so long; without it, it waits for as
    # long as it takes, as a job's does.
    approval_seconds: float | None = Field(default=None, gt=0, le=600)
    # Where sessions may work; empty means the home folder, the repository and what lies beside it.
    roots: tuple[FullPath, ...] = ()
    # A script to rehearse with; without any source of models the built-in one is served.
    rehearsal: FullPath | None = None
    providers: tuple[Provider, ...] = ()
    # Who sessions are for at Copilot, in the order in which they are used.
    accounts: tuple[Account, ...] = ()
    # The agent runtime, where it is not in one of the usual places.
    copilot_cli: FullPath | None = None
    # One that somebody else started, as HOST:PORT. What lets us in there is never here: it comes by
    # AIRBOSS_RUNTIME_TOKEN.
    runtime_url: Annotated[str, AfterValidator(runtime_address)] | None = None
    # Whether other programs of this user may join sessions on our own.
    shared_runtime: bool = False
    # More processes of it than this are not run at once: one for each identity and account.
    max_runtimes: int = Field(default=8, gt=0)
    # A turn without any sign of life is asked about after so many seconds.
    quiet_seconds: float = Field(default=60.0, gt=0)
    # The first request of a session waits so long for MCP servers that are still starting.
    mcp_wait_seconds: float = Field(default=10.0, gt=0, le=600)
    # Where a model of Copilot is at its rate limit: go on with one that the service chooses?
    auto_switch: OnRateLimit = "ask"
    # An agent that repeats itself is warned, then refused, then stopped.
    loop_detection: LoopDetection = LoopDetection()
    # What every session is given beside its model: an entry, a task or a request may say otherwise.
    session: SessionSettings = NOTHING_SET
    # Whether extensions run, and what agents may do with them.
    extensions: ExtensionSettings = NO_EXTENSION_SETTINGS
    # The largest request body, and the largest prompt inside one.
    max_body_bytes: int = Field(default=4 * 1024 * 1024, gt=0)
    # Of a tool's output, a message or reasoning so much is kept: a head, a tail, and a mark that
    # counts what was left out. One command can print gigabytes.
    max_block_characters: int = Field(default=512 * 1024, ge=4096, le=64 * 1024 * 1024)
    # So many agents of jobs work at once; each is a conversation that costs money and memory.
    # Without it 16, or as many as fit into the memory that is free at the start.
    max_tasks: int | None = Field(default=None, gt=0)
    # So many on all machines of a shared database together; without it as many as they have.
    max_tasks_all: int | None = Field(default=None, gt=0)
    # More open sessions than this are refused: each costs memory in the runtime.
    max_sessions: int = Field(default=200, gt=0)
    # What ended before so many days is deleted; without it nothing is, for nobody asked for that.
    keep_days: float | None = Field(default=None, gt=0, le=_MOST_DAYS)
    # What the audit says of the time before so many days is deleted; without it nothing is.
    keep_audit_days: float | None = Field(default=None, gt=0, le=_MOST_DAYS)
    # What ended first is deleted while the database holds more than this.
    keep_megabytes: int | None = Field(default=None, gt=0)
    # Where each session's conversation is written to as well, as SESSION.jsonl.
    transcripts: FullPath | None = None
    # What is run when something waits for a person: one text, or a list of words.
    notify_command: Command | None = None
    # Where it is posted to. A login in the address would be shown in logs, so there is none.
    webhook_url: (
        Annotated[
            str, Field(pattern=r"^https?://[^/?#@\s]+([/?#]\S*)?$"), AfterValidator(be_address)
        ]
        | None
    ) = None
    # What it is signed with is never here: it comes by AIRBOSS_WEBHOOK_SECRET, or in this file.
    webhook_secret_file: FullPath | None = None
    # Else an address could make us knock at doors inside this network.
    webhook_private: bool = False
    # A PostgreSQL that several machines share; without it a file in the data folder.
    database: Annotated[str, AfterValidator(database_address)] | None = Field(
        default_factory=database_from, repr=False, validate_default=True
    )
    # Of several machines: what people call this one; else its host's name.
    name: str = Field(default="", max_length=64, pattern=r"^[\w.-]*$")
    # Folders that are the same on all of them: runs in these go on elsewhere.
    shared_roots: tuple[FullPath, ...] = ()
    # What this machine has that some runs want.
    labels: Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)] = ()
    # Told to stop, a worker lets its tasks end for so long; others go on with the rest.
    drain_seconds: float = Field(default=30.0, ge=0, le=3600)
    # Whether this server works on runs and chats itself, or leaves all of them to other machines.
    work: bool = True
    # A worker that is not heard of for so long is lost. More than twice your database's failover.
    lease_seconds: float = Field(default=20.0, ge=3, le=300)
    # Where traces of runs, tasks, turns and tools are sent. Off without an endpoint.
    telemetry: Telemetry = NO_TELEMETRY


def default_data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """`AIRBOSS_DATA`, else the platform's folder for a user's data."""
    chosen = environ.get("AIRBOSS_DATA")
    return Path(chosen).expanduser().absolute() if chosen else user_data_path("airboss")


def load_settings(file: Path | None, options: Mapping[str, Any]) -> Settings:
    """The settings of a server: the file's, where there is one, and the options given over them."""
    given: dict[str, Any] = read_settings_file(file) if file else {}
    given.update({name: value for name, value in options.items() if value is not None})
    source = f" (options, or {file})" if file else ""
    lines = _table_lines(file) if file and given.keys() & {"providers", "accounts"} else {}
    return checked_settings(given, f"Invalid settings{source}: ", lines)


def checked_settings(
    given: Mapping[str, Any], opening: str = "", lines: Mapping[str, Sequence[int]] = _NO_LINES
) -> Settings:
    """Refused in words, behind this opening, where one of them cannot be used."""
    try:
        settings = Settings.model_validate(given)
    except ValidationError as error:
        raise SettingsInvalid(f"{opening}{_say_what_is_wrong(error, lines)}") from error
    for table in ("providers", "accounts"):
        names = [one.name for one in getattr(settings, table)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise SettingsInvalid(
                f"{table}: the name {twice!r} is used twice. Use a different name for each."
            )
    must_go_together(settings)
    if settings.permissions == "caged" and settings.cage == "off":
        raise SettingsInvalid(
            'permissions = "caged" needs cages, and cage = "off" turns them off. Change one.'
        )
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise SettingsInvalid("tls_certificate and tls_key belong together: set both, or neither.")
    return settings


def read_settings_file(file: Path) -> dict[str, Any]:
    """What the file says; one that is not there says nothing."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))  # some editors mark it so
    except FileNotFoundError:
        return {}
    except RecursionError:
        raise SettingsInvalid(
            f"Could not read the settings file {file}: its tables and lists are nested too deeply."
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsInvalid(f"Could not read the settings file {file}: {error}") from error


def shown_settings(settings: Settings, *, only_set: bool = False) -> dict[str, Any]:
    """As JSON. Addresses and commands of others may hold what lets one in there, so that only
    where they lead is told."""
    said = settings.model_dump(mode="json", exclude_defaults=only_set)
    if settings.webhook_url:
        parts = urlsplit(settings.webhook_url)
        said["webhook_url"] = f"{parts.scheme}://{parts.netloc}/…"
    if settings.notify_command:
        said["notify_command"] = [settings.notify_command[0], "…"]
    if settings.database:
        said["database"] = shown_database(settings.database)
    _show_session(settings, said)
    if "cages" in said:
        said["cages"] = list(settings.cages)
    if settings.telemetry.is_on:
        said["telemetry"]["endpoint"] = f"{settings.telemetry.host}/…"
    if settings.providers:
        said["providers"] = [provider.name for provider in settings.providers]
    if settings.accounts:
        said["accounts"] = [account.name for account in settings.accounts]
    return said


def _show_session(settings: Settings, said: dict[str, Any]) -> None:
    if settings.session.system_message:
        said["session"]["system_message"] = "; ".join(settings.session.system_message.said)
    if settings.session.tools:
        said["session"]["tools"] = _shown_tools(settings.session.tools)
    if settings.session.context:
        context = settings.session.context
        said["session"]["context"] = [f"{name}: {getattr(context, name)}" for name in context.said]
    if settings.session.cage:
        cage = settings.session.cage
        said["session"]["cage"] = [f"{name}: {getattr(cage, name)}" for name in cage.said]
    if names := _shown_names(settings.session):
        said["session"] |= names
    if settings.session.mcp_servers:
        servers = settings.session.mcp_servers.items()
        said["session"]["mcp_servers"] = [_shown_server(name, server) for name, server in servers]


def _shown_names(session: SessionSettings) -> dict[str, list[str]]:
    named = {"hooks": session.hooks, "agents": session.agents, "commands": session.commands}
    return {key: [str(name) for name in value] for key, value in named.items() if value}


def _shown_tools(tools: ToolKeys) -> list[str]:
    denied = [f"not {word}" for word in tools.deny or ()]
    switches = [f"{name}: {getattr(tools, name)}" for name in tools.said if name in _SWITCHES]
    return [*(tools.allow or ()), *denied, *switches]


def _table_lines(file: Path) -> dict[str, list[int]]:
    """The line of each provider's table, and of each account's."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if head := _TABLES.match(line):
            found.setdefault(head[1], []).append(number)
    return found


def _shown_server(name: str, server: ServerKeys) -> str:
    if server.command is not None:
        return f"{name}: {server.command[0]}" + (" …" if server.command[1:] else "")
    return f"{name}: {urlsplit(server.url or '').netloc}"


def _say_what_is_wrong(error: ValidationError, lines: Mapping[str, Sequence[int]]) -> str:
    return "; ".join(
        f"{_place(tuple(fault_place(problem)), lines)}: {fault_words(problem)}"
        for problem in told_faults(error.errors())
    )


def _place(steps: tuple[int | str, ...], lines: Mapping[str, Sequence[int]]) -> str:
    name = ".".join(str(step) for step in steps)
    match steps:
        case (str(table), int(number), *_) if number < len(lines.get(table, ())):
            return f"{name} (in the table at line {lines[table][number]})"
        case _:
            return name
