"""How long it takes until an answer knows of a saved file: edits of a copy of a repository, asked about over MCP.

    scripts/measure freshness DIR                     the release build, 20 edits of each kind, in a copy of DIR
    scripts/measure freshness DIR --bin PATH --edits N
    scripts/measure freshness DIR --only edits        without the command line: for a large repository
    scripts/measure freshness DIR --here              DIR is a copy itself: it is edited, and the index that it has is used
    scripts/measure freshness DIR --only memory --edits 1000 --minutes 60
                                              memory of the server and its workers, after 100 edits and after all of them
    scripts/measure freshness DIR --here --only header --header include/linux/err.h
                                              a struct more in a header that many files include: time, memory, and answers meanwhile

Files are those in Python, or in C where that is more. Each time one is saved, the server is queried at once; the time ends with the
answer that knows of it. The first edit is on its own: what is known of the repository is prepared after it. Then files one by one: a
comment more, that is another body (the answer says that it is up to date), a function more (the answer finds it), and a parameter
more in the function that is referred to most: the time ends when the file and all that depend on it are up to date, and the first
answer, which came before or then, must have the parameter. The same for a comment without a watch: in a name space of its own in
which no directory can be watched (`unshare`). Then many files at once (--files N of them).

Then, by the command line alone: one edit, many, nothing at all, and another check-out in which 50
files differ, each against a whole index of the same minute (the middle of --rounds). The last column is the share of that whole index. The exit
code is 1 if an answer never came or was wrong.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from base import command_line, percentile, RELEASE, table
from client import Server

class Patience:
    """How long one answer is waited for."""

    seconds = 120.0



# What a file gets more, by its ending.
COMMENTS = {".py": "\n# measured {0}\n", ".c": "\n/* measured {0} */\n"}
FUNCTIONS = {
    ".py": "\n\ndef measured_body_{0}():\n    return len(str({1}))\n",
    ".c": "\nint measured_body_{0}(void)\n{{\n\treturn {1};\n}}\n",
}


def sources(root):
    found = {ending: [] for ending in COMMENTS}
    for directory, _, names in os.walk(root):
        for name in names:
            if not os.path.islink(os.path.join(directory, name)):
                found.get(os.path.splitext(name)[1], []).append(os.path.join(directory, name))
    return sorted(max(found.values(), key=len))


def until(server, tool, arguments, is_it):
    """The seconds until an answer is as wanted, and the first answer."""
    begun, first = time.monotonic(), None
    while time.monotonic() - begun < Patience.seconds:
        text = server.text(tool, arguments)
        first = first or text
        if is_it(text):
            return time.monotonic() - begun, first
    sys.exit(f"{tool} {arguments}: no such answer within {Patience.seconds} s")


def until_found(server, name):
    # The first line repeats the question.
    return until(server, "search", {"query": name}, lambda text: name in text.partition("\n")[2])[0]


def is_fresh(text):
    """Whether an answer is up to date. Of a large repository it also reports that the watched directories are trusted."""
    return " up to date" in text.partition("\n")[0]


def until_fresh(server):
    return until(server, "search", {"query": "measured"}, is_fresh)[0]


def saved(path, change):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(change(text, os.path.splitext(path)[1]))


def comment(number):
    """Another body."""
    return lambda text, ending: text + COMMENTS[ending].format(number)


def body(number):
    """A function more."""
    digits = "".join(letter for letter in str(number) if letter.isdigit())
    return lambda text, ending: text + FUNCTIONS[ending].format(number, digits)


def row(what, times):
    return [what, len(times), f"{percentile(times, 0.5) * 1000:.0f}", f"{percentile(times, 0.99) * 1000:.0f}"]


def one_by_one(server, edits, files, what, change):
    """Another file each time; a server that has just answered is given the time to rest that a person gives it."""
    times = []
    for turn in range(edits):
        saved(files[turn * 7 % len(files)], comment(f"{what} {turn}") if change is comment else body(1000 + turn))
        times.append(until_fresh(server) if change is comment else until_found(server, f"measured_body_{1000 + turn}"))
        time.sleep(0.1)
    return row(what, times)


def signatures(server, root, edits):
    """The function that is referred to most gets another first parameter each time."""
    query = "SELECT path, name, line FROM symbols WHERE kind = 'function' AND language IN ('python', 'c') ORDER BY refs DESC LIMIT 20"
    for row_text in server.text("sql", {"statement": query}).splitlines()[2:]:
        # A question that is too large is answered otherwise.
        if row_text.count(" | ") != 2:
            continue
        path, name, line = row_text.split(" | ")
        with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape") as file:
            head = file.read().splitlines()[int(line) - 1]
        if f" {name}(" in head:
            break
    else:
        return None
    times, before = [], "("
    for turn in range(edits):
        parameter = f"(measured_{turn}, " if path.endswith(".py") else f"(int measured_{turn}, "
        saved(os.path.join(root, path), lambda text, _: text.replace(f" {name}{before}", f" {name}{parameter}", 1))
        before = parameter
        taken, first = until(server, "show", {"targets": [f"{path}::{name}"]}, is_fresh)
        if f"measured_{turn}" not in first:
            sys.exit(f"the first answer after another signature of {name} has the old one:\n{first}")
        times.append(taken)
    return row(f"another signature of {name}", times)


def unwatched(options, root, environment):
    """A server that can watch nothing; none where the system has no name spaces for that."""
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"', "sh"]
    try:
        subprocess.run([*command, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    server = Server([*command, options.bin, "mcp", "--root", root], environment)
    server.hello()
    until_fresh(server)
    # The watch is tried in parallel with the first question.
    until(server, "status", {}, lambda text: "not watched" in text)
    return server


def indexed(program, root, environment, *arguments):
    """The time that `cograph index` takes, and the CPU time."""
    begun, before = time.monotonic(), os.times()
    subprocess.run([program, "index", root, *arguments], env=environment, check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - begun, cpu


def by_processes(options, top, root, environment, files):
    """What a process costs that knows only what is on disk, against a whole index right before it."""
    many = min(options.files, len(files))

    def edit(count, turn):
        for number, path in enumerate(files[:count]):
            saved(path, body(f"{turn}_{number}"))

    def second(turn):
        other = os.path.join(top, f"other{turn}")
        # The copies of earlier rounds are not used again: a new process can start only from the first check-out.
        shutil.copytree(root, other, symlinks=True)
        for number, path in enumerate(sources(other)[:50]):
            saved(path, body(f"other{turn}_{number}"))
        return other

    kinds = [
        ("a new process: one edit", lambda turn: edit(1, turn)),
        (f"a new process: {many} edits", lambda turn: edit(many, turn)),
        ("a new process: nothing changed", lambda turn: None),
        ("another check-out, 50 files differ", second),
    ]
    rows = []
    for number, (what, change) in enumerate(kinds):
        wholes, times = [], []
        for turn in range(options.rounds):
            wholes.append(indexed(options.bin, root, environment, "--force"))
            times.append(indexed(options.bin, change(f"{number}_{turn}") or root, environment))
        middle = lambda values: sorted(values)[len(values) // 2]  # noqa: E731
        wall, cpu = (middle([one[part] for one in times]) for part in (0, 1))
        share, cpu_share = (middle([one[part] / whole[part] for one, whole in zip(times, wholes)]) for part in (0, 1))
        rows.append([what, len(times), f"{wall * 1000:.0f}", "", f"{cpu * 1000:.0f}", f"{share:.1%} (CPU {cpu_share:.1%})"])
    return rows


def main():
    parser = command_line(__doc__)
    parser.add_argument("directory")
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["edits", "processes", "memory", "header"])
    parser.add_argument("--header", metavar="PATH", help="the header of --only header, relative to DIR")
    parser.add_argument("--here", action="store_true")
    parser.add_argument("--minutes", type=float, default=5, help="the time over which --only memory spreads the edits (default 5)")
    parser.add_argument("--patience", type=float, default=Patience.seconds)
    options = parser.parse_args()
    Patience.seconds = options.patience
    with tempfile.TemporaryDirectory() as top:
        root, environment = os.path.abspath(options.directory), dict(os.environ)
        if not options.here:
            root = os.path.join(top, "repository")
            shutil.copytree(options.directory, root, symlinks=True)
            environment["COGRAPH_CACHE_DIR"] = os.path.join(top, "cache")
        indexed(options.bin, root, environment)
        files = sources(root)
        if options.only == "memory":
            table(memory(options, root, environment, files))
            return
        if options.only == "header":
            table(header(options, root, environment))
            return
        rows = [] if options.only == "processes" else by_server(options, root, environment, files)
        rows += [] if options.only == "edits" else by_processes(options, top, root, environment, files)
        table([["what", "times", "p50 ms", "p99 ms", "CPU ms", "of a whole index"], *rows])


def by_server(options, root, environment, files):
    """What a question to a long-lived server waits."""
    server = Server([options.bin, "mcp", "--root", root], environment)
    server.hello()
    until_fresh(server)
    saved(files[0], body(0))
    first = until_found(server, "measured_body_0")
    rows = [["first edit", 1, f"{first * 1000:.0f}", ""]]
    # What the next edits need is prepared after the first answer.
    deadline = time.monotonic() + Patience.seconds
    number = 1
    while time.monotonic() < deadline:
        saved(files[1], body(number))
        taken = until_found(server, f"measured_body_{number}")
        number += 1
        if taken < first / 4:
            break
    rows.append(one_by_one(server, options.edits, files, "a comment more", comment))
    rows.append(one_by_one(server, options.edits, files, "a function more", body))
    rows.append(signatures(server, root, options.edits))
    for turn, path in enumerate(files[: options.files]):
        saved(path, body(5000 + turn))
    many = until_found(server, f"measured_body_{5000 + min(options.files, len(files)) - 1}")
    rows.append([f"{min(options.files, len(files))} files at once", 1, f"{many * 1000:.0f}", ""])
    end(server)
    blind = unwatched(options, root, environment)
    if blind:
        saved(files[0], body(900))
        until_found(blind, "measured_body_900")
        rows.append(one_by_one(blind, options.edits, files, "a comment more, without a watch", comment))
        end(blind)
    else:
        rows.append(["without a watch: not measured, no name spaces here", 0, "", ""])
    return [[*one, "", ""] for one in rows if one]


def memory(options, root, environment, files):
    """Memory of a server and of what it has started, in MB: unused, after edits, and at rest. First what is its own (heap and stacks),
    then all that is resident, with the pages of files that other processes share and the system takes back."""
    def of(processes):
        return " of ".join(f"{size:.0f}" for size in megabytes(processes))

    def compare(what):
        rows.append([what, of([server.process.pid]), of(server.children())])
        print(*rows[-1], flush=True)

    rows = [["when", "server MB", "workers MB"]]
    server = Server([options.bin, "mcp", "--root", root], environment)
    server.hello()
    compare("after the handshake")
    until_fresh(server)
    begun = time.monotonic()
    for turn in range(1, options.edits + 1):
        time.sleep(max(0, begun + options.minutes * 60 * turn / options.edits - time.monotonic()))
        path = files[turn * 7 % len(files)]
        if turn % 2:
            saved(path, comment(f"memory {turn}"))
            until_fresh(server)
        else:
            saved(path, body(20000 + turn))
            until_found(server, f"measured_body_{20000 + turn}")
        if turn in (min(100, options.edits // 2), options.edits):
            compare(f"after {turn} edits")
    # Longer than an idle store stays open.
    time.sleep(90)
    compare("90 s after the last question")
    end(server)
    return rows


def megabytes(processes):
    """Heap and stacks, and all that is resident, of processes together."""
    sizes = {"RssAnon": 0, "VmRSS": 0}
    for process in processes:
        try:
            with open(f"/proc/{process}/status", encoding="ascii") as file:
                for line in file:
                    name, _, rest = line.partition(":")
                    if name in sizes:
                        sizes[name] += int(rest.split()[0])
        except OSError:
            pass  # it has just ended
    return [size * 1024 / 1e6 for size in sizes.values()]


def header(options, root, environment):
    """A struct more before the first `#include` of a header. Until an answer is up to date, each has to say that it is stale; the one
    that is up to date has to list the struct."""
    server = Server([options.bin, "mcp", "--root", root], environment)
    server.hello()
    until_fresh(server)
    name = f"measured_header_{os.getpid()}"
    saved(os.path.join(root, options.header), lambda text, _: text.replace("#include", f"struct {name} {{ int one; }};\n#include", 1))
    begun, slowest, peaks, states = time.monotonic(), 0.0, [0.0, 0.0], []
    while True:
        asked = time.monotonic()
        first, _, rest = server.text("search", {"query": name}).partition("\n")
        slowest = max(slowest, time.monotonic() - asked)
        peaks = [max(peak, megabytes(group)[0]) for peak, group in zip(peaks, ([server.process.pid], server.children()))]
        states.append(first.rpartition(" · ")[2])
        if " up to date" in first:
            break
        if time.monotonic() - begun > Patience.seconds:
            sys.exit(f"not up to date within {Patience.seconds} s: {states[-1]}")
    if name not in rest:
        sys.exit(f"an answer that is up to date has no {name}")
    taken = time.monotonic() - begun
    end(server)
    said = dict.fromkeys(states)
    for state in list(said)[:: max(1, len(said) // 8)]:
        print(state)
    return [["s until up to date", "answers", "ms of the slowest", "stale ones", "peak heap MB: server", "workers"],
            [f"{taken:.0f}", len(states), f"{slowest * 1000:.0f}", len(states) - 1, *(f"{peak:.0f}" for peak in peaks)]]


def end(server):
    server.process.stdin.close()
    server.process.wait(timeout=30)
