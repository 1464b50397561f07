"""What people and their tools do to files: each change is a function that does it to a tree and says what it was, or gives None where
it cannot be done."""
import mmap
import os
import random
import re
import shutil
import stat
from collections.abc import Callable
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
# Project files, and what may stand in them.
PROJECT_FILES = {
    "package.json": ['{"name": "changed", "main": "index.js", "type": "module"}\n', '{"name": "@other/changed", "exports": {".": "./src/index.ts"}}\n', "{"],
    "tsconfig.json": ['{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["src/*", "*"]}}}\n', '{"compilerOptions": {"baseUrl": "src"}}\n', "{}\n"],
    "go.mod": ["module example.com/changed\n\ngo 1.21\n", "module other.org/m\n", "module\n"],
    "Cargo.toml": ['[package]\nname = "changed"\nversion = "0.1.0"\nedition = "2021"\n', '[workspace]\nmembers = ["*"]\n', '[lib]\npath = "lib.rs"\n'],
    "pyproject.toml": ['[project]\nname = "changed"\n\n[tool.setuptools]\npackage-dir = {"" = "src"}\n', '[project]\nname = "other"\n'],
    "setup.py": ["from setuptools import setup\nsetup(name='changed', package_dir={'': 'src'})\n", "import setuptools\n"],
    "setup.cfg": ["[metadata]\nname = changed\n[options]\npackage_dir =\n    = src\n"],
    "compile_commands.json": ['[{"directory": ".", "file": "a.c", "command": "cc -Iinclude -c a.c"}]\n'],
    "pom.xml": ["<project><artifactId>changed</artifactId></project>\n"],
}
IGNORE_FILES = [".gitignore", ".ignore", ".cographignore", ".git/info/exclude"]
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]{2,}")


class Tree:
    """A repository that is changed, and what is known of it from before the change."""

    def __init__(self, world: World, rng: random.Random, content: Content, halves: dict[str, bytes]):
        self.world, self.root, self.rng, self.content = world, world.repo, rng, content
        self.halves = halves  # files that were cut in the middle, as they are to become
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


def some(tree: Tree, without: frozenset[str] = frozenset()) -> str:
    """Does one change that can be done. Gives what it was."""
    while True:
        name, _, function = tree.rng.choices(CHANGES, [weight for _, weight, _ in CHANGES])[0]
        if name in without:
            continue
        try:
            said = function(tree)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError):
            continue  # what was chosen is not there any more
        if said is not None:
            return f"{name}: {said}"


def _ending(path: str) -> str:
    ending = Path(path).suffix
    return ALIKE.get(ending, ending)


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _with_lines(tree: Tree, path: str, edit: Callable[[list[bytes]], object]) -> None:
    lines = _lines(tree.read(path))
    edit(lines)
    tree.write(path, b"".join(lines))


def _at_random(tree: Tree, lines: list[bytes]) -> int:
    return tree.rng.randrange(len(lines) + 1)


# --- The text of one file.

