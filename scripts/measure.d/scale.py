"""How an index grows beyond the largest tree that is to be had: a repository of renamed copies of one, and a client that asks while
it is built.

    scripts/measure scale TREE                        1, 2 and 4 copies of the tree (Linux: 300,000 files)
    scripts/measure scale TREE --copies 1,2 --bin PROGRAM --scratch DIR

A copy has its own names: in files of C, C++ and Python each identifier but the words of the language and what imports name ends with
the number of the copy.
While it is indexed, the client of another process asks for `tools/list` every tenth of a second and searches, one search after
another. Figures: CPU time, wall time and peak memory of the index run, the store, the slowest `tools/list`, the searches that were
answered, and the exponent of each over the number of files. Ends with 1 where the run fails or takes more than 4 GiB, the exponent of
the CPU time is over 1.05, an answer of `tools/list` takes more than a second, or a search after the run does not know the repository.
"""
import math
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time

from base import command_line, RELEASE, table, with_cache
from client import children_of, Server
from usage import store

MOST_MEMORY = 4 << 30
MOST_EXPONENT = 1.05
MOST_WAIT = 1.0

RENAMED = (".c", ".h", ".cc", ".cpp", ".hpp", ".py")
WORDS = frozenset(b"""
auto break case char const continue default define defined do double elif else endif enum error extern float for goto if ifdef ifndef inline
int include long pragma register return restrict short signed sizeof static struct switch typedef typeof undef union unsigned void volatile
while warning __attribute__ __typeof__ __asm__ asm __builtin_expect and as assert async await class def del except finally from global import
in is lambda nonlocal not or pass raise try with yield None True False self struct class namespace using template typename public private protected virtual override new delete this operator
""".split())
IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z_0-9]{2,}")
# Lines that name files.
NAMES_FILE = re.compile(rb"^\s*(#\s*include|import\b|from\b)")


def main():
    """Makes the copies, indexes each size, prints a table."""
    parser = command_line(__doc__)
    parser.add_argument("tree", metavar="TREE")
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--copies", default="1,2,4", metavar="N,...", help="numbers of copies, rising")
    parser.add_argument("--scratch", metavar="DIR", help="where the copies and indexes are made")
    options = parser.parse_args()
    sizes = [int(number) for number in options.copies.split(",")]
    rows, failures, last = [("copies", "files", "CPU s", "wall s", "peak MB", "store MB", "tools/list ms", "asked")], [], 0
    figures = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        root = os.path.join(scratch, "tree")
        for size in sizes:
            files = 0
            for number in range(last, size):
                files = copy(options.tree, os.path.join(root, f"copy{number}"), number)
            last = size
            found = indexed(options.bin, root, os.path.join(scratch, f"cache{size}"))
            shutil.rmtree(os.path.join(scratch, f"cache{size}"))
            failures += found.pop("failures")
            figures.append((size, found))
            rows.append((size, f"{size * files:,}", *(f"{found[name]:,.0f}" for name in ("cpu", "wall", "peak", "store", "slowest", "asked"))))
            print("  ".join(str(cell) for cell in rows[-1]), flush=True)
    table(rows)
    if len(figures) > 1:
        exponents = {name: exponent(figures, name) for name in ("cpu", "wall", "peak", "store")}
        print("exponents: " + ", ".join(f"{name} {value:.3f}" for name, value in exponents.items()))
        if exponents["cpu"] > MOST_EXPONENT:
            failures.append(f"the exponent of the CPU time is {exponents['cpu']:.3f}")
    for failure in failures:
        print(f"FAILED  {failure}")
    return 1 if failures else 0


def copy(tree, target, number):
    """Copies a tree with the names of copy `number`. Gives the number of files."""
    ending, files = f"_{number}".encode(), 0

    def renamed(found):
        word = found.group()
        return word if word in WORDS else word + ending

    for place, _, names in os.walk(tree):
        inside = os.path.join(target, os.path.relpath(place, tree))
        os.makedirs(inside, exist_ok=True)
        for name in names:
            source = os.path.join(place, name)
            if os.path.islink(source) or not os.path.isfile(source):
                continue
            files += 1
            with open(source, "rb") as file:
                data = file.read()
            if number and name.endswith(RENAMED):
                lines = data.split(b"\n")
                data = b"\n".join(line if NAMES_FILE.match(line) else IDENTIFIER.sub(renamed, line) for line in lines)
            with open(os.path.join(inside, name), "wb") as file:
                file.write(data)
    return files


def indexed(program, root, cache):
    """The figures of one index, while a client of another process asks."""
    environment = with_cache(cache, COGRAPH_MEMORY_LIMIT=str(MOST_MEMORY))
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    build = subprocess.Popen([program, "index", root], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    server = Server([program, "mcp", "--root", root], environment)
    server.hello()
    waits, asked, peak, pending = [], 0, 0, None
    while build.poll() is None:
        waits.append(server.ask("tools/list")[1] * 1000)
        peak = max(peak, memory(build.pid))
        if pending is None or server.wait(pending, 0) is not None:
            asked, pending = asked + (pending is not None), server.call("search", {"query": "kfree"})
        # A client's wait between two requests.
        time.sleep(0.1)
    wall, used = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    server.wait(pending, 120)
    answer = server.text("search", {"query": "kfree"}, 120)
    server.end()
    failures = [*(f"client: {fault}" for fault in server.faults[:3])]
    if build.returncode:
        failures.append(f"{root}: {build.stderr.read()[-300:]}")
    elif "kfree" not in answer:
        failures.append(f"{root}: {answer[:300]}")
    if peak > MOST_MEMORY / (1 << 20):
        failures.append(f"{peak:.0f} MB of memory")
    if max(waits) > MOST_WAIT * 1000:
        failures.append(f"tools/list was answered after {max(waits):.0f} ms")
    size = os.path.getsize(store(cache)) / 1e6 if not build.returncode else math.nan
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": cpu, "wall": wall, "peak": peak, "store": size, "slowest": max(waits), "asked": asked, "failures": failures}


def memory(process):
    """Anonymous memory of a process and its children, MB."""
    total = 0
    for one in [process, *children_of(process)]:
        try:
            with open(f"/proc/{one}/status", encoding="ascii") as file:
                total += sum(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return total / 1024


def exponent(figures, name):
    """The slope of the line through the figures where both axes are logarithmic: 1 is linear."""
    points = [(math.log(size), math.log(found[name])) for size, found in figures]
    middle_x, middle_y = (sum(values) / len(points) for values in zip(*points))
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)
