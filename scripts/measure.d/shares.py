"""Where the CPU time of an index goes: the share of each step, of all threads, as `cograph index --profile` counts it.

    scripts/measure shares DIR...                     the index of each directory, three runs: the medians
    scripts/measure shares DIR... --write             and writes them into docs/performance.md
    scripts/measure shares DIR... --runs 1 --bin PROGRAM

A step that takes less than a hundredth everywhere is part of "other". Shares hardly depend on what else the machine does.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

from base import command_line, RELEASE, ROOT, table, with_cache

PERFORMANCE = os.path.join(ROOT, "docs", "performance.md")
LEAST = 0.01
OTHER = "other"
# What the row of a step says of it.
STEPS = {
    "parse": "tree-sitter", "walk": "facts from the tree: symbols, scopes, expressions, sites", "complete facts": "containers, words, complexity",
    "repair": "what the grammar does not understand, parsed again", "resolve file": "name resolution", "write rows": "store",
    "arrange facts": "facts in the order of files", "intern names": "one key for each name", "encode facts": "facts to the segment",
    "read": "files from disk", "read back": "facts from the segment", "decode facts": "the facts that resolution reads",
    "tables": "postings, modules, spaces", "encode results": "targets to the segment", "term index": "posting lists of words",
    "sync store": "fsync", "list": "the walk of the directories", "preprocess": "conditions and macros of C and C++",
}


def main():
    """Measures, prints, and with `--write` updates the document."""
    parser = command_line(__doc__)
    parser.add_argument("directories", metavar="DIR", nargs="+")
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = [os.path.basename(os.path.abspath(place)) for place in options.directories]
    found = [shares(options.bin, place, options.runs) for place in options.directories]
    steps = sorted({step for one, _ in found for step in one}, key=lambda step: -sum(one.get(step, 0) for one, _ in found))
    shown = [step for step in steps if max(one.get(step, 0) for one, _ in found) >= LEAST]
    rows = [[step, *(one.get(step, 0) for one, _ in found)] for step in shown]
    rows.append([OTHER, *(1 - sum(row[at] for row in rows) for at in range(1, len(names) + 1))])
    written = [[step, *(f"{100 * share:.1f} %" for share in row)] for step, *row in rows]
    written.append(["CPU / parsing", *(f"{1 / one['parse']:.2f}" for one, _ in found)])
    written.append(["CPU", *(f"{cpu:.1f} s" for _, cpu in found)])
    table([["step", *names], *written])
    if options.write:
        into_document(names, written)


def shares(program, project, runs):
    """The median share of each step of a project, and the median CPU seconds of all."""
    profiles = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([program, "index", project, "--profile"], capture_output=True, text=True, env=with_cache(cache))
        rows = re.findall(r"^ *(\S[\w ]*?) +[\d,]+ +([\d.,]+) +[\d.]+ % ", done.stderr, re.MULTILINE)
        profile = {step: float(milliseconds.replace(",", "")) for step, milliseconds in rows}
        if done.returncode or "parse" not in profile:
            sys.exit(f"{program} could not index {project}:\n{done.stderr}")
        profiles.append(profile)
    sums = [sum(profile.values()) for profile in profiles]
    of = lambda step: statistics.median(profile.get(step, 0) / whole for profile, whole in zip(profiles, sums))
    return {step: of(step) for profile in profiles for step in profile}, statistics.median(sums) / 1000


def into_document(names, rows):
    """Puts the table into the document."""
    head = ["step", "what", *names]
    lines = [head, ["-" * len(cell) for cell in head], *([step, STEPS.get(step, ""), *cells] for step, *cells in rows)]
    new = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    with open(PERFORMANCE, encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(r"\| step \| what .*\n(?:\|.*\n)+", lambda _: new, text)
    if count != 1:
        sys.exit(f"{PERFORMANCE} has {count} places for the table")
    with open(PERFORMANCE, "w", encoding="utf-8") as file:
        file.write(text)

