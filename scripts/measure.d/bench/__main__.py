"""Measures an index and its answers against another build of the program and against parsing alone, in the same run.

    scripts/measure bench BASELINE                         the pinned projects, which are fetched first (ordinary package clients)
    scripts/measure bench BASELINE --sources DIR           projects that are there already: every directory below DIR
    scripts/measure bench BASELINE --large DIR             and a large tree: growth over slices of it, questions, `grep` against ripgrep
    scripts/measure bench BASELINE --only costs,answers    some steps only

Steps:
  costs      CPU time, time, peak memory and size of the index, BASELINE and this build in turns, against parsing the same files
             one after the other on one core: medians, spread, ratios. Ends with 1 if the new index says anything else.
  answers    the same random questions to both builds. Ends with 1 if an answer differs.
  latency    milliseconds of warm questions to this build, as a client sees them, in the largest of the projects.
  growth     1/8, 2/8, 4/8 and 8/8 of the large tree: medians, exponents, a plot (--plot FILE).
  large      questions to the index of the large tree, and `grep` of rare names against ripgrep on the same files.

Raw results go to target/bench/STEP.json. CPU time is user and system time of a program and those that it starts, so that a busy
machine disturbs little; everything else wants a machine that does nothing else.
"""
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from base import command_line, RELEASE, ROOT, table, with_cache
import content
import growth
import usage
import questions
from sources import DJANGO, SOURCES, fetch

# Symbols of questions about the large tree: functions that nearly everything calls.
HOT = ("tools/lib/slab.c::kmalloc", "include/linux/printk.h::printk")


def main():
    """Runs the steps that are asked for."""
    parser = command_line(__doc__)
    parser.add_argument("baseline", metavar="BASELINE", help="the program to compare with")
    parser.add_argument("--bin", default=RELEASE, help="this build")
    parser.add_argument("--sources", metavar="DIR", help="a directory of projects instead of the pinned ones")
    parser.add_argument("--large", metavar="DIR", help="a large tree")
    parser.add_argument("--large-cache", metavar="DIR", help="a cache in which this build has indexed the large tree already")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program, default 5")
    parser.add_argument("--turns", type=int, default=3, help="turns over the slices of the large tree, default 3")
    parser.add_argument("--questions", type=int, default=500, help="questions to both programs, default 500")
    parser.add_argument("--plot", metavar="FILE", default=os.path.join(ROOT, "scripts", "measure.d", "bench", "growth.svg"))
    parser.add_argument("--only", metavar="STEPS", default=",".join(RUN))
    options = parser.parse_args()
    steps = options.only.split(",")
    if unknown := set(steps) - set(RUN):
        parser.error(f"no such step: {', '.join(unknown)}; there are {', '.join(RUN)}")
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        options.scratch = scratch
        options.tree_cache = options.large_cache or os.path.join(scratch, "large")
        projects = find_projects(options, scratch) if set(steps) & {"costs", "answers", "latency"} else []
        for step in steps:
            if step in ("growth", "large") and not options.large:
                continue
            print(f"\n{step}", flush=True)
            result, failed = RUN[step](options, projects)
            failures += failed
            keep(step, result)
    return 1 if failures else 0


def find_projects(options, scratch):
    """The directories that are measured, the largest first."""
    if options.sources:
        found = sorted(entry.path for entry in os.scandir(options.sources) if entry.is_dir() and not entry.name.startswith("."))
    else:
        found = []
        for source in [DJANGO, *SOURCES]:
            fetch(source, os.path.join(scratch, "sources"))
            found.append(os.path.join(scratch, "sources", source.name))
    return sorted(found, key=lambda project: -sum(len(names) for _, _, names in os.walk(project)))


def keep(step, result):
    """Writes raw results."""
    directory = os.path.join(ROOT, "target", "bench")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{step}.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": os.uname(), "cores": os.cpu_count(), "time": time.strftime("%Y-%m-%d %H:%M"), "result": result}, file, indent=1)


