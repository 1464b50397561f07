"""Changes of many files at once: replacements, and what git does."""
import os
from collections.abc import Callable
from pathlib import Path

from tree import Tree, change, renamed


@change(3)
def renamed_in_all_files(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "field", "type", "interface")) is None:
        return None
    new, count = tree.name(), 0
    for path in tree.files():
        data = tree.read(path)
        if (changed := renamed(data, symbol[3], new)) != data:
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
