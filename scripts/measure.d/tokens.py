"""What a model pays for the server before it asks anything: the tokens of each tool, of the whole list and of the instructions; and
what it pays for answers.

    scripts/measure tokens                              of the debug build
    scripts/measure tokens --bin PATH                   of another one
    scripts/measure tokens --against OLD --answers DIR...    of answers about projects, by this program and by another one

Questions about answers are drawn from what the index holds with a fixed seed: 130 a project, to all tools but `sql`, with a budget of
10,000 tokens, so that little is cut, and with the default one.

A token is counted as four bytes of compact JSON, as everywhere in the project. The exit code is 1 if the list is over 2,300 or empty.
"""
import json
import os
import random
import tempfile

from base import command_line, DEBUG, ROOT, table
from client import HELLO, Server
from questions import open_server, questions, rows, vocabulary

MOST = 2300
SEED = 5


def tokens(value):
    """Tokens of a value as it is sent."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()) // 4


def questions_about(server):
    """(tool, arguments): random questions about a store, and the uses of symbols that have some."""
    symbols, files = vocabulary(server, 80, SEED)
    used = rows(server, "SELECT name, path, container, line FROM symbols WHERE refs > 2 AND refs < 400 AND id % 97 = 3 LIMIT 120")
    used = [tuple(row) for row in used if row[0]]
    asked = [question for question in questions(used + symbols[:20], files, 78, SEED) if question[0] != "sql"]
    for _, path, _, line in random.Random(SEED).sample(used, min(12, len(used))):
        symbol = {"symbol": f"{path}:{line}"}
        asked += [("references", symbol), ("trace", symbol), ("trace", {**symbol, "direction": "callees"})]
        asked += [("trace", {**symbol, "depth": 3}), ("trace", {**symbol, "tests": "only"})]
    return asked + [("status", {}), ("overview", {})]


def of_answers(programs, projects):
    """Prints the tokens of answers by tool: of the first program, and of the second."""
    for budget in (10_000, None):
        sums = {}
        for project in projects:
            with tempfile.TemporaryDirectory() as scratch:
                servers = [open_server(program, project, os.path.join(scratch, str(at))) for at, program in enumerate(programs)]
                for tool, arguments in questions_about(servers[0]):
                    asked = {**arguments, "budget": budget} if budget else arguments
                    sizes = [len(server.text(tool, asked, 120).encode()) / 4 for server in servers]
                    for key in (tool, "all"):
                        count, before = sums.get(key, (0, [0.0] * len(programs)))
                        sums[key] = (count + 1, [one + other for one, other in zip(before, sizes)])
                for server in servers:
                    server.end()
        print(f"budget {budget or 'by default'}")
        shown = [(tool, count, *(round(size) for size in sizes), f"{sizes[-1] / sizes[0] - 1:+.1%}") for tool, (count, sizes) in sorted(sums.items())]
        table([("tool", "answers", *programs, "change"), *shown])


def main():
    """Prints the table."""
    parser = command_line(__doc__)
    parser.add_argument("--bin", metavar="PATH", default=DEBUG)
    parser.add_argument("--answers", metavar="DIR", nargs="+", help="tokens of answers about these projects")
    parser.add_argument("--against", metavar="OLD", help="another program, which gets the same requests")
    options = parser.parse_args()
    if options.answers:
        of_answers([program for program in (options.against, options.bin) if program], options.answers)
        return 0
    server = Server([options.bin, "mcp", "--root", ROOT])
    greeting, _ = server.ask("initialize", HELLO)
    listed, _ = server.ask("tools/list")
    server.end()
    rows = [("tool", "tokens", "description", "schemas")]
    for tool in listed["tools"]:
        schemas = tokens(tool["inputSchema"]) + tokens(tool.get("outputSchema", ""))
        rows.append((tool["name"], tokens(tool), tokens(tool["description"]), schemas))
    total = tokens(listed)
    table(rows + [("whole list", total, "", ""), ("instructions", tokens(greeting["instructions"]), "", "")])
    return 1 if total > MOST or not listed["tools"] else 0
