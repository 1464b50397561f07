#!/usr/bin/env python3
"""Makes the truth of a Ruby project from a run of its own tests; README.md in the parent directory says what it means.

    make_truth.py NAME SOURCE --tests GLOB [--load DIR ...] [--out DIR]

Steps: `syntax.rb` reads definitions and call nodes, `trace.rb` records calls while the tests run, and the two are joined by position.
`judged/NAME.jsonl` holds edges that a reader judged because no run reached them: right ones are right and not required, wrong ones wrong.
"""

import argparse
import collections
import glob
import gzip
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CALLABLE = ("function", "method", "ctor")
FILES = (".rb", ".ru", ".gemspec", ".rake", "Rakefile", "Gemfile")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("source")
    parser.add_argument("--tests", required=True, help="glob of the test files below the source")
    parser.add_argument("--load", action="append", default=[], help="folder of the load path below the source; default: lib and test")
    parser.add_argument("--out", default=os.path.join(HERE, "truth"))
    parser.add_argument("--meta", default="{}", help="JSON of further entries of the meta file")
    options = parser.parse_args()
    root = os.path.realpath(options.source)
    files = sorted(
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, names in os.walk(root) for name in names if name.endswith(FILES)
    )
    definitions, calls = syntax(root, files)
    truth = Joined(definitions, calls, trace(root, {row["name"] for row in definitions}, options))
    write(truth, options, files)


def syntax(root, files):
    listed = "".join(path + "\n" for path in files)
    done = subprocess.run(["ruby", os.path.join(HERE, "syntax.rb"), root], input=listed, capture_output=True, text=True, check=True)
    definitions, calls = [], []
    for row in map(json.loads, done.stdout.splitlines()):
        if "def" in row:
            definitions.append({"name": plain(row.pop("def")), **row})
        else:
            calls.append(row)
    return definitions, calls


def plain(name):
    """A setter has the name of its attribute: `value=` is `value`."""
    return name[:-1] if name.endswith("=") and (name[0].isalpha() or name[0] == "_") else name


def trace(root, names, options):
    with tempfile.TemporaryDirectory() as scratch:
        listed = os.path.join(scratch, "names")
        with open(listed, "w") as file:
            file.write("".join(name + "\n" for name in sorted(names | {name + "=" for name in names})))
        tests = sorted(glob.glob(os.path.join(root, options.tests), recursive=True))
        load = [argument for folder in options.load or ["lib", "test"] for argument in ("-I", os.path.join(root, folder))]
        required = [argument for test in tests for argument in ("-r", test)]
        environment = {**os.environ, "TRACE_ROOT": root, "TRACE_NAMES": listed, "TRACE_OUT": os.path.join(scratch, "rows")}
        command = ["ruby", *load, "-r", os.path.join(HERE, "trace.rb"), *required, "-e", ""]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
        print("\n".join(done.stdout.splitlines()[-3:]))
        rows = {}
        for path in glob.glob(os.path.join(scratch, "rows.*")):
            for line in open(path):
                rows[line] = json.loads(line)
        return list(rows.values())


