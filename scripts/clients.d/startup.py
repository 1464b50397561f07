"""The burst with which a real client starts an MCP server, as a smoke test of the built binary. Standard library only.

    scripts/clients startup PATH/TO/cograph             every set-up once, after a check of the test itself
    scripts/clients startup PATH/TO/cograph --spawns N  also N starts in a row: p50 and p99 of both answers

One write carries `initialize`, `notifications/initialized` and `tools/list`, and standard input stays open: a server that
tests its descriptor for readiness below a buffered reader leaves `tools/list` unanswered, because the descriptor is empty
while the buffer is not. Both answers must be there within a second, complete, with nothing else on standard output;
then the end of input must end the process with code 0. The same must hold with an empty cache, with a store that another
process has locked, and with a cache that cannot be read, because nothing of that may be read before the first call.
"""
import contextlib
import glob
import json
import os
import select
import subprocess
import sys
import tempfile
import time

from base import command_line, percentile, with_cache, write_files

# As captured from a client, byte for byte: key order and id 0 included.
BURST = (
    b'{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"elicitation":{"form":{},"url":{}}},'
    b'"clientInfo":{"name":"claude-code","version":"2.1.80"}},"jsonrpc":"2.0","id":0}\n'
    b'{"method":"notifications/initialized","jsonrpc":"2.0"}\n'
    b'{"method":"tools/list","jsonrpc":"2.0","id":1}\n'
)
TOOLS = {"explore", "search", "show", "outline", "trace", "references", "impact", "overview", "grep", "sql", "status"}
LIMIT = 1.0
EXIT_LIMIT = 2.0
QUIET = 0.1

# A loop of the broken kind, and the same loop without the fault: the test must tell one from the other.
LOOP = """
import json, select, sys
tools = [{"name": name, "description": "d", "inputSchema": {"type": "object"}} for name in %r]
results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}},
           "tools/list": {"tools": tools}}
while True:
    if POLLS:
        select.select([sys.stdin], [], [], 60)
    line = sys.stdin.buffer.readline()
    if not line:
        break
    message = json.loads(line)
    if "id" in message:
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        sys.stdout.write(json.dumps(answer) + "\\n")
        sys.stdout.flush()
""" % sorted(TOOLS)


class Failure(Exception):
    """What the server did wrong."""


def answers_in(data):
    """Whole lines that are not a request of the server."""
    return sum(b'"method":' not in line for line in data.split(b"\n")[:-1])


def read_lines(stream, count, deadline):
    """Lines of the stream until there are `count` answers, the deadline, or the end."""
    data = b""
    while answers_in(data) < count:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([stream], [], [], left)[0]:
            break
        chunk = os.read(stream.fileno(), 1 << 16)
        if not chunk:
            break
        data += chunk
    return data


def check_answers(data):
    """Both answers, in order, complete, and nothing else."""
    lines = data.split(b"\n")
    if lines.pop() != b"":
        raise Failure("the last line on stdout is not complete")
    try:
        messages = [json.loads(line) for line in lines]
    except ValueError as error:
        raise Failure(f"stdout holds something that is not JSON: {error}") from error
    if [message.get("id", "none") for message in messages] != [0, 1]:
        raise Failure(f"expected answers to the ids 0 and 1, got {[message.get('id', 'none') for message in messages]}")
    for message in messages:
        if type(message["id"]) is not int or message.get("jsonrpc") != "2.0" or "result" not in message:
            raise Failure(f"not a result: {json.dumps(message)[:200]}")
    first, second = (message["result"] for message in messages)
    if first.get("protocolVersion") != "2025-11-25" or "tools" not in first.get("capabilities", {}):
        raise Failure(f"not an answer to initialize: {json.dumps(first)[:200]}")
    if "nextCursor" in second:
        raise Failure("tools/list has more than one page")
    listed = second.get("tools", [])
    if {tool["name"] for tool in listed} != TOOLS or len(listed) != len(TOOLS):
        raise Failure(f"tools/list is not complete: {sorted(tool['name'] for tool in listed)}")
    for tool in listed:
        if not tool.get("description") or tool.get("inputSchema", {}).get("type") != "object":
            raise Failure(f"{tool['name']} is not described")


