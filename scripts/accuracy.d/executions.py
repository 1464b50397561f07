"""Whether imported coverage stays true. The suite of a parent commit runs with one context a test, its data is imported, the
child commit is checked out, and the view `covers` is compared with what the suite of the child executes: pairs of a function and a
test, given to functions by Python's own parser. Then bodies are mutated, and the tests that fail have to be in the class `executed`
of `impact`; of the mutated function by name nothing may be left.

    scripts/accuracy executions --sources DIR --venvs DIR flask:fbb6f0bc click:047adef2 werkzeug:da9d4724

DIR of `--sources` has git repositories, that of `--venvs` a virtual environment `venv-NAME` for each, with pytest, pytest-cov and
what the project needs. Variants of a test by parameters are one test, and so are tests of one name in a file: a class inherits some.
Bars: recall .995 and precision .90 of the pairs of functions whose bodies are the same in both commits.
"""
import ast
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from base import command_line, DEBUG, with_cache

RECALL, PRECISION = .995, .90
COVERS = """SELECT f.path, c.symbol_id, t.path, t.name FROM covers c JOIN symbols s ON s.id = c.symbol_id JOIN files f ON f.id = s.file_id
JOIN tests t ON t.id = c.test_id"""
MEASURED = "SELECT f.path, c.context, {} FROM {} d JOIN file f ON f.id = d.file_id JOIN context c ON c.id = d.context_id"
SYMBOLS = "SELECT id, name, container_id FROM symbols"


class Functions:
    """Functions of a Python file: lines of the bodies, and their texts."""

    def __init__(self, text):
        self.bodies, self.lines, self.known = [], text.splitlines(), {}
        self.visit(ast.parse(text), ())

    def visit(self, node, names):
        """Adds the functions below a node."""
        for child in ast.iter_child_nodes(node):
            inner = names
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = (*names, child.name)
                if not isinstance(child, ast.ClassDef):
                    first, last = child.body[0].lineno, child.end_lineno
                    self.bodies.append((first, last, ".".join(inner), child))
            self.visit(child, inner)

    def at(self, line):
        """Name of the innermost function whose body has a line."""
        if line not in self.known:
            around = [(last - first, name) for first, last, name, _ in self.bodies if first <= line <= last]
            self.known[line] = min(around)[1] if around else None
        return self.known[line]

    def texts(self):
        """Texts of the bodies by name."""
        found = {}
        for first, last, name, node in self.bodies:
            start = node.body[0].col_offset
            own = [self.lines[first - 1][start:], *self.lines[first:last]]
            found.setdefault(name, set()).add("\n".join(own).strip())
        return found


