"""A repository that is changed, and the list of changes that there are."""
import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from store import Content
from world import World

COMMENT = {".py": "# {}", ".toml": "# {}"}
FUNCTION = {
    ".py": "\n\ndef {0}(first, second=None):\n    return {1}(first)\n",
    ".rs": "\npub fn {0}(first: usize) -> usize {{\n    {1}(first)\n}}\n",
    ".go": "\nfunc {0}(first int) int {{\n\treturn {1}(first)\n}}\n",
    ".java": "\nclass In_{0} {{\n    int {0}(int first) {{ return {1}(first); }}\n}}\n",
    ".js": "\nexport function {0}(first) {{\n  return {1}(first);\n}}\n",
    ".ts": "\nexport function {0}(first: number): number {{\n  return {1}(first);\n}}\n",
    ".c": "\nint {0}(int first)\n{{\n\treturn {1}(first);\n}}\n",
}
ALIKE = {".tsx": ".ts", ".mts": ".ts", ".jsx": ".js", ".mjs": ".js", ".cjs": ".js", ".h": ".c", ".cc": ".c", ".cpp": ".c", ".hpp": ".c"}
ALIKE |= {".pyi": ".py"}
SOURCES = tuple(FUNCTION) + tuple(ALIKE)
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]{2,}")


@dataclass
class Begun:
    """First halves of changes whose second halves are made in later states."""

    # Files that were cut in the middle, as they are to become.
    halves: dict[str, bytes] = field(default_factory=dict)
    # Names that are used and not defined yet: the file to define each in, and the name of the definition to copy.
    undefined: dict[str, tuple[str, str]] = field(default_factory=dict)

    def clear(self) -> None:
        self.halves.clear()
        self.undefined.clear()


class Tree:
    """A repository that is changed, and what is known of it from before the change."""

    def __init__(self, world: World, rng: random.Random, content: Content, begun: Begun):
        self.world, self.root, self.rng, self.content = world, world.repo, rng, content
        self.halves, self.undefined = begun.halves, begun.undefined
        self.due = sorted(begun.undefined)  # used since an earlier state
        self.touched: set[str] = set()

    def files(self, endings: tuple[str, ...] | None = SOURCES) -> list[str]:
        """Paths of regular files."""
        found = []
        for directory, names, files in os.walk(self.root):
            if ".git" in names:
                names.remove(".git")
            names.sort()
            for name in sorted(files):
                path = Path(directory, name)
                if (endings is None or name.endswith(endings)) and not path.is_symlink():
                    found.append(str(path.relative_to(self.root)))
        return found

    def directories(self) -> list[str]:
        return sorted({str(Path(path).parent) for path in self.files()} - {"."})

    def pick(self, endings: tuple[str, ...] | None = SOURCES) -> str | None:
        """A file; those of few lines as often as others."""
        found = self.files(endings)
        return self.rng.choice(found) if found else None

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "r+b" if target.exists() else "wb") as file:
            file.truncate(len(data))
            file.write(data)
        self.touched.add(path)

    def remove(self, path: str) -> None:
        (self.root / path).unlink()
        self.touched.add(path)

    def rename(self, old: str, new: str) -> bool:
        """Moves a file or directory to where nothing is."""
        if old == new or new.startswith(f"{old}/") or os.path.lexists(self.root / new):
            return False
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        os.rename(self.root / old, self.root / new)
        self.touched |= {old, new}
        return True

    def symbol(self, *kinds: str) -> tuple | None:
        """A symbol that a file, as it was, has."""
        found = [symbol for symbol in self.content.symbols if symbol[4] in kinds and (self.root / symbol[0]).is_file()]
        return self.rng.choice(found) if found else None

    def name(self) -> str:
        """A name that a symbol has, or a new one."""
        names = sorted(name for name in self.content.names if name.isidentifier())
        return self.rng.choice(names) if names and self.rng.random() < 0.85 else self.new_name()

    def new_name(self) -> str:
        return f"made_{self.rng.randrange(1 << 20):05x}"


CHANGES: list[tuple[str, int, Callable[[Tree], str | None]]] = []


def change(weight: int = 2):
    """Puts a function into the list of changes."""
    def add(function):
        CHANGES.append((function.__name__.replace("_", " "), weight, function))
        return function
    return add


def ending_of(path: str) -> str:
    ending = Path(path).suffix
    return ALIKE.get(ending, ending)


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def with_lines(tree: Tree, path: str, edit: Callable[[list[bytes]], object]) -> None:
    lines = lines_of(tree.read(path))
    edit(lines)
    tree.write(path, b"".join(lines))


def renamed(data: bytes, old: str, new: str) -> bytes:
    return re.sub(rb"(?<![A-Za-z0-9_])" + re.escape(old.encode()) + rb"(?![A-Za-z0-9_])", new.encode(), data)
