"""The clients during the storm: those of servers of their own, one of a runtime, and the command line. Each judges every
answer: whether it names the state that it is about, and whether one that claims to be up to date has what was written before."""
import random
import re
import subprocess
import threading
import time
from contextlib import contextmanager

from client import Server
from judge import FRESH, RESERVED, STALE, judge
from ledger import Ledger, Mark
from runtime import Runtime
from world import Answer, Gone, StaysStale, World

OTHERS = [
    ("search", lambda name: {"query": name}), ("search", lambda name: {"query": name[:4], "mode": "substring"}),
    ("explore", lambda name: {"query": name}), ("show", lambda name: {"targets": [name]}), ("outline", lambda _: {"path": "."}),
    ("trace", lambda name: {"symbol": name}), ("references", lambda name: {"symbol": name}), ("overview", lambda _: {}),
    ("grep", lambda name: {"pattern": name}), ("sql", lambda _: {"statement": "SELECT kind, count(*) FROM symbols GROUP BY kind"}),
]
# A tool may say of a name that it does not know it: these are answers as well.
MAY_FAIL = {"show", "trace", "references", "grep", "explore", "overview"}
# What `sql` says of a statement that took too long: on a busy machine a scan of all symbols can.
STOPPED = "the statement was stopped by the time limit"


class Asker:
    """Asks one question after the other. `turn` is held for each: who holds it asks alone."""

    def __init__(self, kind: str, world: World, ledger: Ledger, tally, seed: str):
        self.kind, self.world, self.ledger, self.tally = kind, world, ledger, tally
        self.rng = random.Random(seed)
        self.turn = threading.Lock()
        self.over = threading.Event()
        self.names = ["main"]
        self.runtime: Runtime | None = None
        self.server: Server | None = None
        self.was_ended = False  # by the storm
        self.failing_since: float | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def processes(self) -> list[tuple[str, int]]:
        """Servers whose memory counts."""
        found = [("runtime", self.runtime.process.pid)] if self.runtime else []
        return [*found, ("server", self.server.process.pid)] if self.server else found

    def start(self) -> None:
        """Starts what it asks, if that does not run."""
        if self.server is not None or self.kind == "command":
            return
        if self.kind == "server":
            self.server = self.world.serve()
        else:
            environment = self.world.environment("kept")
            self.runtime = Runtime(str(self.world.binary), environment)
            self.server = Server([str(self.world.binary), "mcp", "--upstream", self.runtime.addresses[0]], environment, self.world.repo)
            self.world.greet(self.server)
        self.was_ended = False

    def end(self, kill: bool) -> None:
        """Ends it, with no chance to tidy up or in the ordinary way. The asker finds it gone."""
        self.was_ended = True
        server, runtime = self.server, self.runtime
        if runtime is not None and runtime.process.poll() is None:
            runtime.process.kill() if kill else runtime.process.terminate()
        if server is not None and kill:
            server.process.kill()
        elif server is not None:
            server.process.stdin.close()

    def put_away(self) -> None:
        server, runtime, self.server, self.runtime = self.server, self.runtime, None, None
        if server is not None:
            if server.faults:
                self.tally.wrong(f"{self.kind}: {server.faults[0]}")
            self.world.kill(server)
        if runtime is not None:
            runtime.kill()

    def ask(self, tool: str, arguments: dict, fresh: bool = False) -> Answer:
        """One answer, or the first that is not stale."""
        if self.kind != "command":
            self.start()
            return self.world.ask(self.server, tool, arguments, fresh)
        begun = time.monotonic()
        while True:
            answer = self._command(tool, arguments)
            if not fresh or not answer.is_stale() and not answer.error:
                return answer
            if (waited := time.monotonic() - begun) > self.world.patience:
                raise StaysStale(f"`cograph {tool}` {arguments}: after {waited:.0f} s still {answer.text.partition(chr(10))[0]!r}")
            time.sleep(0.1)

    def _command(self, tool: str, arguments: dict) -> Answer:
        first, *more = arguments.items()
        code, said, wrong = self.world.command(tool, *(part for name, value in more for part in (f"--{name}", str(value))), "--", str(first[1]))
        text = said or wrong
        # Nothing found is exit code 1 as well.
        return Answer(text, error=code != 0 and not re.search("generation|up to date| shows them here", text.partition("\n")[0]))

    def _question(self) -> tuple[Mark | None, str, dict]:
        mark = self.ledger.pick(self.rng) if self.rng.random() < 0.7 else None
        if mark is not None:
            if self.rng.random() < 0.5:
                return mark, "sql", {"statement": f"SELECT path FROM symbols WHERE name = '{mark.name}'"}
            return mark, "search", {"query": mark.name, "mode": "name"}
        if self.kind == "command":
            return None, "search", {"query": self.rng.choice(self.names), "mode": "name"}
        tool, arguments = self.rng.choice(OTHERS)
        return None, tool, arguments(self.rng.choice(self.names))

    def _run(self) -> None:
        while not self.over.wait(self.rng.uniform(0.0, 0.5 if self.kind != "command" else 1.5)):
            with self.turn:
                try:
                    self._once()
                except Exception as error:  # noqa: BLE001 -- any exception is a failure that the soak reports
                    self.tally.wrong(f"{self.kind}: {type(error).__name__}: {error}")
                    return

    def _once(self) -> None:
        mark, tool, arguments = self._question()
        asked = time.monotonic()
        try:
            answer = self.ask(tool, arguments)
        except (Gone, StaysStale, subprocess.SubprocessError, OSError, RuntimeError) as failure:
            if not self.was_ended and not self.tally.is_disturbed():
                self.tally.wrong(f"{self.kind}: {failure}")
            self.put_away()
            return
        self._judged(answer, mark, tool, arguments, asked)

    def _judged(self, answer: Answer, mark: Mark | None, tool: str, arguments: dict, asked: float) -> None:
        """Counts an answer, and what is wrong with it."""
        said = judge(answer)
        head = answer.text.partition("\n")[0]
        wrong = said.wrong if not (answer.error and (tool in MAY_FAIL or self.tally.is_disturbed())) else ""
        if said.failed and not self.tally.is_disturbed(said.waits):
            wrong = wrong or "an index run has failed although nothing was done to it"
        self.tally.answer(said, f"{self.kind}, `{tool}` {arguments}: {wrong}: {head[:250]!r} .. {head[-250:]!r}" if wrong else "", asked)
        if said.state in (FRESH, RESERVED):
            self.failing_since = None
            # A statement that was stopped reports that, and that rows may be missing.
            if mark is not None and self.ledger.holds(mark) and STOPPED not in answer.text:
                below = answer.text.partition("\n")[2]
                found = mark.path in below and (tool == "sql" or mark.name in below)
                if found != mark.is_there:
                    self.ledger.suspect(mark, head, answer.text)
        elif said.state == STALE and said.failed and self.failing_since is None:
            self.failing_since = time.monotonic()

    def close(self) -> None:
        """Asks no more."""
        self.over.set()
        self.thread.join()
        self.put_away()


@contextmanager
def alone(askers: list[Asker]):
    """Holds the turns of all, so that none of them asks meanwhile."""
    for asker in askers:
        asker.turn.acquire()
    try:
        yield
    finally:
        for asker in askers:
            asker.turn.release()