class Project:
    """A clone with its own cache and Python."""

    def __init__(self, options, name, scratch):
        self.options, self.name = options, name
        self.tree = os.path.join(scratch, name)
        self.python = os.path.join(options.venvs, f"venv-{name}", "bin", "python")
        self.cache = os.path.join(scratch, f"cache-{name}")
        source = next(os.path.join(options.sources, entry, "repo") for entry in sorted(os.listdir(options.sources))
                      if entry.lower().split("+")[-1] == name)
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", source, self.tree], check=True)

    def git(self, *arguments):
        """Output of git."""
        return subprocess.run(["git", "-C", self.tree, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, *arguments, code=(0, 1)):
        """Output of the program."""
        done = subprocess.run([self.options.bin, *arguments, "--root", self.tree], capture_output=True, text=True, check=False,
                              env=with_cache(self.cache))
        if done.returncode not in code:
            sys.exit(f"{arguments}: {done.stderr}")
        return done.stdout

    def sql(self, statement):
        """All rows of a statement."""
        rows, found = True, []
        while rows:
            # A statement has a maximum number of rows.
            answer = json.loads(self.ask("sql", f"{statement} LIMIT 10000 OFFSET {len(found)}", "--json", "--budget", "10000"))
            rows = answer["rows"]
            found += rows
        return found

    def test(self, *more):
        """Runs the suite; returns the data file and the tests that failed."""
        data, report = os.path.join(self.tree, ".coverage"), os.path.join(self.tree, "..", f"{self.name}.xml")
        if os.path.exists(data):
            os.remove(data)
        subprocess.run([self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=legacy",
                        f"--junitxml={report}", *self.options.pytest, *more], cwd=self.tree, check=False, capture_output=True,
                       env={**os.environ, "PYTHONPATH": os.path.join(self.tree, "src"), "PYTHONDONTWRITEBYTECODE": "1"})
        failed = set()
        for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
            # A case without a file is a note of pytest about itself.
            if case.get("file") and (case.find("failure") is not None or case.find("error") is not None):
                failed.add((case.get("file"), case.get("name").split("[")[0]))
        return data, failed

    def read(self, path):
        """Text of a file; empty if it is not there."""
        try:
            with open(os.path.join(self.tree, path), encoding="utf-8") as file:
                return file.read()
        except (FileNotFoundError, UnicodeDecodeError):
            return ""

    def measured(self, data):
        """(path, function, test file, test) of a data file, by Python's parser."""
        database = sqlite3.connect(data)
        files, pairs = {}, set()
        lines = [(file, context, [at * 8 + bit for at, byte in enumerate(bits) for bit in range(8) if byte >> bit & 1])
                 for file, context, bits in database.execute(MEASURED.format("numbits", "line_bits"))]
        lines += [(file, context, [line for line in (one, other) if line > 0])
                  for file, context, one, other in database.execute(MEASURED.format("fromno, tono", "arc"))]
        for path, context, own in lines:
            if "::" not in context:
                continue
            path = os.path.relpath(path, os.path.realpath(self.tree))
            if path not in files:
                files[path] = Functions(self.read(path))
            file, *names = context.rsplit("|", 1)[0].split("[")[0].split("::")
            for line in own:
                name = files[path].at(line)
                if name:
                    pairs.add((path, name, file, names[-1]))
        return pairs

    def covered(self):
        """The same of the view `covers`."""
        symbols = {key: (name, outer) for key, name, outer in self.sql(SYMBOLS)}

        def qualified(key):
            name, outer = symbols[key]
            return name if outer is None else f"{qualified(outer)}.{name}"
        found = set()
        for path, symbol, file, test in self.sql(COVERS):
            if file is None:
                file = test.split("::")[0]
            found.add((path, qualified(symbol), file, re.split(r"::|\.", test)[-1]))
        return found

    def bodies(self):
        """Texts of the bodies of every function."""
        return {(path, name): texts for path in self.git("ls-files", "*.py").splitlines()
                for name, texts in Functions(self.read(path)).texts().items()}


def shares(found, truth):
    """Recall and precision."""
    both = len(found & truth)
    return both / max(len(truth), 1), both / max(len(found), 1)


def compared(project, child):
    """Compares the parent's coverage at the child with that of the child; true within the bars."""
    project.git("checkout", "-q", "-f", f"{child}^")
    before = project.bodies()
    data, _ = project.test("--cov=src", "--cov-context=test", "--cov-report=")
    parent = os.path.join(project.tree, "..", f"{project.name}.parent")
    shutil.copy(data, parent)
    print(project.name, project.ask("coverage", "add", parent).strip(), flush=True)
    project.git("checkout", "-q", "-f", child)
    found, after = project.covered(), project.bodies()
    data, failed = project.test("--cov=src", "--cov-context=test", "--cov-report=")
    truth = project.measured(data)
    same = {key for key, texts in after.items() if texts == before.get(key)}

    def kept(pairs):
        return {pair for pair in pairs if pair[:2] in same}
    recall, precision = shares(kept(found), kept(truth))
    changed = sum(1 for key in after if key in before and key not in same)
    print(f"{project.name} {child}: {changed} bodies changed; of the same bodies {len(kept(truth))} pairs, recall {recall:.4f}, precision "
          f"{precision:.4f}; of all {len(truth)} pairs, recall {shares(found, truth)[0]:.4f}, precision {shares(found, truth)[1]:.4f}")
    for text, pairs in (("missing", kept(truth) - kept(found)), ("not executed", kept(found) - kept(truth))):
        for pair in sorted(pairs)[:5]:
            print(f"  {text}: {' '.join(pair)}")
    project.ask("coverage", "add", data)
    return recall >= RECALL and precision >= PRECISION, truth, failed


def mutated(project, truth, failed_before, count):
    """Mutates bodies; true if the tests that fail are of class `executed`, and nothing is by name."""
    targets = sorted({pair[:2] for pair in truth if pair[0].startswith("src/")})
    random.Random(project.name).shuffle(targets)
    kills = held = mutants = 0
    is_good = True
    for path, name in targets:
        if mutants == count:
            break
        text = project.read(path)
        lines = text.splitlines(keepends=True)
        own = [node for _, _, known, node in Functions(text).bodies if known == name]
        returns = [node for node in ast.walk(own[0]) if isinstance(node, ast.Return) and node.value is not None
                   and node.lineno == node.end_lineno and not isinstance(node.value, ast.Constant)]
        if len(own) != 1 or not returns:
            continue
        place = returns[0].lineno - 1
        lines[place] = re.sub(r"return\b.*", "return NotImplemented", lines[place].rstrip("\n"), count=1) + "\n"
        with open(os.path.join(project.tree, path), "w", encoding="utf-8") as file:
            file.writelines(lines)
        _, failed = project.test("-q")
        killing = failed - failed_before
        answer = json.loads(project.ask("impact", "--json"))
        executed = {(test["path"], test["name"].rsplit(".", 1)[-1]) for test in answer["tests"] if test["class"] == "executed"}
        named = json.loads(project.ask("impact", f"{path}::{name}", "--json"))
        left = [test for test in named["tests"] if test["class"] == "executed"]
        project.git("checkout", "-q", "--", path)
        if not killing:
            continue
        mutants, kills, held = mutants + 1, kills + len(killing), held + len(killing & executed)
        is_good = is_good and killing <= executed and not left
        print(f"  {path} {name}: {len(killing)} tests fail, {len(killing & executed)} of them executed of {len(executed)}; "
              f"by name {len(left)}" + "".join(f"\n    missing {one}" for one in sorted(killing - executed)[:3]), flush=True)
    print(f"{project.name}: {mutants} mutants, {held} of {kills} killing tests are executed")
    return is_good


def main():
    """Measures and reports."""
    parser = command_line(__doc__)
    parser.add_argument("projects", nargs="+", metavar="NAME:COMMIT")
    parser.add_argument("--sources", metavar="DIR", required=True)
    parser.add_argument("--venvs", metavar="DIR", required=True)
    parser.add_argument("--bin", metavar="PATH", default=DEBUG)
    parser.add_argument("--pytest", action="append", default=[], metavar="ARGUMENT", help="one more argument of pytest")
    parser.add_argument("--mutants", type=int, default=5, metavar="N")
    options = parser.parse_args()
    is_good = True
    with tempfile.TemporaryDirectory() as scratch:
        for one in options.projects:
            name, child = one.split(":")
            project = Project(options, name, scratch)
            within, truth, failed = compared(project, child)
            is_good = mutated(project, truth, failed, options.mutants) and within and is_good
    return 0 if is_good else 1
