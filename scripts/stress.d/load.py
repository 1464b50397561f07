"""A mixed load on one server, and whether anything is lost, answered twice, or left behind.

    scripts/stress load                      20 seconds with the release build, on a copy of this project
    scripts/stress load --seconds 600        as long as a leak needs to show
    scripts/stress load --bin PATH --project DIR --callers N --seed N

Callers ask all tools at random and withdraw some of their calls at random moments; an editor changes, makes and removes files
of the repository meanwhile; idle stores are closed every second. What must hold: every call is answered exactly
once, or not at all if it was withdrawn; afterwards nothing runs, waits or stays open but what parses the next change, memory and
descriptors are back where they were after a first tenth of the load, and neither grew during the rest. Nothing outlives the
server. Every tool gives answers that are no errors, and what was edited last is found. Prints a table; the exit code is 1 if
anything does not hold.
"""
import json
import os
import random
import re
import tempfile
import threading
import time

from base import command_line, copy_project, percentile, RELEASE, ROOT, table, verdict, with_cache
from client import Server

# The share of calls that are withdrawn, and the most seconds before that.
WITHDRAWN = 0.2
MOST_PATIENCE = 0.05
# How long one call may take at most: the longest deadline, with the wait for an index.
LONGEST = 70.0
# What memory may have grown by in the end, in addition to the tenth of it that an allocator keeps.
SPARE = 48 << 20


def words(project):
    """Names to ask for: identifiers and paths of the project."""
    names, paths = set(), []
    for directory, folders, files in os.walk(project):
        folders[:] = [folder for folder in folders if not folder.startswith(".") and folder != "target"]
        for file in sorted(files):
            path = os.path.join(directory, file)
            if os.path.getsize(path) < 200_000 and file.rsplit(".", 1)[-1] in ("py", "rs", "go", "java", "c", "h", "cc", "ts", "js"):
                paths.append(os.path.relpath(path, project))
                with open(path, encoding="utf-8", errors="replace") as text:
                    names.update(re.findall(r"(?:def|fn|func|class|struct|function)\s+([A-Za-z_]\w{2,})", text.read()))
        if len(paths) > 400:
            break
    return sorted(names)[:2000] or ["main"], paths


def calls(names, paths):
    """One maker of arguments for each tool, some of them heavy, some wrong."""
    pick = random.choice
    return [
        ("explore", lambda: {"query": f"{pick(names)} {pick(names)}"}),
        ("search", lambda: {"query": pick(names)[: random.randint(2, 12)]}),
        ("search", lambda: {"query": pick(names), "mode": pick(["name", "regex", "words"]), "budget": pick([100, 1000, 10000])}),
        ("show", lambda: {"targets": [pick(names), f"{pick(paths)}:1-40", "no such thing"]}),
        ("outline", lambda: {"path": pick(paths + [os.path.dirname(path) for path in paths])}),
        ("trace", lambda: {"symbol": pick(names), "direction": pick(["callers", "callees"]), "depth": random.randint(1, 6)}),
        ("trace", lambda: {"symbol": pick(names), "to": pick(names)}),
        ("references", lambda: {"symbol": pick(names), "certainty": "textual"}),
        ("overview", lambda: {"depth": random.randint(1, 4)}),
        ("grep", lambda: {"pattern": pick(names), "context": random.randint(0, 3)}),
        ("grep", lambda: {"pattern": "[a-z]+_[a-z]+", "regex": True}),
        ("sql", lambda: {"statement": "SELECT kind, count(*) FROM symbols GROUP BY kind"}),
        ("sql", lambda: {"statement": "SELECT count(*) FROM refs a, refs b WHERE a.line = b.line"}),
        ("sql", lambda: {"statement": "SELECT nonsense"}),
        ("status", lambda: {}),
        ("search", lambda: {"wrong": 1}),
    ]


