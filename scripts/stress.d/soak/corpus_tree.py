"""The tree of `edits` for corpora of any size: its list of files is kept for a while, and each edit goes through the ledger."""
import random
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import languages
from ledger import Ledger
from store import Content
from tally import Tally
from tree import Begun, Tree
from world import World


class CorpusTree(Tree):
    """A repository in a storm."""

    def __init__(self, world: World, rng: random.Random, content: Content, ledger: Ledger, tally: Tally, over: threading.Event, pace: float):
        super().__init__(world, rng, content, Begun())
        self.ledger, self.tally, self.over = ledger, tally, over  # over: the storm has ended
        self.pace = pace  # what a pause is multiplied with
        self.listed: dict = {}
        self.edits = 0
        self.last: list[str] = []

    def files(self, endings=languages.ENDINGS) -> list[str]:
        """Paths of regular files as they were a moment ago."""
        key = endings
        at, took, found = self.listed.get(key, (0.0, 0.0, None))
        if found is None or time.monotonic() - at > took * 20:
            begun = time.monotonic()
            found = super().files(endings)
            self.listed[key] = (time.monotonic(), time.monotonic() - begun, found)
        return found

    def pick(self, endings=languages.ENDINGS) -> str | None:
        return super().pick(endings)

    def pick_for_a_mark(self, below: str = "") -> str | None:
        """A file whose functions are known to be indexed."""
        found = self.files()
        for _ in range(40):
            if not found:
                return None
            path = self.rng.choice(found)
            if path.startswith(below) and self._suits(path):
                return path
        return None

    def _suits(self, path: str) -> bool:
        try:
            size = (self.root / path).stat().st_size
        except OSError:
            return False
        return size < 400_000 and languages.language_of(path) in languages.FUNCTIONS and self.ledger.suits(path)

    def marked(self, path: str, data: bytes, said: str) -> None:
        """Writes a file with one more function, whose name only it has."""
        name = f"mark_{self.edits}_{self.rng.randrange(1 << 24):06x}"
        with self.ledger.edit(path, name):
            self.write(path, data + languages.function(path, name, self.name()))
        self.note(f"{said} {path}, {name}")

    @contextmanager
    def anything(self, said: str, of_rules: bool = False):
        with self.ledger.any_edit(of_rules):
            yield
        self.ledger.unsuitable |= self.touched
        self.note(said)

    def note(self, said: str) -> None:
        self.edits += 1
        self.touched.clear()
        self.last = [*self.last[-39:], f"{time.strftime('%H:%M:%S')} {said}"]

    def rest(self, least: float, most: float) -> None:
        """As long as people and programs think between two edits."""
        self.over.wait(self.rng.uniform(least, most) * self.pace)

    def until_indexed(self, most: float) -> None:
        """Waits for an answer that has what was written up to now, at most `most` seconds: editors check the outcome."""
        begun = time.monotonic()
        while self.tally.fresh_asked < begun and time.monotonic() - begun < most and not self.tally.failures:
            self.over.wait(0.05)

    def below(self, most: int) -> list[str]:
        """Files of a directory with not too many."""
        found = self.directories()
        for _ in range(20):
            if not found:
                break
            directory = self.rng.choice(found)
            files = [path for path in self.files() if path.startswith(f"{directory}/")]
            if 0 < len(files) <= most:
                return files
        return self.rng.sample(self.files(), min(most // 4, len(self.files())))

    def bytes(self) -> int:
        """Bytes of all files, as they were a moment ago."""
        sizes = 0
        for path in self.files():
            with suppress(OSError):
                sizes += (self.root / path).stat().st_size
        return sizes

    def directories(self) -> list[str]:
        return sorted({str(Path(path).parent) for path in self.files()} - {"."})
