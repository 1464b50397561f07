"""A client of the server for measurements: one process, any number of requests in flight, and a record of every fault in how
they are answered. Standard library only."""
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}}


def children_of(process):
    """Processes that a process has started and that still run."""
    found = []
    try:
        tasks = os.listdir(f"/proc/{process}/task")
    except FileNotFoundError:
        return found  # it has ended itself
    for task in tasks:
        try:
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            pass  # the thread has just ended
    return found


class Server:
    """One server process and everything that it answers.

    `faults` lists what may never happen: a second answer, an answer to nothing, an answer after a cancellation was processed,
    a line that is no message."""

    def __init__(self, command, environment=None, directory=None):
        self.started = time.monotonic()
        # The server would block on the log if it were a pipe that is not read.
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, env=environment, cwd=directory, bufsize=0
        )
        self.ids = itertools.count(1)
        self.lock = threading.Lock()
        self.waiting = {}  # id -> Event, until it is answered or given up
        self.answers = {}  # id -> (result or error, time)
        self.cancelled = set()  # may still be answered: the answer may have been under way
        self.dead = set()  # cancelled, and the server has read that: must not be answered any more
        self.faults = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            now = time.monotonic()
            try:
                message = json.loads(line)
            except ValueError:
                self.faults.append(f"not a message: {line[:100]!r}")
                continue
            if "method" in message:
                continue
            number = message.get("id")
            with self.lock:
                if number in self.dead:
                    self.faults.append(f"answered after it was cancelled: {number}")
                elif number in self.cancelled:
                    self.cancelled.discard(number)
                    self.dead.add(number)
                elif number in self.answers or number not in self.waiting:
                    self.faults.append(f"answered twice or never asked: {line[:100]!r}")
                else:
                    self.answers[number] = (message.get("result", message.get("error")), now)
                    self.waiting.pop(number).set()

    def send(self, *messages):
        """Writes messages in one piece."""
        data = b"".join(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n" for message in messages)
        with self.lock:
            self.process.stdin.write(data)

    def start(self, method, params=None):
        """Sends a request. Gives its id."""
        number = next(self.ids)
        with self.lock:
            self.waiting[number] = threading.Event()
        self.send({"id": number, "method": method, "params": params or {}})
        return number

    def call(self, tool, arguments, progress=False):
        """Sends a call of a tool. Gives its id."""
        meta = {"_meta": {"progressToken": f"p{time.monotonic_ns()}"}} if progress else {}
        return self.start("tools/call", {"name": tool, "arguments": arguments, **meta})

    def wait(self, number, timeout=60.0):
        """The answer to an id and the time when it came; None if it does not come."""
        with self.lock:
            event = self.waiting.get(number)
        if event is not None and not event.wait(timeout):
            return None
        with self.lock:
            return self.answers.get(number)

    def ask(self, method, params=None, timeout=60.0):
        """Sends a request and waits. Gives the result and the seconds it took."""
        begun = time.monotonic()
        answer = self.wait(self.start(method, params), timeout)
        if answer is None:
            raise TimeoutError(f"{method} was not answered within {timeout} s")
        return answer[0], answer[1] - begun

    def text(self, tool, arguments, timeout=60.0):
        """Calls a tool and waits. Gives its text."""
        result, _ = self.ask("tools/call", {"name": tool, "arguments": arguments}, timeout)
        return result["content"][0]["text"] if "content" in result else json.dumps(result)

    def cancel(self, number):
        """Withdraws a request, unless it is answered already. From the answer to the ping on, it may not be answered."""
        with self.lock:
            if self.waiting.pop(number, None) is None:
                return False
            self.cancelled.add(number)
        self.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        self.ask("ping")
        with self.lock:
            self.cancelled.discard(number)
            self.dead.add(number)
        return True

    def hello(self):
        """Shakes hands."""
        self.ask("initialize", HELLO)
        self.send({"method": "notifications/initialized"})

    def unanswered(self):
        """Ids that still wait."""
        with self.lock:
            return sorted(self.waiting)

    def memory(self):
        """Bytes of memory that the process has in use."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def cpu(self):
        """Seconds of CPU time that the process has used, with those of its threads that have ended."""
        # The clock of another process, as the system numbers it: see clock_getcpuclockid(3).
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def descriptors(self):
        """Open files of the process."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def threads(self):
        """Threads of the process."""
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def children(self):
        """Processes that it has started and that still run."""
        return children_of(self.process.pid)

    def end(self, timeout=10.0):
        """Ends the input and waits for the process. Gives its exit code, or None if it had to be killed."""
        self.process.stdin.close()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.process.kill()
            self.process.wait()
            self.reader.join(5)
            self.process.stdout.close()
            self.log.close()