class Load:
    """What the callers, the editor and the observer share."""

    def __init__(self, server, project):
        self.server, self.project = server, project
        self.until = 0.0
        self.names, self.paths = words(project)
        self.calls = calls(self.names, self.paths)
        self.lock = threading.Lock()
        self.times, self.errors, self.served = {}, {}, set()
        self.withdrawn = self.edits = 0
        self.lost = []
        self.samples = []
        self.workers = []
        self.problems = []

    def goes_on(self):
        """Whether there is time left."""
        return time.monotonic() < self.until and self.server.process.poll() is None

    def ask_once(self):
        """One call, waited for or withdrawn."""
        tool, make = random.choice(self.calls)
        arguments = make()
        begun = time.monotonic()
        number = self.server.call(tool, arguments, progress=random.random() < 0.3)
        if random.random() < WITHDRAWN:
            self.server.wait(number, random.random() * MOST_PATIENCE)
            if self.server.cancel(number):
                with self.lock:
                    self.withdrawn += 1
                return
        answer = self.server.wait(number, LONGEST)
        with self.lock:
            if answer is None:
                self.lost.append(f"{tool} {json.dumps(arguments)[:120]}")
                return
            result = answer[0]
            self.times.setdefault(tool, []).append((answer[1] - begun) * 1000)
            if "content" not in result or result.get("isError"):
                text = result["content"][0]["text"] if "content" in result else json.dumps(result)
                kind = re.sub(r"`[^`]*`|\d+", "_", text.splitlines()[0])[:70]
                self.errors[kind] = self.errors.get(kind, 0) + 1
            else:
                self.served.add(tool)

    def warm_up(self, tool, make):
        """Asks a tool once, and again if what was drawn had no answer and the tool has given none yet."""
        for _ in range(20):
            answer = self.server.wait(self.server.call(tool, make()), LONGEST)
            if answer and "content" in answer[0] and not answer[0].get("isError"):
                self.served.add(tool)
            if tool in self.served:
                return

    def unseen(self):
        """Functions that the editor made and that a search does not find where they are."""
        wrong = []
        for number in range(21):
            path = f"load_{number}.py"
            own = os.path.join(self.project, path)
            if not os.path.exists(own):
                continue
            with open(own, encoding="utf-8") as file:
                name = re.search(r"made_\d+", file.read()).group()
            if path not in self.server.text("search", {"query": name}, LONGEST):
                wrong.append(f"{name} in {path}")
        return wrong

    def edit_once(self):
        """Changes, makes or removes a file."""
        path = os.path.join(self.project, random.choice(self.paths))
        own = os.path.join(self.project, f"load_{random.randint(0, 20)}.py")
        step = random.random()
        if step < 0.5:
            with open(path, "a", encoding="utf-8") as file:
                file.write("\n")
        elif step < 0.8:
            with open(own, "w", encoding="utf-8") as file:
                file.write(f"def made_{random.randint(0, 10**6)}():\n    return {random.choice(self.names)}()\n")
        elif os.path.exists(own):
            os.remove(own)
        self.edits += 1

    def sample(self):
        """The size of the process, and the processes that it has started."""
        self.workers = sorted({*self.workers, *self.server.children()})
        self.samples.append((self.server.memory(), self.server.descriptors(), self.server.threads()))

    def run(self, callers, seconds):
        """Callers, editor and observer at work for a number of seconds."""
        self.until = time.monotonic() + seconds
        threads = [threading.Thread(target=self.repeat, args=(self.ask_once, 0.0)) for _ in range(callers)]
        threads.append(threading.Thread(target=self.repeat, args=(self.edit_once, 0.7)))
        threads.append(threading.Thread(target=self.repeat, args=(self.sample, 0.5)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def repeat(self, work, pause):
        """Does something until the end, with a pause in between; a failure is a problem of the run."""
        done = threading.Event()
        while self.goes_on():
            try:
                work()
            except Exception as error:  # noqa: BLE001 -- any exception is a failure that the run reports
                with self.lock:
                    self.problems.append(f"{work.__name__}: {type(error).__name__}: {error}")
                return
            done.wait(pause)


def at_rest(server, baseline, patience=60.0):
    """Waits until nothing runs and the stores are closed. Gives the last state and the number of descriptors."""
    until = time.monotonic() + patience
    pause = threading.Event()
    while True:
        state = server.text("status", {"budget": 4000})
        quiet = "1 request in flight" in state and "; 0 calls not stopped" in state and "index runs:" not in state
        # The question has opened the store: its descriptors are closed after the idle time, without questions.
        pause.wait(2.5)
        descriptors = server.descriptors()
        if (quiet and descriptors <= baseline) or time.monotonic() > until:
            return quiet, descriptors


def main():
    """Runs the load and judges it."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", metavar="PATH", default=RELEASE)
    parser.add_argument("--project", metavar="DIR", default=ROOT, help="a project; a copy of it is queried and changed")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="default 20")
    parser.add_argument("--callers", type=int, default=8, metavar="N", help="default 8")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the random choices, default 1")
    options = parser.parse_args()
    random.seed(options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        project = copy_project(options.project, os.path.join(scratch, "project"))
        command = [options.bin, "mcp", "--root", project, "--idle-ms", "1000"]
        server = Server(command, with_cache(os.path.join(scratch, "cache")))
        server.hello()
        load = Load(server, project)
        # The index, every tool once, and the same load for a while: what a server needs in any case is not growth.
        while "up to date" not in server.text("status", {}):
            server.text("search", {"query": "main"}, LONGEST)
        for tool, make in load.calls:
            load.warm_up(tool, make)
        load.run(options.callers, max(2.0, options.seconds / 10))
        _, baseline_descriptors = at_rest(server, 0, patience=2.0)
        baseline_memory = server.memory()
        load.samples.clear()
        load.run(options.callers, options.seconds)
        unseen = load.unseen() if server.process.poll() is None else ["the server has ended"]
        quiet, descriptors = at_rest(server, baseline_descriptors)
        children = server.children()
        memory = server.memory()
        unanswered = server.unanswered()
        code = server.end()
        left = [child for child in children + load.workers if os.path.exists(f"/proc/{child}") and is_ours(child, options.bin)]
        sizes = {"memory, MB": (baseline_memory, memory, 1e6), "descriptors": (baseline_descriptors, descriptors, 1)}
        return judge(load, server, code, (quiet, unanswered, unseen), (children, left), sizes)


def is_ours(process, binary):
    """Whether a process runs the program that was tested."""
    try:
        return os.path.samefile(f"/proc/{process}/exe", binary)
    except OSError:
        return False


def judge(load, server, code, state, processes, sizes):
    """Prints what was seen and whether it is right."""
    (quiet, unanswered, unseen), (resting, left) = state, processes
    idle = sorted({tool for tool, _ in load.calls} - load.served)
    rows = [("ms", "answered", "p50", "p99", "most")]
    for tool, times in sorted(load.times.items()):
        rows.append((tool, len(times), f"{percentile(times, 0.5):.0f}", f"{percentile(times, 0.99):.0f}", f"{max(times):.0f}"))
    table(rows)
    print(f"withdrawn {load.withdrawn}, edits {load.edits}; errors that were reported, by kind:")
    for kind, count in sorted(load.errors.items(), key=lambda item: -item[1])[:12]:
        print(f"  {count} {kind}")
    quarter = max(1, len(load.samples) // 4)
    rows = [("size of the process", "baseline", "2nd quarter", "last quarter", "most", "after")]
    growth = []
    for at, (name, (before, after, unit)) in enumerate(sizes.items()):
        values = [sample[at] for sample in load.samples] or [0]
        early, late = (sum(part) / len(part) for part in (values[quarter : 2 * quarter] or values, values[-quarter:]))
        growth.append((early, late))
        rows.append((name, *(f"{value / unit:.0f}" for value in (before, early, late, max(values), after))))
    table(rows)
    memory, descriptors = (size[:2] for size in sizes.values())
    checks = [
        ("every call that was not withdrawn is answered", not load.lost and not unanswered, load.lost[:3] or unanswered[:5]),
        ("no call is answered twice, or after it was withdrawn", not server.faults, server.faults[:3]),
        ("every tool gives answers that are no errors", not idle, idle),
        ("what was edited last is found", not unseen, unseen[:3]),
        ("callers, editor and observer worked to the end", load.edits and load.samples and not load.problems, load.problems[:3]),
        ("nothing runs or waits afterwards", quiet, ""),
        # They parse the next changed file, and go when none comes for a minute.
        ("no more processes wait for changes than files are parsed at once", len(resting) <= os.cpu_count(), resting),
        ("no process is left behind", not left, left),
        ("descriptors are back", descriptors[1] <= descriptors[0], descriptors),
        ("memory is back", memory[1] <= memory[0] * 1.1 + SPARE, [f"{value / 1e6:.0f} MB" for value in memory]),
        ("memory does not grow", growth[0][1] <= growth[0][0] * 1.1 + SPARE, [f"{value / 1e6:.0f} MB" for value in growth[0]]),
        ("the end of input ends the process with 0", code == 0, code),
    ]
    return verdict(checks)
