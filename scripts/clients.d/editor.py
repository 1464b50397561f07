"""Asks the language server what an editor asks, and compares it with what the tools say of the same symbols.

    scripts/clients editor BIN DIR... [--sample N] [--seed N]

Definitions: of references at random, the target of the view `refs`. References: of symbols at random, the sites of `references
--json`. Callers: of functions at random, the direct callers of `trace --json`. N of each for every directory. Fails if one
differs.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

from base import command_line, with_cache

PATIENCE = 600


class Editor:
    """A session with one folder. Columns are bytes, as in the index."""

    def __init__(self, binary, root, cache):
        self.process = subprocess.Popen([binary, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=with_cache(cache))
        self.root, self.asked = root, 0
        begun = time.monotonic()
        self.ask("initialize", {"processId": None, "rootUri": None, "workspaceFolders": [{"uri": self.uri(""), "name": "folder"}],
                                "capabilities": {"general": {"positionEncodings": ["utf-8"]}}})
        self.handshake = time.monotonic() - begun
        self.send({"method": "initialized", "params": {}})

    def uri(self, path):
        from urllib.parse import quote
        return "file://" + quote(os.path.join(self.root, path).rstrip("/"))

    def path(self, uri):
        from urllib.parse import unquote
        return os.path.relpath(unquote(uri.removeprefix("file://")), self.root)

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def ask(self, method, params):
        """The result of a request."""
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params})
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            message = json.loads(self.process.stdout.read(length))
            if message.get("id") == self.asked and "method" not in message:
                if "error" in message:
                    sys.exit(f"{method}: {message['error']}")
                return message["result"]

    def at(self, method, path, line, column, **more):
        """A request about a position: lines from 1, as the tools have them."""
        return self.ask(method, {"textDocument": {"uri": self.uri(path)}, "position": {"line": line - 1, "character": column}, **more})

    def places(self, found):
        """(path, line) of places."""
        return {(self.path(place["uri"]), place["range"]["start"]["line"] + 1) for place in found}

    def line(self, path, number):
        """A line of a file."""
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
            return file.read().split("\n")[number - 1]

    def end(self):
        self.ask("shutdown", None)
        self.send({"method": "exit", "params": None})
        self.process.wait(PATIENCE)


def run(binary, root, cache, *arguments):
    """The JSON of a command."""
    environment = with_cache(cache)
    ended = subprocess.run([binary, *arguments, "--root", root, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=PATIENCE)
    if ended.returncode not in (0, 1):
        sys.exit(f"{arguments}: {ended.stderr.decode()}")
    return json.loads(ended.stdout)


def rows(binary, root, cache, statement):
    return run(binary, root, cache, "sql", statement)["rows"]


RESOLVED = ("SELECT r.path, r.line, r.col, r.name, s.path, s.line, s.name, s.end_line FROM refs r JOIN symbols s ON s.id = r.to_id"
            " WHERE r.verdict = 'resolved' AND r.id % 7 = {} LIMIT 20000")


def definitions(editor, ask, _, count):
    """References at random whose target is one symbol: the line of its name, below its annotations, is among the definitions."""
    for path, line, column, name, target, at, own, end in ask(RESOLVED.format(3), count):
        found = editor.places(editor.at("textDocument/definition", path, line, column))
        is_it = any(place == target and at <= line <= end and own in editor.line(place, line) for place, line in found)
        yield is_it, f"{name} at {path}:{line}:{column}: {sorted(found)[:3]}, expected {target}:{at}"


def references(editor, ask, command, count):
    """Symbols at random that are referred to: asked about at one of their references."""
    for path, line, column, _, target, at, name, _ in ask(RESOLVED.format(5), count):
        answer = command("references", f"{target}:{at}")
        if answer["symbol"]["name"] != name:
            continue  # Another symbol of that line.
        expected = {(site["path"], site["line"]) for site in answer["sites"]}
        if len(editor.at("textDocument/definition", path, line, column)) > 1:
            continue  # It means several symbols, the references to all of which are given.
        found = editor.places(editor.at("textDocument/references", path, line, column, context={"includeDeclaration": False}))
        yield found == expected, f"{name} at {target}:{at}: {sorted(found ^ expected)[:4]}"


def callers(editor, ask, command, count):
    """The same for the certain and likely direct callers."""
    for path, line, column, _, target, at, name, _ in ask(RESOLVED.format(5).replace("WHERE", "WHERE r.kind = 'call' AND"), count):
        answer = command("trace", f"{target}:{at}", "--depth", "1", "--certainty", "likely")
        if answer["root"]["name"] != name:
            continue
        ends = [node["end"] for node in answer["tree"]["nodes"] if node["certainty"] in ("certain", "likely")]
        # What is called at the top level of a file has no item.
        expected = {(end["path"], end["line"]) for end in ends if "symbol" in end}
        found = set()
        for item in editor.at("textDocument/prepareCallHierarchy", path, line, column):
            for call in editor.ask("callHierarchy/incomingCalls", {"item": item}):
                found.add((editor.path(call["from"]["uri"]), call["from"]["range"]["start"]["line"] + 1))
        yield found == expected, f"{name} at {target}:{at}: {sorted(found ^ expected)[:4]}"


def main():
    parser = command_line(__doc__)
    parser.add_argument("bin")
    parser.add_argument("dirs", nargs="+")
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binary, failures = os.path.abspath(options.bin), 0
    for root in map(os.path.realpath, options.dirs):
        draw = random.Random(options.seed)
        with tempfile.TemporaryDirectory() as cache:
            editor = Editor(binary, root, cache)

            def ask(statement, count):
                found = rows(binary, root, cache, statement)
                return draw.sample(found, min(count, len(found)))

            def command(*arguments):
                return run(binary, root, cache, *arguments)

            for checks in (definitions, references, callers):
                name, results = checks.__name__, list(checks(editor, ask, command, options.sample))
                wrong = [what for holds, what in results if not holds]
                failures += len(wrong)
                print(f"{os.path.basename(root)}: {name}: {len(results) - len(wrong)} of {len(results)} equal")
                print("".join(f"    {what}\n" for what in wrong[:5]), end="")
            print(f"{os.path.basename(root)}: initialize {editor.handshake * 1000:.0f} ms")
            editor.end()
    sys.exit(1 if failures else 0)
