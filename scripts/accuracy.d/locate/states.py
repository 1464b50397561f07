"""The state before each task, written to disk and indexed, with the program to ask."""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from base import with_cache

FUNCTIONS = "SELECT path, line, end_line, name, container FROM symbols WHERE kind IN ('function', 'method', 'constructor') ORDER BY path, line"


class State:
    """One state of a repository, whose index is brought up to date."""

    def __init__(self, program, tree, cache):
        self.program, self.tree = program, tree
        self.environment = with_cache(cache)
        subprocess.run([program, "index"], cwd=tree, env=self.environment, check=True, capture_output=True)
        self.store = next(Path(cache).glob("*/v*.db"))

    def ask(self, tool, text, budget):
        """The answer of a tool, and milliseconds with the start of the program."""
        begun = time.monotonic()
        command = [self.program, tool, "--root", str(self.tree), "--budget", str(budget), "--", text]
        answer = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace", timeout=300)
        if answer.returncode > 1:
            raise SystemExit(f"{tool} ended with {answer.returncode}: {answer.stderr.strip()[-300:]}")
        return answer.stdout, (time.monotonic() - begun) * 1000

    def functions(self):
        """(path, first line, last line, name, container) of all functions."""
        connection = sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True)
        rows = connection.execute(FUNCTIONS).fetchall()
        connection.close()
        return rows


def lacking(clone, commit):
    """Files of a commit whose content a clone does not have."""
    listed = subprocess.run(["git", "-C", str(clone), "ls-tree", "-rz", commit], capture_output=True, text=True, check=True).stdout
    entries = [entry.partition("\t") for entry in listed.split("\0") if entry]
    blobs = {path: head.split()[2] for head, _, path in entries if head.split()[1] == "blob"}
    asked = "\n".join(set(blobs.values()))
    known = subprocess.run(["git", "-C", str(clone), "cat-file", "--batch-check"], input=asked, capture_output=True, text=True, check=True).stdout
    missing = {line.split()[0] for line in known.splitlines() if line.endswith(" missing")}
    return [path for path, blob in blobs.items() if blob in missing]


def write(clone, commit, absent, tree, entries):
    """Makes a tree that of a commit; `entries` is git's own index of the tree's current files."""
    if absent or not entries.exists():
        shutil.rmtree(tree, ignore_errors=True)
        entries.unlink(missing_ok=True)
        (tree / ".git").mkdir(parents=True)

    def git(*arguments):
        command = ["git", "-C", str(clone), f"--work-tree={tree}", *arguments]
        subprocess.run(command, env=dict(os.environ, GIT_INDEX_FILE=str(entries)), check=True, capture_output=True)

    if absent:
        git("read-tree", commit)
        git("update-index", "--force-remove", "--", *absent)
        git("checkout-index", "--all", "--quiet")
        entries.unlink()
    else:
        git("read-tree", "--reset", "-u", commit)


def of(program, tasks, clones, scratch):
    """Each task with its state, which lasts until the next one; tasks of a repository share a tree and an index."""
    for repo in dict.fromkeys(task.repo for task in tasks):
        clone = clones / repo
        if not clone.exists():
            raise SystemExit(f"{clone}: no clone")
        with tempfile.TemporaryDirectory(dir=scratch) as place:
            tree, cache, entries = Path(place, "tree"), Path(place, "cache"), Path(place, "entries")
            cache.mkdir(mode=0o700)
            for task in (task for task in tasks if task.repo == repo):
                absent = lacking(clone, task.state)
                if absent:
                    print(f"\n{task.name}: without {', '.join(absent)}, which the clone lacks", file=sys.stderr)
                write(clone, task.state, absent, tree, entries)
                yield task, State(program, tree, cache)
