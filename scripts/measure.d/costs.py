"""What an index of pinned projects costs, as a file that is kept with the code: instructions and CPU time against parsing alone, the
peak of memory, the bytes of store and segment for each of source. The figures of README.md and docs/performance.md on these
projects come from it.

    scripts/measure costs DIR                         the projects (fetched to DIR) against scripts/measure.d/costs.tsv
    scripts/measure costs DIR --write                 and writes the file and the documents anew
    scripts/measure costs DIR --large TREE            the Linux tree, which is not fetched, too
    scripts/measure costs DIR --only django --runs 9

Instructions are counted by valgrind, where it is installed: of the benchmark `index`, which this builds, with one thread; other work on the
machine does not change them. The other figures are medians of five runs. CPU time needs an idle machine: its speed touches the whole run and
parsing alike, so that the ratio of both compares over time and machines, and other work raises it by up to 5 %. Ends with 1 where a figure is
worse than that of the file, instructions by 1 %, CPU by 3 %, memory by 15 %, a size by 1 %: a change that means it to be writes the
file, which its reviewers then see.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from base import command_line, RELEASE, ROOT, table, with_cache
from sources import DJANGO, SOURCES, fetch

FILE = os.path.join(ROOT, "scripts", "measure.d", "costs.tsv")
README = os.path.join(ROOT, "README.md")
PERFORMANCE = os.path.join(ROOT, "docs", "performance.md")

PROJECTS = [DJANGO, *(source for source in SOURCES if source.name in ("click", "fastify", "zod", "h2", "clap_builder"))]
# Name and the way it is written, of what is counted and of what is measured.
COUNTED = (("indexed", str), ("source_bytes", str), ("symbols", str), ("references", str))
# With the share by which a figure may be worse without a word: the spread of medians of five runs here.
MEASURED = (("instructions_to_parse", "{:.3f}".format, 0.01), ("cpu_to_parse", "{:.3f}".format, 0.03), ("peak_mb", "{:.1f}".format, 0.15), ("store_to_source", "{:.3f}".format, 0.01),
            ("segment_to_source", "{:.3f}".format, 0.01))


def main():
    """Measures, compares, and with `--write` updates the files."""
    parser = command_line(__doc__)
    parser.add_argument("directory", metavar="DIR", help="where the projects are, or are fetched to")
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--bench", metavar="PATH", help="a built benchmark `index`, in place of that of these sources")
    parser.add_argument("--large", metavar="TREE", help="an unpacked Linux tree; one run")
    parser.add_argument("--only", metavar="NAMES", help="these projects, separated by commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    kept, bench = read(), counting(options)
    wanted = options.only.split(",") if options.only else [*(source.name for source in PROJECTS), *(["linux"] if options.large else [])]
    rows, worse, tables = [["project", *(name for name, _, _ in MEASURED)]], [], {}
    for name in wanted:
        place, runs = (options.large, 1) if name == "linux" else (found(name, options.directory), options.runs)
        figures, tables[name] = measure(options.bin, place, runs)
        figures["instructions_to_parse"] = instructions(bench, place) if bench and name != "linux" else None
        before = kept.get(name, {})
        cells = [name]
        for figure, written, tolerated in MEASURED:
            if figures[figure] is None:
                cells.append(f"{before.get(figure) or '-'} (not counted)")
                continue
            value = float(written(figures[figure]))
            ratio = value / float(before[figure]) if before.get(figure, "-") != "-" else None
            if ratio and ratio > 1 + tolerated:
                worse.append(f"{name}: {figure} {before[figure]} -> {written(value)}, {100 * (ratio - 1):+.1f} %")
            cells.append(written(value) + (f" ({100 * (ratio - 1):+.1f} %)" if ratio else ""))
        rows.append(cells)
        kept[name] = {**{figure: str(figures[figure]) for figure, _ in COUNTED},
                      **{figure: before.get(figure, "-") if figures[figure] is None else written(figures[figure])
                         for figure, written, _ in MEASURED}}
    table(rows)
    for line in worse:
        print(f"worse: {line}")
    if options.write:
        write(kept)
        into_documents(kept, tables.get(DJANGO.name))
        return 0
    return 1 if worse else 0


def found(name, directory):
    """The directory of a project, fetched if it is not there."""
    source = next((source for source in PROJECTS if source.name == name), None)
    if source is None:
        sys.exit(f"there is no project {name}: {', '.join(source.name for source in PROJECTS)}, or linux with --large")
    fetch(source, directory)
    return os.path.join(directory, name)


def counting(options):
    """The benchmark whose instructions are counted; none without valgrind."""
    if not shutil.which("valgrind"):
        print("instructions are not counted: valgrind is not installed")
        return None
    if options.bench:
        return options.bench
    build = ["cargo", "bench", "--locked", "--quiet", "--bench", "index", "--no-run", "--message-format", "json"]
    messages = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    built = [message["executable"] for message in map(json.loads, messages)
             if message.get("executable") and message["target"]["name"] == "index" and "bench" in message["target"]["kind"]]
    return built[-1]


def instructions(bench, project):
    """Instructions of an index over those of parsing its files, each with one thread."""
    environment = {**os.environ, "COGRAPH_THREADS": "1"}
    counts, files = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for what in ("index", "parse"):
            command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", bench, "--measure", what, project,
                       os.path.join(scratch, "list"), os.path.join(scratch, "cache")]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            count = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
            if done.returncode or not count:
                sys.exit(f"{bench} could not {what} {project} in valgrind:\n{done.stderr}")
            counts.append(int(count.group(1).replace(",", "")))
            files.append(re.search(r"^files (\d+)$", done.stdout, re.MULTILINE).group(1))
    if files[0] != files[1]:
        sys.exit(f"{files[0]} files of {project} were indexed, {files[1]} parsed")
    return counts[0] / counts[1]


def measure(program, project, runs):
    """The figures of a project, and what the program prints of its last index."""
    ratios, peaks, last = [], [], None
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as cache:
            last, printed = one(program, project, cache)
            ratios.append(last["cpu"] / last["parse"])
            peaks.append(last["peak"])
    source = last["source_bytes"]
    return {**{name: last[name] for name, _ in COUNTED}, "cpu_to_parse": statistics.median(ratios), "peak_mb": statistics.median(peaks),
            "store_to_source": last["store_bytes"] / source, "segment_to_source": last["segment_bytes"] / source}, printed


MEASURE = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout, done.stderr]))
"""


