#!/usr/bin/env python3
"""Makes the truth of a C# project from what the compiler made of it, in the form of scripts/accuracy.d/truth.

    mcs -debug -target:library -out:NAME.dll -d:SYMBOL ... FILES    compile the project, in FOLDER
    mono dump.exe NAME.dll > RAW                                    dump.cs, compiled with Mono.Cecil and its reader of these symbols
    make_truth.py RAW FOLDER NAME OUT --files LIST [-d SYMBOL ...]  make OUT/NAME.*.jsonl.gz; the symbols are those of the compilation

Needs the packages tree-sitter and tree-sitter-c-sharp: the bytecode has no positions of definitions. Definitions are read from the tree
after the regions that the symbols leave out are blanked, and are joined by type, name and number of parameters, then by line. Accessors are
their property; reads and writes of properties and methods as values are references. A call whose name the caller's text lacks is implicit.
"""

import argparse
import collections
import gzip
import json
import os
import re

import tree_sitter
import tree_sitter_c_sharp

TYPES = {"class_declaration": "class", "struct_declaration": "struct", "record_declaration": "class",
         "interface_declaration": "interface", "enum_declaration": "enum", "delegate_declaration": "delegate"}
MEMBERS = {"method_declaration": "method", "constructor_declaration": "ctor", "destructor_declaration": "method",
           "property_declaration": "method", "indexer_declaration": "method", "event_declaration": "method",
           "operator_declaration": "method", "conversion_operator_declaration": "method", "local_function_statement": "function"}
SPACES = ("namespace_declaration", "file_scoped_namespace_declaration")
PARAMETERS = ("parameter_list", "bracketed_parameter_list")
DIRECTIVE = re.compile(r"^\s*#\s*(if|elif|else|endif|define|undef)\b(.*?)(//.*)?$")
ACCESSOR = re.compile(r"(get|set|add|remove)_(.*)")
BUILTIN = {"Boolean": "bool", "Int32": "int", "String": "string", "Object": "object", "Int64": "long", "Char": "char",
           "Byte": "byte", "Single": "float", "Double": "double", "UInt32": "uint", "Int16": "short", "UInt16": "ushort",
           "UInt64": "ulong", "SByte": "sbyte", "Decimal": "decimal"}

Definition = collections.namedtuple("Definition", "row key names parameters start end")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("raw", "folder", "name", "out"):
        parser.add_argument(name)
    parser.add_argument("--files", required=True)
    parser.add_argument("-d", action="append", default=[], dest="symbols")
    options = parser.parse_args()
    with open(options.files, encoding="utf8") as files:
        names = [line.strip().removeprefix("./") for line in files if line.strip()]
    Project(options.folder, sorted(names), set(options.symbols)).read(options.raw).write(options.name, options.out)


def active_text(text, symbols):
    """The text with a blank line for each line that is not compiled, and for directives."""
    lines, symbols, stack = [], set(symbols), []
    for line in text.split("\n"):
        found = DIRECTIVE.match(line)
        on = all(state == "on" for state in stack)
        if not found:
            lines.append("" if not on or line.lstrip().startswith("#") else line)
            continue
        word, rest = found[1], found[2].strip()
        if word in ("define", "undef") and on:
            (symbols.add if word == "define" else symbols.discard)(rest)
        elif word == "if":
            stack.append("on" if holds(rest, symbols) else "off")
        elif word == "endif":
            stack.pop()
        elif word in ("elif", "else"):
            before = stack.pop()
            stack.append("done" if before != "off" else "on" if word == "else" or holds(rest, symbols) else "off")
        lines.append("")
    return "\n".join(lines)


def holds(condition, symbols):
    words = re.findall(r"\w+|&&|\|\||[!=]=|[!()]", condition)
    python = {"&&": "and", "||": "or", "!": "not", "true": "True", "false": "False"}
    known = lambda word: python.get(word) or (str(word in symbols) if re.match(r"\w", word) else word)  # noqa: E731
    return bool(eval(" ".join(map(known, words))))


