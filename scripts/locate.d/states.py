"""The state before each task, written to disk and indexed, with the program to ask and BM25 over the bodies of its functions."""
import io
import math
import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
import time
from collections import Counter
from pathlib import Path

from score import Listed

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
FUNCTIONS = "SELECT path, line, end_line, name, container FROM symbols WHERE kind IN ('function', 'method', 'constructor') ORDER BY path, line"


def words(text):
    """The parts of all identifiers in lower case."""
    return [part.lower() for word in WORD.findall(text) for part in PART.findall(word) if len(part) > 1]


class State:
    """One state of a repository with a fresh index."""

    def __init__(self, program, tree, cache):
        self.program, self.tree = program, tree
        self.environment = dict(os.environ, COGRAPH_CACHE_DIR=str(cache))
        subprocess.run([program, "index", "--force"], cwd=tree, env=self.environment, check=True, capture_output=True)
        self.store = next(Path(cache).glob("*/v*.db"))

    def ask(self, tool, text, budget):
        """The answer of a tool, and milliseconds with the start of the program."""
        begun = time.monotonic()
        command = [self.program, tool, "--root", str(self.tree), "--budget", str(budget), "--", text]
        answer = subprocess.run(command, env=self.environment, capture_output=True, text=True, errors="replace", timeout=300)
        if answer.returncode > 1:
            raise SystemExit(f"{tool} ended with {answer.returncode}: {answer.stderr.strip()[-300:]}")
        return answer.stdout, (time.monotonic() - begun) * 1000

    def by_bodies(self, text, k1=1.2, b=0.75, most=20):
        """The functions whose bodies fit best by plain BM25."""
        connection = sqlite3.connect(f"{self.store.as_uri()}?mode=ro", uri=True)
        rows = connection.execute(FUNCTIONS).fetchall()
        connection.close()
        bags, lines, path = [], [], None
        for row in rows:
            if row[0] != path:
                path = row[0]
                lines = (self.tree / path).read_text("utf-8", "replace").splitlines()
            bags.append(Counter(words("\n".join(lines[row[1] - 1:row[2]]))))
        lengths = [sum(bag.values()) for bag in bags]
        average = sum(lengths) / max(1, len(lengths))
        scores = [0.0] * len(bags)
        for term in set(words(text)):
            having = [(at, bag[term]) for at, bag in enumerate(bags) if term in bag]
            rarity = math.log(1 + (len(bags) - len(having) + 0.5) / (len(having) + 0.5))
            for at, count in having:
                scores[at] += rarity * count * (k1 + 1) / (count + k1 * (1 - b + b * lengths[at] / average))
        best = sorted(range(len(rows)), key=lambda at: -scores[at])[:most]
        return [Listed(rows[at][0], "function", f"{rows[at][4] + '.' if rows[at][4] else ''}{rows[at][3]}") for at in best if scores[at] > 0]


def of(program, tasks, clones, scratch):
    """Each task with the state that it is asked of; the state is gone when the next one comes."""
    for task in tasks:
        clone = clones / task.repo
        if not clone.exists():
            raise SystemExit(f"{clone}: no clone")
        tree, cache = scratch / "tree", scratch / "cache"
        archive = subprocess.run(["git", "-C", str(clone), "archive", task.state], capture_output=True, check=True).stdout
        tree.mkdir()
        cache.mkdir(mode=0o700)
        (tree / ".git").mkdir()
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(tree, filter="data")
        try:
            yield task, State(program, tree, cache)
        finally:
            shutil.rmtree(tree)
            shutil.rmtree(cache)