class Joined:
    """Edges, overrides and what no run decided."""

    def __init__(self, definitions, calls, rows):
        self.definitions = definitions
        self.by_name = collections.defaultdict(list)
        self.callables = collections.defaultdict(list)
        for row in definitions:
            row["start_line"] = row["line"]
            self.by_name[row["file"], row["name"]].append(row)
            if row["kind"] in CALLABLE and not row.get("attribute") and not row.get("alias_of"):
                self.callables[row["file"]].append(row)
        self.calls = collections.defaultdict(list)
        for call in calls:
            self.calls[call["file"]].append(call)
        self.types = {row["class"]: (row["file"], row["at"]) for row in rows if "class" in row}
        self.parents()
        self.merge_types()
        self.stand_ins()
        self.executed = collections.defaultdict(set)
        self.edges = {}
        for row in rows:
            if "caller" in row:
                self.edge(row)
        self.polymorphic()
        self.overrides = [over for over in map(self.override, (row for row in rows if "over" in row)) if over]

    def parents(self):
        for row in self.definitions:
            inside = [
                other for other in self.definitions_of_types(row["file"])
                if other is not row and other["line"] <= row["line"] and row["end_line"] <= other["end_line"]
            ]
            if inside:
                parent = max(inside, key=lambda other: other["line"])
                row.update(parent=parent["name"], parent_line=parent["line"], parent_kind=parent["kind"])

    def definitions_named(self, name):
        if not hasattr(self, "_named"):
            self._named = collections.defaultdict(list)
            for row in self.definitions:
                self._named[row["name"]].append(row)
        return self._named[name]

    def definitions_of_types(self, file):
        if not hasattr(self, "_types_of"):
            self._types_of = collections.defaultdict(list)
            for row in self.definitions:
                if row["kind"] in ("class", "module"):
                    self._types_of[row["file"]].append(row)
        return self._types_of[file]

    def merge_types(self):
        """A class that several statements open is one: the one with a constructor, else the first that the run saw."""
        groups = collections.defaultdict(list)
        for row in self.definitions:
            if "path" in row:
                row["full"] = next((name for name in self.types if name == row["path"]), row["path"])
                groups[row["full"]].append(row)
        made = {(row["file"], row["parent"], row["parent_line"]) for row in self.definitions if row["kind"] == "ctor" and "parent" in row}
        self.type_of = {}
        for full, group in groups.items():
            place = self.types.get(full)
            first = (
                next((row for row in group if (row["file"], row["name"], row["line"]) in made), None)
                or next((row for row in group if place == (row["file"], row["line"])), None)
                or group[0]
            )
            self.type_of[full] = first
            for row in group:
                if row is not first:
                    row["decl_of"] = [first["file"], first["line"], first["name"]]

    def stand_ins(self):
        """An alias is the method of that name in the same file and type, if it is defined before."""
        for row in self.definitions:
            if row.get("alias_of"):
                same = [
                    other for other in self.by_name[row["file"], row["alias_of"]]
                    if other["kind"] in CALLABLE and other["in"] == row["in"] and not other.get("alias_of") and other["line"] < row["line"]
                ]
                if same:
                    row["decl_of"] = [same[0]["file"], same[0]["line"], same[0]["name"]]

    def around(self, file, line):
        found = [row for row in self.callables[file] if row["line"] <= line <= row["end_line"]]
        return max(found, key=lambda row: (row["line"], -row["end_line"]), default=None)

    def nodes(self, file, line, name):
        return [call for call in self.calls[file] if call["call"] == name and call["line"] <= line <= call["end_line"]]

    def callee(self, row):
        if "type" in row:
            return self.type_of.get(row["type"])
        near = [found for found in self.by_name[row["file"], plain(row["name"])] if found["kind"] in CALLABLE]
        exact = [found for found in near if found["line"] == row["at"]]
        return (exact or [found for found in near if abs(found["line"] - row["at"]) <= 8] or [None])[0]

    def edge(self, row):
        called = row["called"]
        caller = self.around(row["caller"], row["line"])
        for node in self.nodes(row["caller"], row["line"], called):
            self.executed[row["caller"], called].add((node["line"], node["end_line"]))
        if caller and plain(called) == caller["name"]:
            for node in self.nodes(row["caller"], row["line"], "super"):
                self.executed[row["caller"], "super"].add((node["line"], node["end_line"]))
        if row.get("outside"):
            return
        callee = self.callee(row)
        if callee is None:
            return
        named = self.nodes(row["caller"], row["line"], called)
        if not named and caller and plain(called) == caller["name"]:
            named = self.nodes(row["caller"], row["line"], "super")
        # A class in a variable is made in as many places as there are classes: none is required.
        dynamic = called == "new" and not any(node["on"] for node in named) and callee["name"] != (caller or {}).get("parent")
        operator = called.endswith("=") or not (called[0].isalpha() or called[0] == "_")
        made = callee["kind"] in ("ctor", "class")
        edge = {
            "caller_file": row["caller"],
            "caller_name": caller["name"] if caller else "<module>",
            "caller_line": caller["line"] if caller else 0,
            "callee_file": callee["file"], "callee_name": callee["name"], "callee_line": callee["line"], "site_line": row["line"],
            "kind": "ctor" if made else "call", "callee_kind": callee["kind"],
        }
        if caller is None:
            edge["module"] = True
        if callee.get("attribute"):
            edge["abstract"] = True
        if operator or dynamic or not named:
            edge["implicit"] = True
        edge["called"] = called
        self.edges.setdefault(tuple(sorted(edge.items(), key=str)), edge)

    def polymorphic(self):
        """Where one call reached several definitions, any of them suffices, unless another call reached that one alone."""
        sites = collections.defaultdict(set)
        key = lambda edge: (edge["callee_file"], edge["callee_line"], edge["callee_name"])
        place = lambda edge: (edge["caller_file"], edge["site_line"], edge["called"])
        for edge in self.edges.values():
            if not edge.get("implicit") and edge["kind"] == "call":
                sites[place(edge)].add(key(edge))
        alone = {
            (edge["caller_file"], edge["caller_line"], key(edge))
            for edge in self.edges.values() if not edge.get("implicit") and len(sites[place(edge)]) < 2
        }
        for edge in self.edges.values():
            several = len(sites.get(place(edge), ())) > 1
            if several and (edge["caller_file"], edge["caller_line"], key(edge)) not in alone:
                edge["ambiguous"] = True

    def override(self, row):
        member = self.callee({"file": row["file"], "name": row["over"], "at": row["at"]})
        base = self.callee({"file": row["base_file"], "name": row["over"], "at": row["base_at"]})
        if member and base and member is not base:
            names = ("file", "line", "name")
            return {**{name: member[name] for name in names}, **{"base_" + name: base[name] for name in names}}
        return None

    def undecided(self, wrong):
        """(caller, name) of calls that no run reached, without those that a reader called wrong."""
        found = {}
        for file, calls in self.calls.items():
            for call in calls:
                caller = self.around(file, call["line"])
                if caller is None or (call["line"], call["end_line"]) in self.executed[file, call["call"]]:
                    continue
                for name in self.meant(call, caller):
                    key = file, caller["name"], caller["line"], name
                    if key not in wrong:
                        found.setdefault(key, call["line"])
        return [
            {"caller_file": file, "caller_name": caller, "caller_line": line, "name": name, "site_line": site}
            for (file, caller, line, name), site in found.items()
        ]


    def meant(self, call, caller):
        """Names that the callee of a call that did not run may have."""
        if call["call"] == "new":
            return [call["on"] or caller.get("parent")] if call["on"] or "parent" in caller else []
        if call["call"] != "super":
            name = plain(call["call"])
            return [name, *sorted({row["decl_of"][2] for row in self.definitions_named(name) if row.get("decl_of")})]
        bases = {row["base"] for row in self.definitions if row["name"] == caller.get("parent") and row.get("base")}
        return [caller["name"], *sorted(bases)] if caller["kind"] == "ctor" else [caller["name"]]