class Project:
    def __init__(self, folder, files, symbols):
        self.folder = os.path.abspath(folder)
        self.files = files
        self.parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))
        self.definitions, self.lines = [], {}
        self.by_key, self.parts = collections.defaultdict(list), {}
        self.in_file = collections.defaultdict(list)
        for file in files:
            with open(os.path.join(folder, file), encoding="utf-8-sig", errors="replace", newline="") as content:
                text = content.read().replace("\r\n", "\n")
            active = active_text(text, symbols)
            self.lines[file] = active.split("\n")
            self.visit(self.parser.parse(active.encode()).root_node, file, "", (), None)
            known = {(found.row["line"], found.row["name"]) for found in self.in_file[file]}
            self.add_inactive(file, text, known)
        self.edges, self.overrides = {}, {}

    def visit(self, node, file, space, types, around):
        """Collects definitions; `types` is the chain of types around, `around` the definition of the innermost one."""
        for child in node.named_children:
            if child.type in SPACES:
                name = child.child_by_field_name("name").text.decode()
                full = f"{space}.{name}" if space else name
                self.visit(child, file, full, types, around)
                if child.type == "file_scoped_namespace_declaration":
                    space = full
            elif child.type in TYPES or child.type in MEMBERS and has_code(child):
                found = self.define(child, file, space, types, around)
                is_type = child.type in TYPES
                self.visit(child, file, space, (*types, found.names[0]) if is_type else types, found if is_type else around)
            else:
                self.visit(child, file, space, types, around)

    def define(self, node, file, space, types, around):
        named = node.child_by_field_name("name") or next((c for c in node.children if c.type in ("this", "operator")), node)
        name = named.text.decode() if named is not node else "operator"
        generic = next((c for c in node.children if c.type == "type_parameter_list"), node)
        arity = sum(c.type == "type_parameter" for c in generic.children)
        listed = next((c for c in node.children if c.type in PARAMETERS), None)
        parameters = [parameter_type(c) for c in listed.named_children if c.type in ("parameter", "parameter_array")] if listed else []
        if listed and any(c.type == "params" for c in listed.children):
            parameters = [parameter_type(c) for c in listed.named_children if c.type == "parameter"] + ["params"]
        is_type = node.type in TYPES
        row = row_of(file, node, named, name)
        if around:
            row.update(parent=around.row["name"], parent_line=around.row["line"], parent_kind=around.row["kind"])
            if around.row["file"] != file:
                row.update(parent_file=around.row["file"])
        own = f"{name}`{arity}" if arity and is_type else name
        full = (space + "." if space else "") + "/".join(types)
        if is_type:
            key, names = (full + ("/" if types else "") + own), [own]
        elif node.type == "constructor_declaration":
            is_static = any(c.type == "modifier" and c.text == b"static" for c in node.children)
            key, names = full, [".cctor" if is_static else ".ctor"]
        elif node.type == "destructor_declaration":
            key, names = full, ["Finalize"]
        elif node.type in ("operator_declaration", "conversion_operator_declaration"):
            key, names = full, ["operator"]
        else:
            key, names = full, ["Item" if name == "this" else name]
        found = Definition(row, key, (*names, arity), parameters, node.start_byte, node.end_byte)
        if is_type:
            first = self.parts.setdefault(key, found)
            if first is not found:
                row["decl_of"] = [first.row["file"], first.row["line"], first.row["name"]]
                self.record(found)
                return first._replace(names=found.names)
        self.record(found)
        return found

    def record(self, found):
        self.definitions.append(found)
        self.by_key[found.key, found.names[0]].append(found)
        self.in_file[found.row["file"]].append(found)

    def add_inactive(self, file, text, known):
        """Definitions that are not compiled are there, but neither right nor wrong."""
        def walk(node):
            for child in node.named_children:
                named = child.child_by_field_name("name") if child.type in TYPES or child.type in MEMBERS else None
                if named and (named.start_point[0] + 1, named.text.decode()) not in known and has_code(child):
                    line = named.start_point[0] + 1
                    if not self.lines[file][line - 1].strip():
                        row = {**row_of(file, child, named, named.text.decode()), "inactive": True}
                        self.definitions.append(Definition(row, "", ("", 0), [], 0, 0))
                walk(child)
        walk(self.parser.parse(text.encode()).root_node)

    def read(self, raw):
        methods, rows = {}, []
        with open(raw, encoding="utf8") as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        lost = collections.Counter()
        for row in rows:
            if row[0] == "M":
                methods[row[1]] = (*self.find(row), row)
                if not methods[row[1]][0] and "<" not in row[2] + row[3].rsplit(".", 1)[-1]:
                    lost[row[3]] += 1
        for row in rows:
            if row[0] == "E":
                self.edge(row, methods)
            elif row[0] == "V" and row[2] in self.parts:
                self.add(methods[row[1]][0], self.parts[row[2]], "ctor", *self.place(row[3], row[4]), kind="ctor")
            elif row[0] == "O":
                member, base = methods[row[1]][0], methods[row[2]][0]
                if member and base and member is not base:
                    own = {key: member.row[key] for key in ("file", "line", "name")}
                    found = {**own, **{"base_" + key: base.row[key] for key in ("file", "line", "name")}}
                    self.overrides[json.dumps(found)] = found
        print("methods without a definition:", sum(lost.values()), [one for one in lost.most_common() if not ACCESSOR.match(one[0])][:30])
        return self

    def find(self, row):
        """The definition of a method of the bytecode and whether it is an accessor or an operator."""
        _, _, owner, name, arity, parameters, _, file, line = row
        file = os.path.relpath(file, self.folder) if file != "-" else None
        name, role = name if name.startswith(".") else name.rsplit(".", 1)[-1], ""
        count = parameters.count(";") + 1 if parameters else 0
        accessor = ACCESSOR.fullmatch(name)
        if accessor and not self.by_key.get((owner, name)):
            name, role = accessor[2], "accessor"
        elif name.startswith("op_"):
            name, role = "operator", "operator"
        found = self.by_key.get((owner, name), [])
        if role != "accessor":
            found = [one for one in found if len(one.parameters) == count and (one.names[1] == int(arity) or role or name == ".ctor")]
        inside = [one for one in found if file == one.row["file"] and one.row["start_line"] <= int(line) <= one.row["end_line"]]
        if len(found) > 1 and inside:
            found = inside
        if len(found) > 1:
            wanted = [simple(one) for one in split(parameters)]
            found = [one for one in found if same(one.parameters, wanted)] or found
        if not found and name == ".ctor" and owner in self.parts:
            return self.parts[owner], "ctor"
        return (found[0] if found else None), role or ("ctor" if name == ".ctor" else "call")

    def place(self, file, line):
        return os.path.relpath(file, self.folder), int(line)

    def edge(self, row, methods):
        _, by, to, how, file, line, _, certain = row
        callee, role, called = methods[to]
        if callee is None or callee.row["kind"] == "delegate" or file == "-" or role == "call" and called[3] == ".cctor":
            return
        kind = "ref" if role == "accessor" or how in ("ldftn", "ldvirtftn") else "ctor" if role == "ctor" else "call"
        is_abstract, is_open = called[6] == "abstract", certain == "open"
        self.add(methods[by][0], callee, role, *self.place(file, line), kind=kind, abstract=is_abstract, ambiguous=is_open)

    def add(self, known, callee, role, file, line, kind, abstract=False, ambiguous=False):
        caller = self.caller(known, file, line)
        edge = {
            "caller_file": caller.row["file"] if caller else file,
            "caller_name": caller.row["name"] if caller else "<module>",
            "caller_line": caller.row["line"] if caller else 0,
            "callee_file": callee.row["file"],
            "callee_name": callee.row["name"],
            "callee_line": callee.row["line"],
            "site_line": line,
            "kind": kind,
        }
        implicit = not self.written(caller, callee, role)
        flags = {"module": not caller, "abstract": abstract, "implicit": implicit, "ambiguous": ambiguous}
        edge.update({flag: True for flag, is_set in flags.items() if is_set})
        self.edges[json.dumps(edge)] = edge

    def caller(self, known, file, line):
        """The innermost definition with code around a line."""
        around = [one for one in self.in_file[file] if one.row["kind"] in ("method", "ctor", "function")
                  and one.row["start_line"] <= line <= one.row["end_line"]]
        if known in around and not any(one.row["kind"] == "function" for one in around):
            return known
        return max(around, key=lambda one: one.start) if around else None

    def written(self, caller, callee, role):
        if not caller or role == "operator":
            return role != "operator"
        text = "\n".join(self.lines[caller.row["file"]][caller.row["start_line"] - 1 : caller.row["end_line"]])
        name = re.escape(callee.row["name"])
        if role == "ctor":
            return bool(re.search(rf"\bnew\s+[\w.:]*\b{name}\b|:\s*(base|this)\s*\(", text))
        return bool(re.search(rf"\b{name}\s*(<[^;(){{}}]*>)?\s*\(", text))

    def write(self, name, out):
        os.makedirs(out, exist_ok=True)
        definitions = sorted((found.row for found in self.definitions), key=lambda row: (row["file"], row["line"]))
        for what, rows in (("defs", definitions), ("edges", self.edges.values()), ("overrides", self.overrides.values()), ("unknown", [])):
            with gzip.GzipFile(os.path.join(out, f"{name}.{what}.jsonl.gz"), "w", mtime=0) as file:
                file.writelines((json.dumps(row, separators=(",", ":")) + "\n").encode() for row in rows)
        with open(os.path.join(out, name + ".meta.json"), "w", encoding="utf8") as file:
            json.dump({"root": name, "lang": "csharp", "tool": "mcs 6.8", "files": self.files}, file, indent=0)
        print(f"{name}: {len(definitions)} definitions, {len(self.edges)} edges, {len(self.overrides)} overrides")


