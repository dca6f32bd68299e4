"""What each field of an entry means, for editors that complete it and show it under the pointer."""

from collections.abc import Mapping
from typing import Final

_LIMIT: Final = "When this is reached, a person is asked before the work goes on."

# Of an entry, and over it of each of its tasks.
_SESSION: Final = {
    "reasoningEffort": "How long the model thinks: `low`, `medium`, `high`, `xhigh` or `max`. The "
    "model must offer it.",
    "systemMessage": "What the model is told before everything else. `replace`, and sections that "
    "are replaced or removed, count only after somebody trusts this file.",
    "instructions": "`off`: AGENTS.md and the like are not read. Default: `auto`.",
    "tools": "Which tools agents and their sub-agents have. More than the server's settings allow "
    "counts only after somebody trusts this file.",
    "directories": "Folders beside the working directory that are read without asking, below the "
    "server's roots. Relative ones begin at the working directory. It counts only after somebody "
    "trusts this file.",
    "context": "When a long conversation is summarized, so that it still fits.",
    "agents": "Agents by name. The session's own agent may hand work to them, and `agent` names "
    "the one that a session is. Those of a task are added to those of the entry.",
    "commands": "Prompts by name, which people send with `/NAME` in a conversation. What they type "
    "behind the name is added. Chats offer those of the entry that is in use.",
    "agent": "The name of the agent that the session is. If that agent has a `model`, the session "
    "runs on it.",
    "skills": "Folders with skills, each as NAME/SKILL.md. Relative ones begin at the folder of "
    "this file. It counts only after somebody trusts this file; that covers the skills too.",
    "hooks": "Programs that are asked at moments of a session's life, by the name of the hook. "
    "They are added to those of the settings. They count only after somebody trusts this file; "
    "that covers the scripts below its folder too.",
    "account": "Whose Copilot the session uses: the name of an account of the server's settings, "
    "or `cli` for whoever the Copilot CLI is signed in as. It counts only after somebody trusts "
    "this file.",
    "identity": "Whose home the session's runtime has. Sessions with another identity run in a "
    "process of their own. It counts only after somebody trusts this file. Default: `default`.",
    "cage": "The cage that sessions work in: the name of a profile of the server's settings, or an "
    "object with what is to be otherwise than in a profile. More than the server's own profile has "
    "counts only after somebody trusts this file.",
    "mcpServers": "All MCP servers that sessions have, by name. `{}` names a server that the "
    "settings describe. Others count only after somebody trusts this file; that covers the "
    "programs below the folder of this file that they run.",
}

