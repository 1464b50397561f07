"""Texts that are expensive for the error recovery of a parser: each is indexed within its bound, in part, or left out and named."""
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass

from recovery_shapes import Shape, at_random, languages, systematic

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SIZES = [8_000, 32_000, 100_000]
# Bounds: megabytes, bytes of memory for each byte of the file, seconds of CPU up to 100 kB.
MEGABYTES, FACTOR, SECONDS = 64, 1_000, 2.0
# What keeps the machine safe: address space of each process, and seconds of an index.
ADDRESSES, PATIENCE = 5 << 30, 300
# Runs a program and says what it and its processes took. In a fresh process: what a process has taken before `exec` counts as well.
MEASURE = """
import os, resource, signal, subprocess, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
signal.signal(signal.SIGALRM, lambda *_: os.killpg(child.pid, signal.SIGKILL))
signal.alarm(int(sys.argv[2]))
said = child.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
code = child.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, code, *said)
"""


@dataclass
class Run:
    """What an index cost, and the states of its files."""
    seconds: float
    megabytes: float
    failure: str
    # Path -> whole, in part, or why it is not in the index.
    states: dict


def index(binary, files, threads):
    """Indexes files (path -> text) in an empty cache."""
    with tempfile.TemporaryDirectory() as place:
        root = os.path.join(place, "root")
        for path, text in files.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
        environment = dict(os.environ, COGRAPH_CACHE_DIR=os.path.join(place, "cache"), HOME=place, COGRAPH_THREADS=str(threads))
        limits = [str(ADDRESSES), str(PATIENCE)]
        measured = subprocess.run([sys.executable, "-c", MEASURE, *limits, binary, "index", root], stdout=subprocess.PIPE, text=True,
                                  env=environment, check=True).stdout
        seconds, megabytes, code, said = (measured.rstrip("\n") + " ").split(" ", 3)
        run = Run(float(seconds), float(megabytes), "" if code == "0" else f"ended with {code}: {said.strip()}", {})
        if not run.failure:
            run.states = states(binary, root, environment)
        return run


def states(binary, root, environment):
    """Path -> state, as the index reports it."""
    def ask(query):
        command = [binary, "sql", "--root", root, "--json", query]
        asked = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, check=False)
        # 1: no rows.
        if asked.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)} ended with {asked.returncode}")
        return json.loads(asked.stdout)["rows"]

    found = {path: f"left out: {skipped}" if skipped else "whole" for path, skipped in ask("SELECT path, skipped FROM files ORDER BY path LIMIT 1000")}
    kinds = {}
    for path, kind in ask("SELECT path, kind FROM problems GROUP BY path, kind ORDER BY path, kind LIMIT 1000"):
        kinds.setdefault(path, []).append(kind)
    return {path: f"in part: {', '.join(kinds[path])}" if state == "whole" and path in kinds else state for path, state in found.items()}


def known(language):
    """The worst shapes that were found in a language."""
    with open(os.path.join(HERE, "recovery.toml"), "rb") as file:
        written = tomllib.load(file).get(language.name, [])
    return [Shape(*entry) if isinstance(entry, list) else Shape(entry) for entry in written]


def bound(size):
    """Megabytes for a file of that many bytes."""
    return MEGABYTES + FACTOR * size / 1e6


def attack(binary, language, shape, size):
    """Indexes one file alone: the run, its size, its state, and what is wrong."""
    text = language.placed(shape).text(min(size, language.most))
    size = len(text.encode())
    path = f"a.{language.suffix}"
    run = index(binary, {path: text}, threads=1)
    if not faults(run, size, path):
        return run, size, run.states[path], []
    # The least of two: what others do on the machine only adds.
    if not run.failure and SECONDS < run.seconds < 2 * SECONDS:
        run = min((run, index(binary, {path: text}, threads=1)), key=lambda run: (bool(run.failure), run.seconds))
    return run, size, run.states.get(path, "not named"), faults(run, size, path)


def faults(run, size, path):
    """What of a run of one file is beyond the bounds."""
    found = [run.failure] if run.failure else [] if path in run.states else ["neither in the index nor named"]
    if run.megabytes > bound(size):
        found.append(f"more than {bound(size):.0f} MB")
    if run.seconds > SECONDS:
        found.append(f"more than {SECONDS:.0f} s")
    return found