def judged(name):
    path = os.path.join(HERE, "judged", name + ".jsonl")
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def write(truth, options, files):
    judgements = judged(options.name)
    edges = list(truth.edges.values())
    wrong = set()
    for row in judgements:
        if row["right"]:
            edge = {name: value for name, value in row.items() if name not in ("right", "why", "verdict")}
            edges.append({**edge, "kind": "call", "implicit": True, "judged": True})
        else:
            wrong.add((row["caller_file"], row["caller_name"], row["caller_line"], row["callee_name"]))
    undecided = truth.undecided(wrong)
    for edge in edges:
        edge.pop("called", None)
    inner = ("in", "path", "full", "alias_of", "attribute", "base")
    definitions = [{name: row[name] for name in row if name not in inner} for row in truth.definitions]
    os.makedirs(options.out, exist_ok=True)
    stem = os.path.join(options.out, options.name)
    for suffix, rows in (("defs", definitions), ("edges", edges), ("overrides", truth.overrides), ("unknown", undecided)):
        with gzip.GzipFile(f"{stem}.{suffix}.jsonl.gz", "wb", mtime=0) as file:
            file.write("".join(json.dumps(row) + "\n" for row in sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))).encode())
    ends = [end + part for end in ("caller_", "callee_") for part in ("file", "name", "line")]
    pairs = {tuple(edge[end] for end in ends) for edge in edges if not edge.get("module")}
    old = json.load(open(stem + ".meta.json")) if os.path.exists(stem + ".meta.json") else {}
    meta = {
        "root": options.name, "lang": "ruby", "tool": "TracePoint of ruby 3.1, the project's own tests", "files": files,
        "rows_by_kind": collections.Counter(edge["kind"] + ("+module" if edge.get("module") else "") for edge in edges),
        "unique_call_edges": len(pairs), "overrides": len(truth.overrides), "unknown_sites": len(undecided), "judged": len(judgements),
        **{name: value for name, value in old.items() if name in ("source", "first_sight")}, **json.loads(options.meta),
    }
    with open(stem + ".meta.json", "w") as file:
        json.dump(meta, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
