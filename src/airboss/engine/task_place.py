"""The place that a task takes among those at work, and what its run says while it waits for one."""

from dataclasses import dataclass, field

from airboss.engine.slots import SlotPlace, Slots
from airboss.harness.turn import CalledAway
from airboss.log.writer import Writer
from airboss.model.run_events import WorkGoing, WorkStarted, WorkWaiting
from airboss.model.task_events import TaskGoing, TaskWaiting


@dataclass
class TaskPlace:
    """Taken by `end`, given back by `begin` and by leaving it: its agent's waits for a person begin
    and end so. While one of several waits goes on, no place is taken. One without slots, in a lent
    session, never waits: whoever lends it is not made to."""

    started: WorkStarted
    run_writer: Writer
    slots: Slots | None
    # Of a task by itself: its own stream says what it waits for as well.
    own_writer: Writer | None = None
    # What the run says that it waits for; an earlier server may have said so.
    waits_for: str | None = None
    # Why its agent waits for people, by what it waits for.
    _waits: dict[object, str] = field(init=False, default_factory=dict[object, str])
    _is_left: bool = field(init=False, default=False)
    _is_called_away: bool = field(init=False, default=False)
    _is_for_person: bool = field(init=False, default=False)
    _slot: SlotPlace | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.slots:
            self._slot = self.slots.place(self.started.task_run, self._wait)

    def begin(self, reason: str, wait: object = None) -> None:
        self._waits.pop(None, None)  # whoever asks is at work again
        self._waits[wait] = reason
        if self._slot:
            self._slot.give_back()
        self._say_waiting(reason, for_person=True)

    def behind(self, reason: str | None) -> None:
        """Its agent waits for what another one has asked, and with None no longer: then it works
        on before anybody could give it a place, so it keeps its own."""
        if reason is None:
            self._waits.pop(None, None)
            self._go_on()
        else:
            self._say_waiting(reason, for_person=True)

    def busy(self, reason: str | None) -> None:
        """It waits for something of this server, and with None no longer. Its agent may have asked
        a person meanwhile: then it waits for that."""
        if reason is not None:
            self._say_waiting(reason)
        elif not self._is_for_person:
            self._go()

    def drop(self, wait: object) -> None:
        """Nobody waits for this any more, and nobody goes on with an answer to it."""
        if self._waits.pop(wait, None) is not None and self._waits:
            self._go_on()

    async def end(self, wait: object = None) -> None:
        """It goes on, with a place; but while others wait, without one."""
        self._waits.pop(wait, None)
        if self._is_called_away:
            raise CalledAway
        while self._slot and not self._waits and not self._is_left:
            if await self._slot.take():
                break
        if not self._is_left:
            self._go_on()

    def call_away(self) -> None:
        """It waits for a slot no longer, and never again."""
        self._is_called_away = True
        if self.slots:
            self.slots.call_away(self.started.task_run)

    def __enter__(self) -> "TaskPlace":
        self._is_left = False
        return self

    def __exit__(self, *_: object) -> None:
        self._is_left = True
        self._waits.clear()
        if self._slot:
            self._slot.give_back()

    def _wait(self) -> None:
        if self.slots:
            self._say_waiting(f"a free place: {self.slots.why_full}")

    def _go_on(self) -> None:
        """Unless people are waited for: then it says for what, the last of all."""
        if self._waits:
            self._say_waiting(list(self._waits.values())[-1], for_person=True)
        else:
            self._go()

    def _say_waiting(self, reason: str, *, for_person: bool = False) -> None:
        self._is_for_person = for_person
        if self.waits_for != reason:
            self.waits_for = reason
            waiting = WorkWaiting(path=self.started.path, reason=reason, for_person=for_person)
            self.run_writer.say(waiting)
            if self.own_writer:
                self.own_writer.say(TaskWaiting(reason=reason, for_person=for_person))

    def _go(self) -> None:
        self._is_for_person = False
        if self.waits_for:
            self.waits_for = None
            self.run_writer.say(WorkGoing(path=self.started.path))
            if self.own_writer:
                self.own_writer.say(TaskGoing())
