"""What a session was given beside its model and folder, in words."""

from typing import Any, cast

from airboss.cli.client import Client, Json


def setup_facts(client: Client, session: str, account: str | None = None) -> list[tuple[str, str]]:
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
        ("Is", setup["agent"] or ""),
        ("Agents", "; ".join(_agent(name, agent) for name, agent in setup["agents"].items())),
        ("Skills", ", ".join(setup["skills"])),
        ("Hooks", "; ".join(_hook(hook) for hook in setup.get("hooks", ()))),
        ("Account", account or setup["account"] or ""),
        ("Identity", setup["identity"] if setup["identity"] != "default" else ""),
        ("Bound to", _binding(cast("Json", said["binding"]))),
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


def _binding(binding: Json) -> str:
    """Only where it is worth a line: it was started over, or would be."""
    number, fits = binding["number"], binding["fits"]
    said = [
        f"runtime session {number}, {binding['runtime']}" if number > 1 else "",
        "not what it was: a resume starts over" if fits is False else "",
    ]
    return "; ".join(part for part in said if part)


def _agent(name: str, agent: dict[str, Any]) -> str:
    facts = [agent["model"] or "", agent["reasoning_effort"] or "", ", ".join(agent["tools"] or ())]
    told = "; ".join(fact for fact in facts if fact)
    return f"{name} ({told})" if told else name


def _hook(hook: dict[str, Any]) -> str:
    program = hook["python"] or " ".join(hook["command"])
    about = f" for {hook['tool']}" if hook["tool"] else ""
    return f"{hook['hook']}{about}: {program} ({hook['seconds']:g} s)"


def _context(context: dict[str, Any]) -> str:
    if context["infinite"] is False:
        return "not summarized ahead of time"
    shares = {"summarized at": context["compact_at"], "waits at": context["block_at"]}
    return ", ".join(f"{what} {share:.0%}" for what, share in shares.items() if share)
