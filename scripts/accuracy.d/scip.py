"""Definitions and the targets of references, against the SCIP index that an indexer made of the same project with a compiler.

    scripts/accuracy scip DIR --index FILE            FILE: by scip-typescript, scip-python, ...
    scripts/accuracy scip DIR --index FILE --below packages/one --show 20

Compared are names that both know, by place: definitions that are visible beyond their function (types, functions, methods, fields, variables
at the top level), and references for which both name a definition in the project. Then the index is imported, and the same is printed again;
and the own export is imported into a fresh index of the project, which must leave the number of references with a target as it is."""
import collections
import os
import re
import subprocess
import sys
import tempfile
from urllib.parse import unquote

from base import built, command_line, table, with_cache

DEFINITION, FORWARD = 1, 64
# How a program says in which units its columns are; others do not say it, and have those of their strings.
BYTES, UTF16, CHARACTERS = 1, 2, 3
LAST = re.compile(r"(?P<name>`(?:[^`]|``)*`|[^`/#.!:()\[\] ]*)(?P<suffix>\([^)]*\)\.|[/#.!:]|)$")


def fields(data):
    """Number and value of each field of a message."""
    at, end = 0, len(data)

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < end:
        tag = number()
        if tag & 7 == 0:
            yield tag >> 3, number()
        elif tag & 7 == 2:
            length = number()
            yield tag >> 3, data[at:at + length]
            at += length
        else:
            at += 8 if tag & 7 == 1 else 4


