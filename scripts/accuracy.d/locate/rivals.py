"""What else ranks code for a task: BM25 over bodies, matches of ripgrep, another graph of code. Each gives a list and the text that was read."""
import functools
import json
import math
import os
import re
import shutil
import subprocess
from collections import Counter

from score import Listed

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
LEAST_LETTERS = 4  # of a word that ripgrep searches
MOST = 20  # symbols of a list, or files
SOURCE_OF = re.compile(r"^\*\*`([^`]+)`\*\*")


def words(text):
    """The parts of all identifiers in lower case."""
    return [part.lower() for word in WORD.findall(text) for part in PART.findall(word) if len(part) > 1]


# States of one repository share most of their functions.
@functools.lru_cache(maxsize=150_000)
def _bag(body):
    bag = Counter(words(body))
    return bag, sum(bag.values())


def by_bodies(state, text, k1=1.2, b=0.75):
    """The functions whose bodies fit best by plain BM25."""
    rows, bags, lines, path = state.functions(), [], [], None
    for row in rows:
        if row[0] != path:
            path = row[0]
            lines = (state.tree / path).read_text("utf-8", "replace").splitlines()
        bags.append(_bag("\n".join(lines[row[1] - 1:row[2]])))
    average = sum(length for _, length in bags) / max(1, len(bags))
    scores = [0.0] * len(bags)
    for term in set(words(text)):
        having = [(at, bag[term], length) for at, (bag, length) in enumerate(bags) if term in bag]
        rarity = math.log(1 + (len(bags) - len(having) + 0.5) / (len(having) + 0.5))
        for at, count, length in having:
            scores[at] += rarity * count * (k1 + 1) / (count + k1 * (1 - b + b * length / average))
    best = sorted(range(len(rows)), key=lambda at: -scores[at])[:MOST]
    return [Listed(rows[at][0], "function", f"{rows[at][4] + '.' if rows[at][4] else ''}{rows[at][3]}") for at in best if scores[at] > 0]


def by_matches(state, text):
    """Files with functions, by how many different words of the task `rg` finds in them, then by how often."""
    asked = sorted({word.lower() for word in WORD.findall(text) if len(word) >= LEAST_LETTERS})
    command = ["rg", "--no-config", "-oiwFN", "--null", "--no-heading", "--with-filename", "-f", "-", "."]
    done = subprocess.run(command, cwd=state.tree, input="\n".join(asked), capture_output=True, text=True, errors="replace", timeout=300)
    if done.returncode > 1:
        raise SystemExit(f"rg: {done.stderr.strip()[-300:]}")
    return ranked_matches(done.stdout, {row[0] for row in state.functions()})


def ranked_matches(output, kept):
    """The files of `path NUL word` lines, best first."""
    hits, different = Counter(), {}
    for line in output.splitlines():
        path, _, word = line.partition("\0")
        path = path.removeprefix("./")
        hits[path] += 1
        different.setdefault(path, set()).add(word.lower())
    best = sorted((path for path in hits if path in kept), key=lambda path: (-len(different[path]), -hits[path], path))
    return [Listed(path, "file", path) for path in best[:MOST]]


class Codegraph:
    """`@colbymchenry/codegraph`: its index of a state, and what its two answers list."""

    def __init__(self, program, state, home):
        self.program, self.tree = program, state.tree
        home.mkdir(exist_ok=True)
        self.environment = dict(os.environ, HOME=str(home), DO_NOT_TRACK="1", CODEGRAPH_TELEMETRY="0")
        self._run("init", ".")

    def close(self):
        """Takes its index away, before the tree becomes another state."""
        shutil.rmtree(self.tree / ".codegraph")

    def _run(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.tree, env=self.environment, capture_output=True, text=True, errors="replace", timeout=1800)
        if done.returncode:
            raise SystemExit(f"codegraph {arguments[0]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def context(self, text):
        """Symbols in the order of `context`, and its usual text."""
        size = ("--max-nodes", str(MOST))
        return nodes(self._run("context", *size, "--format", "json", "--", text)), self._run("context", *size, "--", text)

    def explore(self, text):
        """Files in the order in which `explore` shows their source, and its text."""
        answer = self._run("explore", "--", text)
        return [Listed(head[1], "file", head[1]) for line in answer.splitlines() if (head := SOURCE_OF.match(line))], answer


def nodes(answer):
    """The symbols of `context --format json`."""
    found = json.loads(answer).get("nodes", [])
    return [Listed(node["filePath"], node["kind"], node["qualifiedName"].replace("::", ".")) for node in found]
