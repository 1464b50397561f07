"""How a change gets into the kept index: by a server that runs, by commands in turn, by several processes at once, and by processes
that are killed meanwhile. Each way makes the change itself, so that it can have processes at work when it comes."""
import os
import random
import signal
import threading
import time
from collections.abc import Callable

from world import Gone, StaysStale, World, descendants

# Who answers whether the index is up to date: the smallest question there is.
SMALL = ("search", {"query": "main", "mode": "name", "budget": 100})


class Taker:
    """The processes that keep one index up to date, from state to state."""

    def __init__(self, world: World, rng: random.Random):
        self.world, self.rng = world, rng
        self.server = None
        self.kills = 0

    def resident(self):
        """A server that runs and has answered."""
        if self.server is None:
            self.server = self.world.serve()
            self.world.ask(self.server, *SMALL)
        return self.server

    def dismiss(self) -> None:
        """No server runs."""
        server, self.server = self.server, None
        self.world.retire(server)

    def lose(self) -> None:
        """The server is killed, if it lives."""
        server, self.server = self.server, None
        if server is not None:
            self.world.kill(server)

    def by_server(self, edits: list[Callable[[], None]]) -> None:
        self.resident()
        for edit in edits:
            edit()
            if self.rng.random() < 0.3:
                # A question between two edits: part of the change is applied.
                self.world.ask(self.server, *SMALL, fresh=False)
        self.world.ask(self.server, *SMALL)

    def by_command(self, edits: list[Callable[[], None]]) -> None:
        if self.rng.random() < 0.6:
            self.dismiss()
        for edit in edits:
            edit()
        self.world.index("kept")

    def by_question(self, edits: list[Callable[[], None]]) -> None:
        """A question on the command line, which says whether it speaks of the files as they are."""
        if self.rng.random() < 0.6:
            self.dismiss()
        for edit in edits:
            edit()
        until = time.monotonic() + self.world.patience
        while True:
            _, said, wrong = self.world.command("search", "main", "--mode", "name")
            head = (said or wrong).partition("\n")[0]
            if head.endswith("up to date"):
                return
            if time.monotonic() > until:
                raise StaysStale(f"`cograph search`: after {self.world.patience:.0f} s still {head!r}")
            time.sleep(0.05)

    def by_a_new_server(self, edits: list[Callable[[], None]]) -> None:
        self.dismiss()
        for edit in edits:
            edit()
        self.world.ask(self.resident(), *SMALL)

    def killed(self, edits: list[Callable[[], None]]) -> None:
        """What takes the change in, or a process below it, is killed at some moment; then another one does it."""
        who = self.rng.choice(["server", "command", "child of the server", "child of the command"])
        delay = self.rng.random() * self.rng.choice([0.01, 0.04, 0.15])
        if "server" in who:
            self.resident()
        else:
            self.dismiss()
        for edit in edits:
            edit()
        if "server" in who:
            process = self.server.process
            self.server.call(*SMALL)
        else:
            process = self.world.start("index", *(["--force"] if self.rng.random() < 0.3 else []))
        if who.startswith("child"):
            self._kill_child(process, delay)
        else:
            time.sleep(delay)
            if process.poll() is None:
                process.kill()
                self.kills += 1
            if "server" in who:
                self.lose()
        if "command" in who:
            process.wait(self.world.patience)
        if who == "child of the server":
            self.world.ask(self.server, *SMALL)
        elif self.rng.random() < 0.5:
            self.world.index("kept")
        else:
            self.world.ask(self.resident(), *SMALL)

    def _kill_child(self, process, delay: float) -> None:
        until = time.monotonic() + 0.4
        while time.monotonic() < until and process.poll() is None:
            if children := descendants(process.pid):
                time.sleep(delay / 4)
                for child in children:
                    try:
                        os.kill(child, signal.SIGKILL)
                        self.kills += 1
                    except ProcessLookupError:
                        pass  # it was faster
                return
            time.sleep(0.001)

    def several(self, edits: list[Callable[[], None]]) -> None:
        """Two servers and a command at once, while the edits go on."""
        other = self.world.serve()
        self.resident()
        self.world.ask(other, *SMALL)
        command, failures = None, []

        def asks(server) -> None:
            try:
                self.world.ask(server, *SMALL)
            except (Gone, StaysStale) as failure:
                failures.append(failure)

        for at, edit in enumerate(edits):
            edit()
            if at == 0:
                command = self.world.start("index")
                threads = [threading.Thread(target=asks, args=[server]) for server in (self.server, other)]
                for thread in threads:
                    thread.start()
        for thread in threads:
            thread.join()
        command.wait(self.world.patience)
        if failures:
            raise failures[0]
        for server in (self.server, other):
            self.world.ask(server, *SMALL)
        # Either of the two answers from now on.
        if self.rng.random() < 0.5:
            self.server, other = other, self.server
        self.world.retire(other)


def ways(kill: int, several: int) -> tuple[list[str], list[int]]:
    """The ways and how often each is taken: shares of a hundred of two are given."""
    rest = max(0, 100 - kill - several)
    names = ["by_server", "by_command", "by_question", "by_a_new_server", "killed", "several"]
    return names, [rest * 50, rest * 20, rest * 15, rest * 15, kill * 100, several * 100]
