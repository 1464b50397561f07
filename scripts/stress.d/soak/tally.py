"""What a soak came to, and what is wrong."""
import threading
import time
from collections import Counter
from contextlib import contextmanager

from judge import FRESH, STALE, Judgement

# How long, in seconds, runs may fail because of a disturbance of processes after it.
AFTERMATH = 15.0
# A failure is reported until the next attempt; the most seconds of the pause before that (`job::GREATEST_PAUSE`).
LONGEST_PAUSE = 60.0


class Tally:
    """Counts of all threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts: Counter = Counter()
        self.states: Counter = Counter()
        self.reasons: Counter = Counter()
        self.failures: list[str] = []
        self.in_fault = False  # something is done to the processes right now: they may fail
        self.last_fault = float("-inf")
        self.fresh_asked = float("-inf")  # when the last question was sent whose answer was up to date
        self.peak = 0
        self.peak_of = ""

    def add(self, what: str, number: int = 1) -> None:
        with self.lock:
            self.counts[what] += number

    def disturbed(self) -> None:
        """Something has just been done to processes."""
        self.last_fault = time.monotonic()

    def is_disturbed(self, waits: bool = False) -> bool:
        """Whether a failure that is reported now may come of a fault; `waits`: it is reported until the next attempt."""
        return self.in_fault or time.monotonic() - self.last_fault < AFTERMATH + (LONGEST_PAUSE if waits else 0)

    def answer(self, said: Judgement, wrong: str, asked: float = 0.0) -> None:
        with self.lock:
            self.states[said.state] += 1
            if said.state == FRESH:
                self.fresh_asked = max(self.fresh_asked, asked)
            if said.state == STALE:
                self.reasons[said.kind] += 1
            if wrong:
                self.failures.append(wrong)

    def wrong(self, what: str) -> None:
        with self.lock:
            self.failures.append(what)

    @contextmanager
    def fault(self):
        self.in_fault = True
        try:
            yield
        finally:
            self.in_fault = False
            self.disturbed()

    def join(self, other: "Tally") -> None:
        self.counts += other.counts
        self.states += other.states
        self.reasons += other.reasons
        if other.peak > self.peak:
            self.peak, self.peak_of = other.peak, other.peak_of

    def summary(self) -> str:
        count = self.counts
        answers = ", ".join(f"{number} {state}" for state, number in self.states.most_common())
        return (
            f"{count['corpora']} corpora, {count['edits']} edits, {sum(self.states.values())} answers ({answers}), {count['kills']} kills, "
            f"{count['pauses']} pauses, {count['full disks']} full disks, {count['limits']} limits, {count['comparisons']} comparisons, "
            f"{count['compared answers']} compared answers, peak memory {self.peak / 1e6:.0f} MB ({self.peak_of})"
        )
