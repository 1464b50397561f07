"""What is done to the processes while the storm goes on: they are killed, paused, and left without room."""
import os
import re
import resource
import signal
import time
from collections.abc import Callable

from askers import alone
from judge import FRESH, NO_SPACE, RESERVED, judge
from runtime import processes_of
from world import Gone, StaysStale, descendants

DISTURBANCES: dict[str, Callable] = {}
# The seconds that are observed with the disk full, and the most whole builds that may be begun in them.
FULL_FOR, WHOLE_BUILDS = 15.0, 3
TICKS = os.sysconf("SC_CLK_TCK")


def disturbance(function):
    """Puts a function into the list of disturbances."""
    DISTURBANCES[function.__name__.replace("_", "-")] = function
    return function


def signal_to(process: int, number: int) -> bool:
    try:
        os.kill(process, number)
        return True
    except ProcessLookupError:
        return False  # it was faster


def cpu(process: int) -> float:
    """Seconds of CPU time of a process and of those below it, also of children that have ended."""
    total = 0.0
    for each in (process, *descendants(process)):
        try:
            with open(f"/proc/{each}/stat", encoding="utf-8", errors="replace") as file:
                total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15])) / TICKS
        except OSError:
            pass  # it has ended
    return total


@disturbance
def kill_server(storm) -> str:
    asker = storm.rng.choice([asker for asker in storm.askers if asker.server is not None] or [None])
    if asker is None:
        return "no server runs"
    storm.work()
    asker.end(kill=True)
    storm.tally.disturbed()
    storm.tally.add("kills")
    return f"a {asker.kind} is killed"


@disturbance
def new_server(storm) -> str:
    asker = storm.rng.choice([asker for asker in storm.askers if asker.server is not None] or [None])
    if asker is None:
        return "no server runs"
    asker.end(kill=False)
    return f"a {asker.kind} ends and another begins"


@disturbance
def kill_worker(storm) -> str:
    """The processes that index are killed, some times in a row: from outside, so no file is to blame."""
    killed = 0
    for _ in range(storm.rng.randint(1, 3)):
        storm.work()
        until, delay = time.monotonic() + 1.5, storm.rng.random() * storm.rng.choice([0.0, 0.05, 0.3])
        while time.monotonic() < until:
            servers = [process for asker in list(storm.askers) for name, process in asker.processes()]
            if workers := [child for server in servers for child in descendants(server)]:
                time.sleep(delay)
                storm.tally.disturbed()
                killed += sum(signal_to(worker, signal.SIGKILL) for worker in workers)
                break
            time.sleep(0.01)
    storm.tally.add("kills", killed)
    return f"{killed} workers are killed"


@disturbance
def kill_command(storm) -> str:
    storm.work()
    process = storm.world.start("index", *(["--force"] if storm.rng.random() < 0.3 else []))
    time.sleep(storm.rng.random() * min(storm.whole * 1.2, 20))
    if storm.rng.random() < 0.5:
        for child in descendants(process.pid):
            storm.tally.add("kills", signal_to(child, signal.SIGKILL))
    if process.poll() is None:
        process.kill()
        storm.tally.add("kills")
    process.wait()
    return "`cograph index` is killed"


@disturbance
def pause(storm) -> str:
    """Everything stands still while files are read, for longer than one file may take: a machine that sleeps, a frozen container."""
    begun = storm.world.start("index", "--force") if storm.rng.random() < 0.7 else None
    if begun is None:
        storm.work()
    time.sleep(storm.rng.uniform(0.1, 0.9) * min(storm.whole, 20))
    with storm.tally.fault():
        paused = sorted(processes_of(storm.world.top / "kept"))
        for process in paused:
            signal_to(process, signal.SIGSTOP)
        time.sleep(storm.file_seconds * 1.5)
        for process in reversed(paused):
            signal_to(process, signal.SIGCONT)
        if begun is not None:
            begun.wait()
        time.sleep(0.2)
    storm.tally.add("pauses")
    return f"{len(paused)} processes stand still for {storm.file_seconds * 1.5:.0f} s"


