#!/usr/bin/env python3
"""Occurrences of a Python project, by the language server of pyright (npm package `pyright`, in NODE_PATH).

    python.py ROOT [--python BIN]  > occurrences.jsonl

Every name and attribute that is no definition is resolved to its definition; rows are those of typescript.js, columns count bytes. BIN
(default: this interpreter) is the environment with the project's libraries: what pyright has no type for is not decided. Kinds: call,
construct, decorator, inherit, type, import, key (a keyword argument), write, read.
"""
import argparse
import ast
import json
import os
import re
import sys
import urllib.parse

from language_server import Server

SKIPPED = {".git", "node_modules", "__pycache__", "build", "dist", ".tox", ".venv"}


def names(tree):
    """(line, column in bytes, name, kind) of each occurrence; lines count from 1."""
    kinds, types = {}, set()
    found = []

    def mark(node, kind):
        kinds[id(node)] = kind

    def mark_types(node):
        for inner in ast.walk(node):
            types.add(id(inner))

    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            mark(node.func, "call")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                mark(decorator.func if isinstance(decorator, ast.Call) else decorator, "decorator")
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    mark(base.value if isinstance(base, ast.Subscript) else base, "inherit")
            elif node.returns:
                mark_types(node.returns)
        elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
            mark_types(node.annotation)

    def end(node, name):
        """Where an attribute's name stands: at the end of the node, wherever its line breaks are."""
        return node.end_lineno, node.end_col_offset - len(name.encode())

    for node in ast.walk(tree):
        kind = kinds.get(id(node)) or ("type" if id(node) in types else None)
        if isinstance(node, ast.Name):
            kind = kind or ("read" if isinstance(node.ctx, ast.Load) else None)
            if kind:
                found.append((node.lineno, node.col_offset, node.id, kind))
        elif isinstance(node, ast.Attribute):
            kind = kind or ("read" if isinstance(node.ctx, ast.Load) else "write")
            found.append((*end(node, node.attr), node.attr, kind))
        elif isinstance(node, ast.keyword) and node.arg:
            found.append((node.lineno, node.col_offset, node.arg, "key"))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name != "*":
                    found.append((alias.lineno, alias.col_offset, alias.name, "import"))
    return sorted(set(found))


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            if name.endswith(".py"):
                yield os.path.relpath(os.path.join(folder, name), root)


def is_local(trees, path, line, column):
    """True if the name that is defined there is a parameter or a local variable of a function."""
    if path not in trees:
        return False
    return (line, column) in trees[path]


def locals_of(tree):
    """The places of all parameters and of the variables that functions bind."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            arguments = node.args
            for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
                if one:
                    found.add((one.lineno, one.col_offset))
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    found.add((inner.lineno, inner.col_offset))
                elif isinstance(inner, ast.ExceptHandler):
                    found.add((inner.lineno, inner.col_offset))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    found.add((inner.lineno, inner.col_offset))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    texts, occurrences, hidden = {}, {}, {}
    for path in sources(root):
        with open(os.path.join(root, path), "rb") as file:
            data = file.read()
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError):
            continue
        texts[path] = data.decode("utf-8", "replace")
        occurrences[path] = names(tree)
        hidden[path] = locals_of(tree)
    program = os.path.join(os.environ.get("NODE_PATH", "node_modules"), "pyright", "langserver.index.js")
    analysis = {"autoSearchPaths": True, "useLibraryCodeForTypes": True, "diagnosticMode": "openFilesOnly", "indexing": False}
    settings = {"python": {"pythonPath": options.python, "analysis": analysis}, "python.analysis": analysis}
    server = Server(["node", "--max-old-space-size=6000", program, "--stdio"], root, settings)
    count = 0
    for path, text in texts.items():
        print(json.dumps({"file": path}))
        lines = text.split("\n")
        server.tell("textDocument/didOpen", {"textDocument": {"uri": server.uri(path), "languageId": "python", "version": 1, "text": text}})
        asked = []
        for line, column, name, kind in occurrences[path]:
            wide = len(lines[line - 1].encode()[:column].decode("utf-8", "replace").encode("utf-16-le")) // 2
            position = {"line": line - 1, "character": wide}
            asked.append((server.start("textDocument/definition", {"textDocument": {"uri": server.uri(path)}, "position": position}),
                          line, column, name, kind))
        answers = server.answers([number for number, *_ in asked])
        for number, line, column, name, kind in asked:
            row = {"path": path, "line": line, "col": column, "name": name, "kind": kind}
            ends = answers[number] or []
            targets, local = [], bool(ends)
            for one in ends if isinstance(ends, list) else [ends]:
                uri = urllib.parse.unquote(one.get("uri") or one.get("targetUri"))
                start = (one.get("range") or one.get("targetSelectionRange"))["start"]
                if not uri.startswith("file://" + root + "/"):
                    local = False
                    continue
                end = uri[len("file://" + root + "/"):]
                whole = one.get("range") or one.get("targetSelectionRange")
                is_file = whole["start"] == whole["end"] == {"line": 0, "character": 0}
                stands = texts[end].split("\n")[start["line"]][start["character"]:] if end in texts else ""
                stands = re.match(r"\**(\w*)", stands)
                column = start["character"] + (stands.start(1) if stands else 0)
                targets.append([end, 0 if is_file else start["line"] + 1, stands[1] if stands else ""])
                local = local and is_local(hidden, end, start["line"] + 1, column)
            if ends:
                row["targets"] = targets
                if local and targets:
                    row["local"] = True
                elif targets and len(targets) < len(ends):
                    row["outside"] = True
            count += 1
            print(json.dumps(row))
        server.tell("textDocument/didClose", {"textDocument": {"uri": server.uri(path)}})
    server.process.kill()
    print(f"{count} occurrences", file=sys.stderr)


if __name__ == "__main__":
    main()