def varints(data):
    """The numbers of a packed field."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0


class Index:
    """An index: definitions by place, and for each reference the places of its definitions."""

    def __init__(self, path, root, below=""):
        self.definitions, self.references = {}, collections.defaultdict(set)
        self.files, self.symbols, places, occurrences = set(), {}, collections.defaultdict(set), []
        with open(path, "rb") as file:
            data = memoryview(file.read())
        for number, value in fields(data):
            if number == 2:
                self.document(value, root, below, places, occurrences)
        for place, symbol in occurrences:
            self.references[place] |= places.get(symbol, set())

    def document(self, data, root, below, places, occurrences):
        path, unit, found = "", 0, []
        for number, value in fields(data):
            if number == 1:
                path = os.path.normpath(os.path.join(below, bytes(value).decode()))
            elif number == 6:
                unit = value
            elif number == 2:
                found.append(value)
        try:
            with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
                lines = file.read().split("\n")
        except (OSError, UnicodeDecodeError):
            return
        self.files.add(path)
        for one in found:
            parts = dict(fields(one))
            begin, symbol, roles = list(varints(bytes(parts[1]))), bytes(parts[2]).decode(), parts.get(3, 0)
            line = begin[0]
            column = to_bytes(lines[line] if line < len(lines) else "", begin[1], unit)
            place = path, line, column
            key = (path, symbol) if symbol.startswith("local ") else symbol
            if roles & (DEFINITION | FORWARD):
                places[key].add(place)
                is_file = symbol.endswith(("/", ":")) and place[1:] == (0, 0)
                if not is_file:
                    self.definitions.setdefault(place, symbol)
            else:
                occurrences.append((place, key))


def to_bytes(line, column, unit):
    if unit == BYTES or line.isascii():
        return column
    if unit == CHARACTERS:
        return len(line[:column].encode())
    return len(line.encode("utf-16-le")[:2 * column].decode("utf-16-le", "replace").encode())


def kind(symbol):
    """What a symbol of an index is, by its last descriptor."""
    if symbol.startswith("local "):
        return "local"
    if symbol.endswith(")"):
        return "parameter"
    if symbol.endswith("]"):
        return "type parameter"
    suffix = LAST.search(symbol)["suffix"]
    return {"/": "namespace", "#": "type", ".": "term", "!": "macro", ":": "meta"}.get(suffix, "method")


def is_visible(symbol):
    """Whether a symbol is one that other files may know: nothing inside of a function, no parameter."""
    return kind(symbol) in ("type", "term", "method", "macro") and not re.search(r"\)\.[^ ]", symbol)


def compare(theirs, ours, show):
    """Prints how far two indexes agree."""
    common = theirs.files & ours.files
    wanted = {place: symbol for place, symbol in theirs.definitions.items() if place[0] in common and is_visible(symbol)}
    rows = [("definitions", "theirs", "ours too", "share")]
    by_kind = collections.defaultdict(lambda: [0, 0])
    missing = []
    for place, symbol in wanted.items():
        counts = by_kind[kind(symbol)]
        counts[0] += 1
        if place in ours.definitions:
            counts[1] += 1
        else:
            missing.append((cause(symbol), place, symbol))
    for name, (count, both) in sorted(by_kind.items()):
        rows.append((name, count, both, f"{both / count:.4f}"))
    both = sum(both for _, both in by_kind.values())
    rows.append(("all", len(wanted), both, f"{both / max(1, len(wanted)):.4f}"))
    table(rows)
    own = [place for place, symbol in ours.definitions.items() if place[0] in common and is_visible(symbol)]
    print(f"visible definitions of ours: {len(own)}, theirs too: {sum(place in theirs.definitions for place in own)}")
    sample("not here", missing, show)
    agree, wrong = 0, []
    for place, targets in theirs.references.items():
        own = ours.references.get(place, set())
        if place[0] not in common or not targets or not own:
            continue
        if targets & own:
            agree += 1
        else:
            wrong.append((f"{len(own)} for {len(targets)}", place, f"{sorted(targets)[0]} / {sorted(own)[0]}"))
    print(f"references for which both name a definition: {agree + len(wrong)}, the same one: {agree} "
          f"({agree / max(1, agree + len(wrong)):.4f})")
    sample("other target", wrong, show)
    known = [place for place, targets in theirs.references.items() if place[0] in common and any(one in ours.definitions for one in targets)]
    have = sum(bool(ours.references.get(place)) for place in known)
    print(f"references that lead to a definition of ours: {len(known)}, with a target here: {have} ({have / max(1, len(known)):.4f})")


def cause(symbol):
    """Why a definition may be missing, by its name."""
    if "typeLiteral" in symbol:
        return "member of a type without a name"
    if "<get>" in symbol or "<set>" in symbol:
        return "accessor"
    return kind(symbol)


def sample(title, found, show):
    causes = collections.Counter(cause for cause, *_ in found)
    for name, count in causes.most_common():
        print(f"  {title}: {name}: {count}")
        some = [one for one in found if one[0] == name][:show]
        for _, (path, line, column), what in some:
            print(f"      {path}:{line + 1}:{column} {what}")


class Program:
    def __init__(self, binary, root, cache):
        self.binary, self.root, self.cache = binary, root, cache

    def run(self, *arguments):
        command = [self.binary, *arguments, "--root", self.root]
        return subprocess.run(command, env=with_cache(self.cache), check=True, capture_output=True, text=True).stdout

    def export(self, path):
        self.run("export", "scip", "--output", path)
        return path

    def targets(self):
        """How many references have a target, by verdict and step."""
        found = self.run("sql", "SELECT verdict, count(*) FROM refs WHERE verdict IN ('resolved', 'likely') GROUP BY verdict ORDER BY verdict")
        edges = self.run("sql", "SELECT count(*) FROM calls")
        last = lambda text: [line for line in text.splitlines() if "|" in line or line.strip().isdigit()]
        return last(found)[1:], last(edges)


def main():
    parser = command_line(__doc__)
    parser.add_argument("project", metavar="DIR")
    parser.add_argument("--index", required=True, help="the SCIP index of the indexer")
    parser.add_argument("--below", default="", help="directory in which its paths start")
    parser.add_argument("--show", type=int, default=0, help="number of examples of each cause")
    parser.add_argument("--bin", help="the program, if it is built already")
    options = parser.parse_args()
    root = os.path.abspath(unquote(options.project))
    binary = options.bin or built()
    theirs = Index(options.index, root, options.below)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(binary, root, os.path.join(folder, "cache"))
        own = program.export(os.path.join(folder, "own.scip"))
        compare(theirs, Index(own, root), options.show)
        before = program.targets()
        print(program.run("import", "scip", own).strip())
        after = program.targets()
        print("own export imported:", before, "->", after)
        program.run("import", "remove")
        print(program.run("import", "scip", options.index, "--below", options.below).strip())
        print("with the edges of the other index:")
        compare(theirs, Index(program.export(own), root), options.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