# By the part, and by the field as files have it.
DESCRIPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Entry": {
        "models": "Names that you choose, each with the id of a model, or with `id` and "
        "`reasoningEffort`. `driving` is required.",
        "promptVariables": "Texts that several prompts share. A prompt uses one as `$name`.",
        "tasks": "The tasks by name: prompts with conditions, criteria and retries.",
        "jobs": "The jobs by name: trees of tasks that run in order, at once or in loops.",
        "grid": "The rows of buttons on the Jobs page.",
        "drivingSessionRetries": "The models on which a condition with its own session is tried, "
        "and how often on each. Default: five times on the driving model.",
        "permissions": "What agents may do without asking: `deny-all`, `read-only`, `ask`, "
        "`caged` or `approve-all`. `caged` allows everything inside a cage. More than the server "
        "allows counts only after somebody trusts this file.",
        "limits": "What each run may use before a person is asked.",
        **_SESSION,
    },
    "Limits": {
        "turns": f"Turns of agents. {_LIMIT}",
        "tokens": f"Tokens, input and output together, with those of sub-agents. {_LIMIT}",
        "cost": f"Cost of model calls, as Copilot's multipliers count it. {_LIMIT}",
        "idleMinutes": f"Minutes in which an agent gives no sign of life. {_LIMIT}",
        "minutes": f"Minutes of work; waiting for a person does not count. {_LIMIT}",
    },
    "Model": {
        "category": "A name from `models`, such as `driving`.",
        "id": "The id of a model. `airboss models` lists them.",
    },
    "NamedModel": {
        "id": "The id of a model. `airboss models` lists them.",
        "reasoningEffort": "How long this model thinks wherever it is used by this name.",
    },
    "SystemMessage": {
        "append": "Lines behind the usual text. What the settings, the entry and the task append "
        "adds up.",
        "replace": "Lines instead of the usual text.",
        "sections": "Changes to parts of the usual text, by the name of the section.",
    },
    "Section": {
        "replace": "Lines instead of the section.",
        "append": "Lines behind the section.",
        "prepend": "Lines before the section.",
    },
    "Tools": {
        "allow": "All that there are beside the job tools and `ask_user`: names, globs, groups "
        "(`@read`, `@write`, `@run`, `@fetch`, `@delegate`, `@mcp`, `@ours`) and `SERVER/TOOL`.",
        "deny": "What is taken away, written in the same way.",
        "search": "Whether the model looks for tools of servers when it needs them: `auto`, where "
        "there are many, `on` or `off`.",
        "github": "Whether models of Copilot have GitHub's own MCP server. Default: `false`.",
    },
    "Context": {
        "infinite": "`false`: a conversation is not summarized ahead of time. Default: `true`.",
        "compactAt": "The share of the model's context from which on it is summarized beside the "
        "work. Default: 0.8.",
        "blockAt": "The share from which on the work waits for the summary. Default: 0.95.",
    },
    "Agent": {
        "description": "What the agent is for. Other agents choose by it.",
        "prompt": "What the agent is told about its work, as a list of lines.",
        "tools": "The tools that it has, of those of the session: names, globs, groups and "
        "`SERVER/TOOL`. Default: all of them.",
        "model": "The model that it runs on. Default: that of the session.",
        "reasoningEffort": "How long its model thinks. The model must offer it.",
        "mcpServers": "The MCP servers that it has, of those of the session, by name. Default: all "
        "of them.",
        "skills": "The skills that it has read when it begins, by name.",
    },
    "Server": {
        "command": "A program and its arguments. Paths of files begin at the folder of this file; "
        "the program works in the folder of the session.",
        "env": "Variables that the program has beside the environment of agents. A value may name "
        "a variable of the server as `$NAME`, if the settings list it.",
        "url": "The address of a server over HTTP, such as https://wiki.example.com/mcp.",
        "tools": "The tools of it that there are, by name or glob. Default: all of them.",
        "seconds": "How long a call of a tool may take.",
    },
    "Command": {
        "description": "What the command is for. The menu behind `/` shows it.",
        "prompt": "What is sent to the agent, as a list of lines.",
    },
    "Cage": {
        "profile": "A profile of the server's settings (`[cages.NAME]`). Default: `default`.",
        "read": "All folders that may be read beside the system and known toolchains.",
        "write": "All folders that may be written beside the working directory.",
        "hosts": "All hosts that may be reached: `example.org`, `*.example.org`, "
        "`example.org:8443`, and the sets `@python` and `@node`.",
        "unknownHosts": "What happens with other hosts: `refuse`, or `ask` a person.",
        "variables": "All environment variables of the server that are handed in, by name.",
        "memoryMb": "Megabytes of memory that all processes together may use.",
        "processes": "How many processes there may be.",
        "fileMb": "Megabytes that one file may have.",
        "debuggers": "`true`: debuggers work inside.",
    },
    "Hook": {
        "command": "The program and its arguments. It gets JSON and may answer with JSON; exit "
        "code 2 is a no. Files with a relative path begin at the folder of this file.",
        "python": "A function in a Python file, as FILE.py:FUNCTION. It gets a dict and may return "
        "one.",
        "tool": "Only for calls of these tools: a name, a glob, a group or `SERVER/TOOL`.",
        "seconds": "How long it may take. Default: 15.",
        "subAgents": "Whether it is asked for sub-agents too. Default: hooks about tools are, "
        "others are not.",
    },
    "Availability": {
        "previousTasks": "The task that ended last in this job must be one of these.",
        "condition": "A question that the agent answers before the task starts. It has to mention "
        "`job_boolean_true` or `job_boolean_false`.",
    },
    "FailureAction": {
        "retryTimes": "How often the prompt is sent again: 0 or more.",
        "additionalPrompt": "Lines that each retry adds to the prompt, such as "
        "`$reported-false-reason`.",
    },
    "Criteria": {
        "toolExecuted": "Each of these job tools must have been called.",
        "condition": "A question that the agent answers after the prompt. It has to mention "
        "`job_boolean_true` or `job_boolean_false`.",
        "runConditionInSameSession": "`false`: conditions are asked in sessions of their own, on "
        "the driving model. Default: `true`.",
        "failureAction": "What happens if the criteria are not met.",
    },
    "Task": {
        "description": "What the task is for, in your words. No agent reads it.",
        "model": "The model that runs the task. Without it, each job names one as `modelOverride`.",
        "prompt": "What the agent is asked to do, as a list of lines. `$user-input` is what the "
        "person typed.",
        "requireUserInput": "`true` if and only if the prompt uses `$user-input`.",
        "permissions": "What this task may do without asking: `deny-all`, `read-only`, "
        "`ask`, `caged` or `approve-all`. The narrowest of server, entry and task applies.",
        "limits": "What each run of this task may use before a person is asked.",
        "availability": "What must be true before the task starts.",
        "criteria": "What must be true after the prompt was worked on. Without it, the task "
        "succeeds when the agent is done.",
        "plan": "`true`: the agent only reads and makes a plan first. A person approves it in the "
        "inbox before anything is changed. Default: `false`.",
        "onUnsafeRetry": "What happens if an agent crashed after it may have changed something, so "
        "that another attempt could do it twice: `retry` (the default), `ask` a person in the "
        "inbox, or `fail` the task.",
        **_SESSION,
    },
    "Ref": {
        "kind": "Runs one task.",
        "workIdInJob": "A number that Airboss gives to each task of a job. Leave it out.",
        "taskId": "The name of the task.",
        "modelOverride": "Another model for the task, here only.",
    },
    "Seq": {
        "kind": "Runs its works in order until one fails.",
        "works": "The works, in order. At least one.",
    },
    "Par": {
        "kind": "Runs its works at the same time and waits for all of them.",
        "works": "The works. At least one.",
    },
    "Loop": {
        "kind": "Repeats `body` for as long as its conditions match.",
        "preCondition": "A pair: the expected outcome, and the work that gives the outcome. "
        "`body` runs if they match.",
        "body": "What is repeated.",
        "postCondition": "A pair: the expected outcome, and the work that gives the outcome. The "
        "loop starts over if they match.",
    },
    "Alt": {
        "kind": "Runs one work or the other, depending on a condition.",
        "condition": "The work whose outcome decides.",
        "trueWork": "Runs if the condition succeeded.",
        "falseWork": "Runs if the condition failed.",
    },
    "Job": {
        "description": "What the job is for. The Jobs page shows it, and its first line on the "
        "button.",
        "work": "What the job does: one `Ref`, or works made of works.",
        "requireUserInput": "Whether a person's input is needed. It follows from the tasks: leave "
        "it out.",
        "limits": "What each run of this job may use before a person is asked.",
        "labels": "What a machine must have to run this job, where several share a database.",
    },
    "GridCell": {
        "name": "What the button says.",
        "jobName": "The job that the button runs.",
    },
    "GridRow": {
        "keyword": "What the row says in front of its buttons.",
        "jobs": "The buttons of the row; `null` leaves a place empty.",
    },
    "DrivingRetry": {
        "modelId": "The id of a model. The first is the driving model.",
        "retries": "How often a condition is tried on this model: 0 or more.",
    },
}
DRIVING_MODEL: Final = "The model that judges conditions. Required."
