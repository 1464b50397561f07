#!/usr/bin/env python3
"""Occurrences of a Rust project, by rust-analyzer (rustup component `rust-analyzer`, with `rust-src`).

    rust.py ROOT [--analyzer BIN]  > occurrences.jsonl

ROOT has a Cargo.toml whose packages are fetched (`cargo fetch`); all features are on. Every name that is highlighted and no
declaration is resolved to its definition and its declaration: a call of a trait's method leads to the method of the implementation where the
type is known, and to that of the trait, either of which is right; so does `Self::Item` in an implementation, whichever implementation of its
type gives it. Rows are those of typescript.js. Code under a condition that does not hold
has none: its lines are rows {path, inactive: [line, ..]}. Names in bodies of macros and in documentation have no row; what a macro defines
without a token of its own is not decided. Kinds: call, construct, type, macro, decorator, import, inherit (the trait of an implementation,
the base of a trait), key (a field of a literal or pattern), write, read, namespace.
"""
import argparse
import json
import os
import re
import sys
import urllib.parse

from language_server import Server, tokens

SKIPPED = {".git", "target", "node_modules"}
TYPES = {"struct": "type", "enum": "type", "union": "type", "interface": "type", "typeAlias": "type", "typeParameter": "type",
         "macro": "macro", "procMacro": "macro", "derive": "decorator", "attributeMacro": "decorator", "namespace": "namespace",
         "function": "read", "method": "read", "property": "read", "variable": "read", "parameter": "read", "enumMember": "read",
         "const": "read", "static": "read", "constParameter": "read"}
LOCAL = {"variable", "parameter", "typeParameter", "constParameter"}
CAPABILITIES = {
    "general": {"positionEncodings": ["utf-8"]},
    "experimental": {"serverStatusNotification": True},
    "textDocument": {"diagnostic": {}, "semanticTokens": {"requests": {"full": True}, "formats": ["relative"], "tokenTypes": [], "tokenModifiers": []}},
}
OPTIONS = {"cargo": {"features": "all"}, "checkOnSave": False, "cachePriming": {"enable": False},
           "semanticHighlighting": {"doc": {"comment": {"inject": {"enable": False}}}}}
TRIVIA = re.compile(rb"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\\n])'""", re.S)
IMPORT = re.compile(rb"\buse\b[^;]*;")
INHERIT = re.compile(rb"\bimpl\b[^{;]*?\bfor\b|\btrait\s+\w+[^{;]*[{;]")
ASSIGNED = re.compile(rb"\s*(?:\[[^\]]*\]\s*)*(?:[-+*/%&|^]|<<|>>)?=(?![=>])")
GENERICS = rb"\s*(?:::)?(?:<[^;(){}]*>)?\s*"


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            if name.endswith(".rs"):
                yield os.path.relpath(os.path.join(folder, name), root)


class Text:
    """The text of a file, and a copy in which comments and literals are blank."""

    def __init__(self, data):
        self.lines = data.split(b"\n")
        self.code = TRIVIA.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), data)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.associated = list(associated(self.code))
        self.imports = [found.span() for found in IMPORT.finditer(self.code)]
        self.bases = set()
        for found in INHERIT.finditer(self.code):
            self.bases.update(found.start() + at for at in bases(found[0]))

    def implemented(self, line, column):
        """The name of the type of the implementation around a place, if `Self::` stands before it."""
        start = self.starts[line] + column
        if re.search(rb"\bSelf\s*::$", self.code[max(0, start - 40):start].rstrip()):
            for one, end, of, _ in self.associated:
                if one <= start < end:
                    return of
        return None

    def given(self, of, name):
        """The lines of the types that implementations of a type give to `Self::name`."""
        return {self.code.count(b"\n", 0, types[name]) + 1 for _, _, type_, types in self.associated if type_ == of and name in types}

    def at(self, line, column):
        """The name that stands at a place."""
        return re.match(rb"\w*", self.lines[line][column:])[0].decode() if line < len(self.lines) else ""

    def kind(self, line, column, length, type_):
        start = self.starts[line] + column
        before, behind = self.code[max(0, start - 400):start].rstrip(), self.code[start + length:start + length + 400]
        behind_path = re.sub(rb"(?:\w+\s*(?:<[^<>]*>)?\s*::\s*)+$", b"", before).rstrip()
        used = TYPES[type_]
        if used in ("namespace", "macro", "decorator"):
            return used
        if any(one <= start < end for one, end in self.imports):
            return "import"
        if start in self.bases:
            return "inherit"
        if type_ == "property":
            is_element = before.endswith((b"{", b",")) or re.search(rb"[{,]\s*(?:ref\s+)?(?:mut|ref)$", before)
            if is_element and re.match(rb"\s*(?::(?!:)|[,}])", behind):
                return "key"
        if used == "read" and type_ != "enumMember" and ASSIGNED.match(behind):
            return "write"
        if type_ in ("function", "method", "variable", "parameter"):
            return "call" if re.match(GENERICS + rb"\(", behind) else "read"
        if type_ in ("struct", "union", "enumMember", "typeAlias"):
            is_block = re.search(rb"(?:\b(?:impl|for|struct|enum|union|dyn|where|as)|->|\+|&)$|\b(?:impl|if|while|match|for)\b[^{};]*$", behind_path)
            if re.match(GENERICS + rb"\(", behind) or re.match(rb"\s*\{", behind) and (type_ == "enumMember" or not is_block):
                return "construct"
        return used


