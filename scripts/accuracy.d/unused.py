"""Deletes every definition that `cograph unused` calls `unused` in a copy of a project, and runs a command there: what is unused can go.

    scripts/accuracy unused BIN DIR 'COMMAND'                    COMMAND builds the project and runs its tests; it passes before, and after
    scripts/accuracy unused BIN DIR 'COMMAND' --keep tests/data  ... without the definitions below a directory whose files the tests read
    scripts/accuracy unused BIN DIR 'COMMAND' --known FILE       also how many of the definitions that FILE names, `path:line` a line, are
                                                                 found (a tool's report: deadcode, knip)
    scripts/accuracy unused BIN DIR 'COMMAND' --rustc            the same of what rustc calls dead, from `cargo check --message-format=json`

A definition is deleted with its whole lines; in Python `pass` takes its place, as a block may not be empty. Ends with 1 if the command fails
after that, or with 2 if it fails before.
"""
import json
import os
import subprocess
import sys
import tempfile

from base import command_line, copy_project, table, with_cache

CLASSES = ("unused", "unused-in-this-repository", "only-tests-use-it", "cannot-know")


def main():
    parser = command_line(__doc__)
    parser.add_argument("binary")
    parser.add_argument("project")
    parser.add_argument("command")
    parser.add_argument("--keep", action="append", default=[])
    parser.add_argument("--known")
    parser.add_argument("--rustc", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        copy = copy_project(options.project, os.path.join(place, os.path.basename(os.path.abspath(options.project))))
        found = unused(os.path.abspath(options.binary), copy, os.path.join(place, "cache"))
        theirs = dead_by_rustc(copy) if options.rustc else known(options.known) if options.known else None
        if not passes(options.command, copy, "before"):
            return 2
        gone = [one for one in found["symbols"] if one["class"] == "unused" and not one["path"].startswith(tuple(options.keep))]
        lines = delete(copy, gone)
        print(f"{len(gone)} definitions deleted, {lines} lines")
        is_well = passes(options.command, copy, "after")
    table([["class", "definitions"], *([word, sum(one["class"] == word for one in found["symbols"])] for word in CLASSES), ["judged", found["judged"]]])
    if theirs is not None:
        recall(found, theirs)
    return 0 if is_well else 1


def unused(binary, root, cache):
    done = subprocess.run([binary, "unused", "--root", root, "--json"], env=with_cache(cache), capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def passes(command, root, when):
    done = subprocess.run(command, cwd=root, shell=True, capture_output=True, text=True)
    print(f"{when}: {'passes' if done.returncode == 0 else 'FAILS'}")
    if done.returncode:
        print((done.stdout + done.stderr)[-4000:], file=sys.stderr)
    return done.returncode == 0


def delete(root, gone):
    """Deletes the lines of definitions; gives their number."""
    by_file = {}
    for one in gone:
        by_file.setdefault(one["path"], set()).update(range(one["first_line"], one["last_line"] + 1))
    firsts = {(one["path"], one["first_line"]) for one in gone}
    for path, lines in by_file.items():
        with open(os.path.join(root, path), encoding="utf-8", newline="") as file:
            text = file.read().splitlines(keepends=True)
        kept = []
        for at, line in enumerate(text, 1):
            if at not in lines:
                kept.append(line)
            elif path.endswith((".py", ".pyi")) and (path, at) in firsts:
                kept.append(f"{line[:len(line) - len(line.lstrip())]}pass\n")
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as file:
            file.write("".join(kept))
    return sum(len(lines) for lines in by_file.values())


def dead_by_rustc(root):
    """Places that rustc calls dead code, of all targets, also where the project allows it."""
    environment = {**os.environ, "RUSTFLAGS": "--force-warn dead_code"}
    command = ["cargo", "check", "--offline", "--message-format=json"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    places = set()
    for line in done.stdout.splitlines():
        message = json.loads(line).get("message") or {}
        if (message.get("code") or {}).get("code") == "dead_code":
            places |= {(span["file_name"], span["line_start"]) for span in message["spans"] if span["is_primary"]}
    return places


def known(path):
    with open(path, encoding="utf-8") as file:
        places = [line.strip().rsplit(":", 1) for line in file if line.strip()]
    return {(path, int(line)) for path, line in places}


def recall(found, theirs):
    """How many definitions of another tool are in each class. One inside of a listed definition is listed with it."""
    rows = [["of the other tool", len(theirs)]]
    left = set(theirs)
    for word in CLASSES:
        own = [one for one in found["symbols"] if one["class"] == word]
        of = {(path, line) for path, line in left if any(one["path"] == path and one["first_line"] <= line <= one["last_line"] for one in own)}
        left -= of
        rows.append([word, len(of)])
    table([*rows, ["not listed", len(left)]])
    for path, line in sorted(left)[:20]:
        print(f"  {path}:{line}")


if __name__ == "__main__":
    sys.exit(main())
