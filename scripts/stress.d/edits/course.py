"""A course of states in one project: a change, taking it in, and the comparison with a fresh index, again and again."""
import random
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import changes
import questions
import reduce
import snapshots
import store
from projects import Project
from taking import Taker, ways
from world import Gone, StaysStale, World


@dataclass
class Settings:
    """How a run is done."""

    binary: Path
    fresh: Path
    seed: int = 1
    states: int = 20
    kill: int = 10
    several: int = 10
    most: int = 3
    reduce_seconds: float = 30.0
    patience: float = 60.0
    deadline: float = float("inf")
    keep: Path | None = None
    kept_environment: dict[str, str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    ordered: bool = True
    stop_at_first: bool = False
    log: Callable[[str], None] = print
    verbose: bool = False


@dataclass
class Tally:
    """What a run came to."""

    states: int = 0
    projects: int = 0
    kills: int = 0
    several: int = 0
    differences: int = 0
    languages: set[str] = field(default_factory=set)
    changes: Counter = field(default_factory=Counter)
    first_red: int | None = None

    def add(self, other: "Tally") -> None:
        for name in ("states", "projects", "kills", "several", "differences"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.languages |= other.languages
        self.changes += other.changes


class Course:
    """The states of one project, in turn."""

    def __init__(self, project: Project, settings: Settings, top: Path):
        self.project, self.settings, self.top = project, settings, top
        self.rng = random.Random(f"{settings.seed}/{project.name}")
        self.world = World(settings.binary, top / "place", settings.patience, settings.kept_environment, settings.fresh)
        self.taker = Taker(self.world, self.rng)
        self.tally = Tally(projects=1)
        self.begun = changes.Begun()
        self.history: list[snapshots.Snapshot] = []
        self.content = None
        self.files, self.origin = 0, "HEAD"

    def run(self) -> Tally:
        try:
            self.project.fill(self.world, self.rng)
            self.origin = self.world.git_lines("rev-parse", "HEAD")[0]
            self.world.index("kept")
            self.content = store.read(store.newest(self.world.top / "kept"))
            self.files = len(self.content.rows["files"])
            self.tally.languages |= self.content.languages()
            self.history = [snapshots.take(self.world)]
            for number in range(1, self.settings.states + 1):
                if time.monotonic() > self.settings.deadline:
                    break
                self._state(number)
                if self.tally.differences and (self.settings.stop_at_first or self.tally.differences >= self.settings.most):
                    break
        finally:
            left = self.world.close()
        if left:
            self.tally.differences += 1
            self.settings.log(f"LEFT BEHIND in {self.project.name}: {len(left)} processes went on for seconds after those that had started them")
        self.tally.kills = self.taker.kills
        return self.tally

    def _state(self, number: int) -> None:
        """One state: the change, taking it in, the comparison."""
        rng = random.Random(f"{self.settings.seed}/{self.project.name}/{number}")
        self.taker.rng = rng
        tree = changes.Tree(self.world, rng, self.content, self.begun)
        names, weights = ways(self.settings.kill, self.settings.several)
        way = rng.choices(names, weights)[0]
        if tree.due and way.startswith("by_") and rng.random() < 0.8:
            way = "by_server"  # what is half written is finished in the same editor
        count = rng.choice([1, 1, 1, 2, 4]) if way != "several" else rng.choice([2, 3])
        said: list[str] = []

        def edit() -> None:
            said.append(self._back(tree) or changes.some(tree, self.settings.without))

        found, asked = self._compared(lambda: getattr(self.taker, way)([edit] * count), rng, tree)
        self.tally.states += 1
        self.tally.several += way == "several"
        self.tally.changes.update(text.partition(":")[0] for text in said)
        self.history = [*self.history[-24:], snapshots.take(self.world, self.history[-1])]
        if self.settings.verbose:
            self.settings.log(f"  {self.project.name} {number}: {way.replace('_', ' ')}: {'; '.join(said)}")
        if found:
            self.tally.differences += 1
            self.tally.first_red = self.tally.first_red or number
            self._report(number, way, said, found, asked)
            self._recover()

    def _back(self, tree: changes.Tree) -> str | None:
        """A tree that has become far smaller or larger than it was, or cannot be indexed, starts again."""
        now = len(tree.files(None))
        if self.files * 0.6 - 3 <= now <= self.files * 1.6 + 10:
            return None
        self._to_the_origin()
        return "back: to the last commit of the history"

    def _to_the_origin(self) -> None:
        self.begun.clear()
        for rules in (self.world.repo / snapshots.EXCLUDES, self.world.home / ".config" / "git" / "ignore"):
            rules.unlink(missing_ok=True)
        self.world.git("checkout", "-q", "-f", "-B", "main", self.origin)
        self.world.git("clean", "-q", "-ffdx")

    def _compared(self, taking: Callable[[], None], rng: random.Random, tree) -> tuple[list[str], list]:
        """Takes the change in and gives what differs then, and the questions that were answered differently."""
        before = self.content
        try:
            taking()
            kept = store.read(store.newest(self.world.top / "kept"))
            fresh = store.read(store.newest(self.world.index_anew()))
        except (Gone, StaysStale, sqlite3.Error) as failure:
            self.taker.lose()
            try:
                self.content = store.read(store.newest(self.world.index_anew()))
            except (Gone, StaysStale) as other:
                return [f"{type(failure).__name__}: {failure}", f"and a fresh index: {other}"], []
            return [f"{type(failure).__name__}: {failure}"], []
        self.content = fresh
        self.tally.languages |= fresh.languages()
        found = store.differences(kept, fresh)
        asked = questions.sample(rng, fresh, before, tree.touched)
        different = []
        try:
            different = self._answers(asked, found)
        except (Gone, StaysStale) as failure:
            found.append(f"{type(failure).__name__}: {failure}")
            self.taker.lose()
        return found, different

    def _answers(self, asked: list, found: list[str]) -> list:
        """Asks the server that knows the kept index and one that knows the fresh one. Adds what differs to `found`."""
        kept = self.taker.resident()
        other = self.world.serve("fresh")
        different = []
        try:
            for question in asked:
                left, right = (questions.comparable(question[0], self.world.ask(server, *question), self.settings.ordered)
                               for server in (kept, other))
                if left != right:
                    different.append(question)
                    found += questions.difference(question, left, right)
        finally:
            self.world.kill(other)
        return different

    def _report(self, number: int, way: str, said: list[str], found: list[str], asked: list) -> None:
        log, settings = self.settings.log, self.settings
        log(f"DIFFERENCE in {self.project.name}, state {number}, seed {settings.seed}, applied {way.replace('_', ' ')} after: {'; '.join(said)}")
        for line in found[:40]:
            log(f"  {line}")
        log(f"  again: scripts/stress edits BINARY --seed {settings.seed} --only '{self.project.name}' --states {number}")
        if settings.reduce_seconds <= 0:
            return
        place = reduce.place_for_trials(self.world, self.top / f"trials-{number}")
        judge = reduce.Judge(place, asked[:4], time.monotonic() + settings.reduce_seconds, settings.ordered)
        try:
            small = reduce.reduce(judge, self.history)
        finally:
            place.close()
        if small is None:
            log(f"  not seen again from the contents of the last {len(self.history)} states ({judge.trials} trials): it depends on when and how")
            return
        text = snapshots.script(small.states, small.by_server, asked[:4])
        log(f"  the smallest that was found ({len(small.states)} states, {judge.trials} trials):")
        for line in small.differences[:16]:
            log(f"    {line}")
        if settings.keep is not None:
            settings.keep.mkdir(parents=True, exist_ok=True)
            path = settings.keep / f"{self.project.name.replace(' ', '-')}-{settings.seed}-{number}.sh"
            path.write_text(text, encoding="utf-8")
            log(f"  reproduction in {path}")
        if len(text) < 6000 or settings.keep is None:
            for line in text.splitlines()[:200]:
                log(f"    | {line[:2000]}")

    def _recover(self) -> None:
        """Goes on after a difference: builds the kept index as a whole, and where that does not fix it, from nothing."""
        try:
            self.taker.dismiss()
            self.world.index("kept", "--force")
            if not store.differences(store.read(store.newest(self.world.top / "kept")), self.content):
                self.history = self.history[-1:]
                return
            self.settings.log("  and `cograph index --force` does not fix it")
        except (Gone, StaysStale, sqlite3.Error) as failure:
            self.settings.log(f"  and `cograph index --force`: {failure}")
            self._to_the_origin()
        self.taker.lose()
        shutil.rmtree(self.world.top / "kept", ignore_errors=True)
        self.world.index("kept")
        self.content = store.read(store.newest(self.world.top / "kept"))
        self.history = [snapshots.take(self.world)]
