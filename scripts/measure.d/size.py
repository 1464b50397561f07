"""How large the program is and which part of it each grammar takes; how long a build from nothing takes, and each crate of it.

    scripts/measure size                  of target/release/cograph, which must have been built
    scripts/measure size --profile NAME   of another profile's
    scripts/measure size --build          builds it in an empty directory first: minutes of CPU time

The part of a grammar is what `size` counts in the archive that its crate was compiled to; nothing of that is left out by the
linker. With --build also the CPU time of the whole, and the time from the first to the last moment of each crate's compilation,
which is longer where the machine was doing something else."""
import glob
import json
import lzma
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

from base import command_line, ROOT, table

# What `cargo build --timings` keeps in its report: a list of units, each with name, target and duration.
UNITS = re.compile(r"UNIT_DATA = (\[.*?\]);\n", re.DOTALL)


def main():
    """Builds with `--build`, and prints."""
    parser = command_line(__doc__)
    parser.add_argument("--profile", default="release")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    if not options.build:
        show(os.path.join(ROOT, "target", options.profile), {})
        return
    with tempfile.TemporaryDirectory() as target:
        begun = time.monotonic()
        subprocess.run(["cargo", "build", "--profile", options.profile, "--timings", "--target-dir", target], cwd=ROOT, check=True)
        wall, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        show(os.path.join(target, options.profile), durations(target))
        print(f"built from nothing: {used.ru_utime + used.ru_stime:.0f} s of CPU time in {wall:.0f} s on {os.cpu_count()} cores")


def durations(target):
    """Crate -> seconds, all of its units together."""
    with open(os.path.join(target, "cargo-timings", "cargo-timing.html"), encoding="utf-8") as file:
        found = UNITS.search(file.read())
    seconds = {}
    for unit in json.loads(found[1]) if found else []:
        name = "cograph" if unit["name"].startswith("cograph") else unit["name"]
        seconds[name] = seconds.get(name, 0) + unit["duration"]
    return seconds


def show(directory, seconds):
    """Prints the parts, the largest first."""
    program = os.path.join(directory, "cograph")
    if not os.path.exists(program):
        sys.exit(f"{program} is not there: build it first, or use --build")
    whole = os.path.getsize(program)
    rows = [("part", "MB", "share", *(["s"] if seconds else []))]

    def add(name, size, crate):
        rows.append((name, f"{size / 1e6:.2f}", f"{size / whole:.1%}", *([f"{seconds.get(crate, 0):.1f}"] if seconds else [])))

    parts = grammars(directory)
    for crate, size in sorted(parts.items(), key=lambda part: -part[1]):
        add(crate, size, crate)
    add("the parser and all grammars", sum(parts.values()), "")
    add("lines of functions, for traces", debugging(program), "")
    add("the program", whole, "cograph")
    with open(program, "rb") as file:
        add("the program, compressed by xz", len(lzma.compress(file.read())), "")
    table(rows)


def debugging(program):
    """Bytes of debug information, which maps functions to lines."""
    lines = subprocess.run(["size", "-A", program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(".debug"))


def grammars(directory):
    """Crate -> bytes of code and data of the grammar that it brings."""
    found = {}
    for archive in sorted(glob.glob(os.path.join(directory, "build", "tree-sitter-*", "out", "*.a")), key=os.path.getmtime):
        crate = os.path.basename(os.path.dirname(os.path.dirname(archive))).rsplit("-", 1)[0]
        lines = subprocess.run(["size", archive], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[1:]
        # A later build of the same archive takes the place of an earlier one.
        found[crate, os.path.basename(archive)] = sum(int(line.split()[3]) for line in lines)
    parts = {}
    for (crate, _), size in found.items():
        parts[crate] = parts.get(crate, 0) + size
    return parts
