"""Counts how entangled the sources are: files of `src` in import cycles, tests of the module system outside of its home, uses of synthetic
names as texts, and lines of the test that holds what the compiler does not.

    scripts/audit structure              figures for each crate and for all
    scripts/audit structure --cycles     also the cycles, largest first: those of imports, then those of calls

An arrow goes from a file to each file whose items it names, by whatever re-export; those between the file of a module and the files
below it count as well. Code of tests does not. The last two columns also have an arrow for each call that a method of `queries` or
`recursion` forwards, to the file that it is forwarded to.
"""
import re

from base import command_line, ROOT

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|(?:b|c)?r(?P<h>\#*)".*?"(?P=h)|(?:b|c)?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'|'\w+|(?:r\#)?[A-Za-z_]\w*|::|\S""",
                   re.S)
REEXPORTS = 8
# Constants, comparisons and calls with a text whose meaning is not in the source, in the crates of facts.
SYNTHETIC = re.compile(r"""(?:[!=]=|\bSome\(|_with\(|strip_\w+\(|\bnamed?\(|&str\s*=|format!\()\s*["'](?:\(\)|\(\.\.\)|=>|default|this|const|prepended|[:@*\#]|is)["']"""
                       r"""|"(?:\(\)|=>|default|prepended)"\s*=>|qualified\([^;]*?"\(\)\"""")
# The encoder of such names.
ENCODERS = ("model/facts/synthetic.rs",)
# Files of methods that forward a call to a function above the caller, with the name of the receiver.
FORWARDING = {"queries": "db", "recursion": "walk"}


def main():
    parser = command_line(__doc__)
    parser.add_argument("--cycles", action="store_true", help="list the cycles")
    options = parser.parse_args()
    print(f"{'crate':<10} {'files':>6} {'in cycles':>10} {'largest':>8} {'with calls':>11} {'largest':>8}")
    total, entangled, cycles, called = 0, 0, [], []
    for manifest in sorted(ROOT.glob("src/*/Cargo.toml")):
        crate = Crate(manifest.parent)
        found = crate.cycles()
        inside = sum(map(len, found))
        crate.add_forwarded()
        by_calls = crate.cycles()
        print(f"{manifest.parent.name:<10} {len(crate.files):>6} {inside:>10} {largest(found):>8} "
              f"{sum(map(len, by_calls)):>11} {largest(by_calls):>8}")
        total, entangled, cycles, called = total + len(crate.files), entangled + inside, cycles + found, called + by_calls
    with_calls = sum(map(len, called))
    print(f"{'all':<10} {total:>6} {entangled:>10} {largest(cycles):>8} {with_calls:>11} {largest(called):>8}   "
          f"({entangled / total:.0%} and {with_calls / total:.0%} of the files)")
    sources = [path for path in ROOT.glob("src/**/*.rs") if path.relative_to(ROOT).parts[1] != "grammar"]
    uses = {path: len(re.findall(r"\bModuleSystem::[A-Z]", path.read_text())) for path in sources}
    print(f"`ModuleSystem::` is tested {sum(uses.values())} times in {sum(map(bool, uses.values()))} files outside of `grammar`")
    used = {}
    for crate in ("model", "extract", "resolve", "history"):
        for path in sorted((ROOT / "src" / crate).rglob("*.rs")):
            if not str(path).endswith(ENCODERS) and (found := SYNTHETIC.findall(without_tests(path.read_text()))):
                used[path] = found
    print(f"synthetic names are texts or numbers {sum(map(len, used.values()))} times in {len(used)} files")
    held = [ROOT / "tests" / "layering.rs", *(ROOT / "tests" / "layering").glob("*.rs")]
    print(f"the layering test has {sum(len(path.read_text().splitlines()) for path in held)} lines")
    if options.cycles:
        for kind, groups in [("imports", cycles), ("calls", [cycle for cycle in called if cycle not in cycles])]:
            for cycle in sorted(groups, key=len, reverse=True):
                print(kind, len(cycle), *(str(path.relative_to(ROOT)) for path in cycle))


def largest(groups):
    return max(map(len, groups), default=0)


