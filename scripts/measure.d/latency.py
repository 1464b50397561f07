"""How long a client waits for what must be answered at once: `tools/list` after a start, `ping` and `tools/list` under load.

    scripts/measure latency                           200 starts of each kind, and 20 seconds under load, with the release build
    scripts/measure latency --bin PATH --spawns N     of another build
    scripts/measure latency --project DIR             the project that is indexed as a whole during the load; default: this one

Starts: everything in one write (`initialize`, `notifications/initialized`, `tools/list`) with a filled cache and with an
empty one; the same without the burst; and `server/discover` alone. Load: 20 calls that never end by themselves, with two permits
for them, and the first index of a whole project, while one caller asks for `ping` and `tools/list` in turn.
The exit code is 1 if the 99th percentile of a start or of an answer under load is over its limit (--most-start, --most-busy, ms).
"""
import json
import os
import subprocess
import tempfile
import threading
import time

from base import command_line, copy_project, percentile, RELEASE, ROOT, table, with_cache, write_files
from client import HELLO, Server

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
# Copies of the project that are indexed for the first time while the server is under load, one after the other.
COPIES = 4
STATELESS = {
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
}


def burst(server):
    """Everything in one write; gives the time of the last answer."""
    numbers = [next(server.ids) for _ in range(2)]
    for number in numbers:
        server.waiting[number] = threading.Event()
    server.send(
        {"id": numbers[0], "method": "initialize", "params": HELLO},
        {"method": "notifications/initialized"},
        {"id": numbers[1], "method": "tools/list", "params": {}},
    )
    return server.wait(numbers[1], 10)


def steps(server):
    """One after the other."""
    server.hello()
    return server.wait(server.start("tools/list"), 10)


def discover(server):
    """The probe of a client of the stateless era."""
    return server.wait(server.start("server/discover", STATELESS), 10)


def starts(binary, repository, scratch, count):
    """Rows of milliseconds from the start of the process to the answer."""
    warm = os.path.join(scratch, "warm")
    subprocess.run([binary, "index", repository], env=with_cache(warm), check=True, capture_output=True)
    for name, first, cold in (
        ("start, burst", burst, False),
        ("start, burst, empty cache", burst, True),
        ("start, step by step", steps, False),
        ("start, server/discover", discover, False),
    ):
        times = []
        for number in range(count):
            cache = os.path.join(scratch, f"cold{number}") if cold else warm
            server = Server([binary, "mcp", "--root", repository], with_cache(cache))
            answer = first(server)
            if answer is None:
                raise SystemExit(f"{name}: not answered within 10 s")
            times.append((answer[1] - server.started) * 1000)
            if server.end() != 0 or server.faults:
                raise SystemExit(f"{name}: it did not end well: {server.faults}")
        yield name, times


def load(binary, repository, project, scratch, seconds):
    """Rows of milliseconds for `ping` and `tools/list` while 20 calls and an index run keep the server busy."""
    server = Server([binary, "mcp", "--root", repository, "--permits", "2"], with_cache(os.path.join(scratch, "load")))
    server.hello()
    server.text("search", {"query": "helper"})
    times = {"ping": [], "tools/list": []}
    # Copied beforehand: that is the disk's time, not the server's. When the last of them is indexed, the first changes nothing.
    copies = [os.path.join(scratch, f"project{number}") for number in range(COPIES)]
    for copy in copies:
        copy_project(project, copy)
    runs = 0
    begun = time.monotonic()
    heavy, index = [], None
    while time.monotonic() < begun + seconds:
        # As one of the endless calls is stopped by its time limit, another one takes its place.
        heavy = [number for number in heavy if number in server.waiting]
        heavy += [server.call("sql", {"statement": ENDLESS}) for _ in range(20 - len(heavy))]
        if index is None or index not in server.waiting:
            index = server.call("search", {"query": "a", "root": copies[runs % COPIES]})
            runs += 1
        for method in times:
            times[method].append(server.ask(method)[1] * 1000)
        # A caller that never rests would measure itself; this is a client's wait between two requests, not a wait for anything.
        time.sleep(0.005)
    state = server.text("status", {})
    in_flight = len([number for number in heavy if number in server.waiting])
    for number in heavy + [index]:
        if number in server.waiting:
            server.cancel(number)
    server.end()
    if server.faults:
        raise SystemExit(f"under load: {server.faults[:3]}")
    print(f"under load: {in_flight} endless calls in flight at the end, {min(runs, COPIES)} first indexes begun")
    print(f"  {next(line for line in state.splitlines() if line.startswith('server '))}")
    for method, values in times.items():
        yield f"{method}, under load", values


def main():
    """Measures and prints a table."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", metavar="PATH", default=RELEASE)
    parser.add_argument("--spawns", type=int, default=200, metavar="N", help="starts of each kind, default 200")
    parser.add_argument("--seconds", type=float, default=20, metavar="S", help="time under load, default 20")
    parser.add_argument("--project", metavar="DIR", default=ROOT, help="what is indexed under load")
    parser.add_argument("--most-start", type=float, default=1000, metavar="MS", help="limit for the p99 of a start, default 1000")
    parser.add_argument("--most-busy", type=float, default=200, metavar="MS", help="limit for the p99 under load, default 200")
    parser.add_argument("--json", metavar="FILE", help="write the figures there as well")
    options = parser.parse_args()
    rows, figures, failures = [("ms", "n", "p50", "p99", "most")], {}, 0
    with tempfile.TemporaryDirectory() as scratch:
        repository = os.path.join(scratch, "repository")
        write_files(repository, {"a.py": "def helper(x):\n    return x\n\n\ndef main():\n    return helper(1)\n"})
        measured = [(options.most_start, row) for row in starts(options.bin, repository, scratch, options.spawns)]
        measured += [(options.most_busy, row) for row in load(options.bin, repository, options.project, scratch, options.seconds)]
        for limit, (name, times) in measured:
            p50, p99, most = percentile(times, 0.5), percentile(times, 0.99), max(times)
            rows.append((name, len(times), f"{p50:.1f}", f"{p99:.1f}", f"{most:.1f}" + ("" if p99 <= limit else "  OVER")))
            figures[name] = {"n": len(times), "p50": p50, "p99": p99, "most": most}
            failures += p99 > limit
    table(rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    return 1 if failures else 0
