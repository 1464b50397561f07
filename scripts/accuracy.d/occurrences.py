"""Every occurrence of a name, judged: the definition that a type checker finds, compared with that of the index.

The truth is a list of occurrences that a program in occurrences/ writes: place, name, kind, and the places of what it
refers to. Required is an occurrence that refers to a symbol of the index, apart from parameters and locals. It is right if the site of
the index at the same place is resolved or likely and leads to one of the true definitions, wrong if it leads elsewhere. What the checker
could not decide counts on neither side, nor does what leads to code that is not compiled, or to a declaration of what is defined outside.

    scripts/accuracy occurrences typescript DIR
    scripts/accuracy occurrences typescript DIR --show fp 20 --show fn 20    also samples of what is wrong and missed
    scripts/accuracy occurrences go DIR --first-sight     of a project whose errors are not known: its score is kept in
                                                          scripts/accuracy.d/first_sight.tsv, once, and in the table of docs/accuracy.md
"""

import collections
import datetime
import itertools
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from base import ROOT, TARGET, built, command_line, with_cache
from usage import store

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_SIGHT = os.path.join(HERE, "first_sight.tsv")
DOCUMENT = os.path.join(ROOT, "docs", "accuracy.md")
# What runs the maker of a language, and the npm packages that it needs.
Maker = collections.namedtuple("Maker", "command packages")
MAKERS = {
    "c": Maker([sys.executable, "clang.py"], ()),
    "cpp": Maker([sys.executable, "clang.py"], ()),
    "csharp": Maker([sys.executable, "csharp.py"], ("@autorest/csharp@3.0.0-beta.20220628.2",)),
    "go": Maker(["go", "run", "go.go"], ()),
    "java": Maker(["java", "Java.java"], ()),
    "kotlin": Maker([sys.executable, "kotlin.py"], ("kotlin-compiler",)),
    "php": Maker([sys.executable, "php.py"], ("intelephense",)),
    "python": Maker([sys.executable, "python.py"], ("pyright",)),
    "rust": Maker([sys.executable, "rust.py"], ()),
    "typescript": Maker(["node", "typescript.js"], ("typescript@5.9",)),
}

JAVASCRIPT = (".js", ".cjs", ".mjs", ".jsx")
STATED = (".d.ts", ".d.cts", ".d.mts")
PROVEN = ("resolved", "likely")
Site = collections.namedtuple("Site", "kind verdict step to")
Missed = collections.namedtuple("Missed", "row how called")
INSTEAD = ("candidates with it", "other target", "other candidates", "external", "unresolved", "no site")


class Store:
    """The symbols and sites of an index."""

    def __init__(self, path):
        store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.symbols, self.at = {}, collections.defaultdict(set)
        named = ("SELECT v.id, v.name, v.kind, v.path, v.line, s.start_line + s.name_down, v.container_id, v.end_line FROM symbols v "
                 "JOIN symbol s ON s.id = v.id")
        self.declared = set()  # types without a body
        for id_, name, kind, path, line, name_line, container, end_line in store.execute(named):
            self.symbols[id_] = (path, name_line, name, kind, container)
            if kind in ("struct", "union", "enum", "class") and line == end_line:
                self.declared.add(id_)
            self.at[path, name_line, name].add(id_)
        self.sites = collections.defaultdict(list)
        self.files = {path for (path,) in store.execute("SELECT path FROM files WHERE skipped IS NULL OR skipped = ''")}
        candidates = collections.defaultdict(set)
        for site, symbol in store.execute("SELECT site_id, symbol_id FROM candidates"):
            candidates[site].add(symbol)
        for id_, path, line, col, kind, verdict, step, to in store.execute("SELECT id, path, line, col, kind, verdict, step, to_id FROM refs"):
            targets = candidates.get(id_, set()) | ({to} if to is not None else set())
            self.sites[path, line, col].append(Site(kind, verdict, step, targets))
        # A namespace is one thing in all its blocks, a type in all its declarations; a checker names one of them.
        self.namespaces, self.types = {}, {}
        for id_, (path, line, name, kind, _) in self.symbols.items():
            if kind == "namespace":
                self.namespaces.setdefault((path, line, name), self.qualified(id_))
            elif kind in ("struct", "union", "enum", "class"):
                self.types.setdefault((path, line, name), id_)
        self.relations = collections.defaultdict(set)
        for kind, one, other in store.execute("SELECT kind, from_id, to_id FROM relations"):
            if kind in ("overrides", "implements", "defines"):
                self.relations[one].add(other)
                self.relations[other].add(one)

    def qualified(self, symbol):
        """The names of a symbol and of what is around it."""
        names = []
        while symbol in self.symbols:
            names.append(self.symbols[symbol][2])
            symbol = self.symbols[symbol][4]
        return tuple(reversed(names))

    def declares(self, symbol, targets):
        """Whether a symbol is a namespace that is one of the targets, or a type that declares or defines one of them."""
        if self.symbols[symbol][3] == "namespace":
            return self.qualified(symbol) in {self.namespaces.get(target) for target in targets}
        others = {self.types[target] for target in targets if target in self.types}
        is_type = self.symbols[symbol][3] in ("struct", "union", "enum", "class")
        declared = {other for other in others if is_type and (symbol in self.declared or other in self.declared)}
        return any(self.qualified(symbol) == self.qualified(other) for other in declared)

    def implements(self, symbol, targets):
        """Whether a symbol is the JavaScript of one of the targets, which a declaration file states: a type checker knows that file alone."""
        if not self.symbols[symbol][0].endswith(JAVASCRIPT):
            return False
        stated = [target for target in targets if target[0].endswith(STATED)]
        return any(self.qualified(symbol) == self.qualified(other) for target in stated for other in self.at.get(target, ()))

    def places(self, symbol):
        """Where a symbol is defined: a constructor is its type as well."""
        path, line, name, kind, container = self.symbols[symbol]
        yield path, line, name
        if kind == "constructor" and container in self.symbols:
            yield self.symbols[container][:3]


