"""What each setting means to whoever reads or changes it, and when a change takes effect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

# At once; for sessions that are opened or resumed from then on; with the next look at what is old;
# or when the server is started again.
Effect: TypeAlias = Literal["at_once", "new_sessions", "within_the_hour", "next_start"]
Kind: TypeAlias = Literal["text", "number", "switch", "choice", "list"]

_ADDRESS: Final = "It controls how this server is reached."
_ACCESS: Final = "It controls who has access."
_PROGRAM: Final = "It names a program that the server runs."
_NOTICES: Final = "It controls where notices are sent, with a secret stored elsewhere."
_FILES: Final = "It controls where conversations are written."
_WALLS: Final = "It controls what holds agents back."
_TABLE: Final = "It is a table of the file."
_TRACES: Final = "It controls where traces are sent, with a secret stored elsewhere."
_MACHINES: Final = "It controls how several machines work together."
_AT_START: Final = "It is read only when the server starts."


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
        "Maximum number of job agents running at the same time. Empty: 16, or as many as fit into "
        "memory. Lowering it does not stop agents that are already running.",
        *("number", "at_once"),
        option="--max-tasks",
    ),
    "max_sessions": SettingFacts(
        "Maximum number of open sessions. More are refused.", "number", "at_once"
    ),
    "max_runtimes": SettingFacts(
        "Maximum number of agent runtime processes. Each identity and account has its own.",
        "number",
    ),
    "permissions": SettingFacts(
        "What agents may do without approval.",
        "choice",
        option="--permissions",
        choices=("ask", "caged", "approve-all", "read-only", "deny-all"),
    ),
    "cage": SettingFacts(
        "Whether sessions may work in a cage (offer), all of them must (always), or none does "
        "(off).",
        "choice",
        fixed=_WALLS,
        option="--cage",
        choices=("offer", "always", "off"),
    ),
    "cage_narrow": SettingFacts(
        "Where no strong cage holds, a narrow one counts as a cage, too. It has no network.",
        "switch",
        fixed=_WALLS,
    ),
    "max_cages": SettingFacts(
        "Maximum number of cages at the same time. They do not count as runtimes.", "number"
    ),
    "cages": SettingFacts(
        "Profiles of cages, by name: their folders, hosts, variables and limits.",
        "list",
        fixed=_TABLE,
    ),
    "approval_seconds": SettingFacts(
        "How many seconds a chat session waits for a decision. Empty: no time limit.",
        *("number", "new_sessions"),
    ),
    "quiet_seconds": SettingFacts(
        "After this many seconds without activity, the server asks the runtime about the turn.",
        *("number", "new_sessions"),
    ),
    "mcp_wait_seconds": SettingFacts(
        "How many seconds the first request of a session waits for MCP servers that are starting.",
        *("number", "new_sessions"),
    ),
    "auto_switch": SettingFacts(
        "When a Copilot model is at its rate limit: ask a person whether the agent goes on with a "
        "model that Copilot chooses, always go on (yes), or let the turn fail (no).",
        *("choice", "new_sessions"),
        choices=("ask", "yes", "no"),
    ),
    "roots": SettingFacts(
        "The folders in which sessions may work. Empty: your home folder, the repository, and the "
        "folders next to it.",
        "list",
        option="--root",
    ),
    "keep_days": SettingFacts(
        "Delete sessions and runs this many days after they ended. Empty: never.",
        *("number", "within_the_hour"),
        deletes=True,
    ),
    "keep_megabytes": SettingFacts(
        "Delete the oldest finished sessions and runs while the database is larger. Empty: never.",
        *("number", "within_the_hour"),
        deletes=True,
    ),
    "keep_audit_days": SettingFacts(
        "Delete audit records that are older than this many days. Empty: never.",
        "number",
        fixed="The audit log cannot be changed by a request.",
    ),
    "max_block_characters": SettingFacts(
        "How many characters of a tool's output, a message or reasoning are kept: start and end.",
        *("number", "new_sessions"),
    ),
    "session.reasoning_effort": SettingFacts(
        "How long models think in sessions. Empty: as they do by themselves.",
        *("choice", "new_sessions"),
        choices=("low", "medium", "high", "xhigh", "max"),
    ),
    "session.system_message": SettingFacts(
        "What models are told before everything else. Only what is done with it is shown.",
        fixed=_TABLE,
    ),
    "session.instructions": SettingFacts(
        "Whether sessions read AGENTS.md and the like. Empty: they do.",
        *("choice", "new_sessions"),
        choices=("auto", "off"),
    ),
    "session.tools": SettingFacts(
        "Which tools agents have: what is allowed, and what is taken away again.",
        "list",
        fixed=_TABLE,
    ),
    "session.directories": SettingFacts(
        "Folders beside their own that sessions read without asking.", "list", fixed=_TABLE
    ),
    "session.context": SettingFacts(
        "When a long conversation is summarized.", "list", fixed=_TABLE
    ),
    "session.agents": SettingFacts(
        "Agents that the agents of every session may hand work to, by name.", "list", fixed=_TABLE
    ),
    "session.agent": SettingFacts(
        "The name of the agent that every session is. Empty: the runtime's own.", fixed=_TABLE
    ),
    "session.skills": SettingFacts(
        "Folders with skills, each as NAME/SKILL.md, that every session has.", "list", fixed=_TABLE
    ),
    "session.account": SettingFacts(
        "The account of Copilot that every session uses. Empty: the accounts in their order.",
        fixed=_TABLE,
    ),
    "session.identity": SettingFacts(
        "The identity whose home every session's runtime has. Empty: default.", fixed=_TABLE
    ),
    "session.cage": SettingFacts(
        "The cage that every session works in: a profile, and what is otherwise than in it.",
        "list",
        fixed=_TABLE,
    ),
    "session.mcp_servers": SettingFacts(
        "MCP servers whose tools every session has. Of each only the program or the host is shown.",
        "list",
        fixed=_TABLE,
    ),
    "session.variables": SettingFacts(
        "Environment variables that entries and requests may give to MCP servers.",
        "list",
        fixed="Their values leave this server.",
    ),
    "session.commands": SettingFacts(
        "Prompts with a name, which people send with /NAME in every session.",
        *("list",),
        fixed=_TABLE,
    ),
    "session.hooks": SettingFacts(
        "Programs that are asked at moments of every session's life, by the name of the hook.",
        *("list",),
        fixed=_TABLE,
    ),
    "extensions.enabled": SettingFacts(
        "Run extensions that somebody has trusted.", "switch", "new_sessions"
    ),
    "extensions.agents": SettingFacts(
        "Agents in chats have tools to write extensions and to reload them.",
        *("switch", "new_sessions"),
    ),
    "extensions.in_tasks": SettingFacts(
        "Agents of tasks have these tools, too. Extensions run in tasks in any case.",
        *("switch", "new_sessions"),
    ),
    "extensions.required": SettingFacts(
        "Extensions that must run: while one of them does not, every tool is refused.",
        "list",
        fixed=_WALLS,
    ),
    "extensions.on_host": SettingFacts(
        "Extensions of the user that run outside the cage of a caged session.",
        "list",
        fixed=_WALLS,
    ),
    "extensions.hook_seconds": SettingFacts(
        "How long a hook of an extension may take. Before a tool, a late one counts as a no.",
        *("number", "new_sessions"),
    ),
    "extensions.most": SettingFacts(
        "Maximum number of extensions that run at the same time, in all sessions together.",
        *("number", "new_sessions"),
    ),
    "max_body_bytes": SettingFacts("Maximum size of a request, in bytes.", "number"),
    "loop_detection.enabled": _loops("Stop an agent that repeats itself.", "switch"),
    "loop_detection.history": _loops("How many tool calls of a turn are compared."),
    "loop_detection.warning": _loops("Warn the agent after this many identical calls."),
    "loop_detection.critical": _loops("Refuse the next call after this many identical calls."),
    "loop_detection.breaker": _loops("End the turn after this many identical calls."),
    "loop_detection.unknown_tool": _loops("End the turn after this many calls of a missing tool."),
    "loop_detection.blocks": _loops("End the turn after this many refused calls."),
    "loop_detection.after_compaction": _loops(
        "End the turn after this many identical calls following a summary of the conversation."
    ),
    "loop_detection.detectors.repeat": _loops("Detect identical calls.", "switch"),
    "loop_detection.detectors.poll": _loops("Detect calls that poll without an end.", "switch"),
    "loop_detection.detectors.ping_pong": _loops("Detect two calls that alternate.", "switch"),
    "loop_detection.detectors.errors": _loops(
        "Detect calls that keep failing in the same way.", "switch"
    ),
    "port": SettingFacts(
        "The port of this server. 0 picks a free one.",
        "number",
        fixed=_ADDRESS,
        option="--port",
    ),
    "host": SettingFacts("The address to listen on.", fixed=_ADDRESS, option="--host"),
    "hosts": SettingFacts(
        "Other host names of this server, such as that of a proxy.",
        "list",
        fixed=_ACCESS,
        option="--allow-host",
    ),
    "tls_certificate": SettingFacts(
        "The TLS certificate file.", fixed=_ADDRESS, option="--tls-certificate"
    ),
    "tls_key": SettingFacts(
        "The private key file of the TLS certificate.", fixed=_ADDRESS, option="--tls-key"
    ),
    "trusted_proxy": SettingFacts(
        "A reverse proxy in front of the server handles TLS.",
        "switch",
        fixed=_ACCESS,
        option="--trusted-proxy",
    ),
    "no_token": SettingFacts(
        "Let anyone on this machine use the server without a token.",
        "switch",
        fixed=_ACCESS,
        option="--no-token",
    ),
    "data": SettingFacts(
        "The folder in which the server stores everything.",
        fixed="These changes are stored in it.",
        option="--data",
    ),
    "entry": SettingFacts(
        "The file with tasks and jobs. Empty: the project's own, or the built-in one.",
        fixed=_AT_START,
        option="--entry",
    ),
    "rehearsal": SettingFacts(
        "A script for the rehearsal model.", fixed=_AT_START, option="--rehearsal"
    ),
    "providers": SettingFacts(
        "Your own model services, by name.",
        "list",
        fixed="Each is a table with the name of the variable that has its key.",
    ),
    "accounts": SettingFacts(
        "Accounts of Copilot, by name, in the order in which sessions use them.",
        "list",
        fixed="Each is a table that says where its token comes from.",
    ),
    "copilot_cli": SettingFacts(
        "The agent runtime, if it is not in a usual place.",
        fixed=_PROGRAM,
        option="--copilot-cli",
    ),
    "runtime_url": SettingFacts(
        "An agent runtime that somebody else started on this machine, as HOST:PORT. Its token "
        "comes from AIRBOSS_RUNTIME_TOKEN. Empty: the server starts its own.",
        fixed="It controls which program runs the agents.",
    ),
    "shared_runtime": SettingFacts(
        "Other programs of this user may join sessions. They bring tools and hooks of their own, "
        "and may decide requests for permission.",
        "switch",
        fixed=_ACCESS,
    ),
    "notify_command": SettingFacts(
        "Command to run when something is waiting for a person. Only its first word is shown.",
        "list",
        fixed=_PROGRAM,
        option="--notify-command",
    ),
    "webhook_url": SettingFacts(
        "URL to notify when something is waiting for a person. Only the host is shown.",
        fixed=_NOTICES,
        option="--webhook",
    ),
    "transcripts": SettingFacts(
        "Folder for transcripts: the conversation of each session, as SESSION.jsonl.",
        fixed=_FILES,
    ),
    "webhook_secret_file": SettingFacts(
        "The file with the secret that signs webhooks.", fixed=_NOTICES
    ),
    "webhook_private": SettingFacts(
        "Allow webhooks to private addresses.", "switch", fixed=_NOTICES
    ),
    "database": SettingFacts(
        "The PostgreSQL that several machines share, or AIRBOSS_DATABASE. Empty: a file in the "
        "data folder. Its address is not shown.",
        fixed=_MACHINES,
        option="--database",
    ),
    "name": SettingFacts(
        "What this server is called among several machines. Empty: the name of its host.",
        fixed=_MACHINES,
    ),
    "shared_roots": SettingFacts(
        "Folders that are the same on several machines. Runs in them go on elsewhere when this "
        "machine is lost.",
        "list",
        fixed=_MACHINES,
        option="--shared-root",
    ),
    "labels": SettingFacts(
        "What this machine has, such as gpu: runs that want a label go where it is.",
        "list",
        fixed=_MACHINES,
        option="--label",
    ),
    "drain_seconds": SettingFacts(
        "Told to stop, this server lets its tasks end for this many seconds.",
        "number",
        fixed=_MACHINES,
    ),
    "work": SettingFacts(
        "Work on runs and chats. Off: this server accepts and shows them, other machines work.",
        "switch",
        fixed=_MACHINES,
        option="--no-work",
    ),
    "lease_seconds": SettingFacts(
        "A machine that is not heard of for this many seconds is lost, and its runs go on "
        "elsewhere. Use more than twice the time that your database's failover takes.",
        "number",
        fixed=_MACHINES,
    ),
    "telemetry.endpoint": SettingFacts(
        "The OpenTelemetry collector that gets traces. Empty: none are sent. Only the host is "
        "shown.",
        fixed=_TRACES,
    ),
    "telemetry.protocol": SettingFacts(
        "The form of traces.",
        "choice",
        fixed=_TRACES,
        choices=("http/protobuf", "http/json"),
    ),
    "telemetry.headers_variable": SettingFacts(
        "The variable with the headers that the collector wants.", fixed=_TRACES
    ),
    "telemetry.private": SettingFacts(
        "Allow a collector at a private address, and without https.", "switch", fixed=_TRACES
    ),
    "telemetry.content": SettingFacts(
        "Send prompts, answers, arguments, outputs and paths in traces, too.",
        "switch",
        fixed=_TRACES,
    ),
    "test": SettingFacts("Run in test mode.", "switch", fixed=_AT_START, option="--test"),
    "test_folder": SettingFacts(
        "The folder with the entries of the test mode.", fixed=_AT_START, option="--test-folder"
    ),
}
