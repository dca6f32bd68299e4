"""A run drawn as the tree of its job: what is done, what runs, what is still to come."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TextIO, cast

from airboss.cli.client import Client, Json
from airboss.cli.frame import Line
from airboss.cli.inbox.item_page import command_of
from airboss.cli.run.story import FOR_PERSON, RunWork, Story, rounds_of
from airboss.cli.screen import duration, visible_line
from airboss.cli.trouble import CommandRefused

_ROOT: Final = "0"
_STYLES: Final = {
    "succeeded": "green",
    "failed": "red",
    "canceled": "yellow",
    "running": "cyan",
    "waiting": "yellow",
    FOR_PERSON: "yellow",
}


@dataclass(frozen=True)
class Signs:
    """What the drawing is made of."""

    branch: str
    last: str
    side: str
    condition: str
    to_come: str
    dot: str
    turning: str
    states: dict[str, str]

    @classmethod
    def on(cls, stream: TextIO) -> "Signs":
        is_wide = (stream.encoding or "").lower().replace("-", "") in ("utf8", "utf16")
        return SIGNS if is_wide else PLAIN


SIGNS: Final = Signs(
    "├ ",
    "└ ",
    "│ ",
    "◆",
    "·",
    "·",
    "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
    {
        "succeeded": "✓",
        "failed": "✗",
        "canceled": "■",
        "running": "▶",
        "waiting": "◌",
        FOR_PERSON: "!",
    },
)
PLAIN: Final = Signs(
    "+ ",
    "+ ",
    "| ",
    "?",
    ".",
    "-",
    "|/-\\",
    {
        "succeeded": "v",
        "failed": "x",
        "canceled": "#",
        "running": ">",
        "waiting": "~",
        FOR_PERSON: "!",
    },
)


@dataclass(frozen=True)
class Node:
    """A task in its place, or a heading above others."""

    label: str
    path: str | None = None
    children: "Sequence[Node]" = ()


@dataclass(frozen=True)
class Row:
    """A node with the lines that lead to it."""

    lead: str
    node: Node


def work_of(client: Client, run: Json) -> Json | None:
    """The tree that the run works on; none where the server's entry is another one by now."""
    try:
        entry = client.get("/api/v1/entry")
    except CommandRefused:
        return None
    if entry.get("digest") != run["entry"]:
        return None
    jobs = cast("dict[str, Json]", entry["document"]["jobs"])
    return jobs.get(str(run["job"]), {}).get("work")


