#!/usr/bin/env python3
"""Occurrences of a C or C++ project, by clangd (16 or newer).

    clang.py ROOT [--clangd BIN]  > occurrences.jsonl

ROOT or ROOT/build has compile_commands.json (`cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, `meson setup build`, `bear -- make`). Every name
that is highlighted and no declaration is resolved to its declaration and its definition; rows are those of typescript.js. Code that is not
compiled has none: its lines are rows {path, inactive: [line, ..]}, and what the build makes has no rows: `build/x.h` is `x.h.in`, where most lines
agree. An alias of a namespace is the namespace as well. What depends on a template parameter is not decided. Kinds: call, construct, type, macro, key (a designated
initializer), write, read, namespace.
"""
import argparse
import collections
import json
import os
import re
import shutil
import sys
import urllib.parse

from language_server import Server, tokens

SOURCES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp")
SKIPPED = {".git", ".cache", "node_modules"}
TYPES = {"class": "type", "enum": "type", "interface": "type", "struct": "type", "type": "type", "typeParameter": "type", "concept": "type",
         "macro": "macro", "namespace": "namespace", "function": "read", "method": "read", "property": "read", "variable": "read",
         "parameter": "read", "enumMember": "read", "unknown": "read"}
ASSIGNED = re.compile(rb"\s*(?:\[[^\]]*\]\s*)*(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)")
ALIAS = re.compile(rb"\bnamespace\s+(\w+)\s*=\s*(?:::)?(?:\w+\s*::\s*)*(\w+)\s*;")
CAPABILITIES = {
    "window": {"workDoneProgress": True},
    "offsetEncoding": ["utf-8"],
    "textDocument": {"semanticTokens": {"requests": {"full": True}, "formats": ["relative"], "tokenTypes": list(TYPES),
                                        "tokenModifiers": ["declaration", "functionScope", "dependentName"]}},
}


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            if name.endswith(SOURCES):
                yield os.path.relpath(os.path.join(folder, name), root)


def namespaces(lines):
    """The places of all namespaces, by their last names."""
    places = collections.defaultdict(set)
    for path, of_file in lines.items():
        for number, text in enumerate(of_file):
            for found in re.finditer(rb"\bnamespace\s+(?:inline\s+)?(?:\w+\s*::\s*)*(\w+)\s*(?=\{|$)", text):
                name = found[1].decode()
                places[name].add((path, number + 1, name))
    return places


def aliased(lines, places, targets):
    """The targets, and of an alias of a namespace, which clangd takes for the namespace, also the places of the namespace."""
    more = set(targets)
    for path, line, name in targets:
        alias = ALIAS.search(lines[path][line - 1])
        if alias and alias[1].decode() == name:
            more |= places[alias[2].decode()]
    return more


def copies(texts):
    """The files with the text of each file that has one: a build copies headers to where they are installed from."""
    same = collections.defaultdict(list)
    for path, text in texts.items():
        same[text].append(path)
    return {path: of_text for of_text in same.values() if len(of_text) > 1 for path in of_text}


def templates(root, lines, products):
    """The templates of files that the build makes, with their lines."""
    found = collections.defaultdict(list)
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and not os.path.join(os.path.relpath(folder, root), name, "").startswith("./" + products)]
        for name in files:
            if name.endswith(".in"):
                found[name.removesuffix(".in")].append(os.path.relpath(os.path.join(folder, name), root))
    of = {}
    for path, of_file in lines.items():
        for template in found[os.path.basename(path)] if path.startswith(products) else ():
            with open(os.path.join(root, template), "rb") as file:
                text = file.read().split(b"\n")
            if 2 * sum(one == other for one, other in zip(text, of_file)) > len(text):
                of[path] = (template, text)
    return of


def meant(lines, path, line, name):
    """The lines that a macro means which is replaced by its own name: what it is the name of, in the same file, as well (`#define NONE NONE`)."""
    text = name.encode()
    if not re.search(rb"#\s*define\s+" + text + rb"\s+" + text + rb"\s*$", lines[path][line - 1]):
        return [line]
    named = re.compile(rb"^\s*(?:\w+[\s*]+)?" + text + rb"\s*(?:[=,;(}]|$)")
    return [line, *(number + 1 for number, text in enumerate(lines[path]) if named.match(text))]


def takes_arguments(line, column, name):
    """True for the definition of a macro with parameters."""
    return bool(re.search(rb"#\s*define\s+$", line[:column])) and line[column + len(name):][:1] == b"("


def has_arguments(line, row):
    """False for a name without arguments behind it: one that clangd takes for a macro with parameters is a field or variable of that name."""
    behind = line[row["col"] + len(row["name"]):].strip()
    return not behind or behind.startswith(b"(") or line.lstrip().startswith(b"#")


