"""What answers must say: functions with names of their own that the storm has written, and in which file each is at the moment. An edit
that is under way makes what it touches unknown until it has ended."""
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# The most marks, of the last ones, that questions are about.
MOST = 24


@dataclass(frozen=True)
class Mark:
    """A function that must be found in a file, or must not."""

    name: str
    path: str
    is_there: bool
    version: int


class Ledger:
    """The marks, changed by the one editor and read by all who ask."""

    def __init__(self, root: Path):
        self.root = root
        self.lock = threading.Lock()
        self.marks: dict[str, Mark] = {}
        self.versions = 0
        self.unsuitable: set[str] = set()  # files whose text need not be indexed
        self.suspects: list[tuple[Mark, str, str]] = []

    def pick(self, rng) -> Mark | None:
        with self.lock:
            return rng.choice(list(self.marks.values())) if self.marks else None

    def last(self) -> str | None:
        """The file that was written last."""
        with self.lock:
            return self.marks[next(reversed(self.marks))].path if self.marks else None

    def holds(self, mark: Mark) -> bool:
        """Whether a mark has been what it is ever since it was picked."""
        with self.lock:
            return self.marks.get(mark.name) == mark

    def suspect(self, mark: Mark, head: str, text: str) -> None:
        """An answer that calls itself up to date contradicts a mark."""
        with self.lock:
            self.suspects.append((mark, head, text))

    def take_suspects(self) -> list[tuple[Mark, str, str]]:
        with self.lock:
            found, self.suspects = self.suspects, []
            return [suspect for suspect in found if self.marks.get(suspect[0].name) == suspect[0]]

    def clear(self) -> None:
        with self.lock:
            self.marks.clear()

    def forget(self, mark: Mark) -> None:
        """Its file is not indexed as it is thought to be."""
        with self.lock:
            self.marks.pop(mark.name, None)
            self.unsuitable.add(mark.path)

    def suits(self, path: str) -> bool:
        return path not in self.unsuitable and not self._ignored([path])

    @contextmanager
    def edit(self, path: str, new: str | None = None):
        """An edit of one file, which brings a mark if one is named. Marks of the file that are gone from it afterwards are absent."""
        with self.lock:
            taken = {name: mark for name, mark in self.marks.items() if mark.path == path}
            for name in taken:
                del self.marks[name]
        yield
        self._read(taken)
        if new is not None and path not in self.unsuitable:
            self._put(new, path, True)

    @contextmanager
    def any_edit(self, of_rules: bool = False):
        """An edit that may touch everything. What it changes is not asked about any more; what it takes away is absent."""
        with self.lock:
            taken, self.marks = self.marks, {}
        before = {mark.path: self._bytes(mark.path) for mark in taken.values()}
        yield
        if of_rules:
            return
        unchanged = {path for path, data in before.items() if (now := self._bytes(path)) == data or now is None}
        self.unsuitable |= before.keys() - unchanged
        self._read({name: mark for name, mark in taken.items() if mark.path in unchanged})

    def _read(self, taken: dict[str, Mark]) -> None:
        ignored = self._ignored({mark.path for mark in taken.values()})
        texts = {mark.path: self._bytes(mark.path) or b"" for mark in taken.values()}
        for name, mark in taken.items():
            if mark.path not in ignored:
                self._put(name, mark.path, name.encode() in texts[mark.path])

    def _put(self, name: str, path: str, is_there: bool) -> None:
        with self.lock:
            self.versions += 1
            self.marks[name] = Mark(name, path, is_there, self.versions)
            while len(self.marks) > MOST:
                del self.marks[next(iter(self.marks))]

    def _bytes(self, path: str) -> bytes | None:
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return None

    def _ignored(self, paths) -> set[str]:
        paths = sorted(paths)
        if not paths:
            return set()
        run = subprocess.run(["git", "-c", "safe.directory=*", "check-ignore", "--no-index", "-z", "--stdin"], cwd=self.root, capture_output=True,
                             input=b"\0".join(path.encode() for path in paths), check=False)
        # Rules that git cannot read make nothing certain.
        return set(paths) if run.returncode > 1 else {path.decode() for path in run.stdout.split(b"\0") if path}
