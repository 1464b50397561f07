#!/usr/bin/env python3
"""Makes the truth of a Kotlin project with the compiler: definitions, call edges and overrides in the form of scripts/accuracy.d/truth.

    make_truth.py compile COMPILER FOLDER RAW --common SRC... --jvm SRC...    write what the plugin sees in these sources
    make_truth.py join RAW FOLDER NAME OUT                                    make OUT/NAME.*.jsonl.gz of it

COMPILER is the unpacked npm package `kotlin-compiler`; a JDK is required. Without --common the module is a plain JVM module.
Calls of property accessors are left out. A primary constructor is its class, a secondary one is called `constructor`.
"""

import argparse
import collections
import gzip
import json
import os
import re
import subprocess
import tempfile

PLUGIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "edges.kt")
SERVICE = "META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar"
DEFINED = {"fun": "function", "secondary": "ctor", "class": "class"}
TRIVIA = re.compile(r"\s+|//[^\n]*\n|/\*.*?\*/", re.S)
ANNOTATION = re.compile(r"@[\w.:]+(<[^>]*>)?")
STRING = re.compile(r'"""(.*?)"""|"(\\.|[^"\\])*"', re.S)

Place = collections.namedtuple("Place", "file offset name kind owner")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("compile")
    for name in ("compiler", "folder", "raw"):
        make.add_argument(name)
    make.add_argument("--common", nargs="*", default=[])
    make.add_argument("--jvm", nargs="+", required=True)
    join = commands.add_parser("join")
    for name in ("raw", "folder", "name", "out"):
        join.add_argument(name)
    options = parser.parse_args()
    if options.command == "compile":
        compile_module(options)
    else:
        Module(options.raw, options.folder).write(options.name, options.out)


def compile_module(options):
    compiler = os.path.join(options.compiler, "bin", "kotlinc")
    library = os.path.join(options.compiler, "lib")
    with tempfile.TemporaryDirectory() as scratch:
        classes = os.path.join(scratch, "plugin")
        os.makedirs(os.path.dirname(os.path.join(classes, SERVICE)))
        with open(os.path.join(classes, SERVICE), "w") as service:
            service.write("Registrar\n")
        subprocess.run(["bash", compiler, "-cp", f"{library}/kotlin-compiler.jar", PLUGIN, "-d", classes], check=True)
        jar = os.path.join(scratch, "edges.jar")
        subprocess.run(["jar", "cf", jar, "-C", classes, "."], check=True)
        parts = {"common": sources(options.folder, options.common), "jvm": sources(options.folder, options.jvm)}
        arguments = ["-no-reflect", "-jvm-default=no-compatibility", f"-Xplugin={jar}"]
        arguments += ["-cp", ":".join(f"{library}/{name}.jar" for name in ("kotlin-reflect", "kotlin-stdlib", "kotlin-metadata-jvm"))]
        if parts["common"]:
            arguments += ["-Xmulti-platform", "-Xexpect-actual-classes", "-Xfragments=common,jvm", "-Xfragment-refines=jvm:common"]
            arguments += [f"-Xfragment-sources={part}:{file}" for part, files in parts.items() for file in files]
        arguments += [*parts["common"], *parts["jvm"], "-d", os.path.join(scratch, "out")]
        environment = {**os.environ, "EDGES_OUT": os.path.abspath(options.raw)}
        subprocess.run(["bash", os.path.abspath(compiler), *arguments], cwd=options.folder, env=environment, check=True)


def sources(folder, roots):
    """The Kotlin files below folders, relative to the project."""
    found = []
    for root in roots:
        for path, _, names in os.walk(os.path.join(folder, root)):
            found += [os.path.relpath(os.path.join(path, name), folder) for name in names if name.endswith(".kt")]
    return sorted(found)


