"""How often each rule was played: the only thing that a rehearsal server remembers."""

from collections import Counter, OrderedDict

from airboss.runtime.rehearsal.script import Script

REMEMBERED = 10_000


class PlayLedger:
    """Counts the playings of rules with `times`.

    A retry of the runtime sends the same messages again, so a playing is known by their
    fingerprint. They differ between conversations: the runtime writes the session's folder into
    the system message and the millisecond into the prompt. Where neither does, `fresh` tells.
    """

    def __init__(self, script: Script) -> None:
        self._limits = {n: rule.times for n, rule in enumerate(script.rules) if rule.times}
        self._played = Counter[int]()
        self._seen: OrderedDict[str, int] = OrderedDict()

    @property
    def counts(self) -> bool:
        return bool(self._limits)

    def spent(self) -> frozenset[int]:
        return frozenset(n for n, limit in self._limits.items() if self._played[n] >= limit)

    def replayed(self, fingerprint: str, fresh: bool) -> int | None:
        """The rule that these very messages were given before, if they are sent again."""
        return None if fresh else self._seen.get(fingerprint)

    def record(self, rule: int, fingerprint: str) -> None:
        if rule not in self._limits:
            return
        self._played[rule] += 1
        self._seen[fingerprint] = rule
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
