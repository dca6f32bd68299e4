"""What a team writes: models, prompts, tasks, jobs and their grid. Frozen, named as in files."""

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import (
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from airboss.entry.cage_part import CageOrName
from airboss.entry.part import OBJECT, TEXT, Number, Part, Prompt, text_or_object
from airboss.entry.tools import JOB_TOOLS
from airboss.machine_settings import MOST_LABELS, Label
from airboss.model.numbers import Whole, whole
from airboss.model.tool_lists import KNOWN
from airboss.model.tool_table import GROUPS
from airboss.session_keys import (
    HOOKS,
    ONE_OF_MESSAGE,
    ONE_OF_SECTION,
    SECTIONS,
    Effort,
    Instructions,
    OnUnsafeRetry,
    ToolSearch,
)

ONE_OF_TWO: Final = "one_of_two"
ONE_OF_THREE: Final = "one_of_three"
DRIVING: Final = "driving"

Policy: TypeAlias = Literal["ask", "caged", "approve-all", "read-only", "deny-all"]
# Names are checked by the rules; editors offer these.
ToolName: TypeAlias = Annotated[StrictStr, Field(json_schema_extra={"enum": [*JOB_TOOLS]})]

Count: TypeAlias = Annotated[StrictInt, Field(ge=0), whole]


class Limits(Part):
    """How much may be used. Of entry, job and task the narrowest holds."""

    turns: Number | None = None
    tokens: Number | None = None
    cost: Number | None = None
    idle_minutes: Number | None = None
    minutes: Number | None = None


class Model(Part):
    """A key of the entry's models, or a model id itself."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["category"]}, {"required": ["id"]}]}
    )

    category: StrictStr | None = None
    id: StrictStr | None = None

    @model_validator(mode="after")
    def be_one_of_two(self) -> "Model":
        if (self.category is None) == (self.id is None):
            raise PydanticCustomError(ONE_OF_TWO, "Should have either category or id.")
        return self

    @property
    def name(self) -> str:
        return self.category or self.id or ""


class NamedModel(Part):
    """A model id with what is asked of the model wherever it is used by this name."""

    id: StrictStr
    reasoning_effort: Effort | None = None


ModelOrId: TypeAlias = Annotated[
    Annotated[StrictStr, Tag(TEXT)] | Annotated[NamedModel, Tag(OBJECT)],
    Discriminator(text_or_object),
]


class Section(Part):
    """What becomes of one section of the system message."""

    replace: Prompt | None = None
    append: Prompt | None = None
    prepend: Prompt | None = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "Section":
        if len([text for _, text in self if text is not None]) != 1:
            raise PydanticCustomError(ONE_OF_THREE, ONE_OF_SECTION)
        return self


SectionOrWord: TypeAlias = Annotated[
    Annotated[Literal["remove"], Tag(TEXT)] | Annotated[Section, Tag(OBJECT)],
    Discriminator(text_or_object),
]


class SystemMessage(Part):
    """What the model is told first: more than usual, something else, or changed in parts."""

    append: Prompt | None = None
    replace: Prompt | None = None
    sections: (
        Annotated[
            dict[StrictStr, SectionOrWord],
            Field(json_schema_extra={"propertyNames": {"enum": [*SECTIONS]}}),
        ]
        | None
    ) = None

    @model_validator(mode="after")
    def be_one_thing(self) -> "SystemMessage":
        if len([part for _, part in self if part is not None]) != 1:
            raise PydanticCustomError(ONE_OF_THREE, ONE_OF_MESSAGE)
        return self


ToolWord: TypeAlias = Annotated[StrictStr, Field(json_schema_extra={"examples": [*GROUPS, *KNOWN]})]


class Tools(Part):
    """Which tools agents have: names, globs, groups such as `@read`, and `SERVER/TOOL`."""

    allow: tuple[ToolWord, ...] | None = None
    deny: tuple[ToolWord, ...] | None = None
    search: ToolSearch | None = None
    github: StrictBool | None = None


Share: TypeAlias = Annotated[float, Field(strict=True, gt=0, le=1)]


class Context(Part):
    """When a long conversation is summarized, as shares of what fits into the model's context."""

    infinite: StrictBool | None = None
    compact_at: Share | None = None
    block_at: Share | None = None


class Server(Part):
    """An MCP server: a program that is started, or an address that is called. Empty, it names a
    server that the settings describe."""

    command: tuple[StrictStr, ...] | None = None
    env: dict[StrictStr, StrictStr] | None = None
    url: StrictStr | None = None
    tools: tuple[StrictStr, ...] | None = None
    seconds: Number | None = None


class Agent(Part):
    """An agent that agents may hand work to, or that a session itself is."""

    description: StrictStr
    prompt: Prompt
    tools: tuple[ToolWord, ...] | None = None
    model: Model | None = None
    reasoning_effort: Effort | None = None
    mcp_servers: tuple[StrictStr, ...] | None = None
    skills: tuple[StrictStr, ...] | None = None


class Command(Part):
    """A prompt that people send by its name, behind a slash."""

    description: StrictStr
    prompt: Prompt


class Hook(Part):
    """A program that is asked at one moment of a session's life."""

    command: tuple[StrictStr, ...] | None = None
    python: StrictStr | None = None
    tool: ToolWord | None = None
    seconds: Number | None = None
    sub_agents: StrictBool | None = None


_NAMES: Final[dict[str, Any]] = {"propertyNames": {"enum": [*HOOKS]}}
Hooks: TypeAlias = Annotated[dict[StrictStr, tuple[Hook, ...]], Field(json_schema_extra=_NAMES)]


class Availability(Part):
    """What must hold before a task begins."""

    previous_tasks: tuple[StrictStr, ...] | None = None
    condition: Prompt | None = None


class FailureAction(Part):
    """What is done when the criteria are not met."""

    retry_times: Count
    additional_prompt: Prompt | None = None


class Criteria(Part):
    """What must hold after a task's prompt was worked on."""

    tool_executed: tuple[ToolName, ...] | None = None
    condition: Prompt | None = None
    run_condition_in_same_session: StrictBool | None = None
    failure_action: FailureAction


class Task(Part):
    """A prompt with conditions, criteria and retries."""

    description: StrictStr | None = None
    model: Model | None = None
    prompt: Prompt
    require_user_input: StrictBool
    permissions: Policy | None = None
    limits: Limits | None = None
    availability: Availability | None = None
    criteria: Criteria | None = None
    plan: StrictBool | None = None
    on_unsafe_retry: OnUnsafeRetry | None = None
    reasoning_effort: Effort | None = None
    system_message: SystemMessage | None = None
    instructions: Instructions | None = None
    tools: Tools | None = None
    directories: tuple[StrictStr, ...] | None = None
    context: Context | None = None
    agents: dict[StrictStr, Agent] | None = None
    commands: dict[StrictStr, Command] | None = None
    agent: StrictStr | None = None
    skills: tuple[StrictStr, ...] | None = None
    hooks: Hooks | None = None
    account: StrictStr | None = None
    identity: StrictStr | None = None
    cage: CageOrName | None = None
    mcp_servers: dict[StrictStr, Server] | None = None


class Ref(Part):
    """Runs one task. The number is given when the entry is loaded, never by people."""

    kind: Literal["Ref"] = "Ref"
    work_id_in_job: Whole | None = None
    task_id: StrictStr
    model_override: Model | None = None


class Seq(Part):
    """One after the other, until one fails."""

    kind: Literal["Seq"] = "Seq"
    works: tuple["Work", ...]


class Par(Part):
    """All at the same time."""

    kind: Literal["Par"] = "Par"
    works: tuple["Work", ...]


class Loop(Part):
    """Again and again, as its conditions say."""

    kind: Literal["Loop"] = "Loop"
    pre_condition: "tuple[StrictBool, Work] | None" = None
    body: "Work"
    post_condition: "tuple[StrictBool, Work] | None" = None


class Alt(Part):
    """One or the other, by the outcome of a condition."""

    kind: Literal["Alt"] = "Alt"
    condition: "Work"
    true_work: "Work | None" = None
    false_work: "Work | None" = None


Work: TypeAlias = Annotated[Ref | Seq | Par | Loop | Alt, Field(discriminator="kind")]
for _kind in (Seq, Par, Loop, Alt):
    _kind.model_rebuild()


class Job(Part):
    """A tree of works. It requires a person's input exactly when one of its tasks does."""

    description: StrictStr | None = None
    work: Work
    require_user_input: StrictBool | None = None
    limits: Limits | None = None
    labels: Annotated[tuple[Label, ...], Field(max_length=MOST_LABELS)] | None = None


class GridCell(Part):
    """A job on the page: what its button says, and the job."""

    name: StrictStr
    job_name: StrictStr


class GridRow(Part):
    """One row of jobs on the page."""

    keyword: StrictStr
    jobs: tuple[GridCell | None, ...]


class DrivingRetry(Part):
    """How often a driving mission is tried on a model."""

    model_id: StrictStr
    retries: Count


class Entry(Part):
    """What a team writes once and runs a hundred times."""

    models: Annotated[dict[StrictStr, ModelOrId], Field(json_schema_extra={"required": [DRIVING]})]
    prompt_variables: dict[StrictStr, Prompt]
    tasks: dict[StrictStr, Task]
    jobs: dict[StrictStr, Job]
    grid: tuple[GridRow, ...]
    driving_session_retries: Annotated[tuple[DrivingRetry, ...], Field(min_length=1)] | None = None
    permissions: Policy | None = None
    limits: Limits | None = None
    reasoning_effort: Effort | None = None
    system_message: SystemMessage | None = None
    instructions: Instructions | None = None
    tools: Tools | None = None
    directories: tuple[StrictStr, ...] | None = None
    context: Context | None = None
    agents: dict[StrictStr, Agent] | None = None
    commands: dict[StrictStr, Command] | None = None
    agent: StrictStr | None = None
    skills: tuple[StrictStr, ...] | None = None
    hooks: Hooks | None = None
    account: StrictStr | None = None
    identity: StrictStr | None = None
    cage: CageOrName | None = None
    mcp_servers: dict[StrictStr, Server] | None = None

    def model_id(self, name: str) -> str:
        """The id of the model that goes by this name."""
        model = self.models[name]
        return model if isinstance(model, str) else model.id

    @property
    def model_ids(self) -> tuple[str, ...]:
        return tuple(self.model_id(name) for name in self.models)

    def name_in_grid(self, job: str) -> str:
        """What a job's button says; of several the first, and empty where there is none."""
        cells = (cell for row in self.grid for cell in row.jobs if cell is not None)
        return next((cell.name for cell in cells if cell.job_name == job), "")