def associated(code):
    """(start, end, name of its type, {name: place}) of each implementation, of the types that it gives to names of its trait."""
    for found in re.finditer(rb"^[ \t]*(?:unsafe\s+)?impl\b[^{;]*\{", code, re.M):
        head = re.split(rb"\bwhere\b", found[0])[0].rstrip(b"{ \t\n")
        while (shorter := re.sub(rb"->|<[^<>]*>", b"", head)) != head:
            head = shorter
        of = re.search(rb"(\w+)\s*$", head)
        depth = end = 0
        for brace in re.finditer(rb"[{}]", code[found.end() - 1:]):
            depth += 1 if brace[0] == b"{" else -1
            if depth == 0:
                end = found.end() + brace.end()
                break
        body = code[found.end():end]
        yield found.start(), end, of[1] if of else b"", {name[1].decode(): found.end() + name.start(1) for name in re.finditer(rb"\btype\s+(\w+)[^;=]*=", body)}


def bases(text):
    """Where the names of traits end, in `impl Trait<..> for` or `trait Name: Base + Base`."""
    is_trait = text.startswith(b"trait")
    depth, found, at = 0, [], 0
    began = not is_trait
    for token in re.finditer(rb"\w+|->|[<>:+({[\]})]", text):
        if token[0] in (b"<", b"(", b"["):
            depth += 1
        elif token[0] in (b">", b")", b"]"):
            depth -= 1
        elif depth == 0 and token[0] == b"where":
            break
        elif depth == 0 and token[0] == b":" and is_trait:
            began = True
        elif depth == 0 and began and re.match(rb"\w", token[0]) and token[0] not in (b"impl", b"for", b"const", b"unsafe"):
            found.append(token.start())
    ends = {at for at in found if not re.match(rb"\w+\s*::", text[at:])}
    return ends


def definitions(ends):
    """(path of a URI, line, column, is whole) of each answer."""
    for end in ends if isinstance(ends, list) else [ends] if ends else []:
        start, stop = end["range"]["start"], end["range"]["end"]
        yield urllib.parse.unquote(end["uri"]), start["line"], start["character"], start == {"line": 0, "character": 0} and stop["line"] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--analyzer", default="rust-analyzer")
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    server = Server([options.analyzer], root, capabilities=CAPABILITIES, options=OPTIONS)
    legend = server.answer["capabilities"]["semanticTokensProvider"]["legend"]
    server.until(lambda: (server.told.get("experimental/serverStatus") or {}).get("quiescent"))
    if server.told["experimental/serverStatus"]["health"] == "error":
        sys.exit(server.told["experimental/serverStatus"].get("message"))
    texts = {}
    for path in sources(root):
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        try:
            data.decode()
        except UnicodeDecodeError:
            continue
        texts[path] = Text(data)
    count = 0
    for path, text in texts.items():
        print(json.dumps({"file": path}))
        document = {"textDocument": {"uri": server.uri(path)}}
        whole = b"\n".join(text.lines).decode()
        server.tell("textDocument/didOpen", {"textDocument": {"uri": server.uri(path), "languageId": "rust", "version": 1, "text": whole}})
        problems = (server.ask("textDocument/diagnostic", document) or {}).get("items", [])
        inactive = {line + 1 for problem in problems if problem.get("code") == "inactive-code"
                    for line in range(problem["range"]["start"]["line"], problem["range"]["end"]["line"] + 1)}
        print(json.dumps({"path": path, "inactive": sorted(inactive)}))
        found = server.ask("textDocument/semanticTokens/full", document) or {"data": []}
        asked = []
        for line, column, length, kind, modifiers in tokens(found["data"], legend):
            name = text.at(line, column)
            if kind not in TYPES or not re.fullmatch(r"[^\W\d]\w*", name) or len(name.encode()) != length or name == "Self":
                continue
            used = text.kind(line, column, length, kind)
            if "declaration" in modifiers and used != "key" or line + 1 in inactive or "documentation" in modifiers:
                continue
            row = {"path": path, "line": line + 1, "col": column, "name": name, "kind": used}
            place = {**document, "position": {"line": line, "character": column}}
            asked.append(([server.start(f"textDocument/{what}", place) for what in ("definition", "declaration")], row, kind in LOCAL))
        answers = server.answers([number for questions, *_ in asked for number in questions])
        for questions, row, local in asked:
            ends = {end for number in questions for end in definitions(answers[number])}
            targets, outside, decided = set(), False, bool(ends)
            for uri, line, column, whole in ends:
                below = uri.removeprefix(f"file://{root}/")
                if below == uri or below not in texts:
                    outside = True
                    continue
                name = texts[below].at(line, column)
                is_macro = re.match(rb"\w+\s*!|#\[", texts[below].lines[line][column:]) if not whole else None
                decided = decided and not is_macro
                targets.add((below, 0 if whole else line + 1, name))
            if of := text.implemented(row["line"] - 1, row["col"]):
                targets.update((below, line, row["name"]) for below, other in texts.items() for line in other.given(of, row["name"]))
            if decided:
                row["targets"] = sorted(targets)
                row.update({"local": True} if local else {}, **({"outside": True} if outside else {}))
            print(json.dumps(row))
            count += 1
        server.tell("textDocument/didClose", document)
    if not server.told["experimental/serverStatus"]["quiescent"]:
        sys.exit("the project was still being loaded")
    server.process.kill()
    print(f"{count} occurrences", file=sys.stderr)


if __name__ == "__main__":
    main()
