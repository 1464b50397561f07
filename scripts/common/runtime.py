"""A runtime that clients share, for measurements: `cograph serve` with a look at its process."""
import os
import subprocess

from client import children_of


class Runtime:
    """One `cograph serve`."""

    def __init__(self, binary, environment, arguments=()):
        self.process = subprocess.Popen([binary, "serve", *arguments], env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addresses = []
        for _ in range(1 + ("--http" in arguments)):
            line = self.process.stdout.readline()
            if not line.startswith("listening on "):
                raise RuntimeError(f"the runtime does not listen: {line!r}, exit code {self.process.wait()}")
            self.addresses.append(line.split()[-1])

    def status(self, line):
        """Bytes of memory by a line of the system's account: VmRSS, VmHWM."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(text.split()[1]) << 10 for text in file if text.startswith(line))

    def share(self):
        """Bytes of memory that the system loses by it: a page that several have, or one several times, counts in parts."""
        with open(f"/proc/{self.process.pid}/smaps_rollup", encoding="ascii") as file:
            return next(int(text.split()[1]) << 10 for text in file if text.startswith("Pss:"))

    def descriptors(self):
        """What the process has open."""
        found = []
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                found.append(os.readlink(f"/proc/{self.process.pid}/fd/{number}"))
            except FileNotFoundError:
                pass  # it was closed meanwhile
        return found

    def watchers(self):
        """Watches of the file system."""
        return sum("inotify" in target for target in self.descriptors())

    def threads(self):
        """Threads of the process."""
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def children(self):
        """Processes that it has started and that still run."""
        return children_of(self.process.pid)

    def kill(self):
        """Kills it."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def end(self, timeout=10.0):
        """Asks it to end. Gives its exit code, or None if it had to be killed."""
        self.process.terminate()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.kill()


def processes_of(cache):
    """Processes whose index is in a directory: whatever is left of a run."""
    mark, found = f"COGRAPH_CACHE_DIR={cache}".encode(), []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:
                pass  # it has ended, or is not ours
    return found
