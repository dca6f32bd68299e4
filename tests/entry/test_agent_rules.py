"""What is wrong with the agents and the skills that an entry names, and where."""

from typing import Any

import pytest

from airboss.entry.session_words import keys_of
from airboss.entry.validate import validate_entry
from tests.entry.test_session_words import entry, mistakes

AGENT: dict[str, Any] = {"description": "Reviews.", "prompt": ["Review."]}


def test_an_agents_texts_are_expanded_and_its_model_is_looked_up() -> None:
    said = {"description": "Reviews.", "prompt": ["$rule", "Twice."], "model": {"category": "deep"}}
    found = validate_entry(
        entry(
            {"agents": {"of-task": said}, "agent": "of-task", "skills": ["skills"]},
            models={"driving": "m", "deep": {"id": "d", "reasoningEffort": "high"}},
            promptVariables={"rule": ["Use tabs."]},
            agents={"reviewer": {**AGENT, "model": {"id": "x"}, "tools": ["@read"]}},
        )
    )
    of_entry = keys_of(found).agents
    of_task = keys_of(found.tasks["a"], found)
    assert of_entry is not None
    assert of_task.agents is not None
    assert (of_entry["reviewer"].model, of_entry["reviewer"].tools) == ("x", ("@read",))
    assert of_task.agents["of-task"].prompt == "Use tabs.\nTwice."
    assert (of_task.agents["of-task"].model, of_task.agent) == ("d", "of-task")
    assert of_task.skills == ("skills",)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"agents": {"a b": AGENT}}, '.agents["a b"]: "a b" is not a name of an agent.'),
        ({"agents": {"task": AGENT}}, '.agents.task: "task" is the name of an agent that the'),
        ({"agents": {"r": {"prompt": ["x"]}}}, ".agents.r.description: Should exist."),
        ({"agents": {"r": {**AGENT, "description": ""}}}, ".agents.r.description: Should not be"),
        ({"agents": {"r": {**AGENT, "prompt": "x"}}}, ".agents.r.prompt: Should be a list."),
        ({"agents": {"r": {**AGENT, "prompt": []}}}, ".agents.r.prompt: Prompt is empty."),
        (
            {"agents": {"r": {**AGENT, "prompt": ["$user-input"]}}},
            ".agents.r.prompt: Should not use $user-input",
        ),
        ({"agents": {"r": {**AGENT, "prompt": ["$no"]}}}, ".agents.r.prompt: Cannot find"),
        (
            {"agents": {"r": {**AGENT, "model": {"category": "no"}}}},
            '.agents.r.model.category: "no" is not a valid model key.',
        ),
        (
            {"agents": {"r": {**AGENT, "tools": ["w/f*"]}}, "mcpServers": {"w": {}}},
            '.agents.r.tools[0]: "w/f*" matches no tool: write SERVER/TOOL, or SERVER/* for all',
        ),
        ({"agents": {"r": {**AGENT, "tools": ["veiw"]}}}, '.agents.r.tools[0]: "veiw" is not a'),
        (
            {"agents": {"r": {**AGENT, "reasoningEffort": "huge"}}},
            ".agents.r.reasoningEffort: Should be",
        ),
        ({"agents": {"r": {**AGENT, "mcpServers": ["a b"]}}}, ".agents.r.mcpServers[0]: Should"),
        ({"agents": {"r": {**AGENT, "skills": [""]}}}, ".agents.r.skills[0]: Should have"),
        ({"agents": {"r": {**AGENT, "tool": []}}}, ".agents.r.tool: There is no such field."),
        ({"agent": "a b"}, ".agent: Should have letters"),
        ({"agent": 5}, ".agent: Should be text."),
        ({"skills": [""]}, ".skills[0]: Should not be empty."),
        ({"skills": "skills"}, ".skills: Should be a list."),
        ({"agents": {f"a{n}": AGENT for n in range(101)}}, ".agents: Should have at most 100"),
    ],
)
def test_what_nobody_can_have_is_a_mistake_with_its_place(said: Any, words: str) -> None:
    [of_entry] = mistakes(**said)
    assert of_entry.startswith(f"entry{words}")
    [of_task] = mistakes(said)
    assert of_task.startswith(f'entry.tasks["a"]{words}')
