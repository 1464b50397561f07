"""A private place: a home, caches and a repository in a temporary directory, and the program at work in it."""
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from client import HELLO, Server, children_of
from runtime import processes_of

# The first line of an answer that does not speak of the files as they are.
# A build leaves slow files to a run after it.
NOT_YET = re.compile(r"generation \d+, .*[,;] stale: |; \d+ slow files? not indexed yet|is being indexed for the first time \(")

# A failure to index files is retried, after pauses of up to a minute (`job::GREATEST_PAUSE`); one that lasts for this number of seconds
# will not end.
GIVEN_UP_FOR = 90.0


class Gone(Exception):
    """The server ended, or did not answer."""


class StaysStale(Exception):
    """Answers did not stop to say that they are stale."""


@dataclass(frozen=True)
class Answer:
    """An answer of a tool."""

    text: str
    structured: object = None
    meta: dict = field(default_factory=dict)
    error: bool = False

    def is_stale(self) -> bool:
        return bool(self.meta.get("stale")) or bool(NOT_YET.search(self.text.partition("\n")[0]))


class World:
    """One repository with a cache that is kept and one that is made anew for every comparison, by the same program or by another build."""

    def __init__(self, binary: Path, top: Path, patience: float = 60.0, kept_environment: dict | None = None, fresh: Path | None = None):
        self.binary, self.fresh, self.top, self.patience = binary, fresh or binary, top, patience
        self.kept_environment = kept_environment or {}
        self.repo, self.home = top / "repo", top / "home"
        self.repo.mkdir(parents=True)
        self.home.mkdir()
        self.servers: list[Server] = []
        self.processes: list[subprocess.Popen] = []

    def program(self, cache: str) -> Path:
        """The build that reads and writes a cache."""
        return self.fresh if cache == "fresh" else self.binary

    def environment(self, cache: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TMPDIR", "LD_LIBRARY_PATH")}
        kept |= {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"), "COGRAPH_CACHE_DIR": str(self.top / cache)}
        return kept | (self.kept_environment if cache == "kept" else {})

    def git(self, *arguments: str) -> bool:
        """Runs git with settings of its own and a clock that stands still. True if it succeeded."""
        person = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
                  for what, value in (("NAME", "edits"), ("EMAIL", "edits@localhost"), ("DATE", "2024-01-01T00:00:00Z"))}
        quiet = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"}
        settings = ["-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-c", "advice.detachedHead=false"]
        run = subprocess.run(["git", *settings, *arguments], cwd=self.repo, env=self.environment("none") | person | quiet,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return run.returncode == 0

    def git_lines(self, *arguments: str) -> list[str]:
        """What git prints."""
        run = subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=self.repo, env=self.environment("none"),
                             stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return run.stdout.decode("utf-8", "surrogateescape").splitlines() if run.returncode == 0 else []

    def start(self, *arguments: str, cache: str = "kept") -> subprocess.Popen:
        """Starts the command line and does not wait."""
        process = subprocess.Popen([self.program(cache), *arguments], cwd=self.repo, env=self.environment(cache), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def command(self, *arguments: str, cache: str = "kept") -> tuple[int, str, str]:
        """Runs the command line. Gives its exit code and what it printed."""
        try:
            run = subprocess.run([self.program(cache), *arguments], cwd=self.repo, env=self.environment(cache), stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=self.patience, check=False)
        except subprocess.TimeoutExpired as error:
            raise StaysStale(f"`cograph {' '.join(arguments)}` did not end within {self.patience:.0f} s") from error
        return run.returncode, run.stdout.decode("utf-8", "replace"), run.stderr.decode("utf-8", "replace")

    def index(self, cache: str, *more: str) -> None:
        code, _, said = self.command("index", *more, cache=cache)
        if code != 0:
            raise Gone(f"`cograph index` ended with {code}: {said.strip()[-300:]}")

    def index_anew(self) -> Path:
        """A cache that holds nothing but an index of the files as they are."""
        shutil.rmtree(self.top / "fresh", ignore_errors=True)
        self.index("fresh")
        return self.top / "fresh"

    def serve(self, cache: str = "kept") -> Server:
        server = Server([str(self.program(cache)), "mcp"], self.environment(cache), self.repo)
        self.greet(server)
        return server

    def greet(self, server: Server) -> None:
        """Shakes hands with a server that is ended with the others, without waiting for its hand."""
        self.servers.append(server)
        server.start("initialize", HELLO)
        server.send({"method": "notifications/initialized"})

    def ask(self, server: Server, tool: str, arguments: dict, fresh: bool = True) -> Answer:
        """Asks a tool, again and again until the answer does not say any more that it is stale."""
        begun, pause = time.monotonic(), 0.01
        while True:
            answer = self._ask_once(server, tool, arguments)
            if not fresh or not answer.is_stale():
                return answer
            waited = time.monotonic() - begun
            if waited > (min(self.patience, GIVEN_UP_FOR) if "not indexed" in str(answer.meta.get("stale")) else self.patience):
                raise StaysStale(f"`{tool}` {arguments}: after {waited:.0f} s still {answer.text.partition(chr(10))[0]!r}")
            time.sleep(pause)
            pause = min(pause * 2, 0.5)

    def _ask_once(self, server: Server, tool: str, arguments: dict) -> Answer:
        try:
            number = server.call(tool, arguments)
            until = time.monotonic() + self.patience
            while (said := server.wait(number, 0.25)) is None:
                if server.process.poll() is not None or time.monotonic() > until:
                    raise Gone(f"`{tool}` {arguments} was not answered; exit code of the server: {server.process.poll()}")
        except (BrokenPipeError, ValueError) as error:
            raise Gone(f"the server is gone: {error}") from error
        result = said[0] or {}
        text = "\n".join(part.get("text", "") for part in result.get("content", [])) if "content" in result else repr(result)
        return Answer(text, result.get("structuredContent"), result.get("_meta") or {}, bool(result.get("isError")) or "content" not in result)

    def retire(self, server: Server | None) -> None:
        """Ends a server in the ordinary way."""
        if server is not None:
            self.servers.remove(server)
            server.end()

    def kill(self, server: Server) -> None:
        """Ends a server with no chance to tidy up."""
        server.process.kill()
        self.retire(server)

    def close(self) -> list[int]:
        """Ends everything. Gives the processes of the program that had to be ended although their parent was gone."""
        for server in list(self.servers):
            self.kill(server)
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.processes.clear()
        left = self._left_behind()
        shutil.rmtree(self.top, ignore_errors=True)
        return left

    def _left_behind(self, wait: float = 3.0) -> list[int]:
        until, caches = time.monotonic() + wait, [self.top / "kept", self.top / "fresh"]
        while (left := [process for cache in caches for process in processes_of(cache)]) and time.monotonic() < until:
            time.sleep(0.05)
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass  # it has ended by itself
        return left


def descendants(process: int) -> list[int]:
    """Processes below one, however deep."""
    found, waiting = [], [process]
    while waiting:
        for child in children_of(waiting.pop()):
            found.append(child)
            waiting.append(child)
    return found
