"""How well one question finds the code that a task will change, compared with other rankers on the same tasks.

    scripts/accuracy locate BIN TRUTH CLONES                     one `explore` with the text of every task, 2,000 and 4,000 tokens
    scripts/accuracy locate BIN TRUTH CLONES --budget 1300 --tool search
    scripts/accuracy locate BIN TRUTH CLONES --only pytest-dev:99 sympy:15      these repositories, at most this number of tasks of each
    scripts/accuracy locate BIN TRUTH CLONES --every 10          every tenth task of each repository by name, from the first (`10:3`: from the fourth)
    scripts/accuracy locate BIN TRUTH CLONES --rows FILE         keep every list in FILE; lists that it has are not queried again
    scripts/accuracy locate BIN TRUTH CLONES --codegraph PROGRAM also `context` and `explore` of @colbymchenry/codegraph, which takes a minute a task
    scripts/accuracy locate BIN TRUTH CLONES --losses            count the misses of `explore` at function@10 by cause, with their names
    scripts/accuracy locate BIN TRUTH CLONES --misses 10         show what was wanted and what came, of this number of tasks
    scripts/accuracy locate BIN TRUTH --times DIR --most 60      ask the texts of one server of DIR, which is indexed: milliseconds of both tools
    scripts/accuracy locate BIN QUESTIONS --questions NAME=DIR.. whether the answers list the expected symbols (scripts/accuracy.d/locate/questions.jsonl)
    scripts/accuracy locate --check-scorer                       show that the scorer knows right from wrong; needs no program

TRUTH has one JSON object a line (.gz too), in one of three forms:
  {"instance_id", "meta_data": {"repo", "base_commit", "problem_statement", "gt_file_changes"}}     issues, as LocAgent keeps SWE-bench Lite;
      its lists ("found_files", "found_entities") are scored with the others
  {"repo", "commit", "parent", "text", "files", "symbols", "easy"}                                   commits and their messages
  {"project", "question", "expected"}                                                               questions and the symbols they ask for
CLONES holds a clone OWNER+NAME of every repository, with its history. The states before the tasks are written to a temporary
directory, one after the other, and indexed there. A task is found at k if every changed file (function) is among the first k that the answer lists; a task without changed
functions counts for files alone. A token is four bytes. ripgrep 13 or later is needed. No data of others is kept in the project;
docs/localisation.md has the figures.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from base import command_line
import live
import losses
import rivals
import score
import states
import tasks


def ask(options, task, state, scratch):
    """A row for every ranker: what it lists, and what that costs."""
    rows = []

    def add(ranker, found, text=None, milliseconds=None):
        row = {"task": task.name, "repo": task.repo, "ranker": ranker, "found": found}
        if text is not None:
            row["tokens"] = len(text.encode()) / 4
        if milliseconds is not None:
            row["ms"] = milliseconds
        rows.append(row)

    for budget in options.budget:
        text, milliseconds = state.ask(options.tool, task.text, budget)
        add(f"{options.tool}, {budget:,} tokens", score.listed(text), text, milliseconds)
        rows[-1]["common"] = losses.shared_words(state, task)
    add("BM25 over bodies", rivals.by_bodies(state, task.text))
    add("rg, files by words", rivals.by_matches(state, task.text))
    if task.published:
        files, functions = task.published
        lists = [score.Listed(path, "file", path) for path in files]
        add("lists in TRUTH", lists + [score.Listed(one.partition(":")[0], "function", one.partition(":")[2]) for one in functions])
    if options.codegraph:
        other = rivals.Codegraph(os.path.abspath(options.codegraph), state, scratch / "home")
        add("codegraph context", *other.context(task.text))
        add("codegraph explore, files", *other.explore(task.text))
        other.close()
    return rows


def judged(row, task):
    """A row with its scores, without its list."""
    found = [score.Listed(*item) for item in row["found"]]
    kept = {key: value for key, value in row.items() if key != "found"}
    return {**kept, **score.judge(task, found, "files" not in row["ranker"])}


def kept_rows(path):
    """The rows of an earlier run by task."""
    rows = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                rows.setdefault(row["task"], []).append(row)
    return rows


def print_losses(by_task, wanted, ranker):
    """The misses of a ranker at function@10, by cause."""
    causes = {}
    for task in wanted:
        for row in by_task.get(task.name, []):
            if row["ranker"] == ranker and judged(row, task).get(f"function@{losses.PAGE}") == 0:
                found = [score.Listed(*item) for item in row["found"]]
                causes.setdefault(losses.cause(task, found, row.get("common")), []).append(task.name)
    for key, text in losses.CAUSES.items():
        print(f"\n{len(causes.get(key, []))}: {text}: {', '.join(causes.get(key, []))}")


def main():
    """Asks every task and prints the table."""
    parser = command_line(__doc__)
    parser.add_argument("bin", nargs="?")
    parser.add_argument("truth", nargs="?")
    parser.add_argument("clones", nargs="?")
    parser.add_argument("--only", nargs="*", default=[], metavar="OWNER[:MOST]")
    parser.add_argument("--tool", choices=["explore", "search"], default="explore")
    parser.add_argument("--budget", type=int, nargs="+", default=[2000, 4000])
    parser.add_argument("--every", metavar="STEP[:FIRST]")
    parser.add_argument("--rows", metavar="FILE")
    parser.add_argument("--codegraph", metavar="PROGRAM")
    parser.add_argument("--losses", action="store_true")
    parser.add_argument("--misses", type=int, default=0)
    parser.add_argument("--times", metavar="DIR")
    parser.add_argument("--most", type=float, default=float("inf"), metavar="MS", help="limit for the p99 of --times")
    parser.add_argument("--questions", nargs="+", metavar="NAME=DIR")
    parser.add_argument("--check-scorer", action="store_true")
    options = parser.parse_args()
    if options.check_scorer:
        score.check()
        return 0
    if not (options.bin and options.truth and (options.clones or options.times or options.questions)):
        parser.error("BIN, TRUTH and CLONES are needed")
    program = os.path.abspath(options.bin)
    wanted = tasks.chosen(tasks.read(options.truth), options.only)
    if options.every:
        wanted = tasks.every(wanted, options.every)
    if options.times:
        return 0 if live.times(program, options.times, [task.text for task in wanted], options.most) else 1
    if options.questions:
        answered, asked = live.expectations(program, dict(entry.split("=", 1) for entry in options.questions), wanted)
        print(f"{answered} of {asked} answered")
        return 0 if 0 < answered == asked else 1
    by_task = kept_rows(options.rows)
    left = [task for task in wanted if task.name not in by_task]
    with tempfile.TemporaryDirectory(prefix="locate-") as scratch, open(options.rows or os.devnull, "a", encoding="utf-8") as store:
        for at, (task, state) in enumerate(states.of(program, left, Path(options.clones), Path(scratch)), 1):
            by_task[task.name] = ask(options, task, state, Path(scratch))
            store.writelines(json.dumps(row) + "\n" for row in by_task[task.name])
            store.flush()
            print(f"\r{at} of {len(left)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = [judged(row, task) for task in wanted for row in by_task[task.name]]
    score.print_table(rows)
    first = f"{options.tool}, {options.budget[0]:,} tokens"
    if options.losses:
        print_losses(by_task, wanted, first)
    missed = [(task, row) for task in wanted for row in by_task[task.name] if row["ranker"] == first and judged(row, task)["file@5"] < 1]
    for task, row in missed[: options.misses]:
        print(f"\n{task.name}: wanted {', '.join(task.files)}; came {', '.join(dict.fromkeys(item[0] for item in row['found']))}")
    return 0 if rows else 1