@change(4)
def newline_at_the_end(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    with open(tree.root / path, "ab") as file:
        file.write(b"\n")
    tree.touched.add(path)
    return path


@change(3)
def comment_in_place(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    text = COMMENT.get(_ending(path), "// {}").format(tree.new_name()).encode() + b"\n"
    _with_lines(tree, path, lambda lines: lines.insert(_at_random(tree, lines), text))
    return path


@change(6)
def function_more(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or _ending(path) not in FUNCTION:
        return None
    name, called = (tree.new_name() if tree.rng.random() < 0.5 else tree.name()), tree.name()
    tree.write(path, tree.read(path) + FUNCTION[_ending(path)].format(name, called).encode())
    return f"{name} calls {called}, {path}"


@change(5)
def function_less(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "constructor", "interface")) is None:
        return None
    path, first, last, name, _, _ = symbol
    _with_lines(tree, path, lambda lines: lines.__delitem__(slice(first - 1, last)))
    return f"{name}, {path}:{first}-{last}"


@change(3)
def function_moves(tree: Tree) -> str | None:
    symbol = tree.symbol("function", "class", "struct")
    if symbol is None:
        return None
    path, first, last, name, _, _ = symbol
    others = [other for other in tree.files() if _ending(other) == _ending(path) and other != path]
    if not others:
        return None
    target = tree.rng.choice(others)
    body = b"".join(_lines(tree.read(path))[first - 1:last])
    _with_lines(tree, path, lambda lines: lines.__delitem__(slice(first - 1, last)))
    tree.write(target, tree.read(target) + b"\n" + body)
    return f"{name} from {path} to {target}"


@change(2)
def function_twice(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class")) is None:
        return None
    path, first, last, name, _, _ = symbol
    def again(lines: list[bytes]) -> None:
        lines[last:last] = lines[first - 1:last]
    _with_lines(tree, path, again)
    return f"{name}, {path}"


def _renamed(data: bytes, old: str, new: str) -> bytes:
    return re.sub(rb"(?<![A-Za-z0-9_])" + re.escape(old.encode()) + rb"(?![A-Za-z0-9_])", new.encode(), data)


@change(3)
def definition_renamed(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "interface", "field", "constant", "type", "enum", "macro")) is None:
        return None
    path, first, _, name, _, _ = symbol
    new = tree.name()
    def rename(lines: list[bytes]) -> None:
        for at in range(first - 1, min(first + 1, len(lines))):
            lines[at] = _renamed(lines[at], name, new)
    _with_lines(tree, path, rename)
    return f"{name} to {new}, {path}:{first}"


@change(3)
def renamed_in_its_file(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "field", "variable")) is None:
        return None
    new = tree.name()
    tree.write(symbol[0], _renamed(tree.read(symbol[0]), symbol[3], new))
    return f"{symbol[3]} to {new}, {symbol[0]}"


@change(4)
def parameter_changes(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "constructor")) is None:
        return None
    path, first, _, name, _, _ = symbol
    data = _lines(tree.read(path))
    if first > len(data):
        return None
    more = {".py": b"more, ", ".go": b"more int, ", ".rs": b"more: usize, ", ".ts": b"more: number, ", ".js": b"more, "}.get(_ending(path), b"int more, ")
    forms = [(rb"\(\s*", b"(" + more), (rb"\([^(),]*,\s*", b"("), (rb"\([^()]*\)", b"()")]
    pattern, text = tree.rng.choice(forms)
    changed = re.sub(pattern, lambda _: text, data[first - 1], count=1)
    if changed == data[first - 1]:
        return None
    data[first - 1] = changed
    tree.write(path, b"".join(data))
    return f"of {name}, {path}:{first}"


@change(5)
def import_changes(tree: Tree) -> str | None:
    places = [(path, line) for path, line in tree.content.imports if (tree.root / path).is_file()]
    if not places:
        return None
    path, line = tree.rng.choice(places)
    lines = _lines(tree.read(path))
    if line > len(lines):
        return None
    how = tree.rng.choice(["less", "other", "into another file"])
    if how == "less":
        del lines[line - 1]
    elif how == "other":
        words = list(WORD.finditer(lines[line - 1]))
        if not words:
            return None
        word = tree.rng.choice(words)
        lines[line - 1] = lines[line - 1][:word.start()] + tree.name().encode() + lines[line - 1][word.end():]
    else:
        others = [other for other in tree.files() if _ending(other) == _ending(path) and other != path]
        if not others:
            return None
        text, path = lines[line - 1], tree.rng.choice(others)
        lines = [text, *_lines(tree.read(path))]
    tree.write(path, b"".join(lines))
    return f"{how}, {path}:{line}"


@change(6)
def name_replaced(tree: Tree) -> str | None:
    """One word becomes another that the tree has: a call of something else, another base, another type."""
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    words = list(WORD.finditer(data))
    if not words:
        return None
    word, new = tree.rng.choice(words), tree.name()
    tree.write(path, data[:word.start()] + new.encode() + data[word.end():])
    return f"{word[0].decode()} by {new}, {path} at byte {word.start()}"


