"""Tasks with what they changed, and questions with what they ask for, read from any form of truth."""
import gzip
import json
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Task:
    """A text, the state before the change, and what was changed."""

    name: str
    repo: str  # OWNER+NAME
    state: str  # the commit before the change
    text: str
    files: tuple[str, ...]
    functions: tuple[str, ...] = field(default=())  # path:Container.name
    expected: tuple[str, ...] = field(default=())  # what the answer has to list, `A|B` for one of several
    published: tuple | None = None  # (files, functions) that another program found, best first


def read(path):
    """All tasks of a file."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [_question(row) if "question" in row else _issue(row) if "meta_data" in row else _commit(row) for row in rows if not row.get("easy")]


def _question(row):
    return Task(row["question"], row["project"], "", row["question"], (), (), tuple(row["expected"]))


def _issue(row):
    meta = row["meta_data"]
    changes = meta["gt_file_changes"]
    functions = [name for change in changes for name in change["changes"].get("edited_entities", [])]
    files = tuple(change["file"] for change in changes)
    repo = meta["repo"].replace("/", "+")
    published = (tuple(row["found_files"]), tuple(row["found_entities"])) if "found_files" in row else None
    name, text = row["instance_id"], meta["problem_statement"]
    return Task(name, repo, meta["base_commit"], text, files, tuple(dict.fromkeys(functions)), published=published)


def _commit(row):
    def name(symbol):
        container = symbol["container"]
        return f"{symbol['path']}:{container + '.' if container else ''}{symbol['name']}"
    functions = tuple(dict.fromkeys(name(symbol) for symbol in row["symbols"]))
    return Task(f"{row['repo']}@{row['commit'][:10]}", row["repo"], row["parent"], row["text"], tuple(row["files"]), functions)


def chosen(tasks, only):
    """The tasks of some owners (`OWNER` or `OWNER:MOST`), in their order; all if none is named."""
    if not only:
        return tasks
    left = {}
    for entry in only:
        owner, _, most = entry.partition(":")
        left[owner] = int(most) if most else len(tasks)
    kept = []
    for task in tasks:
        owner = task.repo.split("+")[0]
        if left.get(owner, 0) > 0:
            left[owner] -= 1
            kept.append(task)
    return kept


def every(tasks, step):
    """Every n-th task of each repository by name, `STEP` or `STEP:FIRST`: a sample that is fixed before any result."""
    step, _, first = step.partition(":")
    kept = []
    for repo in sorted({task.repo for task in tasks}):
        mine = sorted((task for task in tasks if task.repo == repo), key=lambda task: task.name)
        kept += mine[int(first or 0)::int(step)]
    return kept