class Judged:
    """The comparison of one project."""

    def __init__(self, store, rows):
        self.kinds = collections.defaultdict(collections.Counter)
        self.missed, self.wrong = [], []
        self.store = store
        # A shorthand names a value and a member at one place.
        self.all_targets = collections.defaultdict(set)
        self.inactive = {(row["path"], line) for row in rows for line in row.get("inactive", ())}
        rows = [row for row in rows if "kind" in row]
        for row in rows:
            self.all_targets[place(row)].update(tuple(target) for target in row.get("targets", ()))
        for row in rows:
            if "targets" in row or row.get("local"):
                self.judge(row)

    def judge(self, row):
        store, kind = self.store, self.kinds[row["kind"]]
        targets = {tuple(target) for target in row.get("targets", ())}
        here = (row["path"], row["line"], row["name"])
        if any(line == 0 for _, line, _ in targets) or here in targets and row["kind"] in ("write", "key"):
            return  # a whole file, or the place that makes a member
        if targets == {here} and row["kind"] == "type":
            return  # declared by being named (`struct s *p`)
        if row["kind"] == "macro" and targets and not any(name == row["name"] for *_, name in targets):
            return  # a word of the language that a macro replaces
        if row["kind"] == "type":  # the constructor that a type in a macro denotes
            made = [symbol for target in targets for symbol in store.at.get(target, ()) if store.symbols[symbol][3] == "constructor"]
            targets.update(store.symbols[store.symbols[symbol][4]][:3] for symbol in made if store.symbols[symbol][4] in store.symbols)
        required = not row.get("local") and not row.get("outside") and any(target in store.at for target in targets)
        sites = store.sites.get(place(row), [])
        right = [site for site in sites if any(place in targets for symbol in site.to for place in store.places(symbol))
                 or any(store.declares(symbol, targets) or store.implements(symbol, targets) for symbol in site.to)]
        # The value of a variable is not known, the variable is.
        proven = [site for site in right if site.verdict in PROVEN or site.step == "function-value"]
        if required:
            kind["required"] += 1
            if proven:
                kind["right"] += 1
            elif right:
                kind["possible"] += 1
                self.missed.append(Missed(row, f"{right[0].verdict} {right[0].step}", "candidates with it"))
            else:
                how = f"{sites[0].verdict} {sites[0].step}" if sites else "no site"
                kind["external" if sites and sites[0].verdict == "external" else "missed"] += 1
                self.missed.append(Missed(row, how, called_instead(sites)))
        elif targets and not row.get("local"):
            kind["no symbol"] += 1
        for site in sites:
            # A call of a local variable is one of the function that it holds; a value by position, and a shorthand, write a field.
            is_of_value = row.get("local") and row["kind"] in ("call", "construct", "jsx", "decorator")
            is_positional = site.kind == "write" and row["kind"] == "read"
            if site.verdict not in PROVEN or not site.to or proven or is_of_value or is_positional:
                continue
            # Code for other systems, and what the project only declares, is not wrong.
            if any(store.symbols[end][:2] in self.inactive or not targets and end in store.declared for end in site.to):
                continue
            # The project adds to a namespace of a library.
            if row["kind"] == "namespace" and not targets and all(len(store.qualified(end)) == 1 for end in site.to):
                continue
            if not any(end in self.all_targets[place(row)] for symbol in site.to for end in store.places(symbol)):
                kind["wrong"] += 1
                kind[site.verdict + " wrong"] += 1
                self.wrong.append((row, site))
                break
        for site in (site for site in proven[:1] if site.verdict in PROVEN):
            kind[site.verdict + " right"] += 1

    def table(self):
        """A line for each kind, then all."""
        total = collections.Counter()
        for counts in self.kinds.values():
            total.update(counts)
        lines = []
        for kind, counts in [*sorted(self.kinds.items()), ("all", total)]:
            required, right, wrong = counts["required"], counts["right"], counts["wrong"]
            known = counts["resolved right"] + counts["likely right"] + wrong
            if not required and not known:
                continue
            lines.append([kind, required, f"{(known - wrong) / known:.3f}" if known else "", f"{right / required:.3f}" if required else "", wrong,
                          counts["possible"], counts["missed"], counts["external"], counts["no symbol"],
                          f"{counts['likely right']}/{counts['likely right'] + counts['likely wrong']}"])
        return lines


