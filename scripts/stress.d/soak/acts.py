"""What happens to a repository while people, agents and tools work in it: each act is an edit, or several in a row with pauses as they
make them. Single changes of `edits` are one of the acts."""
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import changes
import languages
from corpus_tree import CorpusTree

# Name, how often among the others, and the function. It does what it can, and nothing where that is nothing.
ACTS: list[tuple[str, int, Callable[[CorpusTree], None]]] = []
# The large file: what it begins with, what a step adds, and where it starts again. The program reads files of up to 4 MiB.
LARGE, STEP, LARGEST = 1_900_000, 60_000, 3_400_000
FORMATTED = 300
GONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError, FileExistsError)
# Changes that read or list all files: those of a large corpus would take longer than their index.
OF_ALL_FILES = {"newline in all files", "ends of lines", "renamed in all files", "symbolic link"}
RULES = {"ignore rules", "ignore rules of the user"}


def act(weight: int):
    """Puts a function into the list of acts."""
    def add(function):
        ACTS.append((function.__name__.replace("_", " "), weight, function))
        return function
    return add


@act(4)
def agent_edits_a_file(tree: CorpusTree) -> None:
    """Several small edits in a row, as a model makes them: each is written at once."""
    if (path := tree.pick_for_a_mark()) is None:
        return
    for _ in range(tree.rng.randint(2, 6)):
        tree.marked(path, tree.read(path), "small edit of")
        tree.until_indexed(3.0) if tree.rng.random() < 0.3 else tree.rest(0.02, 0.6)


@act(3)
def agent_rewrites_a_file(tree: CorpusTree) -> None:
    """The whole file anew, by rename: its text twice, or with another indentation."""
    if (path := tree.pick_for_a_mark()) is None:
        return
    data = tree.read(path)
    with tree.ledger.edit(path):
        temporary = tree.root / f"{path}.tmp~"
        temporary.write_bytes(data + b"\n" + data if tree.rng.random() < 0.3 else data.replace(b"    ", b"  "))
        os.replace(temporary, tree.root / path)
    tree.note(f"rewrite of {path}")
    tree.rest(0.0, 0.3)
    tree.marked(path, tree.read(path), "and an edit of")


@act(4)
def agent_adds_a_module(tree: CorpusTree) -> None:
    """A new file, and its import in another."""
    if (path := tree.pick_for_a_mark()) is None:
        return
    ending = languages.language_of(path)
    module = f"module_{tree.rng.randrange(1 << 24):06x}"
    new = str(Path(path).with_name(module + ending))
    if not tree.ledger.suits(new):
        return
    tree.marked(new, b"package added\n" if ending in (".go", ".kt") else b"", "new file")
    tree.rest(0.0, 0.4)
    line = languages.IMPORTS[ending].format(module=module, name=module, ending=ending).encode()
    with tree.ledger.edit(path):
        tree.write(path, line + tree.read(path))
    tree.note(f"import of it in {path}")
    tree.marked(path, tree.read(path), "and a use in")


@act(3)
def a_large_file_grows(tree: CorpusTree) -> None:
    """A file of more than a megabyte gets some functions more, again and again."""
    present = {languages.language_of(path) for path in tree.files()} & languages.PARTS.keys()
    path = f"grown/large{tree.rng.choice(sorted(present | {'.py'}))}"
    if not tree.ledger.suits(path):
        return
    target = tree.root / path
    if not target.is_file() or target.stat().st_size > LARGEST:
        with tree.ledger.edit(path):
            tree.write(path, languages.large_text(languages.language_of(path), LARGE))
        tree.note(f"large file {path}")
        tree.until_indexed(8.0)
    for _ in range(tree.rng.randint(2, 4)):
        more = languages.large_text(languages.language_of(path), STEP, first=tree.edits * 1_000_000)
        tree.marked(path, tree.read(path) + more, "growth of")
        tree.until_indexed(8.0)


@act(3)
def branch_flips(tree: CorpusTree) -> None:
    """The work is committed, and the tree goes to other commits and back."""
    commits = tree.world.git_lines("log", "--all", "--format=%H", "-40")
    if len(commits) < 2:
        return
    with tree.anything("commit and checkout of another", of_rules=True):
        tree.world.git("add", "-A")
        tree.world.git("commit", "-q", "--allow-empty", "-m", f"edit {tree.edits}")
        tree.world.git("branch", "-f", "work", "HEAD")
        tree.world.git("checkout", "-q", "-f", tree.rng.choice(commits))
    for _ in range(tree.rng.randint(0, 3)):
        tree.rest(0.05, 1.5)
        with tree.anything("checkout", of_rules=True):
            tree.world.git("checkout", "-q", "-f", tree.rng.choice(commits))
    tree.rest(0.05, 1.5)
    with tree.anything("back to the branch", of_rules=True):
        tree.world.git("checkout", "-q", "-f", "-B", "main", "work")
    tree.ledger.unsuitable.clear()


