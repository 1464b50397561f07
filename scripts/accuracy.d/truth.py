"""The true call edges of one project, as its compiler or type checker sees them, prepared for look-ups by the scorer.

README.md of this directory says how they were made and what their limits are.
"""

import collections
import gzip
import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth")

CALLABLE = ("function", "method", "ctor")
TYPE_WITH_CONSTRUCTOR = ("class", "interface", "struct")


def projects(second=None):
    """(language, name) of every project, sorted; `second` selects the first or the second set."""
    names = [name[: -len(".meta.json")] for name in os.listdir(FOLDER) if name.endswith(".meta.json")]
    metas = [(name, json.load(open(os.path.join(FOLDER, name + ".meta.json")))) for name in names]
    return sorted((meta["lang"], name) for name, meta in metas if second is None or second == ("first_sight" in meta))


def rows(path):
    """The objects of a JSON-lines file, compressed or not; none if there is no such file."""
    if not os.path.exists(path):
        return
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def bare_name(name):
    """The last segment of a qualified name, without parameters or type arguments; operators keep their sign."""
    name = name or ""
    operator = name.find("operator")
    if operator >= 0:
        before, after = name[operator - 1 : operator] if operator else "", name[operator + 8 : operator + 9]
        if not (before.isalnum() or before == "_") and not (after.isalnum() or after == "_"):
            return name[operator:].replace(" ", "")
    for separator in ("::", ".", "#", "/"):
        if len(name) > len(separator):
            name = name.rsplit(separator, 1)[-1] or name
    return name.split("(")[0].split("<")[0].strip() or name


class Pair:
    """A true (caller, callee) pair: every call site of it taken together."""

    def __init__(self, edge, callee):
        self.edge = edge
        self.callee = callee
        self.abstract = True  # every site calls something without a body
        self.implicit = True  # every site is an operator, a conversion, or comes out of a macro
        self.ambiguous = False  # the front end had several candidates

    def add(self, edge):
        implicit = bool(edge.get("via_macro") or edge.get("implicit"))
        if self.implicit and not implicit:
            self.edge = edge
        self.implicit &= implicit
        self.abstract &= bool(edge.get("abstract"))
        self.ambiguous |= bool(edge.get("ambiguous"))


