"""Compares what an index costs with two programs: CPU time and peak memory, in turns, the medians and their ratio. Says whether
both stores say the same, in every documented view.

    scripts/measure compare-index OLD NEW DIR...              five runs of each in each directory
    scripts/measure compare-index --runs 9 OLD NEW DIR...

Each run starts with an empty cache. CPU time is user and system time of the program and of the processes that it starts, so that a
busy machine disturbs little; peak memory is that of the largest of them. Ends with 1 if some rows differ.
"""

import os
import statistics
import sys
import tempfile

from base import command_line
import content
import usage


def main():
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each program in each directory, default 5")
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("directories", metavar="DIR", nargs="+")
    options = parser.parse_args()
    print(f"{'project':<16} {'CPU s old':>10} {'new':>8} {'ratio':>6}   {'peak MB old':>11} {'new':>8} {'ratio':>6}")
    differs = False
    for directory in options.directories:
        with tempfile.TemporaryDirectory() as scratch:
            runs, different = compare(options, directory, scratch)
        (old_cpu, _, old_peak, _), (new_cpu, _, new_peak, _) = (medians(runs[name]) for name in ("old", "new"))
        name = os.path.basename(os.path.abspath(directory))
        print(f"{name:<16} {old_cpu:>10.2f} {new_cpu:>8.2f} {new_cpu / old_cpu:>6.2f}   "
              f"{old_peak:>11.1f} {new_peak:>8.1f} {new_peak / old_peak:>6.2f}", flush=True)
        for line in different:
            print(f"    {line}", flush=True)
        differs = differs or bool(different)
    print("some rows differ" if differs else "all rows are equal")
    sys.exit(1 if differs else 0)


def compare(options, directory, scratch):
    """The runs of both programs, and in what their stores differ."""
    caches = {name: os.path.join(scratch, name) for name in ("old", "new")}
    programs = {"old": options.old, "new": options.new}

    def run(name):
        # The first store of each is kept for the comparison.
        kept = not os.path.exists(caches[name])
        return usage.index(programs[name], directory, caches[name] if kept else None)

    runs = usage.in_turns(options.runs, {name: lambda name=name: run(name) for name in programs})
    different, _ = content.differences(usage.store(caches["old"]), usage.store(caches["new"]))
    return runs, different


def medians(runs):
    return (statistics.median(values) for values in zip(*runs))