def session(command, environment=None, directory=None):
    """One start, one burst, the answers, the end. Gives the seconds until both answers were there."""
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=directory, bufsize=0
    )
    try:
        process.stdin.write(BURST)
        data = read_lines(process.stdout, 2, started + LIMIT)
        elapsed = time.monotonic() - started
        if answers_in(data) < 2:
            raise Failure(f"{answers_in(data)} of 2 answers within {LIMIT} s, with stdin held open")
        data += read_lines(process.stdout, 1, time.monotonic() + QUIET)
        check_answers(data)
        process.stdin.close()
        try:
            code = process.wait(EXIT_LIMIT)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"still alive {EXIT_LIMIT} s after the end of input") from error
        rest = process.stdout.read()
        if code != 0 or rest:
            raise Failure(f"exit code {code}, {len(rest)} more bytes on stdout")
        return elapsed
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def check_the_test():
    """The test must fail on the broken loop and pass the same loop without the fault."""
    session([sys.executable, "-c", "POLLS = False\n" + LOOP])
    try:
        session([sys.executable, "-c", "POLLS = True\n" + LOOP])
    except Failure:
        return
    raise Failure("the test does not see a loop that polls the descriptor under a buffered reader")


# Locks the files until standard input ends.
HOLD = """
import fcntl, sqlite3, sys
held = []
for path in sys.argv[1:]:
    if path.endswith(".db"):
        held.append(sqlite3.connect(path, isolation_level=None))
        held[-1].execute("BEGIN EXCLUSIVE")
    else:
        held.append(open(path, "rb+"))
        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
print("held", flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def locked_store(binary, cache, repository):
    """A cache whose store is locked in every way that another process can: the writer's lock, and SQLite's own."""
    environment = with_cache(cache)
    subprocess.run([binary, "index", repository], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stores = glob.glob(os.path.join(cache, "**", "*.db"), recursive=True)
    locks = glob.glob(os.path.join(cache, "**", "*.lock"), recursive=True)
    if not stores or not locks:
        raise Failure(f"indexing left no store or no lock file in {cache}")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, *stores, *locks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        if holder.stdout.readline().strip() != "held":
            raise Failure("the store could not be locked")
        yield environment
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()


def set_ups(binary, scratch):
    """Every set-up: its name and what to start it with."""
    repository = os.path.join(scratch, "repository")
    write_files(repository, {"a.py": "def helper(x):\n    return x\n\n\ndef main():\n    return helper(1)\n"})

    def cache(name):
        return with_cache(os.path.join(scratch, name))

    yield "as it is", dict(os.environ), repository
    yield "empty cache", cache("cold"), repository
    with locked_store(binary, os.path.join(scratch, "locked"), repository) as environment:
        yield "locked store", environment, repository
    forbidden = os.path.join(scratch, "forbidden")
    os.mkdir(forbidden, 0o000)
    yield "unreadable cache", cache("forbidden"), repository
    os.chmod(forbidden, 0o700)
    # The same for the superuser, whom permissions do not stop.
    with open(os.path.join(scratch, "file"), "w", encoding="utf-8"):
        pass
    yield "cache is a file", cache("file"), repository
    yield "almost empty environment", {"PATH": os.environ.get("PATH", "")}, "/"


def main():
    """Runs everything; the exit code says whether all of it held."""
    parser = command_line(__doc__)
    parser.add_argument("binary")
    parser.add_argument("--spawns", type=int, default=0, metavar="N", help="also start N times in a row and print p50 and p99")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    command = [binary, "mcp"]
    failures = 0
    try:
        check_the_test()
        print("ok      the test itself: sees the broken loop, passes the sound one")
        with tempfile.TemporaryDirectory() as scratch:
            for name, environment, directory in set_ups(binary, scratch):
                try:
                    print(f"ok      {name}: both answers after {session(command, environment, directory) * 1000:.0f} ms")
                except Failure as failure:
                    failures += 1
                    print(f"FAILED  {name}: {failure}")
            if arguments.spawns:
                environment = with_cache(os.path.join(scratch, "spawns"))
                times = sorted(session(command, environment, scratch) for _ in range(arguments.spawns))
                p50, p99 = (percentile(times, share) * 1000 for share in (0.5, 0.99))
                print(f"ok      {arguments.spawns} starts: p50 {p50:.0f} ms, p99 {p99:.0f} ms, most {times[-1] * 1000:.0f} ms")
    except Failure as failure:
        failures += 1
        print(f"FAILED  {failure}")
    return 1 if failures else 0
