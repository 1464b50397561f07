"""Questions to a running server whose index is up to date: what its answers list, and how long they take."""
import os
import re
import time
from pathlib import Path

from base import percentile, table
from client import Server
from score import listed

# `search` takes words, not whole issues.
SEARCH_CHARACTERS = 300
EXPLORE_CHARACTERS = 16_000


# The first answers of a server compare all files with the index, until a watch of the directories is started and has been queried.
FIRST_ANSWERS = 3


def server_of(program, project):
    """A server that is past the first answers for the current state of a project."""
    server = Server([program, "mcp", "--root", str(project)], dict(os.environ))
    server.hello()
    until = time.monotonic() + 600
    while " up to date" not in server.text("search", {"query": "x"}, 600).partition("\n")[0]:
        if time.monotonic() > until:
            raise SystemExit(f"{project}: no index within 10 minutes")
    for _ in range(FIRST_ANSWERS):
        server.text("search", {"query": "x"})
    return server


def times(program, project, texts, most):
    """Prints the milliseconds of both tools over all texts; true if each p99 is at most `most`."""
    server = server_of(program, project)
    rows, is_within = [("tool", "questions", "p50", "p99", "most")], True
    for tool, characters in (("explore", EXPLORE_CHARACTERS), ("search", SEARCH_CHARACTERS)):
        taken = []
        for text in texts:
            begun = time.monotonic()
            server.text(tool, {"query": text[:characters]})
            taken.append((time.monotonic() - begun) * 1000)
        p50, p99 = percentile(taken, 0.5), percentile(taken, 0.99)
        is_within &= p99 <= most
        rows.append((tool, len(taken), f"{p50:.0f}", f"{p99:.0f}" + ("" if p99 <= most else "  OVER"), f"{max(taken):.0f}"))
    server.end()
    table(rows)
    return is_within


def expectations(program, projects, questions):
    """Prints which expected symbols the answers of `explore` list; the number of questions with all of theirs, and of all."""
    answered, asked = 0, 0
    for project in dict.fromkeys(question.repo for question in questions):
        if project not in projects:
            continue
        server = server_of(program, Path(projects[project]))
        for question in (question for question in questions if question.repo == project and question.expected):
            names = [item.name for item in listed(server.text("explore", {"query": question.text}))]
            missing = [group for group in question.expected if not any(is_one(name, group) for name in names)]
            asked, answered = asked + 1, answered + (not missing)
            print(f"{'-' if missing else '+'} {project}: {question.text}: {'misses ' + ', '.join(missing) if missing else ', '.join(question.expected)}")
            print(f"    {', '.join(dict.fromkeys(names))}")
        server.end()
    return answered, asked


def is_one(name, group):
    """Whether a name is, or is a member of, one of `A|B`."""
    parts = re.split(r"\.|::", name)
    return any(_is_run(wanted.split("."), parts) for wanted in group.split("|"))


def _is_run(wanted, parts):
    return any(parts[at:at + len(wanted)] == wanted for at in range(len(parts)))