def kind_of(text, line, column, end, kind):
    used = TYPES[kind]
    before, behind = text[:column].rstrip(), text[end:]
    if kind in ("property", "variable", "parameter"):
        if ASSIGNED.match(behind) or before.endswith((b"++", b"--")):
            return "key" if kind == "property" and re.search(rb"(?:^|[{,])\s*\.$", before) else "write"
    called = re.match(rb"\s*(?:<[^;(){}]*>)?\s*\(", behind)
    if called and used == "read":
        return "call"
    if called and used == "type" or re.match(rb"\s*\{", behind) and used == "type" and re.search(rb"(?:return|=|\(|,|new)$", before):
        return "construct"
    return used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--clangd", default=shutil.which("clangd") or shutil.which("clangd-16") or "clangd")
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    folders = [folder for folder in (root, os.path.join(root, "build")) if os.path.exists(os.path.join(folder, "compile_commands.json"))]
    if not folders:
        sys.exit(f"{root} has no compile_commands.json, build/compile_commands.json neither")
    with open(os.path.join(folders[0], "compile_commands.json")) as file:
        compiled = [os.path.realpath(os.path.join(command["directory"], command["file"])) for command in json.load(file)]
    # clangd reports no progress for an index that exists already.
    for folder in {root, folders[0]}:
        shutil.rmtree(os.path.join(folder, ".cache", "clangd"), ignore_errors=True)
    server = Server([options.clangd, "--background-index", f"--compile-commands-dir={folders[0]}", "--limit-results=0", "--limit-references=0",
                     "--background-index-priority=normal", "-j=2", "--log=error"], root, capabilities=CAPABILITIES)
    legend = server.answer["capabilities"]["semanticTokensProvider"]["legend"]
    texts = {}
    for path in sources(root):
        with open(os.path.join(root, path), "rb") as file:
            texts[path] = file.read()
    lines = {path: text.split(b"\n") for path, text in texts.items()}
    # What a build has made or copied is read where it comes from.
    products = os.path.join(os.path.relpath(folders[0], root), "").removeprefix("./")
    places, copied = namespaces(lines), copies(texts)
    if products:
        for path, (template, text) in templates(root, lines, products).items():
            copied[path], lines[template] = [template], text
    is_made = lambda path: products and path.startswith(products)
    wanted = [path for path in texts if os.path.join(root, path) in compiled and not is_made(path)]
    # The first file that is opened begins the index of all, which definitions in other files come from.
    document = lambda path: {"textDocument": {"uri": server.uri(path)}}
    opened = lambda path: {"textDocument": {"uri": server.uri(path), "languageId": "cpp", "version": 1, "text": texts[path].decode("utf-8", "replace")}}
    server.tell("textDocument/didOpen", opened(wanted[0]))
    server.until_done("backgroundIndexProgress")
    server.tell("textDocument/didClose", document(wanted[0]))
    count = 0
    headers = [path for path in texts if not path.endswith((".c", ".cc", ".cpp", ".cxx")) and not is_made(path)]
    for path in [*wanted, *headers]:
        try:
            texts[path].decode()
        except UnicodeDecodeError:
            continue
        print(json.dumps({"file": path}))
        server.tell("textDocument/didOpen", opened(path))
        found = server.ask("textDocument/semanticTokens/full", document(path)) or {"data": []}
        # A line that is not compiled is highlighted as a comment from its beginning.
        inactive = [line + 1 for line, column, _, kind, _ in tokens(found["data"], legend) if kind == "comment" and column == 0]
        print(json.dumps({"path": path, "inactive": inactive}))
        asked = []
        for line, column, length, kind, modifiers in tokens(found["data"], legend):
            text = lines[path][line]
            name = text[column:column + length].decode("utf-8", "replace")
            if kind not in TYPES or "declaration" in modifiers or not re.fullmatch(r"[^\W\d]\w*", name) or name == "auto":
                continue
            row = {"path": path, "line": line + 1, "col": column, "name": name, "kind": kind_of(text, line, column, column + length, kind)}
            place = {**document(path), "position": {"line": line, "character": column}}
            questions = [server.start(f"textDocument/{what}", place) for what in ("definition", "declaration")]
            asked.append((questions, row, "functionScope" in modifiers or kind == "typeParameter", "dependentName" in modifiers))
        answers = server.answers([number for questions, *_ in asked for number in questions])
        for questions, row, local, dependent in asked:
            ends = {json.dumps(end): end for number in questions for end in answers[number] or []}.values()
            targets, outside = set(), False
            for end in ends:
                uri, start = urllib.parse.unquote(end["uri"]), end["range"]["start"]
                below = uri.removeprefix(f"file://{root}/")
                if below == uri or below not in lines:
                    outside = True
                    continue
                stands = re.match(rb"\w*", lines[below][start["line"]][start["character"]:])[0].decode("utf-8", "replace")
                dependent |= takes_arguments(lines[below][start["line"]], start["character"], stands) and not has_arguments(lines[row["path"]][row["line"] - 1], row)
                places_of = meant(lines, below, start["line"] + 1, stands)
                targets.update((path, number, stands) for path in copied.get(below, [below]) for number in places_of)
            if ends and not dependent:
                row["targets"] = sorted(aliased(lines, places, targets))
                row.update({"local": True} if local else {}, **({"outside": True} if outside else {}))
            print(json.dumps(row))
            count += 1
        server.tell("textDocument/didClose", document(path))
    server.process.kill()
    print(f"{count} occurrences", file=sys.stderr)


if __name__ == "__main__":
    main()