def one(program, project, cache):
    """One index into an empty cache: its JSON with the CPU seconds, those of parsing, megabytes and the bytes of the segment; and
    its table."""
    command = [sys.executable, "-c", MEASURE, program, "index", project, "--json", "--profile"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=with_cache(cache))
    code, cpu, peak, output, profile = json.loads(done.stdout)
    parse = re.search(r"^\s*parse\s+\S+\s+(\S+)", profile, re.MULTILINE)
    if code or not parse:
        sys.exit(f"{program} could not index {project}:\n{profile}")
    segments = [os.path.join(place, name) for place, _, names in os.walk(cache) for name in names if name.endswith("-facts")]
    if len(segments) != 1:
        sys.exit(f"there are {len(segments)} segments in {cache}")
    printed = subprocess.run([program, "index", project], capture_output=True, text=True, check=True, env=with_cache(cache)).stdout
    return {**json.loads(output), "cpu": cpu, "parse": float(parse.group(1)) / 1000, "peak": peak,
            "segment_bytes": os.path.getsize(segments[0])}, printed


def read():
    """The rows of the file: project -> figure -> text."""
    if not os.path.exists(FILE):
        return {}
    with open(FILE, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {cells[0]: dict(zip(lines[0][1:], cells[1:])) for cells in lines[1:]}


def write(kept):
    """Writes the file, in the order of the projects."""
    names = [name for name, *_ in (*COUNTED, *MEASURED)]
    lines = ["# What an index costs, written by scripts/measure costs --write: instructions over those of parsing alone, CPU time over that of",
             "# parsing in the same run, peak memory in 2^20 bytes, bytes of store and of segment over bytes of source. Medians of five runs;",
             "# linux: one, whose instructions are not counted.",
             "\t".join(["project", *names])]
    for project in [*(source.name for source in PROJECTS), "linux"]:
        if project in kept:
            lines.append("\t".join([project, *(kept[project].get(name, "-") for name in names)]))
    with open(FILE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def into_documents(kept, printed):
    """Puts the table of the index of Django into the session of the README, and the figures into the table of costs."""
    if printed:
        replace(README, r"(    \$ cograph index\n)(?:     .*\n)+?(?=\n)", lambda found: found.group(1) + session(printed))
    rows = "".join(f"| {project} | {int(row['indexed']):,} | {int(row['source_bytes']) / 1e6:.1f} MB | {int(row['symbols']):,} | "
                   f"{int(row['references']):,} | {float(row['cpu_to_parse']):.2f} | {float(row['peak_mb']):.0f} MB | "
                   f"{int(row['source_bytes']) * float(row['store_to_source']) / 1e6:.1f} MB | "
                   f"{int(row['source_bytes']) * float(row['segment_to_source']) / 1e6:.1f} MB |\n" for project, row in kept.items())
    replace(PERFORMANCE, r"(\| project \| files .*\n\|[-|]+\|\n)(?:\|.*\n)+", lambda found: found.group(1) + rows)


def session(printed):
    """The first lines of the table, of the two languages that have most of the references, and of the sum."""
    lines = printed.splitlines()
    head, body = lines[0], [line for line in lines[1:] if re.match(r"\s*\S+\s+[\d,]+\s", line)]
    most = sorted(body[:-1], key=lambda line: -int(line.split()[3].replace(",", "")))[:2]
    shown = [head, *(line for line in body if line in most), " …", body[-1]]
    return "".join(f"    {line}".rstrip() + "\n" for line in shown)


def replace(path, pattern, new):
    """Replaces the one match of a pattern in a document."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text, count = re.subn(pattern, new, text)
    if count != 1:
        sys.exit(f"{path} has {count} places for the figures")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