class Table:
    """Rows of attacks, as they are made."""

    def __init__(self, binary):
        self.binary, self.tried, self.failed, self.worst = binary, 0, [], {}
        print(f"{'':52}{'kB':>5}{'MB':>7}{'CPU s':>8}  state")

    def row(self, language, shape, size):
        """Attacks and prints."""
        run, size, state, wrong = attack(self.binary, language, shape, size)
        self.tried += 1
        name = f"{language.name:13}{shape.shown()}"
        print(f"{name:52}{size / 1000:5.0f}{run.megabytes:7.0f}{run.seconds:8.2f}  {state}{'   beyond: ' if wrong else ''}{', '.join(wrong)}", flush=True)
        if wrong:
            self.failed.append(f"{language.name} {shape.unit!r} {size / 1000:.0f} kB")
        # The worst file of a language is the one that is nearest to a bound, or farthest beyond it.
        nearness = max(run.megabytes / bound(size), run.seconds / SECONDS)
        if nearness > self.worst.get(language.name, (0,))[0]:
            self.worst[language.name] = nearness, language, shape, size
        return nearness


def search(table, language, count, seed, sizes):
    """Tries shapes in a small file, of one token and at random in equal parts, and those that take most of it in larger ones."""
    chance = random.Random(f"{seed} {language.name}")
    units = sorted({unit for unit in systematic(language, ROOT) if unit.strip()})
    shapes = [Shape(unit) for unit in chance.sample(units, min(len(units), count // 2))]
    shapes += [at_random(language, ROOT, chance) for _ in range(count - len(shapes))]
    found = []
    for shape in dict.fromkeys(shapes):
        run, size, _, _ = attack(table.binary, language, shape, SIZES[0])
        found.append((max(run.megabytes / bound(size), run.seconds / SECONDS), shape))
    found.sort(key=lambda entry: -entry[0])
    for _, shape in found[:3]:
        beyond = len(table.failed)
        for size in sizes:
            table.row(language, shape, size)
        if len(table.failed) > beyond:
            print(f"    for recovery.toml: {json.dumps(shape.written())}")


def together(table, chosen):
    """All worst files in one repository, among ordinary ones: those have to be in the index."""
    bad, good = {}, {}
    for _, language, shape, size in table.worst.values():
        bad[f"bad/{language.name}.{language.suffix}"] = language.placed(shape).text(size)
    for language in chosen:
        if text := language.texts(ROOT):
            good[f"good/{language.name}.{language.suffix}"] = text
    run = index(table.binary, bad | good, threads=2)
    missing = [path for path in good if run.states.get(path, "not named").startswith(("left out", "not named"))]
    unnamed = [path for path in bad if path not in run.states]
    out = sum(state.startswith("left out") for path, state in run.states.items() if path in bad)
    # One such file on each thread, and what the others leave behind.
    most = 2 * max(bound(len(text.encode())) for text in bad.values())
    wrong = [run.failure] if run.failure else [f"{path} is not in the index" for path in missing] + [f"{path} is not named" for path in unnamed]
    if run.megabytes > most:
        wrong.append(f"more than {most:.0f} MB")
    if run.seconds > SECONDS * len(bad):
        wrong.append(f"more than {SECONDS * len(bad):.0f} s")
    size = sum(len(text.encode()) for text in bad.values())
    print(f"{f'{len(bad)} worst files among {len(good)} ordinary ones':52}{size / 1000:5.0f}{run.megabytes:7.0f}{run.seconds:8.2f}  {out} left out"
          f"{'   beyond: ' if wrong else ''}{', '.join(wrong)}", flush=True)
    table.tried += 1
    if wrong:
        table.failed.append("all together")


def main(parser, options):
    """Attacks with the known shapes, or searches for others."""
    chosen = [language for language in languages(ROOT) if not options.only or language.name in options.only]
    if not chosen or len(chosen) < len(set(options.only)):
        parser.error("no language is called that")
    table = Table(os.path.abspath(options.binary))
    for language in chosen:
        if options.search:
            search(table, language, options.search, options.seed, options.sizes or SIZES)
            continue
        sizes = options.sizes or SIZES
        for shape in (shapes := known(language)):
            for size in sizes:
                table.row(language, shape, size)
        if shapes:
            table.row(language, shapes[0].sparse(), sizes[-1])
    together(table, chosen)
    print(f"{table.tried} attacks on {len(chosen)} languages, {len(table.failed)} beyond the bounds of {MEGABYTES} MB + {FACTOR} bytes for each byte "
          f"and {SECONDS:.0f} s" + (": " + "; ".join(table.failed) if table.failed else ""))
    return 1 if table.failed else 0
