"""A runtime and its clients under everything that can happen to them: whether every call is answered once, and nothing is left.

    scripts/stress chaos                        10 minutes with the release build
    scripts/stress chaos --minutes 1 --seed 7   shorter, and the same once more
    scripts/stress chaos --bin PATH --clients N

Clients ask a runtime over its socket, over HTTP and through a line that is cut and goes dead, and others ask a peer that takes every
connection and never answers, or the runtime and a program of their own as two upstreams at once. At random moments the runtime is
killed, stopped and started again, clients are killed, and so are the programs that are upstreams; intruders connect: they send garbage, half a message, a message of 1 GB, or nothing at all, and neither read nor leave. What must hold: every call
of a client that lives gets exactly one answer, a result or a report, in time; afterwards every client works, nothing runs that should
not, and descriptors and threads are back where they were. Prints the seed first; the exit code is 1 if anything does not hold.
"""
import os
import random
import re
import shutil
import signal
import socket
import tempfile
import threading
import time

from base import command_line, RELEASE, ROOT, verdict, with_cache
from client import Server, children_of
from runtime import Runtime, processes_of

# How long one call may take at most: the longest deadline, with the wait for an index.
LONGEST = 70.0
CALLS = [("search", {"query": "get"}), ("outline", {}), ("show", {"targets": ["main"]}), ("status", {}), ("overview", {}),
         ("grep", {"pattern": "import"}), ("sql", {"statement": "SELECT count(*) FROM symbols"}), ("search", {"wrong": 1})]


