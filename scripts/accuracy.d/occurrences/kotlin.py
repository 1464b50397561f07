#!/usr/bin/env python3
"""Occurrences of a Kotlin project, by the compiler's front end (npm package `kotlin-compiler`, in NODE_PATH; a JDK).

    kotlin.py ROOT [--sources FOLDER ..]  > occurrences.jsonl

The sources (default: all `main` and `commonMain`, `jvmMain` folders of ROOT) are one module for the JVM with the standard library alone: the
project must compile so. kotlin.kt is the plugin that writes the references; rows are those of typescript.js. Kinds: call, construct, decorator (an
annotation), import, inherit, type, write, read. Names of arguments have no row, and neither have operators that are signs.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SERVICE = "META-INF/services/org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar"
SKIPPED = {".git", "build", "node_modules", "test", "commonTest", "jvmTest", "buildSrc"}
DECLARED = r"(?:fun|val|var|class|interface|object|typealias)\b(?:[^={]|=(?=\s*\{))*?[\s.`>(]"
SECOND = re.compile(r"\s*(?:[\w@()\".]+\s+)*constructor\b(?!.*\bclass\b)")


def sources(root, folders):
    """The Kotlin files of the project, relative to it."""
    for start in folders or [""]:
        for folder, inner, files in os.walk(os.path.join(root, start)):
            inner[:] = sorted(name for name in inner if name not in SKIPPED)
            parts = set(os.path.relpath(folder, root).split(os.sep))
            if folders or parts & {"main", "commonMain", "jvmMain"}:
                yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(files) if name.endswith(".kt"))


def compiled(root, files, raw):
    """Writes what the plugin sees."""
    compiler = os.path.join(os.environ.get("NODE_PATH", "node_modules"), "kotlin-compiler")
    kotlinc, library = os.path.join(compiler, "bin", "kotlinc"), os.path.join(compiler, "lib")
    with tempfile.TemporaryDirectory() as scratch:
        classes, jar = os.path.join(scratch, "plugin"), os.path.join(scratch, "plugin.jar")
        os.makedirs(os.path.dirname(os.path.join(classes, SERVICE)))
        with open(os.path.join(classes, SERVICE), "w") as service:
            service.write("Registrar\n")
        subprocess.run(["bash", kotlinc, "-nowarn", "-cp", os.path.join(library, "kotlin-compiler.jar"),
                        os.path.join(HERE, "kotlin.kt"), "-d", classes], check=True, stdout=sys.stderr)
        subprocess.run(["jar", "cf", jar, "-C", classes, "."], check=True)
        done = subprocess.run(["bash", kotlinc, "-nowarn", "-no-reflect", f"-Xplugin={jar}", "-Xmulti-platform", "-Xexpect-actual-classes",
                               *files, "-d", os.path.join(scratch, "out")], cwd=root, env={**os.environ, "OCCURRENCES_OUT": raw}, stdout=sys.stderr)
    if done.returncode or not os.path.exists(raw):
        print("the project does not compile as one module: what the compiler could not resolve has no row", file=sys.stderr)


class Text:
    """The text of a file, in which the compiler counts characters after line breaks are made equal."""

    def __init__(self, path):
        with open(path, encoding="utf8", newline="") as file:
            self.text = file.read().replace("\r\n", "\n")

    def place(self, offset):
        """Line, and column in bytes."""
        start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, offset) + 1, len(self.text[start:offset].encode())

    def behind(self, offset, name):
        """Where a name stands that the text at an offset ends with or begins with: a path, an import, a name in quotes."""
        found = re.compile(r"(?:import\s+)?(?:[\w`]+\s*\.\s*)*?`?(" + re.escape(name) + r")\b").match(self.text, offset)
        return found.start(1) if found else None

    def defined(self, offset, name):
        """The line where the name of a definition stands that begins at an offset."""
        after = offset
        while found := re.compile(r"\s+|//[^\n]*\n|/\*.*?\*/|@[\w.:]+(?:<[^>]*>)?(?:\((?:[^()\"]|\"(?:\\.|[^\"\\])*\"|\([^()]*\))*\))?", re.S).match(self.text, after):
            after = found.end()
        found = re.compile(DECLARED + re.escape(name) + r"\b", re.S).search(self.text, after)
        entry = re.compile(r"`?" + re.escape(name) + r"\b").match(self.text, after)
        return self.place(entry.start() if entry else found.end() - 1 if found and found.start() - after < 400 else after)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--sources", nargs="*", default=[])
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    files = list(sources(root, options.sources))
    texts = {path: Text(os.path.join(root, path)) for path in files}
    relative = lambda path: os.path.relpath(os.path.join(root, path), root)  # noqa: E731
    rows = collections.defaultdict(lambda: (set(), set(), []))
    with tempfile.TemporaryDirectory() as scratch:
        raw = os.path.join(scratch, "raw.tsv")
        compiled(root, files, raw)
        with open(raw, encoding="utf8") as lines:
            for kind, name, file, offset, of, start, stands in (line.rstrip("\n").split("\t") for line in lines):
                file = relative(file)
                at = texts[file].behind(int(offset), name)
                if at is None or not re.fullmatch(r"\w+", name):
                    continue
                targets, ways, kinds = rows[(file, *texts[file].place(at), name)]
                kinds.append(kind)
                if of in ("-", "local"):
                    ways.add(of)
                elif relative(of) in texts:
                    of, stands = relative(of), stands if stands != "constructor" else name
                    line = texts[of].defined(int(start), stands)
                    # A constructor below the header has a name of its own.
                    is_below = SECOND.match(texts[of].text.split("\n")[line - 1])
                    targets.add((of, line, "constructor" if is_below else stands))
    for path in files:
        print(json.dumps({"file": path}))
    for (path, line, column, name), (targets, ways, kinds) in sorted(rows.items()):
        row = {"path": path, "line": line, "col": column, "name": name, "kind": min(kinds, key=["write", "construct", "call", "import", "inherit", "decorator",
                                                                                            "type", "read"].index), "targets": sorted(targets)}
        row.update({"local": True} if ways == {"local"} and not targets else {}, **({"outside": True} if "-" in ways else {}))
        print(json.dumps(row))
    print(f"{len(rows)} occurrences", file=sys.stderr)


if __name__ == "__main__":
    main()
