"""Small words to build an entry in Python, so that people can compute their jobs."""

from airboss.entry.document import (
    Agent,
    Alt,
    Command,
    FailureAction,
    Hook,
    Loop,
    Model,
    NamedModel,
    Par,
    Ref,
    Seq,
    Server,
    SystemMessage,
    Tools,
    Work,
)
from airboss.entry.works import flat
from airboss.session_keys import Effort


def ref(task: str, *, category: str | None = None, model: str | None = None) -> Ref:
    """Run a task; where given, on another model: by its category, or by its id."""
    if category is None and model is None:
        return Ref(task_id=task)
    return Ref(task_id=task, model_override=Model(category=category, id=model))


def seq(*works: Work) -> Seq:
    """One after the other."""
    return Seq(works=flat(Seq, works))


def par(*works: Work) -> Par:
    """All at the same time."""
    return Par(works=flat(Par, works))


def loop(
    body: Work,
    *,
    before: tuple[bool, Work] | None = None,
    after: tuple[bool, Work] | None = None,
) -> Loop:
    """Run the body if `before` comes out as said; again while `after` comes out as said."""
    return Loop(pre_condition=before, body=body, post_condition=after)


def alt(condition: Work, *, true: Work | None = None, false: Work | None = None) -> Alt:
    """One work or the other, by the outcome of the condition."""
    return Alt(condition=condition, true_work=true, false_work=false)


def retry(times: int, *additional_prompt: str) -> FailureAction:
    """A task's `failure_action`: so many more rounds, with these lines added where given."""
    return FailureAction(retry_times=times, additional_prompt=additional_prompt or None)


def thinking(model: str, effort: Effort) -> NamedModel:
    """One of the entry's `models`, which thinks that long wherever it is used by its name."""
    return NamedModel(id=model, reasoning_effort=effort)


def told(*lines: str) -> SystemMessage:
    """A `system_message`: these lines behind the usual text."""
    return SystemMessage(append=lines)


def agent(
    description: str,
    *prompt: str,
    model: str | None = None,
    tools: tuple[str, ...] | None = None,
    skills: tuple[str, ...] | None = None,
    servers: tuple[str, ...] | None = None,
) -> Agent:
    """One of the `agents` of an entry or a task. `model` is one of the entry's `models`."""
    return Agent(
        description=description,
        prompt=prompt,
        model=None if model is None else Model(category=model),
        tools=tools,
        skills=skills,
        mcp_servers=servers,
    )


def server(
    *command: str,
    url: str | None = None,
    env: dict[str, str] | None = None,
    tools: tuple[str, ...] | None = None,
) -> Server:
    """One of the `mcp_servers` of an entry or a task: a program, or an address. With neither, it
    names a server that the settings describe."""
    return Server(command=command or None, url=url, env=env, tools=tools)


def command(description: str, *prompt: str) -> Command:
    """One of the `commands` of an entry or a task: these lines, sent by its name."""
    return Command(description=description, prompt=prompt)


def hook(
    *command: str,
    python: str | None = None,
    tool: str | None = None,
    seconds: float | None = None,
    sub_agents: bool | None = None,
) -> Hook:
    """One of the `hooks` of an entry or a task: a command, or `python` as FILE.py:FUNCTION."""
    return Hook(
        command=command or None, python=python, tool=tool, seconds=seconds, sub_agents=sub_agents
    )


def only(*tools: str, deny: tuple[str, ...] | None = None) -> Tools:
    """The `tools` of an entry or a task: these, and none that is denied."""
    return Tools(allow=tools, deny=deny)
