#!/usr/bin/env python3
"""Occurrences of a PHP project, by the language server intelephense (npm package, in NODE_PATH); names and their places come from PHP itself.

    php.py ROOT [--php BIN]  > occurrences.jsonl

Every name that is no declaration and no local variable is resolved to its definition; rows are those of typescript.js, columns count bytes. A
qualified name stands where its last part does. What the server has no type for, or no source (a library that is not in `vendor`), is not
decided. Kinds: call, construct, decorator (an attribute), import, inherit (traits that are used as well), key (a named argument), type,
write, read.
"""
import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

from language_server import Server

SKIPPED = {".git", "node_modules", "vendor"}
TOKENS = """
foreach (json_decode(stream_get_contents(STDIN)) as $path) {
    $text = file_get_contents($path);
    try { $all = PhpToken::tokenize($text, TOKEN_PARSE); } catch (ParseError $error) { continue; }
    $rows = [];
    foreach ($all as $one) if (!$one->isIgnorable()) $rows[] = [$one->getTokenName(), base64_encode($one->text), $one->pos];
    echo json_encode([$path, $rows]), "\\n";
}
"""
DECLARED_BEHIND = {"T_FUNCTION", "T_CLASS", "T_INTERFACE", "T_TRAIT", "T_ENUM", "T_CONST", "T_NAMESPACE", "T_GOTO"}
QUALIFIED = {"T_NAME_QUALIFIED", "T_NAME_FULLY_QUALIFIED", "T_NAME_RELATIVE"}
OF_MEMBER = {"T_OBJECT_OPERATOR", "T_NULLSAFE_OBJECT_OPERATOR", "T_DOUBLE_COLON"}
ASSIGNED = re.compile(r"=|T_\w+_EQUAL|T_INC|T_DEC")
COMPARED = {"T_IS_EQUAL", "T_IS_NOT_EQUAL", "T_IS_SMALLER_OR_EQUAL", "T_IS_GREATER_OR_EQUAL"}
WORDS = {"self", "parent", "static", "true", "false", "null", "int", "float", "string", "bool", "mixed", "void", "never", "iterable", "object",
         "array", "callable", "class", "strict_types", "ticks", "encoding"}


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(files):
            if name.endswith(".php"):
                yield os.path.relpath(os.path.join(folder, name), root)