class Line:
    """A socket that passes everything on to another, until it is cut or goes dead."""

    def __init__(self, path, target):
        self.path, self.target, self.dead = path, target, threading.Event()
        self.pairs, self.lock = [], threading.Lock()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        """Connects every client."""
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            try:
                far.connect(self.target)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.append((near, far))
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        """One direction, to its end. What comes while the line is dead vanishes."""
        try:
            while data := source.recv(1 << 16):
                if not self.dead.is_set():
                    sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """Ends every connection."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()


class Chaos:
    """Everything that is under way."""

    def __init__(self, options, place):
        self.options, self.place = options, place
        self.random = random.Random(options.seed)
        self.cache = os.path.join(place, "cache")
        self.environment = with_cache(self.cache, COGRAPH_TOKEN="chaos-has-one-token")
        self.repository = os.path.join(place, "repository")
        self.socket = os.path.join(self.cache, "run", "socket")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.stalled = os.path.join(place, "stalled")
        self.stall = socket.socket(socket.AF_UNIX)
        self.stall.bind(self.stalled)
        self.stall.listen(256)
        self.held = []
        threading.Thread(target=self.hold, daemon=True).start()
        self.line = Line(os.path.join(place, "line"), self.socket)
        self.until = 0.0
        self.lock = threading.Lock()
        self.several = []
        self.count = {"calls": 0, "results": 0, "reports": 0, "clients killed": 0, "upstreams killed": 0, "runtimes killed": 0, "runtimes stopped": 0,
                      "runtimes ended": 0, "line cut": 0, "line dead": 0, "intruders": 0}
        self.lost, self.faults, self.problems, self.reports = [], [], [], {}
        self.slowest = 0.0
        self.runtime = None

    def hold(self):
        """Takes every connection and says nothing."""
        while True:
            try:
                self.held.append(self.stall.accept()[0])
            except OSError:
                return

    def start_runtime(self):
        """A runtime at the place."""
        self.runtime = Runtime(self.options.bin, self.environment, ("--http", f"127.0.0.1:{self.port}", "--allow", self.repository))

    def start_client(self, target):
        """A client after its handshake."""
        upstreams = [word for one in ([target] if isinstance(target, str) else target) for word in ("--upstream", one)]
        client = Server([self.options.bin, "mcp", *upstreams], self.environment, self.repository)
        client.hello()
        if len(upstreams) > 2:
            with self.lock:
                self.several.append(client)
        return client

    def kill_upstream(self):
        """Kills the program that is an upstream of a client, if one runs just now."""
        with self.lock:
            several = [client for client in self.several if client.process.poll() is None]
        programs = [pid for client in several for pid in children_of(client.process.pid)]
        if programs:
            try:
                os.kill(self.random.choice(programs), signal.SIGKILL)
                self.add("upstreams killed")
            except ProcessLookupError:
                pass  # it has ended by itself

    def goes_on(self):
        """Whether there is time left."""
        return time.monotonic() < self.until

    def add(self, what):
        """Counts."""
        with self.lock:
            self.count[what] += 1

    def judge(self, client, number, begun):
        """Waits for an answer; it must come, in time."""
        answer = client.wait(number, LONGEST)
        if answer is None:
            with self.lock:
                self.lost.append(f"call {number} of client {client.process.pid} after {time.monotonic() - begun:.0f} s")
            return
        result = answer[0]
        is_report = "content" not in result or bool(result.get("isError"))
        self.add("reports" if is_report else "results")
        with self.lock:
            self.slowest = max(self.slowest, answer[1] - begun)
            if is_report:
                text = result["content"][0]["text"] if "content" in result else str(result)
                kind = re.sub(r"/\S+|\d+", "_", text.splitlines()[0])[:110]
                self.reports[kind] = self.reports.get(kind, 0) + 1

    def use(self, target, seed):
        """One client after the other on a target, each with several calls in flight, until the time is over."""
        mine = random.Random(seed)
        client = self.start_client(target)
        while self.goes_on():
            begun = time.monotonic()
            numbers = [client.call(*mine.choice(CALLS)) for _ in range(mine.randint(1, 4))]
            for _ in numbers:
                self.add("calls")
            if mine.random() < 0.03:
                # Its calls die with it.
                client.process.kill()
                client.end()
                self.faults += client.faults
                self.add("clients killed")
                with self.lock:
                    self.count["calls"] -= len(numbers)
                client = self.start_client(target)
                continue
            _, seconds = client.ask("ping", timeout=LONGEST)
            self.slowest_ping = max(getattr(self, "slowest_ping", 0.0), seconds)
            for number in numbers:
                self.judge(client, number, begun)
        return client

    def intruder(self):
        """A peer without a place here connects to the socket or the port."""
        kind = self.random.choice(["garbage", "half", "nothing", "deaf", "web", "flood"] + (["giant"] if self.random.random() < 0.1 else []))
        web = kind == "web" or self.random.random() < 0.3
        end = socket.socket(socket.AF_INET if web else socket.AF_UNIX)
        end.settimeout(5)
        try:
            end.connect(("127.0.0.1", self.port) if web else self.socket)
            if kind == "garbage":
                end.sendall(self.random.randbytes(100_000) + b"\n")
            elif kind == "half":
                end.sendall(b'{"jsonrpc":"2.0","id":1,"method":"initi')
            elif kind == "web":
                end.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n{")
            elif kind == "deaf":
                end.sendall(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n')
                for number in range(2000):
                    end.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}\n' % (number + 2))
            elif kind == "flood":
                end.sendall(b"\n".join([b"{}"] * 10_000))
            elif kind == "giant":
                chunk = b"x" * (1 << 20)
                for _ in range(1024):
                    end.sendall(chunk)
        except OSError:
            pass
        self.add("intruders")
        return end

    def disturb(self):
        """Disturbs a process or a connection, again and again, until the time is over."""
        pause, intruders = threading.Event(), []
        while self.goes_on():
            pause.wait(self.random.uniform(0.1, 1.5))
            step = self.random.random()
            if step < 0.25:
                self.add("runtimes killed")
                self.runtime.kill()
                pause.wait(self.random.choice([0.0, 0.2, 1.0, 4.0]))
                self.start_runtime()
            elif step < 0.3:
                self.add("runtimes ended")
                if self.runtime.end() != 0:
                    self.problems.append("a runtime that got a signal to end did not end with 0")
                self.start_runtime()
            elif step < 0.4:
                self.add("runtimes stopped")
                self.runtime.process.send_signal(signal.SIGSTOP)
                pause.wait(self.random.choice([0.3, 2.0, 25.0 if self.random.random() < 0.2 else 1.0]))
                self.runtime.process.send_signal(signal.SIGCONT)
            elif step < 0.55:
                self.add("line cut")
                self.line.cut()
            elif step < 0.65:
                self.add("line dead")
                self.line.dead.set()
                pause.wait(self.random.choice([0.5, 3.0]))
                self.line.dead.clear()
            elif step < 0.75:
                self.kill_upstream()
            else:
                intruders.append(self.intruder())
                while len(intruders) > 20:
                    intruders.pop(self.random.randrange(len(intruders))).close()
        self.line.cut()
        for end in intruders:
            end.close()

    def guarded(self, work, *arguments):
        """Runs a part; what goes wrong in it is a problem of the run."""
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001 -- any exception is a failure that the run reports
            with self.lock:
                self.problems.append(f"{work.__name__}: {type(error).__name__}: {error}")
            return None

    def run(self):
        """All of it. Gives the checks."""
        self.start_runtime()
        self.until = time.monotonic() + self.options.minutes * 60
        program = f"own=cmd:{self.options.bin} mcp --root {self.repository}"
        targets = [self.socket, f"http://127.0.0.1:{self.port}/mcp", self.line.path, self.stalled, (f"shared={self.socket}", program)]
        ended = []
        use = lambda target, seed: ended.append(self.guarded(self.use, target, seed))  # noqa: E731
        threads = [threading.Thread(target=use, args=(targets[at % len(targets)], self.options.seed + at)) for at in range(self.options.clients)]
        threads.append(threading.Thread(target=self.guarded, args=(self.disturb,)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self.checks([client for client in ended if client])

    def checks(self, clients):
        """What must hold in the end."""
        after, sizes = [], []
        for client in clients:
            after.append(client.text("outline", {}, LONGEST))
        works = [text for text in after if "cannot be reached" not in text]
        for client in clients:
            sizes.append((client.descriptors(), client.threads()))
            self.faults += client.faults
        unanswered = [number for client in clients for number in client.unanswered()]
        codes = [client.end() for client in clients]
        # Idle stores are closed after a minute, sessions over HTTP with their clients.
        pause, until = threading.Event(), time.monotonic() + 90
        while time.monotonic() < until and (self.runtime.threads() > 16 or len(self.runtime.descriptors()) > 20):
            pause.wait(1)
        threads, descriptors = self.runtime.threads(), self.runtime.descriptors()
        memory = self.runtime.status("VmHWM")
        code = self.runtime.end()
        left = processes_of(self.cache)
        count, stalled = self.count, sum(1 for text in after if "cannot be reached" in text)
        reachable = len(clients) - sum(1 for at in range(self.options.clients) if at % 5 == 3)
        return [
            ("every call was answered once: with a result or a report", count["calls"] == count["results"] + count["reports"] and not self.lost
             and not unanswered, self.lost[:3] or unanswered[:3] or (count["calls"], count["results"] + count["reports"])),
            ("no call was answered twice, and nothing else was said", not self.faults, self.faults[:3]),
            ("all parts worked to the end", not self.problems and len(clients) == self.options.clients, self.problems[:3]),
            ("every client works in the end, but those of the peer that is silent", len(works) >= reachable, (len(works), stalled, after[:2])),
            ("clients hold few descriptors and threads", all(size[0] <= 24 and size[1] <= 24 for size in sizes), sizes),
            ("clients end with 0", not any(codes), codes),
            ("the runtime's descriptors and threads are back", threads <= 16 and len(descriptors) <= 20, (threads, descriptors)),
            ("a message of 1 GB takes no memory", memory < 400 << 20, f"{memory / 1e6:.0f} MB"),
            ("the runtime ends with 0", code == 0, code),
            ("no process is left behind", not left, left),
        ]


def main():
    """Runs and judges."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--clients", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="cograph-chaos-") as place:
        os.mkdir(os.path.join(place, "repository"))
        shutil.copytree(os.path.join(ROOT, "scripts"), os.path.join(place, "repository", "scripts"))
        shutil.copytree(os.path.join(ROOT, "src"), os.path.join(place, "repository", "src"))
        chaos = Chaos(options, place)
        checks = chaos.run()
    print("  ".join(f"{what} {number}" for what, number in chaos.count.items()))
    print(f"slowest call {chaos.slowest:.1f} s, slowest ping {getattr(chaos, 'slowest_ping', 0.0) * 1000:.0f} ms")
    for kind, number in sorted(chaos.reports.items(), key=lambda entry: -entry[1])[:15]:
        print(f"  {number:6}  {kind}")
    return verdict(checks)