@change(2)
def lines_change_places(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    lines = _lines(tree.read(path))
    if len(lines) < 3:
        return None
    at = tree.rng.randrange(len(lines) - 1)
    if tree.rng.random() < 0.5:
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    else:
        del lines[at]
    tree.write(path, b"".join(lines))
    return f"{path}:{at + 1}"


@change(2)
def header_of_generated_code(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    mark = COMMENT.get(_ending(path), "// {}").format("Code generated by a tool. DO NOT EDIT.").encode() + b"\n"
    data = tree.read(path)
    tree.write(path, data[len(mark):] if data.startswith(mark) else mark + data)
    return path


# --- How a file is written.

@change(3)
def saved_by_rename(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    ending = _ending(path)
    more = FUNCTION[ending].format(tree.new_name(), tree.name()) if ending in FUNCTION else "\n"
    temporary = tree.root / f"{path}.tmp~"
    temporary.write_bytes(tree.read(path) + more.encode())
    os.replace(temporary, tree.root / path)
    tree.touched.add(path)
    return path


@change(2)
def deleted_and_made_again(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.remove(path)
    tree.write(path, data if tree.rng.random() < 0.5 else data + b"\n")
    return path


def _of_the_same_size(tree: Tree, path: str) -> bytes | None:
    """Another content of the same size: one letter of a word is another one."""
    data = tree.read(path)
    words = list(WORD.finditer(data))
    if not words:
        return None
    at = tree.rng.choice(words).end() - 1
    return data[:at] + (b"q" if data[at:at + 1] != b"q" else b"z") + data[at + 1:]


@change(3)
def same_size_and_time(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or (data := _of_the_same_size(tree, path)) is None:
        return None
    target = tree.root / path
    times = (target.stat().st_atime_ns, target.stat().st_mtime_ns)
    if tree.rng.random() < 0.5:
        tree.write(path, data)
        os.utime(target, ns=times)
        return f"in place, {path}"
    temporary = tree.root / f"{path}.tmp~"
    temporary.write_bytes(data)
    os.utime(temporary, ns=times)
    os.replace(temporary, target)
    tree.touched.add(path)
    return f"by rename, {path}"


@change(1)
def through_a_memory_map(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or (data := _of_the_same_size(tree, path)) is None:
        return None
    with open(tree.root / path, "r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = data
        memory.flush()
    tree.touched.add(path)
    return path


@change(1)
def through_another_hard_link(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    outside = tree.world.top / "link"
    outside.unlink(missing_ok=True)
    os.link(tree.root / path, outside)
    with open(outside, "ab") as file:
        file.write(b"\n\n")
    tree.touched.add(path)
    return path


@change(1)
def time_only(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    os.utime(tree.root / path)
    return path


@change(1)
def mode_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    mode = stat.S_IMODE((tree.root / path).stat().st_mode)
    os.chmod(tree.root / path, mode ^ 0o111)
    return f"{path} {mode:o} to {mode ^ 0o111:o}"


# --- Contents that are no text of a language.

@change(3)
def half_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.halves.setdefault(path, data)
    tree.write(path, data[: tree.rng.randrange(len(data) + 1)])
    return path


@change(3)
def other_half_of_a_file(tree: Tree) -> str | None:
    if not tree.halves:
        return None
    path = tree.rng.choice(sorted(tree.halves))
    tree.write(path, tree.halves.pop(path))
    return path


@change(1)
def empty_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    tree.halves.setdefault(path, tree.read(path))
    tree.write(path, b"")
    return path


@change(2)
def bytes_that_are_no_text(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.halves.setdefault(path, data)
    kind, changed = tree.rng.choice([
        ("byte order mark", b"\xef\xbb\xbf" + data), ("invalid UTF-8", data[: len(data) // 2] + b"\xff\xc3\x28\x80" + data[len(data) // 2:]),
        ("zero byte", data + b"\0"), ("Latin-1", data + "\n/* é # à */\n".encode("latin-1")),
        ("UTF-16", data.decode("utf-8", "replace").encode("utf-16")), ("one long line", data.replace(b"\n", b" ") * 3),
    ])
    tree.write(path, changed)
    return f"{kind}, {path}"


@change(2)
def ends_of_lines(tree: Tree) -> str | None:
    if (first := tree.pick()) is None:
        return None
    paths = [first] if tree.rng.random() < 0.7 else tree.files()
    for path in paths:
        data = tree.read(path)
        tree.write(path, data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n"))
    return f"of {len(paths)} files, {first}"


# --- Files and directories.

@change(2)
def file_deleted(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    tree.remove(path)
    return path


@change(3)
def file_moves(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    target = f"{tree.rng.choice([*tree.directories(), 'moved'])}/{Path(path).name}"
    return f"{path} to {target}" if tree.rename(path, target) else None


@change(2)
def file_renamed(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    old = Path(path)
    name = tree.rng.choice([f"{old.stem}_{tree.new_name()}{old.suffix}", old.stem.swapcase() + old.suffix, f"test_{old.name}", f"{tree.name()}{old.suffix}",
                            f"{old.stem}.{tree.rng.choice(SOURCES).lstrip('.')}", f"{old.stem}.txt"])
    target = str(old.with_name(name))
    return f"{path} to {target}" if tree.rename(path, target) else None


@change(2)
def files_change_places(tree: Tree) -> str | None:
    one, other = tree.pick(), tree.pick()
    if one is None or other is None or one == other:
        return None
    between = tree.root / f"{one}.between~"
    os.rename(tree.root / one, between)
    os.rename(tree.root / other, tree.root / one)
    os.rename(between, tree.root / other)
    tree.touched |= {one, other}
    return f"{one} and {other}"


@change(2)
def file_copied(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    target = f"{tree.rng.choice([*tree.directories(), 'copied'])}/{tree.rng.choice(['', 'copy_'])}{Path(path).name}"
    if os.path.lexists(tree.root / target):
        return None
    (tree.root / target).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(tree.root / path, tree.root / target)
    tree.touched.add(target)
    return f"{path} to {target}"


@change(2)
def directory_moves(tree: Tree) -> str | None:
    found = tree.directories()
    if not found:
        return None
    old = tree.rng.choice(found)
    new = tree.rng.choice([f"{old}_{tree.new_name()}", f"{tree.rng.choice(found)}/{Path(old).name}", f"tests/{Path(old).name}", f"vendor/{Path(old).name}"])
    return f"{old} to {new}" if tree.rename(old, new) else None


@change(1)
def directory_deleted(tree: Tree) -> str | None:
    found = tree.directories()
    if len(found) < 3:
        return None
    path = tree.rng.choice(found)
    tree.touched |= {file for file in tree.files() if file.startswith(f"{path}/")}
    shutil.rmtree(tree.root / path)
    return path


@change(1)
def directory_copied(tree: Tree) -> str | None:
    found = [path for path in tree.directories() if sum(file.startswith(f"{path}/") for file in tree.files(None)) <= 12]
    if not found:
        return None
    path, new = tree.rng.choice(found), f"{tree.new_name()}/again"
    shutil.copytree(tree.root / path, tree.root / new, symlinks=True)
    tree.touched.add(new)
    return f"{path} to {new}"


@change(1)
def directory_in_place_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.remove(path)
    tree.write(f"{path}/{Path(path).name}", data)
    return path


@change(2)
def file_of_another_language(tree: Tree) -> str | None:
    ending = tree.rng.choice(list(FUNCTION))
    path = f"{tree.rng.choice([*tree.directories(), 'other'])}/{tree.new_name()}{ending}"
    tree.write(path, (f"package other\n" if ending == ".go" else "").encode() + FUNCTION[ending].format(tree.name(), tree.name()).encode())
    return path


@change(1)
def file_of_no_language(tree: Tree) -> str | None:
    path = f"{tree.rng.choice([*tree.directories(), 'other'])}/{tree.new_name()}{tree.rng.choice(['.md', '', '.json', '.bin', '.sh'])}"
    tree.write(path, f"{tree.name()} is no code\n".encode() * 3)
    return path


@change(2)
def program_by_its_first_line(tree: Tree) -> str | None:
    path = f"{tree.rng.choice([*tree.directories(), 'bin'])}/{tree.new_name()}"
    tree.write(path, b"#!/usr/bin/env python3\n" + FUNCTION[".py"].format(tree.new_name(), tree.name()).encode())
    return path


@change(3)
def project_file(tree: Tree) -> str | None:
    there = [path for path in tree.files(None) if Path(path).name in PROJECT_FILES]
    if there and tree.rng.random() < 0.4:
        path = tree.rng.choice(there)
        if tree.rng.random() < 0.5:
            tree.remove(path)
            return f"{path} deleted"
    else:
        directory = tree.rng.choice([*tree.directories(), "."])
        path = os.path.normpath(f"{directory}/{tree.rng.choice(sorted(PROJECT_FILES))}")
    tree.write(path, tree.rng.choice(PROJECT_FILES[Path(path).name]).encode())
    return path


@change(2)
def symbolic_link(tree: Tree) -> str | None:
    links = sorted(str(path.relative_to(tree.root)) for path in tree.root.rglob("*") if path.is_symlink())
    if links and tree.rng.random() < 0.4:
        path = tree.rng.choice(links)
        tree.remove(path)
        return f"{path} removed"
    target, path = tree.rng.choice([tree.pick(), *tree.directories(), "nowhere"]), f"link_{tree.new_name()}"
    if target is None:
        return None
    path += Path(target).suffix
    (tree.root / path).symlink_to(target)
    tree.touched.add(path)
    return f"{path} to {target}"


@change(1)
def link_in_place_of_a_file(tree: Tree) -> str | None:
    one, other = tree.pick(), tree.pick()
    if one is None or other is None or one == other:
        return None
    tree.remove(one)
    (tree.root / one).symlink_to(tree.root / other)
    return f"{one} to {other}"


# --- Rules that say which files count.

@change(3)
def ignore_rules(tree: Tree) -> str | None:
    place = tree.rng.choice(IGNORE_FILES)
    directories = tree.directories()
    if not place.startswith(".git/") and directories and tree.rng.random() < 0.3:
        place = f"{tree.rng.choice(directories)}/{place}"
    target = tree.root / place
    lines = target.read_bytes().splitlines(keepends=True) if target.exists() else []
    if lines and tree.rng.random() < 0.5:
        del lines[tree.rng.randrange(len(lines))]
    else:
        path = tree.pick() or "none"
        lines.append(tree.rng.choice([f"/{path}", Path(path).name, f"{Path(path).parent.name or 'build'}/", f"*{Path(path).suffix}", f"!{Path(path).name}", f"!{path}"]).encode() + b"\n")
    if lines or tree.rng.random() < 0.5:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(lines))
    else:
        target.unlink(missing_ok=True)
    return f"{place}: {b' '.join(line.strip() for line in lines).decode('utf-8', 'replace')}"


@change(1)
def ignore_rules_of_the_user(tree: Tree) -> str | None:
    target = tree.world.home / ".config" / "git" / "ignore"
    if target.exists() and tree.rng.random() < 0.7:
        target.unlink()
        return "none"
    target.parent.mkdir(parents=True, exist_ok=True)
    name = Path(tree.pick() or "none").name
    target.write_text(f"{name}\n", encoding="utf-8")
    return name


# --- Many files at once, and git.

@change(3)
def renamed_in_all_files(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "field", "type", "interface")) is None:
        return None
    new, count = tree.name(), 0
    for path in tree.files():
        data = tree.read(path)
        if (changed := _renamed(data, symbol[3], new)) != data:
            # As `sed -i` does it.
            temporary = tree.root / f"{path}.sed~"
            temporary.write_bytes(changed)
            os.replace(temporary, tree.root / path)
            tree.touched.add(path)
            count += 1
    return f"{symbol[3]} to {new} in {count} files" if count else None


@change(1)
def newline_in_all_files(tree: Tree) -> str | None:
    paths = tree.files()
    for path in paths:
        tree.write(path, tree.read(path) + b"\n")
    return f"{len(paths)} files"


def _commits(tree: Tree) -> list[str]:
    return tree.world.git_lines("log", "--all", "--format=%H", "-40")


def _committed(tree: Tree) -> None:
    tree.world.git("add", "-A")
    tree.world.git("commit", "-q", "--allow-empty", "-m", tree.new_name())


@change(3)
def git_checkout(tree: Tree) -> str | None:
    if not (commits := _commits(tree)):
        return None
    commit = tree.rng.choice(commits)
    if tree.rng.random() < 0.3:
        _committed(tree)
    return f"{commit[:12]}" if tree.world.git("checkout", "-q", "-f", commit) else None


@change(2)
def git_checkout_of_a_part(tree: Tree) -> str | None:
    commits, paths = _commits(tree), tree.world.git_lines("ls-files")
    if not commits or not paths:
        return None
    commit, path = tree.rng.choice(commits), tree.rng.choice(paths)
    where = tree.rng.choice([path, str(Path(path).parent)])
    tree.touched.add(path)
    return f"{commit[:12]} {where}" if tree.world.git("checkout", commit, "--", where) else None


@change(2)
def git_stash(tree: Tree) -> str | None:
    if tree.world.git_lines("stash", "list") and tree.rng.random() < 0.6:
        return "pop" if tree.world.git("stash", "pop") else None
    return "push" if tree.world.git("stash", "push", "-u") else None


@change(1)
def git_reset(tree: Tree) -> str | None:
    if not (commits := _commits(tree)):
        return None
    commit = tree.rng.choice(["HEAD", "HEAD~1", tree.rng.choice(commits)])
    return commit if tree.world.git("reset", "-q", "--hard", commit) else None


@change(1)
def git_clean(tree: Tree) -> str | None:
    return "-fd" if tree.world.git("clean", "-q", "-fd") else None


def _on_a_branch(tree: Tree, work: Callable[[], bool]) -> bool:
    """Commits what there is, makes a branch at another commit with a change of its own, and lets it meet what was there."""
    _committed(tree)
    commits, here = _commits(tree), tree.world.git_lines("rev-parse", "HEAD")
    if not commits or not here or not tree.world.git("checkout", "-q", "-f", "-B", "side", tree.rng.choice(commits[:8])):
        return False
    if (path := tree.pick()) is not None:
        tree.write(path, tree.read(path) + b"\n")
    _committed(tree)
    tree.world.git("checkout", "-q", "-f", "-B", "main", here[0])
    return work()


@change(1)
def git_merge(tree: Tree) -> str | None:
    def merge() -> bool:
        # A conflict leaves its marks in the files, unless it is given up.
        if not tree.world.git("merge", "-q", "--no-edit", "side") and tree.rng.random() < 0.5:
            tree.world.git("merge", "--abort")
        return True
    return "side" if _on_a_branch(tree, merge) else None


@change(1)
def git_rebase(tree: Tree) -> str | None:
    def rebase() -> bool:
        if not tree.world.git("rebase", "-q", "side"):
            tree.world.git("rebase", "--abort")
        return True
    return "side" if _on_a_branch(tree, rebase) else None


@change(1)
def git_revert(tree: Tree) -> str | None:
    _committed(tree)
    if not (commits := _commits(tree)):
        return None
    commit, how = tree.rng.choice(commits), tree.rng.choice(["revert", "cherry-pick"])
    more = ["--no-edit"] if how == "revert" else ["--allow-empty"]
    if not tree.world.git(how, *more, commit):
        tree.world.git(how, "--abort")
    return f"{how} {commit[:12]}"