def names(tokens):
    """(offset, name, kind) of each occurrence in a file, from its tokens (kind, text, offset)."""
    kinds = [kind for kind, _, _ in tokens] + ["end"] * 3
    # What a brace opens: a class, a function, or something else.
    braces, opens, clause, attribute = [], None, None, None
    depth = 0
    for at, (kind, text, offset) in enumerate(tokens):
        before, behind = kinds[at - 1] if at else "", kinds[at + 1]
        if kind in ("T_CLASS", "T_INTERFACE", "T_TRAIT", "T_ENUM") and before != "T_DOUBLE_COLON":
            opens = "class"
        elif kind in ("{", "T_CURLY_OPEN", "T_DOLLAR_OPEN_CURLY_BRACES"):
            if clause == "import":
                depth += 1
            else:
                braces.append(opens if kind == "{" else None)
                opens, clause = None, None
        elif kind == "}":
            if clause == "import":
                depth -= 1
            elif braces:
                braces.pop()
                clause = None
        elif kind == ";":
            clause = None
        elif kind in ("T_EXTENDS", "T_IMPLEMENTS"):
            clause = "inherit"
        elif kind == "T_USE" and behind != "(":
            clause = "inherit" if braces and braces[-1] == "class" else "import"
        elif kind == "T_ATTRIBUTE":
            attribute = 0
        elif attribute is not None and kind in "([":
            attribute += 1
        elif attribute is not None and kind in ")]":
            attribute = None if kind == "]" and attribute == 0 else attribute - 1
        is_static = kind == "T_VARIABLE" and before == "T_DOUBLE_COLON"
        if kind not in QUALIFIED | {"T_STRING"} and not is_static:
            continue
        last = text.rsplit("\\", 1)[-1]
        start = offset + len(text.encode()) - len(last.encode())
        member = before in OF_MEMBER
        is_case = before == "T_CASE" and braces and braces[-1] == "class"
        is_word = kind == "T_STRING" and text.lower() in WORDS and (not member or text == "class")
        if is_word or is_case or (before == "T_AS" and clause) or kinds[at - 2:at] == ["T_FUNCTION", "T_AMPERSAND_NOT_FOLLOWED_BY_VAR_OR_VARARG"]:
            continue
        if before in DECLARED_BEHIND and not (clause == "import" and before in ("T_FUNCTION", "T_CONST")) or behind == ":" and before in ("{", "}", ";"):
            continue
        if member:
            assigned = ASSIGNED.fullmatch(behind) and behind not in COMPARED
            used = "call" if behind == "(" else "write" if assigned or before in ("T_INC", "T_DEC") else "read"
        elif attribute == 0:
            used = "decorator"
        elif clause:
            used = clause
        elif before == "T_NEW":
            used = "construct"
        elif behind == "(":
            used = "call"
        elif behind == ":" and before in "(,":
            used = "key"
        elif behind in ("T_VARIABLE", "T_DOUBLE_COLON", "T_ELLIPSIS", "T_AMPERSAND_FOLLOWED_BY_VAR_OR_VARARG") or before in ("T_INSTANCEOF", "?"):
            used = "type"
        else:
            used = "type" if before in (":", "|") and behind in ("{", ";", "|", "T_DOUBLE_ARROW") and not last.isupper() else "read"
        yield start, last.removeprefix("$"), used


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root")
    parser.add_argument("--php", default="php")
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    paths = list(sources(root))
    read = subprocess.run([options.php, "-d", "memory_limit=-1", "-r", TOKENS], input=json.dumps(paths), cwd=root, capture_output=True, text=True, check=True)
    tokens = {path: [(kind, base64.b64decode(text).decode("utf-8", "replace"), offset) for kind, text, offset in rows]
              for path, rows in map(json.loads, read.stdout.splitlines())}
    texts = {}
    for path in paths:
        with open(os.path.join(root, path), "rb") as file:
            texts[path] = file.read()
    program = os.path.join(os.environ.get("NODE_PATH", "node_modules"), "intelephense", "lib", "intelephense.js")
    count = 0
    with tempfile.TemporaryDirectory() as scratch:
        server = Server(["node", "--max-old-space-size=6000", program, "--stdio"], root, {"intelephense": {"files": {"maxSize": 10_000_000}}},
                        capabilities={"textDocument": {"definition": {"linkSupport": True}}},
                        options={"storagePath": scratch, "globalStoragePath": scratch, "clearCache": True})
        server.until(lambda: "indexingEnded" in server.told)
        for path, found in tokens.items():
            print(json.dumps({"file": path}))
            document = {"uri": server.uri(path)}
            data = texts[path]
            try:
                text = data.decode()
            except UnicodeDecodeError:
                continue
            server.tell("textDocument/didOpen", {"textDocument": {**document, "languageId": "php", "version": 1, "text": text}})
            asked = []
            for offset, name, kind in names(found):
                start = data.rfind(b"\n", 0, offset) + 1
                line, column = data.count(b"\n", 0, offset), offset - start
                wide = len(data[start:offset].decode("utf-8", "replace").encode("utf-16-le")) // 2
                place = {"textDocument": document, "position": {"line": line, "character": wide}}
                asked.append((server.start("textDocument/definition", place), {"path": path, "line": line + 1, "col": column, "name": name, "kind": kind}))
            answers = server.answers([number for number, _ in asked])
            for number, row in asked:
                ends = answers[number] or []
                targets, outside = set(), False
                for end in ends:
                    uri, start = urllib.parse.unquote(end["targetUri"]), end["targetSelectionRange"]["start"]
                    below = uri.removeprefix(f"file://{root}/")
                    if below == uri or below not in texts:
                        outside = True
                        continue
                    targets.add(target(below, texts[below], start))
                if ends:
                    row["targets"] = sorted(targets)
                    row.update({"outside": True} if outside else {})
                print(json.dumps(row))
                count += 1
            server.tell("textDocument/didClose", {"textDocument": document})
        server.process.kill()
    print(f"{count} occurrences", file=sys.stderr)


def target(path, data, start):
    """The place of a definition: where its name stands."""
    line = data.split(b"\n")[start["line"]].decode("utf-8", "replace").encode("utf-16-le")[2 * start["character"]:].decode("utf-16-le", "replace")
    return path, start["line"] + 1, re.match(r"[\\$'\"&]*(\w*)", line)[1]


if __name__ == "__main__":
    main()
