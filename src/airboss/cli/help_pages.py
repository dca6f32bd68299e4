"""What `--help` shows beside options: commands by what one wants to do, an example for each."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from typer.core import TyperGroup

# The same as on the page docs/command-line.md.
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "The server": (
        *("serve", "setup", "doctor", "status", "stop", "settings", "models", "provider"),
        *("accounts", "account", "cage", "worker", "workers", "lost", "drain"),
        "database",
    ),
    "Sessions": (
        *("chat", "sessions", "watch", "ask", "compact", "fork"),
        *("switch", "mcp", "queue", "export"),
    ),
    "Jobs and runs": (
        *("run", "rehearse", "runs", "show", "retry", "again", "report", "compare"),
        *("rename", "tag", "move", "delete"),
    ),
    "The inbox": ("inbox", "approve", "deny", "answer", "decline", "rules"),
    "Tasks and entries": ("init", "entry", "check", "chart", "tasks", "task", "trust"),
    "Extensions": ("extensions", "extension"),
    "Access": ("link", "token", "secret", "audit"),
}

# Of each command what people mostly want; the page in docs has more.
EXAMPLES: Final[Mapping[str, str]] = {
    "init": "airboss init",
    "setup": "airboss setup",
    "serve": "airboss serve --port 9000 --root ~/work",
    "link": "airboss link",
    "worker": "airboss worker --database postgresql://airboss@db/airboss --shared-root /srv/work",
    "workers": "airboss workers",
    "move": "airboss move 7h2k --to build-2",
    "drain": "airboss drain build-2",
    "lost": "airboss lost wrk_…",
    "database": "airboss database check",
    "database check": "airboss database check --database postgresql://airboss@db/airboss",
    "database migrate": "airboss database migrate --dry-run",
    "database import": "airboss database import --data ~/.local/share/airboss",
    "status": "airboss status --json",
    "doctor": "airboss doctor",
    "stop": "airboss stop 7h2k    # a run, by the end of its id",
    "run": 'airboss run ask --input "Where is the log kept?"',
    "rehearse": "airboss rehearse fix-tests",
    "runs": "airboss runs --state failed --limit 5",
    "watch": "airboss watch 7h2k",
    "show": "airboss show 7h2k",
    "report": "airboss report 7h2k",
    "compare": "airboss compare 7h2k 9x4m",
    "retry": "airboss retry 7h2k",
    "again": "airboss again 7h2k --detach",
    "rename": 'airboss rename 7h2k "Before the upgrade"',
    "tag": "airboss tag 7h2k release nightly",
    "export": "airboss export 7h2k --format markdown -o run.md",
    "delete": "airboss delete 7h2k",
    "inbox": "airboss inbox --watch",
    "approve": "airboss approve 7h2k --always",
    "deny": "airboss deny 7h2k use the test database instead",
    "answer": 'airboss answer 7h2k "Keep the old name."',
    "decline": "airboss decline 7h2k",
    "chat": 'airboss chat "What does this repository do?"',
    "sessions": "airboss sessions --state idle",
    "switch": "airboss switch 7h2k --model gpt-5.2",
    "fork": "airboss fork 7h2k --before pro_…",
    "compact": 'airboss compact 7h2k --instructions "Keep the names of the files"',
    "mcp": "airboss mcp 7h2k",
    "ask": 'airboss ask 7h2k "Which file was that?"',
    "queue": "airboss queue 7h2k --clear",
    "models": "airboss models",
    "accounts": "airboss accounts",
    "check": "airboss check airboss.yaml",
    "chart": "airboss chart fix-tests --format mermaid",
    "entry": "airboss entry",
    "tasks": "airboss tasks --json",
    "trust": "airboss trust airboss.py",
    "extensions": "airboss extensions",
    "extension": "airboss extension new my-tools",
    "extension new": "airboss extension new my-tools",
    "extension show": "airboss extension show my-tools",
    "extension reload": "airboss extension reload 7h2k",
    "extension enable": "airboss extension enable my-tools",
    "extension disable": "airboss extension disable my-tools",
    "extension check": "airboss extension check .github/extensions/my-tools",
    "extension test": "airboss extension test .github/extensions/my-tools",
    "audit": "airboss audit --follow",
    "task run": 'airboss task run ask --input "Where is the log kept?"',
    "task list": "airboss task list --state failed",
    "task show": "airboss task show 7h2k",
    "task stop": "airboss task stop 7h2k",
    "task retry": "airboss task retry 7h2k",
    "rules": "airboss rules",
    "rules add": 'airboss rules add allow --command "npm test*" --folder ~/work/shop',
    "rules remove": "airboss rules remove 7h2k",
    "cage": "airboss cage",
    "cage try": "airboss cage try --profile default -- npm test",
    "settings": "airboss settings",
    "settings set": "airboss settings set max_tasks 4",
    "settings reset": "airboss settings reset max_tasks",
    "token add": "airboss token add ci --role operate --until 90d",
    "token change": "airboss token change ci --role view",
    "token list": "airboss token list",
    "token remove": "airboss token remove ci",
    "token signins": "airboss token signins",
    "token signout": "airboss token signout --all",
    "account add": "airboss account add work",
    "account remove": "airboss account remove work",
    "account": "airboss account add work",
    "provider add": "airboss provider add lab --url https://llm.example.com/v1 --model qwen3",
    "provider list": "airboss provider list",
    "provider test": "airboss provider test lab",
    "provider remove": "airboss provider remove lab",
    "provider": "airboss provider add lab --url https://llm.example.com/v1 --model qwen3",
    "secret set": "airboss secret set lab-key",
    "secret list": "airboss secret list",
    "secret remove": "airboss secret remove lab-key",
    "secret": "airboss secret set lab-key",
    "task": 'airboss task run ask --input "Where is the log kept?"',
    "token": "airboss token add ci --role operate --until 90d",
}


class HelpedGroup(TyperGroup):
    """Commands under headings where there are some, each with its example."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        example = EXAMPLES.get(" ".join((*_path(ctx), cmd_name)))
        if command is not None and example:
            # \b: as it is, not filled up to the width.
            command.epilog = f"\b\nExample:\n  {example}"
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        if ctx.parent is not None:
            super().format_commands(ctx, formatter)
            return
        width = formatter.width - 6 - max(map(len, self.commands))
        for title, names in SECTIONS.items():
            found = {name: self.get_command(ctx, name) for name in names}
            rows = [(name, one.get_short_help_str(width)) for name, one in found.items() if one]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _path(ctx: Any) -> Iterator[str]:
    """The commands that lead here, without the program's own name."""
    if ctx.parent is not None:
        yield from _path(ctx.parent)
        yield str(ctx.info_name)