def called_instead(sites):
    """What the index says of a true occurrence that none of the sites at its place leads to: one of INSTEAD."""
    if not sites:
        return "no site"
    for verdicts, called in ((PROVEN, "other target"), (("ambiguous", "possible"), "other candidates"), (("external",), "external")):
        if any(site.verdict in verdicts for site in sites):
            return called
    return "unresolved"


HEAD = ["kind", "required", "P", "R", "wrong", "possible", "missed", "external", "no symbol", "likely"]


def place(row):
    return row["path"], row["line"], row["col"]


def rows(path):
    with open(path) as file:
        return [row for row in map(json.loads, file) if "kind" in row or "inactive" in row]


def instead(missed):
    """How many occurrences were called what, with the three most frequent verdicts and reasons of each."""
    by_call = collections.defaultdict(collections.Counter)
    for _, how, called in missed:
        by_call[called][how] += 1
    for called in INSTEAD:
        hows = ", ".join(f"{count} {how}" for how, count in by_call[called].most_common(3))
        yield f"  {by_call[called].total():>6} {called}" + (f": {hows}" if hows else "")


def report(judged, source, what, count, seed=1):
    """Samples of what is missed or wrong, grouped by how the index judged them."""
    groups = collections.defaultdict(list)
    if what == "missed":
        for row, how, _ in judged.missed:
            groups[f"{row['kind']}: {how}"].append((row, ""))
    else:
        for row, site in judged.wrong:
            ends = [judged.store.symbols[symbol] for symbol in site.to]
            groups[f"{row['kind']}: {site.verdict} {site.step}"].append((row, " INDEX " + ", ".join(f"{end[0]}:{end[1]} {end[3]} {end[2]}" for end in ends[:2])))
    for group, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        yield f"== {len(found)} {group}"
        for row, more in random.Random(seed).sample(found, min(count, len(found))):
            true = " ".join(f"{path}:{line}" for path, line, _ in row.get("targets", [])[:2]) or "outside"
            yield f"  {row['path']}:{row['line']}:{row['col']} {row['name']} -> {true}{more}  | {source(row['path'], row['line'])}"


def make(language, directory, place, truth):
    """Writes the truth of a project to a file."""
    *runner, maker = MAKERS[language].command
    modules = os.path.join(place, "npm", "node_modules")
    missing = [name for name in MAKERS[language].packages if not os.path.isdir(os.path.join(modules, re.sub("(?<=.)@.*", "", name)))]
    if missing:
        subprocess.run(["npm", "install", "--silent", "--no-fund", "--prefix", os.path.dirname(modules), *missing], check=True)
    with open(truth, "w") as file:
        subprocess.run([*runner, os.path.join(HERE, "occurrences", maker), directory], stdout=file, check=True,
                       env={**os.environ, "NODE_PATH": modules, "NODE_OPTIONS": "--max-old-space-size=6000", "GO111MODULE": "off"})


