"""What a program costs: CPU time and peak memory of it and of the processes that it starts, in turns with another one."""
import os
import statistics
import subprocess
import sys
import tempfile

MEASURE = """
import resource, subprocess, sys, time
begun = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.monotonic() - begun
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)
sys.exit(done.returncode)
"""


def index(program, directory, cache=None):
    """(CPU seconds, seconds, megabytes, megabytes of store) of one index into an empty cache, in a fresh process, so that what
    it adds up is this run alone."""
    with tempfile.TemporaryDirectory() as scratch:
        place = cache or scratch
        command = [sys.executable, "-c", MEASURE, program, "index", directory]
        measured = subprocess.run(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COGRAPH_CACHE_DIR": place},
                                  check=False)
        if measured.returncode:
            sys.exit(f"{program} could not index {directory}")
        return (*(float(number) for number in measured.stdout.split()), os.path.getsize(store(place)) / 1e6)


def store(cache):
    """The one store in a cache."""
    found = [os.path.join(place, name) for place, _, names in os.walk(cache) for name in names if name.endswith(".db")]
    if not found:
        sys.exit(f"there is no store in {cache}")
    return max(found, key=os.path.getmtime)


def in_turns(rounds, runs):
    """Results of `runs` (name -> function), each called `rounds` times: name -> list of tuples. The first one finds the
    files colder, so that the order changes from turn to turn."""
    results = {name: [] for name in runs}
    for turn in range(rounds):
        for name in sorted(runs, reverse=turn % 2 == 1):
            results[name].append(runs[name]())
    return results


def spread(values):
    """Median, and half of the distance between the quartiles as a share of it."""
    middle = statistics.median(values)
    if len(values) < 3 or not middle:
        return middle, 0.0
    low, _, high = statistics.quantiles(values, n=4)
    return middle, (high - low) / 2 / middle
