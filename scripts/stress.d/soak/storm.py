"""The storm on one corpus: acts one after the other, disturbances between them, concurrent clients, and checkpoints at which
everything has to be up to date and equal to a fresh index."""
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import comparison
import languages
import store
from acts import ACTS, LARGEST, a_large_file_grows
from askers import Asker, alone
from corpus_tree import CorpusTree
from disk import Disk
from disturbances import DISTURBANCES, cpu
from ledger import Ledger
from memory import Memory
from projects import Project
from tally import Tally
from taking import SMALL
from world import Gone, StaysStale, World

# An asker whose index runs have failed for this number of seconds causes a checkpoint at once.
FAILING_FOR = 8.0
# Suspicions cost a fresh index each.
MOST_SUSPICIONS = 12


@dataclass
class Settings:
    """How a soak is done."""

    binary: Path
    seconds: float = 60.0
    edits: int = 1_000_000
    pace: float = 1.0
    seed: int = 1
    every: float = 20.0
    patience: float = 60.0
    file_seconds: float = 5.0
    memory: int = 0
    disk: int = 0
    servers: int = 2
    acts: frozenset[str] = frozenset()
    disturbances: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    log: Callable[[str], None] = print
    verbose: bool = False


class Storm:
    """One corpus."""

    def __init__(self, project: Project, settings: Settings, top: Path):
        self.project, self.settings, self.top = project, settings, top
        self.file_seconds = settings.file_seconds
        self.rng = random.Random(f"{settings.seed}/{project.name}")
        environment = {"COGRAPH_FILE_SECONDS": f"{settings.file_seconds:.0f}", **settings.environment}
        self.world = World(settings.binary, top / "place", settings.patience, environment)
        self.tally = Tally()
        self.tally.add("corpora")
        self.ledger = Ledger(self.world.repo)
        self.over = threading.Event()
        self.askers: list[Asker] = []
        self.disk: Disk | None = None
        self.content: store.Content | None = None
        self.tree: CorpusTree | None = None
        self.whole = self.whole_cpu = 0.0
        self.first_bytes = 0
        self.files, self.origin, self.due, self.suspicions = 0, "HEAD", False, 0
        self.begun, self.alone = time.monotonic(), ""

    def run(self) -> Tally:
        """The whole course. What it has started is ended in any case."""
        try:
            self._watched()
            if self.settings.memory and self.tally.peak > self.settings.memory:
                self.tally.wrong(f"memory: {self.tally.peak_of}")
            self.tally.add("edits", self.tree.edits if self.tree else 0)
            if self.tally.failures:
                self._report()
        finally:
            left = self.world.close()
            if self.disk is not None:
                self.disk.close()
        if left and not self.tally.failures:
            self.tally.wrong(f"{len(left)} processes went on for seconds after those that had started them")
        return self.tally

    def _watched(self) -> None:
        memory = Memory(lambda: [found for asker in list(self.askers) for found in asker.processes()])
        try:
            try:
                self._begin()
                self._storm()
                if not self.tally.failures:
                    self.checkpoint(anew=True)
            except (Gone, StaysStale, store.UnknownForm, sqlite3.Error) as failure:
                self.tally.wrong(f"{type(failure).__name__}: {failure}")
            if self.tally.failures and self.tree is not None:
                self.alone = self._left_alone()
        finally:
            self.over.set()
            for asker in self.askers:
                asker.close()
            memory.end()
            self.tally.peak, self.tally.peak_of = memory.peak, f"{self.project.name}, {memory.peak_of}"

    def _begin(self) -> None:
        self.project.fill(self.world, self.rng)
        self.origin = self.world.git_lines("rev-parse", "HEAD")[0]
        if self.settings.disk:
            self.disk = Disk(self.world.top / "kept", self.settings.disk)
        self.whole, self.whole_cpu = self._timed_build()
        self.content = store.sample(store.newest(self.world.top / "kept"))
        self.files = len(self.content.rows["files"])
        self.tree = CorpusTree(self.world, self.rng, self.content, self.ledger, self.tally, self.over, self.settings.pace)
        self.first_bytes = self.tree.bytes()
        kinds = ["server"] * self.settings.servers + ["runtime", "command"]
        self.askers = [Asker(kind, self.world, self.ledger, self.tally, f"{self.settings.seed}/{at}") for at, kind in enumerate(kinds)]
        for asker in self.askers:
            asker.names = sorted(self.content.names)[:5000] or ["main"]
            asker.thread.start()
        self.log(f"{self.files} files, a whole build takes {self.whole:.1f} s")

    def _timed_build(self) -> tuple[float, float]:
        begun = time.monotonic()
        process, used = self.world.start("index"), 0.0
        while process.poll() is None:
            used = max(used, cpu(process.pid))
            time.sleep(0.02)
            if time.monotonic() - begun > 1800:
                raise StaysStale("the first index takes more than half an hour")
        if process.returncode != 0:
            self.world.index("kept")
        return time.monotonic() - begun, used

    def whole_cpu_now(self) -> float:
        """Seconds of CPU of a whole build by the first one, which had fewer bytes to read."""
        return self.whole_cpu * max(1.0, self.tree.bytes() / max(1, self.first_bytes))

    def log(self, line: str) -> None:
        self.settings.log(f"  {time.monotonic() - self.begun:6.1f} s  {line}")

    def _storm(self) -> None:
        until = time.monotonic() + self.settings.seconds
        acts, disturbances = self._deck(), list(self.settings.disturbances)
        self.rng.shuffle(disturbances)
        step = max(4.0, self.settings.seconds / (len(disturbances) + 1)) if len(disturbances) * 12 > self.settings.seconds else 12.0
        next_check, next_disturbance, turn = time.monotonic() + self.settings.every, time.monotonic() + step / 2, 0
        while time.monotonic() < until and self.tree.edits < self.settings.edits and not self.tally.failures:
            name, function = next(acts)
            function(self.tree)
            self._tended()
            if self.settings.verbose:
                self.log(f"{name}: {self.tree.last[-1] if self.tree.last else ''}")
            self._suspicions()
            if disturbances and time.monotonic() > next_disturbance and not self.tally.failures:
                chosen = disturbances[turn % len(disturbances)]
                turn += 1
                said = DISTURBANCES[chosen](self)
                self.tally.disturbed()
                if said:
                    self.tree.note(f"[{chosen}] {said}")
                    if self.settings.verbose:
                        self.log(f"{chosen}: {said}")
                next_disturbance = time.monotonic() + step
            if (time.monotonic() > next_check or self.due or self._is_failing()) and not self.tally.failures:
                begun = time.monotonic()
                self.checkpoint(anew=self.tally.counts["comparisons"] % 2 == 0)
                # The storm goes on for as long as is wanted, whatever a comparison costs on a busy machine.
                until, next_disturbance = (at + time.monotonic() - begun for at in (until, next_disturbance))
                self.due, next_check = False, time.monotonic() + self.settings.every
            self.tree.rest(0.0, 1.0)

    def _deck(self):
        """Acts in turns: each once, the one first whose consequences come late, then each as often as its weight says."""
        wanted = [(name, weight, function) for name, weight, function in ACTS if not self.settings.acts or name in self.settings.acts]
        self.rng.shuffle(wanted)
        yield from sorted([(name, function) for name, _, function in wanted], key=lambda one: one[1] is not a_large_file_grows)
        while True:
            deck = [(name, function) for name, weight, function in wanted for _ in range(weight)]
            self.rng.shuffle(deck)
            yield from deck

    def work(self) -> None:
        """Something to index, while a disturbance goes on."""
        last = self.ledger.last()
        is_there = last is not None and (self.world.repo / last).is_file() and (self.world.repo / last).stat().st_size < LARGEST
        path = last if is_there and self.rng.random() < 0.5 else self.tree.pick_for_a_mark()
        if path is not None:
            self.tree.marked(path, self.tree.read(path), "edit of")

    def much_work(self, most: int = 100) -> None:
        """Many files with a function more."""
        found = [path for path in self.tree.files() if languages.language_of(path) in languages.FUNCTIONS and (self.world.repo / path).is_file()]
        paths = self.rng.sample(found, min(most, len(found)))
        with self.tree.anything(f"a function more in {len(paths)} files"):
            for path in paths:
                with open(self.world.repo / path, "ab") as file:
                    file.write(languages.function(path, self.tree.new_name(), self.tree.name()))

    def _tended(self) -> None:
        """A tree that has become far smaller or larger than it was starts again."""
        now = len(self.tree.files(None)) if self.files < 5000 or self.rng.random() < 0.02 else self.files
        if self.files * 0.6 - 3 <= now <= self.files * 1.6 + 20 or self.settings.acts:
            return
        with self.tree.anything("back to the first commit", of_rules=True):
            self.world.git("checkout", "-q", "-f", "-B", "main", self.origin)
            self.world.git("clean", "-q", "-ffdx")
        self.tree.listed.clear()
        self.ledger.unsuitable.clear()

    def _is_failing(self) -> bool:
        return any(asker.failing_since is not None and time.monotonic() - asker.failing_since > FAILING_FOR for asker in self.askers)

    def _suspicions(self) -> None:
        """An answer that calls itself up to date and contradicts a mark: a fresh index says who is right."""
        for mark, head, text in self.ledger.take_suspects()[:1]:
            self.suspicions += 1
            if self.suspicions > MOST_SUSPICIONS:
                self.tally.add("suspicions not looked into")
                return
            fresh = comparison.has(store.newest(self.world.index_anew()), mark.name, mark.path)
            if fresh == mark.is_there and self.ledger.holds(mark):
                how = "lacks" if fresh else "still has"
                self.tally.wrong(f"an answer that calls itself up to date {how} `{mark.name}` of {mark.path}: {head[:300]!r}\n{text[:600]}")
            else:
                self.ledger.forget(mark)

    def at_rest(self, askers: list[Asker]) -> float:
        """Asks until answers are up to date. Gives the seconds that it took."""
        begun = time.monotonic()
        for asker in askers:
            try:
                asker.ask(*(SMALL if asker.kind != "command" else ("search", {"query": "main", "mode": "name"})), fresh=True)
                asker.failing_since = None
            except Gone as failure:
                if not asker.was_ended:
                    self.tally.wrong(f"{asker.kind}: {failure}")
                asker.put_away()
                asker.ask(*SMALL, fresh=True)
            except StaysStale as failure:
                self.tally.wrong(f"stuck: {asker.kind}: {failure}")
        return time.monotonic() - begun

    def checkpoint(self, anew: bool) -> None:
        """Without edits, everything has to be up to date within the bound, by itself, and equal to a fresh index. `anew`: new processes,
        which know only what is on the disk, index one edit more."""
        with alone(self.askers):
            took = self.at_rest(self.askers)
            if anew and not self.tally.failures:
                for asker in self.askers:
                    asker.put_away()
                self.work()
                took = max(took, self.at_rest(self.askers))
            if self.tally.failures:
                return
            kept, fresh = store.newest(self.world.top / "kept"), store.newest(self.world.index_anew())
            for line in comparison.rows(kept, fresh):
                self.tally.wrong(line)
            before, self.content = self.content, store.sample(fresh)
            self.tree.content = self.content
            self.tally.add("comparisons")
            server = next((asker.server for asker in self.askers if asker.kind == "server"), None)
            if server is not None and not self.tally.failures:
                asked, different = comparison.answers(self.world, server, self.rng, self.content, before, set())
                self.tally.add("compared answers", asked)
                for line in different:
                    self.tally.wrong(line)
        if self.settings.verbose or self.tally.failures:
            self.log(f"checkpoint: up to date after {took:.1f} s, {len(self.tally.failures)} lines of difference")

    def _left_alone(self) -> str:
        """Whether what went wrong mends itself: all processes are gone, one file is edited, and a new server takes it in, or a command."""
        patience, self.world.patience = self.world.patience, min(self.world.patience, 20.0)
        try:
            for asker in self.askers:
                asker.close()
            self.work()
            begun, server = time.monotonic(), self.world.serve()
            try:
                self.world.ask(server, *SMALL)
                return f"after one more edit a new server is up to date within {time.monotonic() - begun:.0f} s"
            except (Gone, StaysStale) as failure:
                self.world.patience = patience
                code, _, said = self.world.command("index")
                return f"stuck for good: after one more edit a new server: {failure}; `cograph index` ends with {code}: {said.strip()[-300:]!r}"
        except (Gone, StaysStale) as failure:
            return f"after one more edit: {failure}"

    def _report(self) -> None:
        """Prints what is wrong and how it came, and keeps the place."""
        log, kept = self.settings.log, self.top / "kept-place"
        log(f"WRONG in {self.project.name}, seed {self.settings.seed}, {time.monotonic() - self.begun:.0f} s after the start:")
        for line in self.tally.failures[:20]:
            log(f"  {line}")
        log(f"  {self.alone}")
        log("  the last edits:")
        for line in self.tree.last[-25:] if self.tree else []:
            log(f"    {line}")
        log(f"  again: scripts/stress soak BINARY --only '{self.project.name}' --seed {self.settings.seed}, with the same corpora and options")
        try:
            # The disk of the cache goes with this process: what is on it is copied.
            shutil.copytree(self.world.repo, kept / "repo", symlinks=True)
            shutil.copytree(self.world.top / "kept", kept / "cache", symlinks=True, ignore=shutil.ignore_patterns("run"))
            log(f"  the place is kept: {kept} (COGRAPH_CACHE_DIR={kept}/cache, repository {kept}/repo)")
        except (OSError, shutil.Error) as error:
            log(f"  the place could not be kept whole: {str(error)[:200]}")
