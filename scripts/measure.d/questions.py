"""Questions to a server: random ones drawn from what the index holds, to compare two programs and to time the answers."""
import os
import random
import re
import statistics
import subprocess

from base import percentile, with_cache
from client import Server

# What says when an answer was made, not what it is, and what differs from program to program. The rest must be the same.
MOMENT = re.compile(r"(?:generation \d+, )?up to date|generation \d+, made [^;\n·]*|\b\d+(?:\.\d+)? (?:ms|s|kB|MB|GB)\b|\b(?:id|key) \d+\b")


def open_server(program, project, cache):
    """A server that answers for a project, which is indexed first."""
    environment = with_cache(cache)
    subprocess.run([program, "index", project], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server([program, "mcp", "--root", project], environment)
    server.hello()
    server.text("search", {"query": "main"}, 600)
    return server


def rows(server, statement):
    """The rows of a statement of `sql`."""
    result, _ = server.ask("tools/call", {"name": "sql", "arguments": {"statement": statement}}, 120)
    return result["structuredContent"]["rows"] if "structuredContent" in result else []


def vocabulary(server, count, seed):
    """Symbols and files that are asked about, the same for the same seed."""
    draw = random.Random(seed)
    total = rows(server, "SELECT sum(symbols) FROM files")[0][0]
    symbols = []
    # Half of them at random, half of them functions: in some projects nearly everything else is constants.
    for share, condition in ((1, ""), (8, " AND kind IN ('function', 'method')")):
        keys = ", ".join(str(draw.randint(1, total)) for _ in range(count * share // 2))
        symbols += rows(server, f"SELECT name, path, container, line FROM symbols WHERE id IN ({keys}){condition} LIMIT {count // 2}")
    draw.shuffle(symbols)
    files = rows(server, f"SELECT path, lines FROM files WHERE symbols > 0 AND id % {draw.choice((3, 5, 7))} = 0 LIMIT 200")
    return [tuple(row) for row in symbols if row[0]], [tuple(row) for row in files]


def questions(symbols, files, count, seed):
    """(tool, arguments) at random."""
    draw = random.Random(seed)

    def name():
        return draw.choice(symbols)[0]

    def full():
        name, path, container, _ = draw.choice(symbols)
        return draw.choice([name, f"{path}::{name}", f"{container}.{name}" if container else name])

    def part(text):
        start = draw.randrange(max(1, len(text) - 3))
        return text[start:start + draw.randint(3, 8)]

    def misspelt(text):
        at = draw.randrange(len(text))
        return text[:at] + draw.choice("aeixyz_") + text[at + draw.randint(0, 1):]

    def words():
        found = [word for text in (name(), name()) for word in re.findall(r"[A-Za-z][a-z]+", text)]
        return " ".join(draw.sample(found, min(2, len(found)))) or name()

    def folder():
        return os.path.dirname(draw.choice(files)[0])

    def lines():
        path, length = draw.choice(files)
        first = draw.randint(1, max(1, length))
        return f"{path}:{first}-{first + 20}"

    kinds = ["function", "class", "method", "field", "struct"]
    makers = [
        lambda: ("search", {"query": name()}),
        lambda: ("search", {"query": part(name())}),
        lambda: ("search", {"query": part(name()).upper(), "mode": "substring", "offset": draw.choice([0, 0, 10])}),
        lambda: ("search", {"query": words()}),
        lambda: ("search", {"query": misspelt(name())}),
        lambda: ("search", {"query": "^" + re.escape(name()[:6]), "mode": "regex"}),
        lambda: ("search", {"query": part(name()), "kinds": [draw.choice(kinds)]}),
        lambda: ("search", {"query": part(name()), "path": folder(), "tests": draw.choice(["include", "exclude", "only"])}),
        lambda: ("search", {"query": full(), "mode": "name"}),
        lambda: ("show", {"targets": [full(), full()]}),
        lambda: ("show", {"targets": [lines()]}),
        lambda: ("outline", {"path": draw.choice(files)[0]}),
        lambda: ("outline", {"path": folder()}),
        lambda: ("trace", {"symbol": full(), "depth": draw.choice([1, 2, 3, 5])}),
        lambda: ("trace", {"symbol": full(), "direction": "callees", "depth": draw.choice([1, 2, 3])}),
        lambda: ("trace", {"symbol": full(), "to": full(), "depth": 4}),
        lambda: ("references", {"symbol": full()}),
        lambda: ("references", {"symbol": full(), "certainty": "textual", "path": folder()}),
        lambda: ("explore", {"query": words()}),
        lambda: ("overview", {"path": folder()}),
        lambda: ("grep", {"pattern": name(), "path": folder(), "word": True}),
        lambda: ("grep", {"pattern": part(name()), "path": folder(), "ignore_case": True, "context": 1}),
        lambda: ("sql", {"statement": f"SELECT * FROM symbols WHERE id = {draw.randint(1, 5000)}"}),
        lambda: ("sql", {"statement": f"SELECT path, line, col, kind, name, verdict, step, from_id, to_id, external FROM refs "
                                      f"WHERE id BETWEEN {draw.randint(1, 9000)} AND 9050"}),
        lambda: ("sql", {"statement": f"SELECT caller, callee, path, line, verdict FROM calls WHERE callee_id = {draw.randint(1, 5000)}"}),
    ]
    for number in range(count):
        yield makers[number % len(makers)]()


def searches(names, kind, count, seed):
    """Texts that people search for, made from names."""
    draw = random.Random(seed)
    several = [name for name in names if len(words_of(name)) > 1] or names
    for _ in range(count):
        yield SEARCHES[kind](draw, draw.choice(several if "words" in kind else names), draw.choice(several))


def words_of(name):
    """The words of a name."""
    return re.findall(r"[A-Za-z][a-z]*|[0-9]+", name)


def mistyped(draw, name):
    """A name with another letter at some place, or one more."""
    at = draw.randrange(1, len(name))
    return name[:at] + draw.choice("qxzyw") + name[at + draw.randint(0, 1):]


# Kind of text -> how it is made from a name and a second one.
SEARCHES = {
    "a name": lambda draw, name, _: name,
    "a name of several words": lambda draw, name, _: name,
    "a part of a name": lambda draw, name, _: name[1:9],
    "two words of a name": lambda draw, name, _: " ".join(draw.sample(words_of(name), 2)),
    "words of two names": lambda draw, name, other: f"{draw.choice(words_of(name))} {draw.choice(words_of(other))}",
    "a misspelt name": lambda draw, name, _: mistyped(draw, name),
}


def answer(server, tool, arguments):
    """The text of an answer, or of an error, without what depends on the time."""
    return MOMENT.sub("…", server.text(tool, arguments, 120))


def compare(old, new, project, scratch, count, seed=1):
    """Asks two programs the same; gives how many answers there were, and those that differ."""
    servers = [open_server(program, project, os.path.join(scratch, name)) for program, name in ((old, "old"), (new, "new"))]
    try:
        symbols, files = vocabulary(servers[0], max(50, count // 2), seed)
        differing = []
        for tool, arguments in questions(symbols, files, count, seed):
            before, after = (answer(server, tool, arguments) for server in servers)
            if before != after:
                differing.append((tool, arguments, before, after))
        return count, differing
    finally:
        for server in servers:
            server.end()


def latencies(server, makers, rounds):
    """Milliseconds of each kind of question, as a client sees them, and of CPU time in the server, which a busy machine disturbs
    little: p50, p99, most."""
    figures = {}
    for kind, make in makers.items():
        times, used = [], []
        for number in range(rounds[kind] if isinstance(rounds, dict) else rounds):
            tool, arguments = make(number)
            before = server.cpu()
            result, seconds = server.ask("tools/call", {"name": tool, "arguments": arguments}, 120)
            used.append((server.cpu() - before) * 1000)
            if "content" not in result:
                raise SystemExit(f"{kind}: {tool} {arguments} was not answered: {result}")
            times.append(seconds * 1000)
        figures[kind] = figures_of(times, used)
    return figures


def figures_of(times, used):
    """One row of figures, from milliseconds of time and of CPU time."""
    return {"n": len(times), "p50": statistics.median(times), "p99": percentile(times, 0.99), "most": max(times),
            "cpu p50": statistics.median(used), "cpu p99": percentile(used, 0.99)}