@dataclass
class Tree:
    """The drawing of one run. Without a `work` it is the list of all that was begun."""

    story: Story
    work: Json | None
    signs: Signs
    # Else of each loop only the round that it is in.
    has_every_round: bool = False
    has_ids: bool = False
    _tick: int = field(default=0, repr=False)

    def lines(self, now: int, limit: int | None = None) -> list[Line]:
        """All of it, or what matters most of it in so many lines."""
        self._tick += 1
        rows = list(self._rows(self._nodes(), ""))
        if limit is None or len(rows) + 1 <= limit:
            return [self.headline(now), *(self._line(row, now) for row in rows)]
        shown = self._choose(rows, max(limit - 2, 0))
        hidden = f"{len(rows) - len(shown)} more lines: airboss show {self.story.id}"
        lines = [self.headline(now), *(self._line(row, now) for row in shown)]
        return [*lines, [(f"({hidden})", ("dim",))]][: max(limit, 1)]

    def headline(self, now: int) -> Line:
        story = self.story
        state = "stopping" if story.is_ending and not story.is_over else state_words(story.state)
        parts = [duration(story.seconds(now))]
        if story.works:
            done, failed = story.counts
            parts.append(f"{done} done, {failed} failed" if failed else f"{done} done")
        parts += [words for words in (usage_words(story.usage.model_dump()),) if words]
        if story.attempt > 1:
            parts.append(f"attempt {story.attempt}")
        if story.restarts:
            parts.append(f"restarts: {story.restarts}")
        if waits := _waiting_words(story):
            parts.append(waits)
        if story.reason and story.state != "succeeded":
            parts.append(story.reason)
        style = _STYLES.get(story.state, "bold")
        dot = f" {self.signs.dot} "
        return [
            (visible_line(story.job), ("bold",)),
            (dot, ()),
            (state, (style, "bold")),
            (dot + visible_line(dot.join(parts)), ()),
        ]

    # The tree.

    def _nodes(self) -> list[Node]:
        if self.work is not None:
            return self._of(self.work, _ROOT)
        return [Node(shown_name(work), work.path) for work in self.story.works.values()]

    def _of(self, work: Json, path: str) -> list[Node]:
        match work.get("kind"):
            case "Ref":
                return [Node(_name(work), path)]
            case "Seq":
                return self._each(work, path)
            case "Par":
                parts = enumerate(cast("list[Json]", work["works"]))
                children = [_one(self._of(part, f"{path}.{index}")) for index, part in parts]
                return [Node("in parallel", children=children)]
            case "Loop":
                return [self._loop(work, path)]
            case "Alt":
                return [self._alt(work, path)]
            case _:
                return []

    def _each(self, work: Json, path: str) -> list[Node]:
        parts = enumerate(cast("list[Json]", work["works"]))
        return [node for index, part in parts for node in self._of(part, f"{path}.{index}")]

    def _loop(self, loop: Json, path: str) -> Node:
        number = self.story.rounds.get(path, 0)
        if self.has_every_round and number > 1:
            rounds = [
                Node(f"round {each}", children=self._round(loop, f"{path}.it{each}"))
                for each in range(1, number + 1)
            ]
            return Node("loop", children=rounds)
        label = f"loop, round {number}" if number else "loop"
        return Node(label, children=self._round(loop, f"{path}.it{number or 1}"))

    def _round(self, loop: Json, path: str) -> list[Node]:
        nodes: list[Node] = []
        if before := loop.get("preCondition"):
            nodes += self._condition(before[1], f"{path}.pre", f"continues if {_bool(before[0])}")
        nodes += self._of(loop["body"], path)
        if after := loop.get("postCondition"):
            nodes += self._condition(after[1], f"{path}.post", f"repeats if {_bool(after[0])}")
        return nodes

    def _alt(self, alt: Json, path: str) -> Node:
        nodes = self._condition(alt["condition"], f"{path}.cond", "decides")
        for name in ("true", "false"):
            if work := alt.get(f"{name}Work"):
                nodes.append(Node(name, children=self._of(work, f"{path}.{name}")))
        return Node("if", children=nodes)

    def _condition(self, work: Json, path: str, words: str) -> list[Node]:
        nodes = self._of(work, path)
        if work.get("kind") != "Ref":
            return [Node(f"condition ({words})", children=nodes)]
        return [replace(node, label=f"{node.label} ({words})") for node in nodes]

    # The rows.

    def _rows(self, nodes: Sequence[Node], lead: str) -> Iterator[Row]:
        signs = self.signs
        for number, node in enumerate(nodes, start=1):
            is_last = number == len(nodes)
            yield Row(lead + (signs.last if is_last else signs.branch), node)
            yield from self._rows(node.children, lead + ("  " if is_last else signs.side))

    def _choose(self, rows: list[Row], count: int) -> list[Row]:
        """What runs comes first, then what failed, then what lies next to what runs."""
        places = [place for place, row in enumerate(rows) if self._is_running(row)]
        places = places or [len(rows) - 1]

        def rank(place: int) -> tuple[int, int]:
            work = self._work(rows[place])
            if work and not work.is_over:
                return 0, place
            if work and work.has_failed:
                return 1, -place
            return 2, min(abs(place - other) for other in places[:100])

        best = sorted(range(len(rows)), key=rank)[:count]
        return [rows[place] for place in sorted(best)]

    def _work(self, row: Row) -> RunWork | None:
        return self.story.works.get(row.node.path) if row.node.path is not None else None

    def _is_running(self, row: Row) -> bool:
        work = self._work(row)
        return work is not None and not work.is_over

    def _line(self, row: Row, now: int) -> Line:
        node, work = row.node, self._work(row)
        label = visible_line(node.label)
        lead = (row.lead, ("dim",))
        if node.path is None:
            return [lead, (label, ("dim",))]
        if work is None:
            return [lead, (f"{self.signs.to_come} {label}", ("dim",))]
        said = visible_line(f" {self.signs.dot} ".join(self._facts(work, now)))
        return [lead, self._sign(work), (f" {label}  ", ()), (said, ("dim",))]

    def _sign(self, work: RunWork) -> tuple[str, tuple[str, ...]]:
        if work.is_condition and work.state in ("succeeded", "failed"):
            return self.signs.condition, ("bold",)
        sign = self.signs.states.get(work.state, "?")
        if work.state == "running" and not self.has_ids:
            sign = self.signs.turning[self._tick % len(self.signs.turning)]
        return sign, (_STYLES.get(work.state, "bold"),)

    def _facts(self, work: RunWork, now: int) -> list[str]:
        said: list[str] = []
        if work.is_condition and work.state in ("succeeded", "failed"):
            said.append(_bool(work.state == "succeeded"))
        elif work.unasked:
            said.append("could not be checked")
        elif self.has_ids:
            said.append(state_words(work.state))
        said.append(duration(work.seconds(now)))
        if work.attempt:
            said.append(work.attempt)
        if self.has_ids:
            said += [work.task_run, *(f"before {one.task_run}" for one in work.earlier)]
        if words := usage_words(work.usage.model_dump()):
            said.append(words)
        if work.waits_for:
            # Before the reason: of a line that is too long the end is not shown.
            said += [command_of(item["asked"]) for item in work.items]
            said.append(f"waiting for {work.waits_for}")
        elif work.decision and work.state != "succeeded":
            said.append(work.decision)
        return said