def revision(directory):
    """The commit of a work tree, or nothing."""
    described = subprocess.run(["git", "-C", directory, "describe", "--always", "--tags", "--dirty"], capture_output=True, text=True)
    return described.stdout.strip() if described.returncode == 0 else "-"


def visited():
    """The projects that have a first score, as rows of fields."""
    with open(FIRST_SIGHT) as file:
        return [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]


def write_down(language, directory, judged):
    """The first score of a project, before any of its errors was read. There is no second one."""
    kinds = [f"{kind} {precision or '-'}/{recall or '-'} {required}" for kind, required, precision, recall, *_ in judged.table()]
    name, program = os.path.basename(os.path.realpath(directory)), revision(HERE)
    row = [datetime.date.today().isoformat(), program, language, name, revision(directory), kinds[-1].removeprefix("all "), ", ".join(kinds[:-1])]
    with open(FIRST_SIGHT, "a") as file:
        file.write("\t".join(row) + "\n")


FIRST_HEAD = "| language | project | revision | required | all: P/R | by kind: P/R |\n|---|---|---|---|---|---|\n"


def first_scores():
    """The table of docs/accuracy.md: all first scores, by language, in order."""
    lines = []
    for _, _, language, name, version, total, kinds in sorted(visited(), key=lambda row: row[2]):
        score, required = total.split(" ")
        by_kind = ", ".join(" ".join(kind.split(" ")[:2]) for kind in kinds.split(", "))
        lines.append(f"| {language} | {name} | {version} | {int(required):,} | {score} | {by_kind} |\n")
    return FIRST_HEAD + "".join(lines)


def first_table():
    """The text of docs/accuracy.md around the table of first scores, and the table that stands there."""
    with open(DOCUMENT) as file:
        before, found, after = file.read().partition(FIRST_HEAD)
    rows = "".join(line for line in itertools.takewhile(lambda line: line.startswith("|"), after.splitlines(keepends=True)))
    return before, found + rows, after[len(rows):]


def keep_first_scores():
    before, _, after = first_table()
    with open(DOCUMENT, "w") as file:
        file.write(before + first_scores() + after)


def main():
    """Prints the table of one project, and samples."""
    parser = command_line(__doc__)
    parser.add_argument("language", metavar="LANGUAGE", choices=MAKERS, help="of " + ", ".join(MAKERS))
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--bin", metavar="PATH", help="the program; default: what `cargo build --release` makes")
    parser.add_argument("--show", nargs=2, action="append", default=[], metavar=("fp|fn", "N"), help="print N random samples of each group")
    parser.add_argument("--first-sight", action="store_true", help="keep the score, once for each project")
    options = parser.parse_args()
    if any(what not in ("fp", "fn") or not count.isdigit() for what, count in options.show):
        parser.error("--show takes fp or fn, and a number")
    language, directory, is_first = options.language, options.directory, options.first_sight
    name = os.path.basename(os.path.realpath(directory))
    if is_first and any(row[2:4] == [language, name] for row in visited()):
        sys.exit(f"{name} has been seen: {FIRST_SIGHT} has its first score")
    with tempfile.TemporaryDirectory() as scratch:
        truth, cache = os.path.join(scratch, "truth.jsonl"), os.path.join(scratch, "cache")
        make(language, directory, os.path.join(TARGET, "accuracy"), truth)
        subprocess.run([options.bin or built(), "index", directory], capture_output=True, check=True, env=with_cache(cache))
        judged = Judged(Store(store(cache)), rows(truth))
    if is_first:
        write_down(language, directory, judged)
        keep_first_scores()
    for line in [HEAD, *judged.table()]:
        print("  ".join(f"{cell!s:>9}" for cell in line))
    print("", "What required occurrences were called that are not found:", *instead(judged.missed), sep="\n")
    lines = {}

    def source(path, line):
        if path not in lines:
            with open(os.path.join(directory, path), errors="replace") as file:
                lines[path] = file.read().split("\n")
        return lines[path][line - 1].strip()[:140]

    for what, count in options.show:
        print("", *report(judged, source, {"fp": "wrong", "fn": "missed"}[what], int(count)), sep="\n")
