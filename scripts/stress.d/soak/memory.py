"""The memory of the program: each server with the processes below it, sampled repeatedly."""
import threading

from world import descendants


def resident(process: int) -> int:
    """Bytes of memory of a process; none if it has ended."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii", errors="replace") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmRSS")), 0)
    except OSError:
        return 0


class Memory:
    """The greatest sums that were seen."""

    def __init__(self, roots):
        self.roots = roots  # gives names and processes to begin at
        self.peak, self.peak_of = 0, ""
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        while not self.over.wait(0.2):
            for name, process in self.roots():
                parts = [resident(each) for each in (process, *descendants(process))]
                if sum(parts) > self.peak:
                    self.peak = sum(parts)
                    self.peak_of = f"{name}: {' + '.join(f'{part / 1e6:.0f}' for part in parts if part)} MB"

    def end(self) -> None:
        self.over.set()
        self.thread.join()
