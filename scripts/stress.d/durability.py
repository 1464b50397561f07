"""Holds the index to what it promises when things go wrong: processes killed at any moment, several of them at work, long rest.

    scripts/stress durability crash    [--rounds 300]   kill -9 at random moments of whole builds, of changes, of several processes at once
    scripts/stress durability together [--minutes 5]    two servers, a command that watches and one that indexes, all on one repository
    scripts/stress durability idle     [--seconds 65]   a server that has answered about 16 repositories and is then left alone

Each prints what it did and ends with exit code 0 if every check held. `--binary` names the program (default: the release build, or
else the debug build), `--seed` repeats the random choices of an earlier run.
"""
import glob
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from base import command_line, ROOT

def main():
    parser = command_line(__doc__)
    parser.add_argument("check", choices=["crash", "together", "idle"])
    parser.add_argument("--binary", type=pathlib.Path, help="the program")
    parser.add_argument("--rounds", type=int, default=300, help="of `crash`")
    parser.add_argument("--minutes", type=float, default=5, help="of `together`")
    parser.add_argument("--seconds", type=float, default=65, help="of `idle`")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    builds = [ROOT / "target" / kind / "cograph" for kind in ("release", "debug")]
    binary = options.binary or next((path for path in builds if path.exists()), None)
    if binary is None:
        parser.error("there is no build: run `cargo build --release`, or name the program with --binary")
    print(f"{options.check} with seed {options.seed}", flush=True)
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="durability-") as place:
        place = pathlib.Path(place).resolve()
        started = time.monotonic()
        CHECKS[options.check](Place(place, binary.resolve()), options)
        print(f"held, {time.monotonic() - started:.0f} s")


def fail(message):
    print(f"broken: {message}", file=sys.stderr)
    sys.exit(1)


class Place:
    """A directory with repositories and one cache."""

    def __init__(self, top, binary):
        self.top, self.binary, self.cache = top, binary, top / "cache"
        self.root = top / "repository"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("COGRAPH_", "CLAUDE_"))}
        self.environment["COGRAPH_CACHE_DIR"] = str(self.cache)

    def start(self, *arguments, **settings):
        """Starts the program in a process group of its own, so that it can be killed with all that it starts."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **settings}
        return subprocess.Popen([self.binary, *arguments], cwd=self.root, env=self.environment, start_new_session=True, **settings)

    def index(self, *arguments):
        done = subprocess.run([self.binary, "index", "--json", *arguments], cwd=self.root, env=self.environment, capture_output=True)
        if done.returncode:
            fail(f"index ends with {done.returncode}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    def store_directory(self):
        found = [path for path in self.cache.glob("*") if path.is_dir()]
        return found[0] if found else None

    def stores(self):
        """The store's files, newest generation first."""
        directory = self.store_directory()
        paths = directory.glob("v*-*.db") if directory else []
        return sorted(paths, key=lambda path: int(path.stem.split("-")[1]), reverse=True)


def contents(store):
    """A digest of all that a store says, without its keys, or what is wrong with it. A copy of the store is read."""
    with tempfile.TemporaryDirectory() as copy:
        for part in glob.glob(glob.escape(str(store)) + "*"):
            if not part.endswith("-shm"):
                shutil.copy(part, copy)
        connection = sqlite3.connect(os.path.join(copy, store.name))
        connection.text_factory = bytes
        verdict = connection.execute("PRAGMA integrity_check").fetchall()
        if verdict != [(b"ok",)]:
            return None, f"integrity_check says {verdict}"
        digest = hashlib.sha256()
        for line in sorted(lines(connection)):
            digest.update(line)
        connection.close()
        return digest.hexdigest(), None


def lines(connection):
    def rows(view):
        cursor = connection.execute(f"SELECT * FROM {view}")
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row)) for row in cursor)

    # Files, symbols and sites are named by where they are.
    files = {row["id"]: row["path"] for row in rows("files")}
    symbols = {row["id"]: (row["path"], row["line"], row["end_line"], row["kind"], row["name"], row["signature"]) for row in rows("symbols")}
    sites = {row["id"]: (row["path"], row["line"], row["col"], row["kind"], row["name"]) for row in rows("refs")}
    for view in ("files", "symbols", "refs", "candidates", "imports", "relations", "problems", "file_edges"):
        for row in rows(view):
            row.pop("id", None)
            for column in row:
                if column == "site_id":
                    row[column] = sites[row[column]]
                elif column == "file_id":
                    row[column] = files[row[column]]
                elif column.endswith("_id") and row[column] is not None:
                    row[column] = symbols[row[column]]
            yield repr((view, sorted(row.items()))).encode()


