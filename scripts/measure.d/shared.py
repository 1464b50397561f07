"""Many clients on one runtime and one repository: one watch, one index run, little more memory than for one client.

    scripts/measure shared                       20 clients with the release build, on a copy of this project
    scripts/measure shared --bin PATH --project DIR --clients N

First one client and its runtime, then a new runtime whose clients all ask at once before there is an index. What must hold: one
index run serves all, one watch, the same generation; `tools/list` in each client takes less than 50 ms (median, and the slowest but
one in a hundred on a quiet machine) while the index is made; the runtime then has at most 1.3 times the memory that it has with one
client. That is judged twice: by resident memory (RSS), which counts a page of a file once for each time it is mapped, and by the
share of the process (PSS), which counts each page once, among those that have it. Prints the figures; the exit code is 1 if anything
does not hold.
"""
import os
import tempfile
import threading

from base import command_line, copy_project, percentile, RELEASE, ROOT, verdict, with_cache
from client import Server
from runtime import Runtime, processes_of

QUESTIONS = [("outline", {}), ("search", {"query": "get"}), ("overview", {}), ("grep", {"pattern": "import"})]


def measure(options, place, count):
    """A runtime with `count` clients from the first index on. Gives the figures."""
    cache = os.path.join(place, f"cache-{count}")
    environment = with_cache(cache)
    runtime = Runtime(options.bin, environment)
    repository = os.path.join(place, "repository")
    command = [options.bin, "mcp", "--upstream", runtime.addresses[0]]
    clients = [Server(command, environment, repository) for _ in range(count)]
    for client in clients:
        client.hello()
    workers, watchers, lists = set(), 0, []
    asked = [client.call("outline", {}) for client in clients]
    while any(number in client.waiting for client, number in zip(clients, asked)):
        for client in clients:
            lists.append(client.ask("tools/list")[1] * 1000)
        workers.update(runtime.children())
        watchers = max(watchers, runtime.watchers())
    first = [client.wait(number)[0]["content"][0]["text"].splitlines()[0] for client, number in zip(clients, asked)]
    threads = [threading.Thread(target=lambda client=client: [client.text(*question) for question in QUESTIONS]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    watchers = max(watchers, runtime.watchers())
    # Connections that a burst has left are closed within ten seconds; the allocator gives back what was used ten seconds later.
    threading.Event().wait(25.0)
    figures = {"memory": runtime.status("VmRSS"), "share": runtime.share(), "own": runtime.status("RssAnon"), "peak": runtime.status("VmHWM"), "workers": len(workers), "watchers": watchers,
               "lists": lists, "first": first, "clients": [client.memory() for client in clients], "threads": runtime.threads()}
    codes = [client.end() for client in clients] + [runtime.end()]
    figures["codes"], figures["left"] = codes, processes_of(cache)
    return figures


def main():
    """Measures and judges."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--project", default=ROOT)
    parser.add_argument("--clients", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cograph-shared-") as place:
        copy_project(options.project, os.path.join(place, "repository"))
        one, many = measure(options, place, 1), measure(options, place, options.clients)
    ratio, share = many["memory"] / one["memory"], many["share"] / one["share"]
    lists = many["lists"]
    for name, figures in (("1 client ", one), (f"{options.clients} clients", many)):
        print(f"runtime with {name}    {figures['memory'] / 1e6:7.1f} MB resident (peak {figures['peak'] / 1e6:.1f}), share {figures['share'] / 1e6:.1f}, "
              f"of its own {figures['own'] / 1e6:.1f}, {figures['threads']} threads")
    print(f"times as much             {ratio:7.2f} resident, {share:.2f} by share")
    print(f"each client               {sorted(many['clients'])[len(many['clients']) // 2] / 1e6:7.1f} MB")
    print(f"tools/list while the index is made: {len(lists)} times, median {percentile(lists, 0.5):.1f} ms, p99 {percentile(lists, 0.99):.1f} ms, "
          f"slowest {max(lists):.1f} ms")
    checks = [
        ("one index run", many["workers"] <= 1, many["workers"]),
        ("one watch", many["watchers"] <= 1, many["watchers"]),
        ("every client has the same state", len({line.rsplit(" · ", 1)[-1] for line in many["first"]}) == 1, many["first"][:3]),
        ("resident memory <= 1.3 times that with one client", ratio <= 1.3, f"{ratio:.2f}"),
        ("share of memory <= 1.3 times that with one client", share <= 1.3, f"{share:.2f}"),
        ("tools/list < 50 ms", len(lists) >= options.clients and percentile(lists, 0.99) < 50.0, f"{percentile(lists, 0.99):.1f} ms"),
        ("everybody ends with 0", not any(many["codes"]), many["codes"]),
        ("no process is left behind", not many["left"], many["left"]),
    ]
    return verdict(checks)