class Module:
    """What the plugin wrote of one module, joined with the text of its files."""

    def __init__(self, raw, folder):
        self.folder = os.path.abspath(folder)
        self.texts = {}
        self.definitions = {}  # (file, offset, whether it is a class) -> row
        self.ends = {}
        with open(raw, encoding="utf8") as lines:
            self.rows = [line.rstrip("\n").split("\t") for line in lines]
        for row in self.rows:
            if row[0] == "D":
                self.define(Place(*row[1:6]), int(row[6]), row[7])
        for key, row in self.definitions.items():
            self.nest(key, row)

    def relative(self, file):
        """A path of the project; none for a file of a library."""
        path = os.path.normpath(os.path.join(self.folder, file))
        return os.path.relpath(path, self.folder) if path.startswith(self.folder + os.sep) and os.path.isfile(path) else None

    def text(self, file):
        """The text that the compiler counts offsets in."""
        if file not in self.texts:
            with open(os.path.join(self.folder, file), encoding="utf8", newline="") as content:
                self.texts[file] = content.read().replace("\r\n", "\n")
        return self.texts[file]

    def line(self, file, offset):
        return self.text(file).count("\n", 0, offset) + 1

    def key(self, place):
        return self.relative(place.file), int(place.offset), place.kind == "class"

    def define(self, place, end, extra):
        file, offset, is_class = key = self.key(place)
        is_hidden = is_class and (extra == "ENUM_ENTRY" or place.name.startswith("<"))
        if file is None or place.kind not in DEFINED or is_hidden or offset < 0:
            return
        name = "constructor" if place.kind == "secondary" else place.name
        start, line = self.lines(file, offset, place.kind, name)
        kind = "method" if place.kind == "fun" and place.owner != "-" else DEFINED[place.kind]
        row = {"file": file, "name": name, "kind": kind, "line": line, "end_line": self.line(file, end), "start_line": start}
        if place.kind == "fun" and extra == "abstract":
            row["abstract"] = True
        self.definitions[key] = row
        self.ends[key] = end

    def lines(self, file, offset, kind, name):
        """The lines where a definition starts, behind annotations and comments, and where its name is."""
        text = self.text(file)
        at = behind_annotations(text, offset)
        start = self.line(file, at)
        before = {"fun": r"\bfun\b[^={]*?[\s.`>]`?", "secondary": r"\b", "class": r"\b(?:class|interface|object)\s+`?"}[kind]
        found = re.compile(before + re.escape(name) + r"\b", re.S).search(text, at)
        return start, self.line(file, found.end() - 1) if found else start

    def nest(self, key, row):
        file, offset, _ = key
        around = [
            (other[1], candidate)
            for other, candidate in self.definitions.items()
            if other[0] == file and candidate is not row and other[1] <= offset and self.ends[other] >= self.ends[key]
        ]
        if around:
            parent = max(around, key=lambda found: found[0])[1]
            row.update(parent=parent["name"], parent_line=parent["line"], parent_kind=parent["kind"])

    def find(self, place):
        """The definition that a place means; the class for its primary constructor."""
        file, offset, is_class = self.key(place)
        if place.kind != "primary":
            return self.definitions.get((file, offset, is_class))
        name = place.owner.rsplit(".", 1)[-1]
        classes = [row for key, row in self.definitions.items() if key[0] == file and key[2] and row["name"] == name]
        holds = [row for row in classes if row["start_line"] <= self.line(file, offset) <= row["end_line"]]
        return (holds or classes or [None])[-1]

    def edge(self, row):
        caller, callee = Place(*row[1:6]), Place(*row[6:11])
        start, end, how, _, body, count, file = row[11:18]
        start, end, file = int(start), int(end), self.relative(file)
        to = self.find(callee) if callee.kind != "accessor" else None
        if to is None or file is None:
            return None
        by = self.find(caller) if caller.kind in ("fun", "secondary") else None
        kind = "ref" if how == "ref" else "ctor" if callee.kind in ("primary", "secondary") else "call"
        edge = {
            "caller_file": by["file"] if by else file,
            "caller_name": by["name"] if by else "<module>",
            "caller_line": by["line"] if by else 0,
            "callee_file": to["file"],
            "callee_name": to["name"],
            "callee_line": to["line"],
            "site_line": self.line(file, start) if start >= 0 else 0,
            "kind": kind,
        }
        named = callee.owner.rsplit(".", 1)[-1] + "|this|super" if kind == "ctor" else re.escape(to["name"])
        written = start >= 0 and re.search(rf"\b(?:{named})\b", self.text(file)[start:end])
        flags = {"module": by is None, "abstract": body == "abstract", "ambiguous": int(count) > 1, "implicit": not written}
        edge.update({flag: True for flag, is_set in flags.items() if is_set})
        return edge

    def override(self, row):
        member, base = self.find(Place(*row[1:6])), self.find(Place(*row[6:11]))
        if member is None or base is None:
            return None
        own = {key: member[key] for key in ("file", "line", "name")}
        return {**own, **{"base_" + key: base[key] for key in ("file", "line", "name")}}

    def write(self, name, out):
        os.makedirs(out, exist_ok=True)
        edges = distinct(self.edge(row) for row in self.rows if row[0] == "E")
        overrides = distinct(self.override(row) for row in self.rows if row[0] == "O")
        definitions = sorted(self.definitions.values(), key=lambda row: (row["file"], row["line"]))
        files = {row["file"] for row in definitions} | {self.relative(row[17]) for row in self.rows if row[0] == "E"}
        for what, rows in (("defs", definitions), ("edges", edges), ("overrides", overrides), ("unknown", [])):
            with gzip.GzipFile(os.path.join(out, f"{name}.{what}.jsonl.gz"), "w", mtime=0) as file:
                file.writelines((json.dumps(row, separators=(",", ":")) + "\n").encode() for row in rows)
        meta = {"root": name, "lang": "kotlin", "tool": "kotlinc", "files": sorted(file for file in files if file)}
        with open(os.path.join(out, name + ".meta.json"), "w", encoding="utf8") as file:
            json.dump(meta, file, indent=0)
        print(f"{name}: {len(definitions)} definitions, {len(edges)} edges, {len(overrides)} overrides")


def behind_annotations(text, at):
    """The offset behind white space, comments and annotations."""
    while True:
        trivia, annotation = TRIVIA.match(text, at), ANNOTATION.match(text, at)
        if not trivia and not annotation:
            return at
        at = (trivia or annotation).end()
        if annotation and text.startswith("(", at):
            at = behind_arguments(text, at)


def behind_arguments(text, at):
    """The offset behind the closing parenthesis of what opens here."""
    depth = 0
    while at < len(text):
        string = STRING.match(text, at)
        if string:
            at = string.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at


def distinct(rows):
    return list({json.dumps(row, sort_keys=True): row for row in rows if row}.values())


if __name__ == "__main__":
    main()