def row_of(file, node, named, name):
    """The row of a definition, without what is around it."""
    return {"file": file, "name": name, "kind": TYPES.get(node.type) or MEMBERS[node.type], "line": named.start_point[0] + 1,
            "end_line": node.end_point[0] + 1, "start_line": node.start_point[0] + 1}


def has_code(node):
    """Whether a member can call or be called: a property or event without code is a field."""
    if node.type not in ("property_declaration", "event_declaration"):
        return True
    if any(child.type == "arrow_expression_clause" for child in node.children):
        return True
    accessors = node.child_by_field_name("accessors")
    inside = [child.type for one in accessors.children for child in one.children] if accessors else []
    return "block" in inside or "arrow_expression_clause" in inside


def parameter_type(node):
    found = node.child_by_field_name("type")
    return re.sub(r"\s", "", found.text.decode()) if found else "?"


def split(parameters):
    """Types separated by `;`."""
    return parameters.split(";") if parameters else []


def simple(name):
    """A type of the bytecode as it may be written: without namespaces, with the words of the language."""
    name = re.sub(r"`\d+|[&*]", "", re.sub(r"System\.Nullable`1<([^<>]*)>", r"\1?", name))
    name = re.sub(r"[\w.]+[./](\w+)", r"\1", name)
    return re.sub(r"\w+", lambda word: BUILTIN.get(word[0], word[0]), name)


def same(written, wanted):
    bare = [re.sub(r"[\w.]+\.(\w+)", r"\1", one).rstrip("*") for one in written]
    return len(bare) == len(wanted) and all(one in ("params", "?") or one == other for one, other in zip(bare, wanted))


if __name__ == "__main__":
    main()
