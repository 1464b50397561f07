"""Measures what a hook costs: the whole process, from its start to its end, after searches and edits in a repository that is indexed.

    scripts/measure hooks BIN DIR                    200 searches in the repository DIR, whose index exists (COGRAPH_CACHE_DIR), and 100 edits in a copy of it
    scripts/measure hooks BIN DIR --edits 0          ... without the edits, which need an index of their own
    scripts/measure hooks BIN DIR --show             ... and print every answer

Searches are drawn with a fixed seed from identifiers of the sources: single names, three names at once, a name in another spelling whose search found
nothing, and searches for no symbol. Edits: a parameter more in the header of a random function, its other name, a changed body; the file is restored
after each. The first of each repeats nothing: files of the index may be cold. The exit code is 1 if the p99 of searches or of edits is over 30 ms of
wall time. On a machine with other work, compare the processor time.
"""
import json
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time

from base import command_line, percentile, with_cache

MOST = 0.030
SEED = 7
IDENTIFIER = re.compile(rb"\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\(")
HEADER = re.compile(r"^[ \t]*(?:pub |async |static |export )*(?:def|fn|func|function) ([A-Za-z_]\w*)\(", re.M)
OTHERS = ["grep -rn TODO .", "git log --oneline | head", "ls -la", "grep -n 'out of memory' app.log", "sed -n 1,20p Makefile"]


def names(root, count):
    """Names that are called or defined in random files."""
    paths = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False).stdout.split("\n")
    if len(paths) < 2:
        paths = [os.path.relpath(os.path.join(at, name), root) for at, _, files in os.walk(root) for name in files]
    chance, found = random.Random(SEED), []
    paths.sort()
    while len(found) < count:
        path = os.path.join(root, chance.choice(paths))
        if not path.endswith((".c", ".h", ".py", ".rs", ".go", ".rb")) or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            here = IDENTIFIER.findall(file.read())
        if here:
            found.append(chance.choice(here).decode())
    return found


def sources(root):
    """Files with functions, in order."""
    found = []
    for at, folders, files in os.walk(root):
        folders[:] = sorted(folder for folder in folders if not folder.startswith(".") and folder != "node_modules")
        found += [os.path.join(at, name) for name in sorted(files) if name.endswith((".py", ".rs", ".go", ".ts", ".js"))]
    return found


def edits(root, runs):
    """Kind, path, text before and after, and the replaced and the new part, of edits of functions whose header is on a line of its own."""
    chance, paths = random.Random(SEED), sources(root)
    made = 0
    while made < runs and paths:
        path = chance.choice(paths)
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            text = file.read()
        headers = [found for found in HEADER.finditer(text) if not found[1].startswith("__")]
        if not headers:
            continue
        header = chance.choice(headers)
        old = header[0].lstrip()
        kind = ("parameter", "name", "body")[made % 3]
        if kind == "parameter":
            # Behind a receiver where there is one.
            receiver = re.match(r"\s*(?:&?(?:mut )?self|cls)\b,?\s*", text[header.end():])
            old += receiver[0] if receiver else ""
            new = old.rstrip() + (" " if receiver else "") + ("" if not receiver or "," in receiver[0] else ", ") + "added_by_hand, "
        elif kind == "name":
            new = old.replace(f" {header[1]}(", f" {header[1]}_by_hand(")
        else:
            line = text[text.find("\n", header.end()) + 1:].split("\n")[0]
            old, new = line, line + " "
        if not old.strip() or text.count(old) != 1:
            continue
        made += 1
        yield kind, path, text, text.replace(old, new), old, new


def after_edits(program, root, runs, show, results):
    """Measures edits in a copy."""
    with tempfile.TemporaryDirectory() as place:
        copy, environment = os.path.join(place, "copy"), with_cache(os.path.join(place, "cache"))
        shutil.copytree(root, copy, symlinks=True)
        os.makedirs(os.path.join(copy, ".git"), exist_ok=True)
        subprocess.run([program, "index"], cwd=copy, env=environment, capture_output=True, check=True)
        for kind, path, before, after, old, new in edits(copy, runs):
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(after)
            given = {"cwd": copy, "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_response": {"originalFile": before},
                     "tool_input": {"file_path": path, "old_string": old, "new_string": new}}
            measured(program, given, copy, environment, [kind, "edits"], f"{path}: {new.strip()}", show, results)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(before)


def measured(program, given, root, environment, keys, title, show, results):
    """Runs a hook once."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ended = subprocess.run([program, "hook", "post-tool-use"], input=json.dumps(given), cwd=root, env=environment, capture_output=True, text=True, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    for key in keys:
        results.setdefault(key, []).append((wall, processor, bool(ended.stdout)))
    if show:
        text = json.loads(ended.stdout)["hookSpecificOutput"]["additionalContext"] if ended.stdout else "-"
        print(f"{title}\n  " + text.replace("\n", "\n  "))


def camel(name):
    """The name in another spelling."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def calls(root, runs):
    """Kind, command and output of searches."""
    drawn = iter(names(root, runs * 2))
    for at in range(runs):
        kind = ("single", "single", "single", "three", "spelling", "other")[at % 6]
        if kind == "single":
            yield kind, f"grep -rn '{next(drawn)}' . | head -50", "a match"
        elif kind == "three":
            yield kind, f"rg -n '{next(drawn)}|{next(drawn)}|{next(drawn)}'", "a match"
        elif kind == "spelling":
            yield kind, f"rg -n '{camel(next(drawn))}'", ""
        else:
            yield kind, OTHERS[at // 6 % len(OTHERS)], ""


def main():
    """Prints the table."""
    parser = command_line(__doc__)
    parser.add_argument("bin", metavar="BIN")
    parser.add_argument("root", metavar="DIR")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--edits", type=int, default=100, help="number of edits")
    parser.add_argument("--show", action="store_true", help="print every answer")
    options = parser.parse_args()
    program, root, results = os.path.abspath(options.bin), os.path.realpath(options.root), {}
    for kind, command, output in calls(root, options.runs):
        given = {"cwd": root, "hook_event_name": "PostToolUse", "tool_name": "shell", "tool_input": {"command": command}, "tool_response": {"stdout": output}}
        measured(program, given, root, None, [kind, "searches"], command, options.show, results)
    if options.edits:
        after_edits(program, root, options.edits, options.show, results)
    print(f"{'after':10} {'runs':>5} {'answered':>9} {'p50 ms':>7} {'p99 ms':>7} {'most':>7} {'p50 cpu':>8} {'p99 cpu':>8}")
    for kind, rows in results.items():
        walls, processors = [row[0] * 1000 for row in rows], [row[1] * 1000 for row in rows]
        answered = sum(row[2] for row in rows)
        print(f"{kind:10} {len(rows):5} {answered:9} {percentile(walls, .5):7.1f} {percentile(walls, .99):7.1f} {max(walls):7.1f} "
              f"{percentile(processors, .5):8.1f} {percentile(processors, .99):8.1f}")
    slow = [key for key in ("searches", "edits") if key in results and percentile([row[0] for row in results[key]], 0.99) > MOST]
    return 1 if slow else 0