def _waiting_words(story: Story) -> str:
    """What a run waits for; of works that wait for a place, also where only some of them do."""
    if story.is_over or story.is_ending:
        return ""
    from airboss.model.run_events import ON_ALL_MACHINES

    running = story.running
    parked = [work for work in running if work.waits_for and work.state != FOR_PERSON]
    if not parked or story.state == FOR_PERSON:
        return f"waiting for {story.waits_for}" if story.waits_for else ""
    who = f"{len(parked)} of {len(running)} tasks are waiting"
    why = parked[0].waits_for or ""
    is_overall = why.endswith(ON_ALL_MACHINES)
    more = "max_tasks_all" if is_overall else "max_tasks"
    return f"{who} for {why} (run more at once: airboss settings set {more} N)"


def state_words(state: str) -> str:
    return "waiting for you" if state == FOR_PERSON else state


def shown_name(work: RunWork) -> str:
    """A work without its tree: its task, and the rounds of the loops around it."""
    rounds = ".".join(str(number) for _, number in rounds_of(work.path))
    return f"{work.task}, round {rounds}" if rounds else work.task


def usage_words(usage: Json) -> str:
    """What was used, in words; nothing where nothing was."""
    sub = cast("Json", usage.get("sub_agents") or {})

    def whole(name: str) -> float:
        return usage.get(name, 0) + sub.get(name, 0)

    requests = int(whole("requests"))
    if not requests:
        return ""
    tokens = f"{whole('input_tokens'):,} tokens in, {whole('output_tokens'):,} out"
    said = f"{requests} request{'s' if requests > 1 else ''}, {tokens}"
    said = f"{said}, cost {whole('cost'):g}" if whole("cost") else said
    others = int(sub.get("requests", 0))
    return f"{said} ({others} of the requests by sub-agents)" if others else said


def _name(ref: Json) -> str:
    override = cast("Json | None", ref.get("modelOverride"))
    task = str(ref["taskId"])
    return f"{task} ({override.get('category') or override.get('id')})" if override else task


def _one(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else Node("in sequence", children=nodes)


def _bool(value: object) -> str:
    return "true" if value else "false"
