"""What each setting means to whoever reads or changes it, and when a change takes effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

# At once; for sessions that are opened or resumed from then on; with the next look at what is old;
# or when the server is started again.
Effect: TypeAlias = Literal["at_once", "new_sessions", "within_the_hour", "next_start"]
Kind: TypeAlias = Literal["text", "number", "switch", "choice", "list"]

_ADDRESS: Final = "It decides how this server is reached."
_ACCESS: Final = "It decides who gets in."
_PROGRAM: Final = "It names a program that is run."
_NOTICES: Final = "It decides where notices are sent, with a secret that lies elsewhere."
_AT_START: Final = "A server that cannot use it does not start."


@dataclass(frozen=True)
class SettingFacts:
    """`fixed` is why it is not changed while a server runs; empty where it may be."""

    meaning: str
    kind: Kind = "text"
    effect: Effect = "next_start"
    fixed: str = ""
    option: str | None = None
    choices: tuple[str, ...] = ()
    # A change of it can delete what nobody brings back.
    deletes: bool = False


def _loops(meaning: str, kind: Kind = "number") -> SettingFacts:
    return SettingFacts(meaning, kind, "new_sessions")


SETTING_FACTS: Final[Mapping[str, SettingFacts]] = {
    "max_tasks": SettingFacts(
        "How many agents of jobs and tasks work at once. Empty: 16, or as many as fit into memory. "
        "Those at work go on where it becomes less.",
        *("number", "at_once"),
        option="--max-tasks",
    ),
    "max_sessions": SettingFacts(
        "How many sessions may be open. One more is refused.", "number", "at_once"
    ),
    "permissions": SettingFacts(
        "What agents may do without being asked.",
        "choice",
        option="--permissions",
        choices=("ask", "approve-all", "read-only", "deny-all"),
    ),
    "approval_seconds": SettingFacts(
        "How many seconds a chat session waits for a decision. Empty: as long as it takes.",
        *("number", "new_sessions"),
    ),
    "quiet_seconds": SettingFacts(
        "After so many seconds without a sign of life the runtime is asked how the turn is.",
        *("number", "new_sessions"),
    ),
    "roots": SettingFacts(
        "The folders below which sessions may work. Empty: your home folder, the repository, and "
        "the folders beside it.",
        "list",
        option="--root",
    ),
    "keep_days": SettingFacts(
        "What ended before so many days is deleted. Empty: nothing is.",
        *("number", "within_the_hour"),
        deletes=True,
    ),
    "keep_megabytes": SettingFacts(
        "While the database holds more than this, what ended first is deleted. Empty: nothing is.",
        *("number", "within_the_hour"),
        deletes=True,
    ),
    "keep_audit_days": SettingFacts(
        "What the audit says of the time before so many days is deleted. Empty: nothing is.",
        "number",
        fixed="No request changes what the audit keeps.",
    ),
    "max_block_characters": SettingFacts(
        "How much is kept of a tool's output, a message or reasoning: its beginning and its end.",
        *("number", "new_sessions"),
    ),
    "max_body_bytes": SettingFacts("The largest request that is taken, in bytes.", "number"),
    "loop_detection.enabled": _loops("Whether an agent that repeats itself is stopped.", "switch"),
    "loop_detection.history": _loops("How many calls of an agent are remembered in a turn."),
    "loop_detection.warning": _loops("After so many equal calls the agent is warned."),
    "loop_detection.critical": _loops("After so many equal calls the next one is refused."),
    "loop_detection.breaker": _loops("After so many equal calls the turn ends."),
    "loop_detection.unknown_tool": _loops("After so many calls of a missing tool the turn ends."),
    "loop_detection.blocks": _loops("After so many refused calls the turn ends."),
    "loop_detection.after_compaction": _loops(
        "After so many equal calls behind a summary of the conversation the turn ends."
    ),
    "loop_detection.detectors.repeat": _loops("Whether equal calls are looked for.", "switch"),
    "loop_detection.detectors.poll": _loops(
        "Whether calls that wait for something without an end are looked for.", "switch"
    ),
    "loop_detection.detectors.ping_pong": _loops(
        "Whether two calls that take turns are looked for.", "switch"
    ),
    "loop_detection.detectors.errors": _loops(
        "Whether calls that fail in the same way are looked for.", "switch"
    ),
    "port": SettingFacts(
        "The port of this server. 0 takes any that is free.",
        "number",
        fixed=_ADDRESS,
        option="--port",
    ),
    "host": SettingFacts("The address that is listened on.", fixed=_ADDRESS, option="--host"),
    "hosts": SettingFacts(
        "Other names that browsers may call this server by, such as a proxy's.",
        "list",
        fixed=_ACCESS,
        option="--allow-host",
    ),
    "tls_certificate": SettingFacts(
        "The file with the certificate for https.", fixed=_ADDRESS, option="--tls-certificate"
    ),
    "tls_key": SettingFacts("The file with its key.", fixed=_ADDRESS, option="--tls-key"),
    "trusted_proxy": SettingFacts(
        "Whether a proxy stands in front that ends https.",
        "switch",
        fixed=_ACCESS,
        option="--trusted-proxy",
    ),
    "no_token": SettingFacts(
        "Whether everybody on this machine is let in.",
        "switch",
        fixed=_ACCESS,
        option="--no-token",
    ),
    "data": SettingFacts(
        "The folder with everything that this server keeps.",
        fixed="These changes lie in it.",
        option="--data",
    ),
    "entry": SettingFacts(
        "The file with tasks and jobs. Empty: the project's own, else the built-in one.",
        fixed=_AT_START,
        option="--entry",
    ),
    "rehearsal": SettingFacts(
        "A script for the rehearsal model.", fixed=_AT_START, option="--rehearsal"
    ),
    "providers": SettingFacts(
        "Services of your own that offer models, by name.",
        "list",
        fixed="Each is a table of its own, with the name of the variable that holds its key.",
    ),
    "copilot_cli": SettingFacts(
        "The agent runtime, where it is not in one of the usual places.",
        fixed=_PROGRAM,
        option="--copilot-cli",
    ),
    "notify_command": SettingFacts(
        "What is run when something waits for a person. Its words but the first are not shown.",
        "list",
        fixed=_PROGRAM,
        option="--notify-command",
    ),
    "webhook_url": SettingFacts(
        "Where it is posted to when something waits for a person. Only the host is shown.",
        fixed=_NOTICES,
        option="--webhook",
    ),
    "webhook_secret_file": SettingFacts(
        "The file with the secret that posts are signed with.", fixed=_NOTICES
    ),
    "webhook_private": SettingFacts(
        "Whether posts may go to addresses inside this network.", "switch", fixed=_NOTICES
    ),
    "test": SettingFacts(
        "Whether this is the portal's test mode.", "switch", fixed=_AT_START, option="--test"
    ),
    "test_folder": SettingFacts(
        "Where the test mode finds its entries.", fixed=_AT_START, option="--test-folder"
    ),
}