class Versions:
    """A repository that is in one of two versions: some files differ, some are there in one of them only."""

    def __init__(self, place, files=120, differing=12):
        self.place, self.version = place, 0
        (place.root / ".git").mkdir(parents=True)
        self.files = [{}, {}]
        for number in range(files):
            other = (number + 1) % files
            for version in (0, 1):
                body = f"    return other_{other}(1)\n" if version == 0 or number >= differing else f"    return {number}\n\ndef more_{number}():\n    return work_{number}(2)\n"
                self.files[version][f"part_{number % 7}/file_{number}.py"] = (
                    f"from part_{other % 7}.file_{other} import work_{other} as other_{other}\n\n\ndef work_{number}(value):\n{body}"
                )
        del self.files[0]["part_3/file_3.py"], self.files[1]["part_4/file_4.py"]
        self.write(0)

    def write(self, version):
        old, new = self.files[self.version], self.files[version]
        for path in old.keys() - new.keys():
            (self.place.root / path).unlink(missing_ok=True)
        for path, text in new.items():
            target = self.place.root / path
            if not target.exists() or target.read_text() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
        self.version = version


class Server:
    """A server and a client that asks one question at a time."""

    def __init__(self, place, *arguments):
        self.process = place.start("mcp", *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "durability", "version": "1"}}
        self.request("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def request(self, method, parameters):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the server has ended")
            message = json.loads(line)
            if message.get("id") == self.number and "method" not in message:
                return message

    def ask(self, tool, **arguments):
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer or answer["result"].get("isError"):
            fail(f"{tool} {arguments}: {answer}")
        return answer["result"]["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        if self.process.wait(timeout=10) != 0:
            fail(f"a server ends with {self.process.returncode}")


def kill(process, whole):
    """Kills a process, or its whole group."""
    try:
        os.killpg(process.pid, signal.SIGKILL) if whole else process.kill()
    except ProcessLookupError:
        pass
    process.wait()


def crash(place, options):
    versions = Versions(place)
    began = time.monotonic()
    place.index("--force")
    whole = time.monotonic() - began
    expected = {}
    for version in (1, 0):
        versions.write(version)
        place.index("--force")
        expected[version], wrong = contents(place.stores()[0])
        if wrong:
            fail(wrong)
    if expected[0] == expected[1]:
        fail("the two versions have the same contents: they cannot be distinguished")
    tally = {"whole": 0, "change": 0, "server": 0, "old": 0, "new": 0, "ended first": 0}
    for number in range(options.rounds):
        kind = random.choice(["whole", "change", "server"])
        tally[kind] += 1
        server = Server(place) if kind == "server" else None
        if server:
            server.ask("search", query="work_1")
        before, _ = contents(place.stores()[0])
        if kind != "whole" or random.random() < 0.5:
            versions.write(1 - versions.version)
        if server:
            asking = threading.Thread(target=ask_to_the_end, args=[server])
            asking.start()
            running = [server.process]
        else:
            arguments = ["index", "--json"] + (["--force"] if kind == "whole" else [])
            running = [place.start(*arguments) for _ in range(random.choice([1, 1, 2, 3]))]
        time.sleep(random.random() * whole * 1.2)
        tally["ended first"] += all(process.poll() is not None for process in running)
        for process in running:
            kill(process, random.random() < 0.7)
        if server:
            asking.join()
        # A worker whose parent was killed ends by itself; what it publishes until then is whole too.
        after, wrong = contents(place.stores()[0])
        if wrong:
            fail(f"round {number} ({kind}): {wrong}")
        allowed = {before: "old", expected[versions.version]: "new"}
        if after not in allowed:
            fail(f"round {number} ({kind}): the contents are neither those before nor those of the files")
        tally[allowed[after]] += 1
        if number % 10 == 9:
            place.index()
            after, wrong = contents(place.stores()[0])
            if wrong or after != expected[versions.version]:
                fail(f"round {number}: a run that was left alone does not bring the index up to date: {wrong}")
        if number % 50 == 49:
            print(f"{number + 1} rounds: {tally}", flush=True)
    place.index("--force")
    left = [path.name for path in place.store_directory().iterdir()]
    if len(place.stores()) != 1 or any("building" in name for name in left):
        fail(f"files are left behind: {left}")
    print(f"{options.rounds} rounds: {tally}; at the end: {sorted(left)}")


def ask_to_the_end(server):
    try:
        for number in range(1000):
            server.request("tools/call", {"name": "search", "arguments": {"query": f"work_{number % 100}"}})
    except (EOFError, OSError, ValueError):
        pass


def together(place, options):
    Versions(place, files=60)
    place.index()
    servers = [Server(place), Server(place)]
    watching = place.start("index", "--watch", stdout=subprocess.PIPE)
    threading.Thread(target=lambda: [None for _ in watching.stdout], daemon=True).start()
    until, edits, late, indexes, slowest = time.monotonic() + options.minutes * 60, 0, 0, 0, 0.0
    running = None
    while time.monotonic() < until:
        edits += 1
        path = place.root / f"part_{edits % 7}/edited_{edits % 5}.py"
        path.write_text(f"def mark_{edits}():\n    return {edits}\n")
        saved = time.monotonic()
        if running is None or running.poll() is not None:
            if running is not None and running.returncode != 0:
                fail(f"index ends with {running.returncode}")
            running, indexes = place.start("index", "--json"), indexes + 1
        for server in servers:
            while True:
                asked = time.monotonic()
                text = server.ask("search", query=f"mark_{edits}")
                if f"mark_{edits}()" in text:
                    break
                if "up to date" in text:
                    fail(f"edit {edits}: an answer that calls itself up to date does not have it: {text}")
                late += 1
                if asked - saved > 1:
                    fail(f"edit {edits}: not in an answer asked for {asked - saved:.2f} s after it was saved: {text}")
            slowest = max(slowest, time.monotonic() - saved)
        building = list(place.store_directory().glob("*.building"))
        if len(building) > 1:
            fail(f"more than one writer: {building}")
        time.sleep(random.random() * 0.3)
    if watching.poll() is not None:
        fail(f"index --watch has ended with {watching.returncode}")
    kill(watching, True)
    running.wait()
    for server in servers:
        server.end()
    place.index()
    after, wrong = contents(place.stores()[0])
    place.index("--force")
    fresh, _ = contents(place.stores()[0])
    if wrong or after != fresh:
        fail(f"the contents at the end are not those of a fresh build: {wrong}")
    print(f"{edits} edits, {indexes} runs of index next to two servers and a watch; {late} answers said that they were behind, "
          f"the slowest that had the edit came {slowest:.2f} s after it")


def idle(place, options):
    roots = []
    for number in range(16):
        place.root = place.top / f"repository_{number}"
        Versions(place, files=20)
        roots.append(place.root)
    server = Server(place)
    for root in roots:
        server.ask("search", query="work_1", root=str(root))
    pid = server.process.pid

    def held():
        links = (os.readlink(path) for path in glob.glob(f"/proc/{pid}/fd/*"))
        return sum(".db" in link or "inotify" in link for link in links)

    def status(name, path=f"/proc/{pid}/status"):
        return next((int(line.split()[1]) for line in open(path) if line.startswith(name)), 0)

    def switches():
        """How often each thread has gone to sleep."""
        found = {}
        for path in glob.glob(f"/proc/{pid}/task/*"):
            name = open(f"{path}/comm").read().strip()
            found[name] = found.get(name, 0) + status("voluntary_ctxt_switches", f"{path}/status")
        return found

    busy = held()
    time.sleep(options.seconds)
    rest, memory, before, span = held(), status("VmRSS") / 1024, switches(), 10
    time.sleep(span)
    after = switches()
    wakes = {name: (after[name] - before.get(name, 0)) / span for name in after if after[name] > before.get(name, 0)}
    workers = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    print(f"descriptors of stores and watches: {busy} after 16 questions, {rest} after {options.seconds:.0f} s; "
          f"{memory:.1f} MB; wake-ups a second by thread: {wakes}; {len(workers)} processes")
    if busy == 0:
        fail("no store or watch was open: the check has no evidence")
    # The housekeeping of the dispatcher, on the main thread: once a second, and the timer's own rounding.
    if rest or workers or memory > 30 or set(wakes) - {"cograph"} or sum(wakes.values()) > 3:
        fail("a server at rest holds on to something")
    server.ask("search", query="work_1", root=str(roots[3]))
    server.end()


CHECKS = {"crash": crash, "together": together, "idle": idle}