class Truth:
    """Definitions are dictionaries as in the data, with their position in the file of definitions as `id`."""

    def __init__(self, name, folder=None):
        stem = os.path.join(folder or FOLDER, name)
        self.meta = json.load(open(stem + ".meta.json"))
        self.language = self.meta["lang"]
        self.covered = set(self.meta["files"])
        self._read_definitions(stem)
        self._read_edges(stem)
        self._read_overrides(stem)
        self._read_undecided(stem)

    def _read_definitions(self, stem):
        self.definitions = list(rows(stem + ".defs.jsonl.gz"))
        self._by_name = collections.defaultdict(list)
        self._by_position = {}
        self._callables = collections.defaultdict(list)
        for id, definition in enumerate(self.definitions):
            definition["id"] = id
            self._by_name[definition["file"], definition["name"]].append(definition)
            if definition["kind"] in CALLABLE and "decl_of" not in definition:
                self._callables[definition["file"]].append(definition)
            self._by_position.setdefault((definition["file"], definition["line"], definition["name"]), definition)
        for definition in self.definitions:
            if definition["name"].startswith("#"):  # private members are found without their sign as well
                self._by_name[definition["file"], definition["name"][1:]].append(definition)
        self._children = collections.defaultdict(list)
        for definition in self.definitions:
            parent = self.parent(definition)
            if parent is not None:
                self._children[parent["id"]].append(definition["id"])

    def _read_edges(self, stem):
        self.pairs = {}
        self.references = set()
        # Calls outside of any function: {callee: (file, line) of each}.
        self.calls_outside = collections.defaultdict(set)
        self.callees_by_name = collections.defaultdict(lambda: collections.defaultdict(set))
        for edge in rows(stem + ".edges.jsonl.gz"):
            if edge["caller_file"] not in self.covered:
                continue
            if edge.get("module"):
                callee = self._by_position.get((edge["callee_file"], edge["callee_line"], edge["callee_name"]))
                if callee is not None and edge["kind"] in ("call", "ctor"):
                    self.calls_outside[self.canonical(callee)["id"]].add((edge["caller_file"], edge["site_line"]))
                continue
            caller = self._by_position.get((edge["caller_file"], edge["caller_line"], edge["caller_name"]))
            callee = self._by_position.get((edge["callee_file"], edge["callee_line"], edge["callee_name"]))
            if caller is None or callee is None:
                continue
            key = self.body(caller)["id"], self.canonical(callee)["id"]
            if edge["kind"] in ("call", "ctor"):
                self.pairs.setdefault(key, Pair(edge, callee)).add(edge)
                self.callees_by_name[key[0]][callee["name"]].add(key[1])
            else:
                self.references.add(key)
        self._group_ambiguous()

    def _group_ambiguous(self):
        """Where the front end could not choose, any one of its candidates suffices, so only one is required."""
        groups = collections.defaultdict(set)
        for (caller, callee), pair in self.pairs.items():
            if pair.ambiguous:
                groups[caller, pair.callee["name"]].add((caller, callee))
        self.groups = [group for group in groups.values() if len(group) > 1]
        self.required = {key for key, pair in self.pairs.items() if not pair.abstract and not pair.implicit}
        for group in self.groups:
            self.required -= set(sorted(group & self.required)[1:])

    def _read_overrides(self, stem):
        self._overrides = collections.defaultdict(set)
        for row in rows(stem + ".overrides.jsonl.gz"):
            member = self._by_position.get((row["file"], row["line"], row["name"]))
            base = self._by_position.get((row["base_file"], row["base_line"], row["base_name"]))
            if member and base:
                self._overrides[member["id"]].add(base["id"])
                self._overrides[base["id"]].add(member["id"])

    def _read_undecided(self, stem):
        self.undecided = collections.defaultdict(set)
        self.variables = collections.defaultdict(set)
        # Calls through a variable, parameter or attribute: {caller: {line: (names at the calls, callees decided there)}}.
        self.aliases = collections.defaultdict(dict)
        for row in rows(stem + ".unknown.jsonl.gz"):
            caller = self._by_position.get((row["caller_file"], row["caller_line"], row["caller_name"]))
            if caller is not None and row.get("why") == "alias":
                called, decided = self.aliases[self.body(caller)["id"]].setdefault(row["site_line"], (set(), set()))
                called.add(row["name"])
                decided.update(row.get("decided", ()))
            elif caller is not None:
                names = self.variables if row.get("why") == "var" else self.undecided
                names[self.body(caller)["id"]].add(row["name"])

    def parent(self, definition):
        if "parent" not in definition:
            return None
        file = definition.get("parent_file", definition["file"])
        return self._by_position.get((file, definition["parent_line"], definition["parent"]))

    def body(self, definition):
        """The definition of a declaration."""
        place = definition.get("decl_of")
        return (self._by_position.get(tuple(place)) or definition) if place else definition

    def canonical(self, definition):
        """A class and its constructors are one thing, a declaration and its definition as well."""
        definition = self.body(definition)
        if definition["kind"] == "ctor":
            parent = self.parent(definition)
            if parent is not None and parent["kind"] in TYPE_WITH_CONSTRUCTOR:
                return parent
        return definition

    def find(self, file, name, line):
        """The definitions that an endpoint means: the nearest one to its line, or without a line all of that name."""
        named = self._by_name.get((file, bare_name(name)), [])
        if not line:
            return [found for found in named if found["kind"] in CALLABLE + TYPE_WITH_CONSTRUCTOR] or named

        def distance(found):
            return 0 if line == found["start_line"] else abs(line - found["line"])

        near = [found for found in named if min(found["start_line"], found["line"]) - 2 <= line <= found["line"] + 2]
        nearest = [found for found in near if distance(found) == min(map(distance, near))]
        return ([found for found in nearest if found["kind"] in CALLABLE] or nearest)[:1]

    def enclosing(self, file, line):
        """The innermost function around a line, as a list of at most one."""
        around = [found for found in self._callables[file] if line and found["start_line"] <= line <= found["end_line"]]
        return [max(around, key=lambda found: found["start_line"])["id"]] if around else []

    def related(self, one, other):
        """Whether one member overrides the other, over any number of steps up and down."""
        seen, pending = {one}, [one]
        while pending:
            for next in self._overrides[pending.pop()]:
                if next == other:
                    return True
                if next not in seen and len(seen) < 400:
                    seen.add(next)
                    pending.append(next)
        return False

    def around(self, id):
        """The definitions nested in one, and those it is nested in."""
        found, definition = set(), self.parent(self.definitions[id])
        while definition is not None:
            found.add(definition["id"])
            definition = self.parent(definition)
        pending = [id]
        while pending:
            for child in self._children[pending.pop()]:
                found.add(child)
                pending.append(child)
        return found
