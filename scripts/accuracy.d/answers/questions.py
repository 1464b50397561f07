"""The questions with their facts and the calls that answer them, from the TOML files of this directory. README.md says what each key means."""

import re
import tomllib
from collections import Counter, namedtuple
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
KINDS = {
    "flow": "the calls from A to B",
    "signature": "every site that changes with a signature",
    "implementers": "what implements an interface",
    "tests": "the tests that reach a function",
    "writes": "where a field is set",
    "callers": "the callers, by directory",
    "types": "every use of a type",
    "calls": "what a function calls",
    "error": "where an error is made",
    "dependants": "what depends on a file",
}
# What a question may run: nothing that writes.
TOOLS = {"cograph": ("trace ", "references ", "show ", "outline ", "explore ", "search ", "overview ", "grep ", "sql "), "grep": ("rg ", "sed -n ", "cat ")}

Repository = namedtuple("Repository", "name commit language leave_out questions")
Question = namedtuple("Question", "id kind text cograph grep facts")
# `lines`: one of them must be given, none if the path is enough; `name`: a word next to it, or empty.
Fact = namedtuple("Fact", "path lines name")


def repositories():
    """All repositories, in the order of their files' names."""
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def read(path):
    """One repository."""
    data = tomllib.loads(path.read_text())
    questions = [
        Question(item["id"], item["kind"], item["text"], item["cograph"], item["grep"], [fact for path, text in item["facts"].items() for fact in facts(path, text)])
        for item in data["question"]
    ]
    return Repository(data["repository"], data["commit"], data["language"], data.get("leave_out", []), questions)


def facts(path, text):
    """`12 run, 15|17 stop, TestRun` -> the facts of a path."""
    for part in text.split(","):
        form = re.fullmatch(r"\s*(?:(\d+(?:\|\d+)*)(?:\s+|$))?([A-Za-z_]\w*)?\s*", part)
        if not form:
            raise ValueError(f"{path}: no fact: {part!r}")
        yield Fact(path, [int(line) for line in form[1].split("|")] if form[1] else [], form[2] or "")


def parts(command):
    """The commands of one call: `sed ..; sed ..` are two."""
    return re.split(r";\s+(?=rg |sed |cat )", command)


def check():
    """The form of all files. Gives how many questions there are."""
    found = repositories()
    questions = [question for repository in found for question in repository.questions]
    kinds = Counter(question.kind for question in questions)
    assert len(found) >= 6 and len({repository.language for repository in found}) >= 6, "six repositories in six languages"
    assert len(questions) >= 24 and kinds.keys() == KINDS.keys(), f"24 questions of all kinds; kinds: {dict(kinds)}"
    assert len({question.id for question in questions}) == len(questions), "an id is used twice"
    for repository in found:
        assert re.fullmatch(r"[0-9a-f]{40}", repository.commit) and re.fullmatch(r"[\w.-]+/[\w.-]+", repository.name), repository.name
        for question in repository.questions:
            assert question.text.strip() and question.facts and question.cograph and question.grep, question.id
            assert len(set((fact.path, tuple(fact.lines), fact.name) for fact in question.facts)) == len(question.facts), f"{question.id}: a fact stands twice"
            for side, allowed in TOOLS.items():
                for command in getattr(question, side):
                    assert all(part.startswith(allowed) for part in parts(command)), f"{question.id}: {command}"
                    # `$(rg -l ..)` finds the files of a search; nothing else is run inside of a command.
                    assert not re.search(r"`|\$\((?!rg )|[^-=]>\s*[\w/]", command), f"{question.id}: {command}"
    return len(questions)
