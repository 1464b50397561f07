"""Compares what an index costs with two programs: CPU time and peak memory, in turns, the medians and their ratio. Says whether
both stores say the same, in every documented view.

    scripts/measure compare-index OLD NEW DIR...              five runs of each in each directory
    scripts/measure compare-index --runs 9 OLD NEW DIR...
    scripts/measure compare-index OLD NEW --fetch DIR --report FILE    in six public projects that are fetched to DIR; the comparison
                                                      as Markdown, with the references that are gained and lost, for a pull request

Each run starts with an empty cache. CPU time is user and system time of the program and of the processes that it starts, so that a
busy machine disturbs little; peak memory is that of the largest of them. Ends with 1 if some rows differ.
"""

import os
import statistics
import sys
import tempfile

from base import command_line
import content
import sources
import usage

# Projects in Python, TypeScript, JavaScript and Rust, which the package clients of every system bring.
FETCHED = ("click", "httpx", "zod", "fastify", "clap_builder", "h2")
# References that a report lists of each project and side.
LISTED = 30


def main():
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each program in each directory, default 5")
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("directories", metavar="DIR", nargs="*")
    parser.add_argument("--fetch", metavar="DIR", help="where the six projects are, or come to")
    parser.add_argument("--report", metavar="FILE", help="Markdown; appended")
    options = parser.parse_args()
    if options.fetch:
        for source in (source for source in sources.SOURCES if source.name in FETCHED):
            sources.fetch(source, options.fetch)
            options.directories.append(os.path.join(options.fetch, source.name))
    if not options.directories:
        parser.error("name a directory, or give --fetch")
    report = ["| project | CPU, new / old | peak memory | store | references lost | gained |", "|---|---|---|---|---|---|"]
    listed = []
    print(f"{'project':<16} {'CPU s old':>10} {'new':>8} {'ratio':>6}   {'peak MB old':>11} {'new':>8} {'ratio':>6}")
    differs = False
    for directory in options.directories:
        with tempfile.TemporaryDirectory() as scratch:
            runs, different, (lost, gained) = compare(options, directory, scratch)
        (old_cpu, _, old_peak, old_bytes), (new_cpu, _, new_peak, new_bytes) = (medians(runs[name]) for name in ("old", "new"))
        name = os.path.basename(os.path.abspath(directory))
        print(f"{name:<16} {old_cpu:>10.2f} {new_cpu:>8.2f} {new_cpu / old_cpu:>6.2f}   "
              f"{old_peak:>11.1f} {new_peak:>8.1f} {new_peak / old_peak:>6.2f}", flush=True)
        for line in different:
            print(f"    {line}", flush=True)
        differs = differs or bool(different)
        report.append(f"| {name} | {new_cpu / old_cpu:.2f} | {new_peak / old_peak:.2f} | {new_bytes / old_bytes:.3f} | {len(lost)} | {len(gained)} |")
        listed += changes(name, lost, gained)
    if options.report:
        with open(options.report, "a") as file:
            file.write("\n".join([*report, *listed]) + "\n")
    print("some rows differ" if differs else "all rows are equal")
    sys.exit(1 if differs else 0)


def compare(options, directory, scratch):
    """The runs of both programs, in what their stores differ, and the references that only one has."""
    caches = {name: os.path.join(scratch, name) for name in ("old", "new")}
    programs = {"old": options.old, "new": options.new}

    def run(name):
        # The first store of each is kept for the comparison.
        kept = not os.path.exists(caches[name])
        return usage.index(programs[name], directory, caches[name] if kept else None)

    runs = usage.in_turns(options.runs, {name: lambda name=name: run(name) for name in programs})
    stores = [usage.store(caches[name]) for name in ("old", "new")]
    different, _ = content.differences(*stores)
    return runs, different, content.lost_and_gained(*stores)


def changes(name, lost, gained):
    """The references that went and came, as a patch shows lines; what is left out is counted."""
    if not lost and not gained:
        return []
    lines = ["", f"<details><summary>{name}: {len(lost)} lost, {len(gained)} gained</summary>", "", "```diff"]
    for mark, edges in (("-", lost), ("+", gained)):
        lines += [f"{mark} {edge}" for edge in edges[:LISTED]]
        if len(edges) > LISTED:
            lines.append(f"{mark} ... {len(edges) - LISTED} more")
    return [*lines, "```", "", "</details>"]


def medians(runs):
    return (statistics.median(values) for values in zip(*runs))