@disturbance
def full_disk(storm) -> str:
    """No room in the cache. Answers report it, builds are not retried again and again, and nothing has to be done once there is room."""
    if storm.disk is None:
        return ""
    with alone(storm.askers), storm.tally.fault():
        asker = next((asker for asker in storm.askers if asker.kind == "server"), None)
        if asker is None:
            return ""
        storm.at_rest([asker])
        if storm.tally.failures:
            return "not yet up to date"
        storm.disk.fill()
        # More than fits into what the files of the store have of room in themselves.
        storm.much_work()
        used = cpu(asker.server.process.pid)
        heads, named, behind = [], 0, 0
        # On a busy machine the first run takes its time to fail: answers before that know no reason yet.
        first = time.monotonic() + storm.settings.patience
        until = first + FULL_FOR
        try:
            while time.monotonic() < until:
                answer = asker.ask("search", {"query": "main", "mode": "name"})
                said = judge(answer)
                storm.tally.answer(said, f"with the disk full: {said.wrong}: {answer.text[:300]!r}" if said.wrong and not answer.error else "")
                if said.state not in (FRESH, RESERVED):
                    head = answer.text.partition("\n")[0]
                    known = bool(NO_SPACE.search(head))
                    if known and not named:
                        until = min(until, time.monotonic() + FULL_FOR)
                    if known or named or time.monotonic() > first:
                        behind += 1
                        named += known
                        heads.append(head)
                elif not named:
                    # What was edited found room.
                    until = min(until, time.monotonic() + FULL_FOR)
                time.sleep(0.25)
            used = cpu(asker.server.process.pid) - used
        except (Gone, StaysStale) as failure:
            storm.tally.wrong(f"with the disk full: {failure}")
        storm.disk.make_room()
    storm.tally.add("full disks")
    if behind >= 8 and named < behind / 2:
        storm.tally.wrong(f"with the disk full only {named} of {behind} answers say that there is no room; the last: {heads[-1][:300]!r}")
    whole = storm.whole_cpu_now()
    if used > WHOLE_BUILDS * whole + 0.1 * FULL_FOR + 1.0:
        storm.tally.wrong(f"with the disk full a server has used {used:.1f} s of CPU in {FULL_FOR:.0f} s; a whole build takes {whole:.1f} s")
    storm.due = True
    return f"no room: {named} of {behind} answers that were behind said so, {used:.1f} s of CPU"


def _limited(storm, which: int, limit: Callable[[int], int]) -> str:
    with storm.tally.fault():
        set_for = []
        for process in processes_of(storm.world.top / "kept"):
            try:
                resource.prlimit(process, which, (limit(process), resource.RLIM_INFINITY))
                set_for.append(process)
            except (ProcessLookupError, ValueError, PermissionError):
                pass  # it has ended
        until = time.monotonic() + 4
        while time.monotonic() < until:
            storm.work()
            time.sleep(0.3)
        for process in {*set_for, *processes_of(storm.world.top / "kept")}:
            try:
                resource.prlimit(process, which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            except (ProcessLookupError, PermissionError):
                pass  # the limit was its end
        time.sleep(0.3)
    storm.tally.add("limits")
    return f"a limit for {len(set_for)} processes"


@disturbance
def file_size(storm) -> str:
    """No file may grow beyond a size (`ulimit -f`): a write ends the process."""
    size = storm.rng.choice([64 << 10, 1 << 20])
    return _limited(storm, resource.RLIMIT_FSIZE, lambda _: size)


@disturbance
def memory(storm) -> str:
    """Processes get little more memory than they have (`ulimit -v`)."""
    spare = storm.rng.choice([1 << 20, 32 << 20])

    def limit(process: int) -> int:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            return (int(re.search(r"VmSize:\s+(\d+)", file.read())[1]) << 10) + spare
    return _limited(storm, resource.RLIMIT_AS, limit)