def parse_only(binary):
    """The program that parses and does nothing else: the benchmark `index` has it. It is built with the profile of the program
    that is measured, so that the grammars, which take longest, are there already."""
    profile = os.path.basename(os.path.dirname(os.path.abspath(binary)))
    profiles = ["--profile", profile] if profile not in ("release", "debug") and binary.startswith(os.path.join(ROOT, "target")) else []
    built = subprocess.run(["cargo", "bench", *profiles, "--bench", "index", "--no-run", "--message-format=json", "--quiet"],
                           cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    messages = (json.loads(line) for line in built.stdout.splitlines())
    return next(message["executable"] for message in messages if message.get("target", {}).get("name") == "index" and message.get("executable"))


def figures(program, what, project, files, cache):
    """What the benchmark says of one run of itself."""
    output = subprocess.run([program, "--measure", what, project, files, cache], stdout=subprocess.PIPE, text=True, check=True)
    return dict(line.split() for line in output.stdout.splitlines())


def costs(options, projects):
    """See the module."""
    floor, results, failures = parse_only(os.path.abspath(options.bin)), {}, 0
    rows = [("project", "CPU s", "spread", "old", "ratio", "parse", "ratio", "s", "parse s", "MB", "old", "index MB", "old")]
    for number, project in enumerate(projects):
        name = os.path.basename(os.path.abspath(project))
        place = os.path.join(options.scratch, f"costs{number}")
        os.mkdir(place)
        files = os.path.join(place, "files")
        figures(floor, "index", project, files, os.path.join(place, "list"))

        def parse():
            run = figures(floor, "parse", project, files, place)
            return int(run["cpu"]) / 1e9, int(run["wall"]) / 1e9, int(run["peak"]) / 1e6

        runs = usage.in_turns(options.rounds, {
            "new": lambda: usage.index(options.bin, project),
            "old": lambda: usage.index(options.baseline, project),
            "parse": parse,
        })
        results[name] = runs
        (cpu, spread), (old, _), (alone, _) = (usage.spread([run[0] for run in runs[which]]) for which in ("new", "old", "parse"))
        middle = {which: [statistics.median(values) for values in zip(*runs[which])] for which in runs}
        rows.append((name, f"{cpu:.2f}", f"{spread:.0%}", f"{old:.2f}", f"{cpu / old:.2f}", f"{alone:.2f}", f"{cpu / alone:.2f}",
                     f"{middle['new'][1]:.2f}", f"{middle['parse'][1]:.2f}", f"{middle['new'][2]:.0f}", f"{middle['old'][2]:.0f}",
                     f"{middle['new'][3]:.1f}", f"{middle['old'][3]:.1f}"))
        caches = [os.path.join(place, which) for which in ("old", "new")]
        for program, cache in zip((options.baseline, options.bin), caches):
            usage.index(program, project, cache)
        different, total = content.differences(*(usage.store(cache) for cache in caches))
        if different:
            failures += 1
            print(f"{name}: the index says something else: {'; '.join(different)}", flush=True)
        results[name]["rows"], results[name]["different"] = total, different
    table(rows)
    return results, failures


def answers(options, projects):
    """See the module. The two largest projects."""
    results, failures = {}, 0
    for number, project in enumerate(projects[:2]):
        place = os.path.join(options.scratch, f"answers{number}")
        total, different = questions.compare(options.baseline, options.bin, project, place, options.questions)
        name = os.path.basename(os.path.abspath(project))
        print(f"  {name}: {total} questions, {len(different)} answers differ", flush=True)
        for tool, arguments, _, _ in different[:10]:
            print(f"    {tool} {json.dumps(arguments)}")
        results[name] = {"questions": total, "different": different}
        failures += bool(different)
    return results, failures


def show(figures_):
    """Prints latencies."""
    columns = ("p50", "p99", "most", "cpu p50", "cpu p99")
    table([("ms", "n", *columns)] + [(kind, row["n"], *(f"{row[column]:.2f}" for column in columns)) for kind, row in figures_.items()])


def latency(options, projects):
    """See the module."""
    server = questions.open_server(options.bin, projects[0], os.path.join(options.scratch, "latency"))
    symbols, files = questions.vocabulary(server, 200, 1)
    makers = {
        **searching([symbol[0] for symbol in symbols], 400),
        "show": lambda number: ("show", {"targets": ["::".join(symbols[number % len(symbols)][1::-1])]}),
        "trace, depth 5": lambda number: ("trace", {"symbol": one(symbols, number), "depth": 5}),
        "references": lambda number: ("references", {"symbol": one(symbols, number)}),
        "impact": lambda number: ("impact", {"symbol": one(symbols, number)}),
        "outline": lambda number: ("outline", {"path": files[number % len(files)][0]}),
    }
    found = questions.latencies(server, makers, 400)
    waits, used = [], []
    for _ in range(400):
        before = server.cpu()
        waits.append(server.ask("ping")[1] * 1000)
        used.append((server.cpu() - before) * 1000)
    found["ping, for the way there and back"] = questions.figures_of(waits, used)
    server.end()
    show(found)
    return found, 0


def searching(names, count):
    """Questions of `search`, by the kind of text."""
    texts = {kind: list(questions.searches([name for name in names if len(name) > 3], kind, count, 1)) for kind in questions.SEARCHES}
    return {f"search, {kind}": lambda number, kind=kind: ("search", {"query": texts[kind][number]}) for kind in texts}


def one(symbols, number):
    """A symbol by its place, which means only one."""
    _, path, _, line = symbols[number % len(symbols)]
    return f"{path}:{line}"


def grow(options, _):
    """See the module."""
    rows = growth.measure(options.bin, os.path.abspath(options.large), options.scratch, options.tree_cache, options.turns)
    exponents = {figure: growth.exponent(rows, figure) for figure, _, _ in growth.FIGURES}
    print("  exponents: " + ", ".join(f"{figure} {value:.3f}" for figure, value in exponents.items()))
    with open(options.plot, "w", encoding="utf-8") as file:
        file.write(growth.plot(rows, f"An index of parts of {os.path.basename(os.path.abspath(options.large))}"))
    return {"rows": rows, "exponents": exponents}, 0


def large(options, _):
    """See the module."""
    server = questions.open_server(options.bin, options.large, options.tree_cache)
    symbols, files = questions.vocabulary(server, 200, 1)
    names = [symbol[0] for symbol in symbols if len(symbol[0]) > 3]
    print(f"  opening the index and the first answer: {opening(options)}")
    makers = {
        **searching(names, 200),
        "callers of a hot function": lambda number: ("trace", {"symbol": HOT[number % len(HOT)]}),
        "trace, depth 3": lambda number: ("trace", {"symbol": one(symbols, number), "depth": 3}),
        "references": lambda number: ("references", {"symbol": one(symbols, number)}),
        "impact": lambda number: ("impact", {"symbol": one(symbols, number)}),
        "impact of a hot function": lambda number: ("impact", {"symbol": HOT[number % len(HOT)]}),
        "show": lambda number: ("show", {"targets": [one(symbols, number)]}),
        "outline": lambda number: ("outline", {"path": files[number % len(files)][0]}),
        "overview": lambda number: ("overview", {}),
    }
    found = questions.latencies(server, makers, {**dict.fromkeys(makers, 200), "overview": 10, "impact of a hot function": 20})
    show(found)
    found["grep"] = against_ripgrep(options, server, names)
    server.end()
    print(f"  index: {os.path.getsize(usage.store(options.tree_cache)) / 1e6:.0f} MB")
    return found, 0


def opening(options):
    """How long a new process takes to the answer of `ping`, and from there to its first answer from the index."""
    starts, firsts = [], []
    for _ in range(5):
        server = questions.Server([options.bin, "mcp", "--root", options.large], with_cache(options.tree_cache))
        server.hello()
        starts.append((time.monotonic() - server.started) * 1000)
        before, (_, seconds) = server.cpu(), server.ask("tools/call", {"name": "sql", "arguments": {"statement": "SELECT 1"}}, 120)
        firsts.append((seconds * 1000, (server.cpu() - before) * 1000))
        server.end()
    first, used = (statistics.median(values) for values in zip(*firsts))
    return f"{statistics.median(starts):.1f} ms to the handshake, {first:.1f} ms from there to an answer ({used:.1f} ms of CPU time)"


def against_ripgrep(options, server, names):
    """`grep` of names that occur rarely, and ripgrep on the files that the index knows, in turns."""
    if not shutil.which("rg"):
        print("  ripgrep is not there: nothing to compare `grep` with")
        return None
    times = {"grep": [], "rg": []}
    for name in sorted(names, key=len)[-7:]:
        _, seconds = server.ask("tools/call", {"name": "grep", "arguments": {"pattern": name}}, 120)
        times["grep"].append(seconds)
        begun = time.monotonic()
        subprocess.run(["rg", "--hidden", "--fixed-strings", "--count-matches", name, options.large], stdout=subprocess.DEVNULL, check=False)
        times["rg"].append(time.monotonic() - begun)
    grep, rg = (statistics.median(times[which]) for which in ("grep", "rg"))
    print(f"  grep of a rare name: {grep:.2f} s, ripgrep {rg:.2f} s, ratio {grep / rg:.2f}")
    return times


RUN = {"costs": costs, "answers": answers, "latency": latency, "growth": grow, "large": large}