"""What a session was given beside its model and folder, in words."""

from typing import Any, cast

from airboss.cli.client import Client, Json


def setup_facts(client: Client, session: str) -> list[tuple[str, str]]:
    """Each with its name; empty where nothing was said about it."""
    said = client.get(f"/api/v1/sessions/{session}/setup")
    setup, tools = cast("Json", said["setup"]), cast("Json", said["tools"])
    servers = [f"{name}/{tool}" for name, names in tools["servers"].items() for tool in names]
    names = [*tools["built_in"], *tools["ours"], *servers]
    return [
        ("Effort", setup["reasoning_effort"] or ""),
        ("System", _message(setup["system_message"])),
        ("AGENTS.md", "not read" if setup["instructions"] == "off" else ""),
        ("Tools", ", ".join(names) if setup["tools"]["lists"] or servers else ""),
        ("Also reads", ", ".join(setup["directories"])),
        ("Context", _context(setup["context"])),
    ]


def _message(message: dict[str, Any] | None) -> str:
    if message is None:
        return ""
    sections = [f"{name} {change['action']}" for name, change in message["sections"].items()]
    parts = [
        f"replaced by: {message['replace']}" if message["replace"] else "",
        f"sections: {', '.join(sections)}" if sections else "",
        f"appended: {message['append']}" if message["append"] else "",
    ]
    return "; ".join(part for part in parts if part)


def _context(context: dict[str, Any]) -> str:
    if context["infinite"] is False:
        return "not summarized ahead of time"
    shares = {"summarized at": context["compact_at"], "waits at": context["block_at"]}
    return ", ".join(f"{what} {share:.0%}" for what, share in shares.items() if share)
