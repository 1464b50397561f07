#!/usr/bin/env python3
"""Makes the truth of a PHP project with Phan: definitions, call edges and overrides in the form of scripts/accuracy.d/truth.

    make_truth.py PHAN FOLDER NAME OUT --sources src [--libraries DIR...] --archive CLIENT PACKAGE SHA256

PHAN is the program; php with the extension `ast` is required. FOLDER is the project, --sources what is covered, --libraries what is
only read. A construction leads to the class that is named; the constructor, which may be of a base, is implicit. `new $name` is a reference.
A receiver of a union type leads to the method of each part: any one of these suffices. A trait is read where it is written.
"""

import argparse
import bisect
import collections
import gzip
import json
import os
import subprocess
import tempfile

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "edges.php")
TYPES = ("class", "interface", "trait", "enum")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("phan", "folder", "name", "out"):
        parser.add_argument(name)
    parser.add_argument("--sources", nargs="+", required=True)
    parser.add_argument("--libraries", nargs="*", default=[])
    parser.add_argument("--archive", nargs=3, metavar=("CLIENT", "PACKAGE", "SHA256"), help="where the sources are from")
    parser.add_argument("--raw", help="keep what the plugin writes in this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        raw = os.path.abspath(options.raw or os.path.join(scratch, "raw.tsv"))
        analyse(options, raw, scratch)
        Project(raw, options).write()


def analyse(options, raw, scratch):
    libraries = [os.path.abspath(folder) for folder in options.libraries]
    config = {
        "directory_list": options.sources + libraries,
        "exclude_analysis_directory_list": libraries,
        "plugins": [PLUGIN],
        "quick_mode": True,
        "analyze_signature_compatibility": False,
        "minimum_severity": 10,
    }
    path = os.path.join(scratch, "config.php")
    with open(path, "w") as file:
        file.write("<?php return json_decode(<<<'END'\n" + json.dumps(config) + "\nEND, true);\n")
    command = ["php", os.path.abspath(options.phan), "--no-progress-bar", "--project-root-directory", ".", "--config-file", path]
    environment = {**os.environ, "EDGES_OUT": raw, "PHAN_DISABLE_XDEBUG_WARN": "1", "PHAN_SUPPRESS_AST_DEPRECATION": "1"}
    # The exit status says whether there are issues.
    subprocess.run(command, cwd=options.folder, env=environment, check=False, stdout=subprocess.DEVNULL)


class Project:
    """What the plugin wrote of one project."""

    def __init__(self, raw, options):
        self.options = options
        with open(raw, encoding="utf8") as lines:
            self.rows = list(dict.fromkeys(tuple(line.rstrip("\n").split("\t")) for line in lines))
        self.definitions = {}
        for row in self.rows:
            if row[0] == "D":
                self.define(*row[1:])
        self.by_file = collections.defaultdict(list)
        for definition in self.definitions.values():
            self.by_file[definition["file"]].append(definition)
        for found in self.by_file.values():
            found.sort(key=lambda row: row["line"])
            for definition in found:
                self.nest(definition, found)
        self.names = {row["name"] for row in self.definitions.values()}

    def define(self, file, kind, name, line, last, start, abstract):
        if not self.covers(file):
            return
        row = {"file": file, "name": name, "kind": kind, "line": int(line), "end_line": int(last), "start_line": int(start)}
        if abstract:
            row["abstract"] = True
        self.definitions[file, int(line)] = row

    def covers(self, file):
        return any(file == root or file.startswith(root.rstrip("/") + "/") for root in self.options.sources)

    def nest(self, definition, found):
        around = [row for row in found if row is not definition and row["line"] <= definition["line"] and row["end_line"] >= definition["end_line"]]
        if around:
            parent = max(around, key=lambda row: row["line"])
            definition.update(parent=parent["name"], parent_line=parent["line"], parent_kind=parent["kind"])

    def caller(self, file, line):
        """The innermost callable around a line."""
        found = self.by_file[file]
        for row in reversed(found[: bisect.bisect_right([row["line"] for row in found], line)]):
            if row["kind"] not in TYPES and row["end_line"] >= line:
                return {"caller_file": file, "caller_name": row["name"], "caller_line": row["line"]}
        return {"caller_file": file, "caller_name": "<module>", "caller_line": 0, "module": True}

    def edge(self, file, line, how, target_file, target_line, flags):
        callee = self.definitions.get((target_file, int(target_line)))
        if callee is None or not self.covers(file):
            return None
        row = self.caller(file, int(line))
        row.update(callee_file=callee["file"], callee_name=callee["name"], callee_line=callee["line"], site_line=int(line))
        row["kind"] = {"new": "ctor", "inherited": "ctor", "call": "call", "ref": "ref"}[how]
        if how == "inherited":
            row["implicit"] = True
        if callee.get("abstract"):
            row["abstract"] = True
        if flags:
            row["ambiguous"] = True
        return row

    def unknown(self, file, line, name, why):
        row = self.caller(file, int(line)) if self.covers(file) else {"module": True}
        if row.get("module") or (name not in self.names and name != "?" and why != "var"):
            return None
        return {**row, "name": name, "site_line": int(line), "why": why}

    def override(self, file, line, base_file, base_line):
        own, base = self.definitions.get((file, int(line))), self.definitions.get((base_file, int(base_line)))
        if own is None or base is None:
            return None
        return {**{key: own[key] for key in ("file", "line", "name")}, **{"base_" + key: base[key] for key in ("file", "line", "name")}}

    def write(self):
        name, out = self.options.name, self.options.out
        os.makedirs(out, exist_ok=True)
        made = {"edges": ("E", self.edge), "unknown": ("U", self.unknown), "overrides": ("O", self.override)}
        tables = {what: distinct(make(*row[1:]) for row in self.rows if row[0] == sign) for what, (sign, make) in made.items()}
        tables["defs"] = sorted(self.definitions.values(), key=lambda row: (row["file"], row["line"]))
        for what, rows in tables.items():
            with gzip.GzipFile(os.path.join(out, f"{name}.{what}.jsonl.gz"), "w", mtime=0) as file:
                file.writelines((json.dumps(row, separators=(",", ":")) + "\n").encode() for row in rows)
        pairs = {(row["caller_file"], row["caller_line"], row["callee_file"], row["callee_line"])
                 for row in tables["edges"] if row["kind"] != "ref" and "module" not in row}
        meta = {"root": name, "lang": "php", "tool": "Phan 5.4.3", "files": sorted(self.files()), "unique_call_edges": len(pairs),
                "overrides": len(tables["overrides"]), "lines": self.lines()}
        if self.options.archive:
            meta["source"] = dict(zip(("client", "package", "archive_sha256"), self.options.archive))
        with open(os.path.join(out, name + ".meta.json"), "w", encoding="utf8") as file:
            json.dump(meta, file, indent=0)
        print(f"{name}: " + ", ".join(f"{len(rows)} {what}" for what, rows in tables.items()) + f", {len(pairs)} pairs")

    def files(self):
        for root in self.options.sources:
            for folder, _, names in os.walk(os.path.join(self.options.folder, root)):
                for name in names:
                    if name.endswith(".php"):
                        yield os.path.relpath(os.path.join(folder, name), self.options.folder)

    def lines(self):
        total = 0
        for file in self.files():
            with open(os.path.join(self.options.folder, file), "rb") as content:
                total += content.read().count(b"\n")
        return total


def distinct(rows):
    return list({json.dumps(row, sort_keys=True): row for row in rows if row}.values())


if __name__ == "__main__":
    main()