@act(2)
def stash(tree: CorpusTree) -> None:
    """The work is put aside and taken up again."""
    with tree.anything("git stash push", of_rules=True):
        tree.world.git("stash", "push", "-q", "-u")
    tree.rest(0.05, 2.0)
    with tree.anything("git stash pop", of_rules=True):
        if not tree.world.git("stash", "pop", "-q"):
            tree.world.git("checkout", "-q", "-f", ".")


@act(2)
def formatter(tree: CorpusTree) -> None:
    """All files of a directory: white space, ends of lines, the order of imports."""
    how = tree.rng.choice([_without_trailing_space, _tabs, _sorted_imports, lambda data: data + b"\n"])
    paths = tree.below(FORMATTED)
    with tree.anything(f"formatter over {len(paths)} files, {paths[0] if paths else '-'}"):
        for path in paths:
            try:
                data = tree.read(path)
                if (changed := how(data)) != data:
                    (tree.root / path).write_bytes(changed)
            except GONE:
                pass  # it went with an earlier edit


def _without_trailing_space(data: bytes) -> bytes:
    return re.sub(rb"[ \t]+(\r?\n)", rb"\1", data)


def _tabs(data: bytes) -> bytes:
    return data.replace(b"\t", b"    ") if b"\n\t" in data else re.sub(rb"(?m)^    ", b"\t", data)


def _sorted_imports(data: bytes) -> bytes:
    lines, start = data.splitlines(keepends=True), None
    for at, line in enumerate([*lines, b""]):
        is_import = line.startswith((b"import ", b"from ", b"use ", b"#include ", b"using ")) and line.endswith(b"\n")
        if is_import and start is None:
            start = at
        elif not is_import and start is not None:
            lines[start:at] = sorted(lines[start:at])
            start = None
    return b"".join(lines)


@act(3)
def a_directory_goes_away_and_comes_back(tree: CorpusTree) -> None:
    """As a mount, a sync or a careless command does it."""
    directories = [path for path in tree.directories() if not path.startswith("grown")]
    if not directories:
        return
    path, away = tree.rng.choice(directories), tree.world.top / "away"
    is_copied = tree.rng.random() < 0.5
    with tree.anything(f"{path} goes away"):
        shutil.rmtree(away, ignore_errors=True)
        if is_copied:
            shutil.copytree(tree.root / path, away, symlinks=True)
            shutil.rmtree(tree.root / path)
        else:
            os.rename(tree.root / path, away)
    tree.rest(0.05, 3.0)
    with tree.anything(f"{path} comes back"):
        (tree.root / path).parent.mkdir(parents=True, exist_ok=True)
        os.rename(away, tree.root / path)


@act(2)
def ignore_rules_change(tree: CorpusTree) -> None:
    """A rule comes, and goes again."""
    if not (directories := tree.directories()):
        return
    rules = tree.root / tree.rng.choice([".gitignore", ".git/info/exclude"])
    rules.parent.mkdir(exist_ok=True)
    before = rules.read_bytes() if rules.exists() else b""
    rule = f"/{tree.rng.choice(directories)}/\n"
    with tree.anything(f"{rules.name} with {rule.strip()}", of_rules=True):
        rules.write_bytes(before + rule.encode())
    tree.rest(0.1, 3.0)
    with tree.anything(f"{rules.name} without it", of_rules=True):
        rules.write_bytes(before)


@act(2)
def replaced_everywhere(tree: CorpusTree) -> None:
    """As `sed -i` does it: a name becomes another in many files."""
    paths = tree.below(FORMATTED * 2)
    old, new = tree.name(), tree.name()
    with tree.anything(f"{old} becomes {new} in {len(paths)} files"):
        for path in paths:
            try:
                data = tree.read(path)
                if (changed := re.sub(rb"\b" + re.escape(old.encode()) + rb"\b", new.encode(), data)) != data:
                    temporary = tree.root / f"{path}.sed~"
                    temporary.write_bytes(changed)
                    os.replace(temporary, tree.root / path)
            except GONE:
                pass  # it went with an earlier edit


@act(6)
def single_changes(tree: CorpusTree) -> None:
    """Some of the changes that `scripts/stress edits` makes: renames, copies, deletions, git, contents that are no text."""
    without = frozenset(OF_ALL_FILES) if len(tree.files()) > 2000 else frozenset()
    for _ in range(tree.rng.randint(1, 5)):
        said: list[str] = []
        with tree.anything("", of_rules=True):
            said.append(changes.some(tree, without))
        tree.last[-1] += said[0]
        tree.rest(0.0, 0.5)