class Crate:
    """The files of a crate by module, and what they name."""

    def __init__(self, folder):
        self.files = {}
        for path in sorted(folder.rglob("*.rs")):
            parts = path.relative_to(folder).with_suffix("").parts
            self.files[() if parts == ("lib",) else parts] = path
        only_tests = {module + (name,) for module, path in self.files.items() for name in
                      re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", path.read_text())}
        self.files = {module: path for module, path in self.files.items()
                      if not any(module[:len(tests)] == tests for tests in only_tests)}
        self.named = {module: names(path.read_text()) for module, path in self.files.items()}
        self.imported = {module: {} for module in self.files}
        for module, paths in self.named.items():
            for path, is_import, depth in paths:
                target = self.absolute(module, path, depth)
                if is_import and depth == 0 and target:
                    self.imported[module][target[-1]] = target
        self.arrows = {module: {at for at in (self.file_of(module, *named) for named in paths) if at is not None and at != module}
                       for module, paths in self.named.items()}

    def absolute(self, module, path, depth):
        """The path from the root of the crate; none for what is not of it."""
        if path[0] == "crate":
            return tuple(path[1:])
        if path[0] in ("self", "super"):
            base, rest = module, path
            while rest and rest[0] in ("self", "super"):
                if rest[0] == "super":
                    depth, base = (depth - 1, base) if depth else (0, base[:-1])
                rest = rest[1:]
            return None if depth else base + tuple(rest)
        if depth == 0 and module + (path[0],) in self.files:
            return module + tuple(path)
        known = self.imported.get(module, {}).get(path[0])
        return known and known + tuple(path[1:])

    def file_of(self, module, path, _, depth):
        """The module in whose file something is that a file names."""
        target = self.absolute(module, path, depth)
        for _ in range(REEXPORTS):
            if target is None:
                return None
            at = max((length for length in range(len(target) + 1) if target[:length] in self.files), default=None)
            if at is None:
                return None
            further = self.imported[target[:at]].get(target[at]) if at < len(target) else None
            if not further or further + target[at + 1:] == target:
                return target[:at]
            target = further + target[at + 1:]
        return None

    def add_forwarded(self):
        """Adds the arrows of calls that methods forward, in place of those of the files of these methods."""
        for module in [module for module in self.files if module[-1:] and module[-1] in FORWARDING]:
            targets = {}
            for method in re.finditer(r"fn (\w+)\b.*?\n    }", without_tests(self.files[module].read_text()), re.S):
                call = re.search(r"([A-Za-z_]\w*(?:::[A-Za-z_]\w*)+)\(\s*self\b", method[0])
                if call:
                    targets[method[1]] = self.file_of(module, call[1].split("::"), False, 0)
            self.arrows[module] = set()
            for other, path in self.files.items():
                called = re.findall(rf"\b{FORWARDING[module[-1]]}\s*\.\s*(\w+)\s*\(", without_tests(path.read_text()))
                self.arrows[other] |= {targets[name] for name in called if targets.get(name) not in (None, other)}

    def cycles(self):
        """Groups of files that reach each other."""
        reached = {module: self.reach(module) for module in self.files}
        groups = {tuple(sorted(other for other in others if module in reached[other])) for module, others in reached.items() if module in others}
        return [[self.files[module] for module in group] for group in groups]

    def reach(self, module):
        found, pending = set(), [module]
        while pending:
            for other in self.arrows[pending.pop()] - found:
                found.add(other)
                pending.append(other)
        return found


def without_tests(text):
    """A text up to its tests, without comments."""
    return re.sub(r"//[^\n]*", "", text.split("#[cfg(test)]\nmod ")[0])


def names(text):
    """The paths in a text outside of tests: segments, whether an import, and the depth of inline modules."""
    tokens = [match[0] for match in TOKEN.finditer(text) if not match[0].startswith(("//", "/*"))]
    found, braces, modules, at = [], 0, [], 0
    while at < len(tokens):
        token = tokens[at]
        if token == "mod" and at + 2 < len(tokens) and tokens[at + 2] == "{":
            modules.append((braces, "test" in tokens[max(0, at - 8):at]))
        braces += {"{": 1, "}": -1}.get(token, 0)
        if token == "}":
            modules = [module for module in modules if module[0] < braces]
        in_tests = any(tests for _, tests in modules)
        if token == "use" and at + 1 < len(tokens) and tokens[at + 1] != "<":
            end = tokens.index(";", at)
            if not in_tests:
                found += [(path, True, len(modules)) for path in tree(tokens[at + 1:end])]
            at = end
        elif re.match(r"[A-Za-z_]", token) and at + 1 < len(tokens) and tokens[at + 1] == "::" and tokens[at - 1] != "::":
            path = [token]
            while at + 2 < len(tokens) and tokens[at + 1] == "::" and re.match(r"[A-Za-z_]", tokens[at + 2]):
                path.append(tokens[at + 2])
                at += 2
            if not in_tests:
                found.append((path, False, len(modules)))
        at += 1
    return found


def tree(tokens):
    """The paths of a tree of imports."""
    head, at = [], 0
    while at < len(tokens) and tokens[at] != "{":
        if tokens[at] == "as":
            return [head[:-1] + [head[-1]]]
        if tokens[at] != "::":
            head.append(tokens[at])
        at += 1
    if at == len(tokens):
        return [head[:-1] if head[-1] in ("self", "*") and len(head) > 1 else head]
    parts, part, depth = [], [], 0
    for token in tokens[at + 1:-1]:
        depth += {"{": 1, "}": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append(part)
            part = []
        else:
            part.append(token)
    return [path for part in [*parts, part] if part for path in tree([*sum(([name, "::"] for name in head), []), *part])]
