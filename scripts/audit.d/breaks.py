"""Which sites a compiler rejects after each planted change of tests/impact/planted: the truth by which `tests/impact/planted.rs` judges
what `cograph impact` calls broken.

    scripts/audit breaks                       every language whose compiler is here: compares the sites that the files name with the compiler's
    scripts/audit breaks java rust --write     writes the sites of two languages into their files

A file has a program and changes of it. `=== path` begins a file, `--- name` a change, `@ path` the file that its hunks are in; `<` lines are
replaced by the `>` lines after them, which are appended without any. `! path:line` is a site that the compiler rejects, `~ path:line`
one that it passes over because of an import that it rejects: it is rejected once that import is gone. Lines are those of the new side.
The compilers: pyright and tsc (npm, found through NODE_PATH or in PATH), javac, rustc, go, gcc, g++.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from base import command_line, ROOT, write_files

PLANTED = os.path.join(ROOT, "tests", "impact", "planted")
IMPORT = re.compile(r"\s*(import|from|use|using|export\s*\{.*from)\b|\s*export\s*\{")


def node(name):
    """Command that starts a program of npm."""
    for directory in os.environ.get("NODE_PATH", "").split(os.pathsep):
        found = os.path.join(directory, ".bin", name)
        if directory and os.path.exists(found):
            return found
    return name


def sources(*endings):
    """Arguments of a shell that are the files of a tree."""
    return "$(find . -name '*." + "' -o -name '*.".join(endings) + "')"


def commands():
    """Compiler of each language: a command of the shell, run in the tree, and the form of an error."""
    plain = r"^(?:\./)?([^\s:()]+):(\d+):(?:\d+:)? (?:fatal )?error"
    tsc = r"^([^\s:()]+)\((\d+),\d+\): error"
    script = f"{node('tsc')} --noEmit --strict --target es2022 --module es2022 --moduleResolution bundler"
    return {
        "python": (f"{node('pyright')} .", r"^\s*(?:.*/tree/)?([^\s:]+):(\d+):\d+ - error"),
        "typescript": (f"{script} {sources('ts')}", tsc),
        "javascript": (f"{script} --noImplicitAny false --allowJs --checkJs {sources('js')}", tsc),
        "java": (f"javac -proc:none -XDshould-stop.ifError=FLOW -d ../out {sources('java')}", plain),
        "rust": ("rustc --edition 2021 --crate-type lib --emit metadata --error-format short -A warnings --out-dir ../out src/lib.rs", plain),
        "go": ("go build -gcflags=-e ./...", r"^(?:\./)?([^\s:()]+):(\d+):\d+: "),
        "c": ("for file in *.c; do gcc -std=c11 -fsyntax-only -Werror=implicit-function-declaration -Werror=incompatible-pointer-types "
              "-Werror=int-conversion $file; done", plain),
        "cpp": ("for file in *.cpp; do g++ -std=c++17 -fsyntax-only $file; done", plain),
    }


def read(path):
    """(files, [(name, edits)], whole lines without the sites) of a file of planted changes."""
    files, changes, kept = {}, [], []
    lines, target, hunks = None, None, None
    with open(path, encoding="utf-8") as text:
        for line in text.read().splitlines():
            if re.match(r"[!~] ", line) and changes:
                continue
            kept.append(line)
            if line.startswith("=== "):
                lines = files[line[4:]] = []
            elif line.startswith("--- "):
                lines, hunks = None, []
                changes.append((line[4:], hunks))
            elif lines is not None:
                lines.append(line)
            elif line.startswith("@ "):
                target = line[2:]
                if target.endswith(" removed"):
                    hunks.append((target.removesuffix(" removed"), None, None))
            elif line[:1] in "<>" and line:
                before, after = hunks[-1][1:] if hunks and hunks[-1][0] == target and hunks[-1][1] is not None else (None, None)
                if before is None or line[0] == "<" and after:
                    before, after = [], []
                    hunks.append((target, before, after))
                (before if line[0] == "<" else after).append(line[2:])
    return {name: "\n".join(own).rstrip("\n") + "\n" if own else "" for name, own in files.items()}, changes, kept


def changed(files, hunks):
    """The files after a change."""
    files = dict(files)
    for path, before, after in hunks:
        if before is None:
            del files[path]
        elif not before:
            files[path] = files.get(path, "") + "\n".join(after) + "\n"
        else:
            old, new = ("\n".join(part) + "\n" for part in (before, after))
            if files[path].count(old) != 1:
                sys.exit(f"{path} does not have these lines once:\n{old}")
            files[path] = files[path].replace(old, new)
    return files


def rejected(files, command, form):
    """Sites of the errors of a compiler."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(scratch, "tree")
        os.makedirs(os.path.join(scratch, "out"))
        write_files(tree, files)
        ran = subprocess.run(["bash", "-c", command], cwd=tree, capture_output=True, text=True, check=False)
        found = re.findall(form, ran.stdout + ran.stderr, re.M)
        if ran.returncode not in (0, 1) and not found:
            sys.exit(f"{command}: {ran.stderr[-500:]}")
        return {(path, int(line)) for path, line in found if path in files}


def truth(files, command, form):
    """(rejected sites, sites that are rejected once the rejected imports are gone)."""
    first = all_sites = rejected(files, command, form)
    now = first
    for _ in range(5):
        files = dict(files)
        blanked = False
        for path, line in sorted(now):
            lines = files[path].split("\n")
            if IMPORT.match(lines[line - 1]):
                lines[line - 1], blanked = "", True
                files[path] = "\n".join(lines)
        if not blanked:
            break
        now = rejected(files, command, form)
        all_sites = all_sites | now
    return first, all_sites - first


def judge(language, write):
    """Compares or writes the sites of a language; true if they are those of the compiler."""
    path = os.path.join(PLANTED, language + ".txt")
    command, form = commands()[language]
    files, changes, kept = read(path)
    if found := rejected(files, command, form):
        sys.exit(f"{language}: the program itself is rejected: {sorted(found)}")
    marks = {}
    for name, hunks in changes:
        first, later = truth(changed(files, hunks), command, form)
        marks[name] = [f"! {file}:{line}" for file, line in sorted(first)] + [f"~ {file}:{line}" for file, line in sorted(later)]
    lines, name = [], None
    for line in kept + ["--- "]:
        if line.startswith("--- "):
            if name is not None:
                while lines[-1] == "":
                    lines.pop()
                lines += marks[name] + [""]
            name = line[4:]
        lines.append(line)
    text = "\n".join(lines[:-2]) + "\n"
    with open(path, encoding="utf-8") as now:
        same = now.read() == text
    if write:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    sites = [mark for own in marks.values() for mark in own if mark[0] == "!"]
    print(f"{language}: {len(changes)} changes, {len(sites)} rejected sites" + ("" if same else ", written" if write else ": NOT those of the file"))
    return same or write


def main():
    """Compares or writes."""
    parser = command_line(__doc__)
    parser.add_argument("languages", nargs="*", choices=[*commands(), []], default=[])
    parser.add_argument("--write", action="store_true", help="write the sites into the files")
    options = parser.parse_args()
    good = True
    for language in options.languages or commands():
        program = commands()[language][0].split()
        program = next(word for word in program if not word.startswith("for") and word not in ("file", "in", "do") and "*" not in word)
        if shutil.which(program) is None:
            print(f"{language}: {program} is not here")
            continue
        good &= judge(language, options.write)
    return 0 if good else 1
