"""Measures call edges against compilers and type checkers: fetches pinned projects, indexes them, scores the edges.

    scripts/accuracy calls                               build, fetch, index, print the table
    scripts/accuracy calls --write                       ... and keep it in scripts/accuracy.d/results.md and README.md
    scripts/accuracy calls click h2 --show fp 20 --show fn 20
    scripts/accuracy calls --verdict resolved            score proven edges alone, without the likely ones
    scripts/accuracy calls --sample 30                   what is wrong and missed in each language, with causes, to target/accuracy/samples
    scripts/accuracy calls --worth                       true callers for every 1,000 tokens of an answer
    scripts/accuracy calls --check-scorer                show that the scorer knows right from wrong; needs no program

Sources go to target/accuracy (pip, npm, cargo; apt-get on Debian 12), or are taken from --sources DIR, which has one folder a
project. What the truth is, how it was made and what it cannot say: scripts/accuracy.d/README.md.
"""

import datetime
import os
import random
import shutil
import subprocess
import sys

from base import built, command_line, ROOT, TARGET
import occurrences
import sample
import tables
import worth
from program import Program, ProgramError
from score import Score
from sources import SOURCES, FetchError, fetch
from truth import FOLDER, Truth, projects, rows

RESULTS = os.path.join(ROOT, "scripts", "accuracy.d", "results.md")
CACHE = os.path.join(TARGET, "accuracy", "cache")
README = os.path.join(ROOT, "README.md")


def main():
    options = parse_arguments()
    if options.check_scorer:
        check_scorer()
        return
    # What another build of the program has resolved is not what is measured.
    shutil.rmtree(CACHE, ignore_errors=True)
    program = Program(options.bin or built(), CACHE)
    wanted = [(language, name) for language, name in projects() if not options.projects or name in options.projects]
    scores, answers, failed = {}, {}, []
    for _, name in wanted:
        try:
            root = source_folder(name, options)
            scores[name] = measure(name, root, program, options)
            if options.worth and "first_sight" not in scores[name].truth.meta:
                answers[name] = worth.measure(scores[name].truth, lambda symbol: program.trace(root, symbol))
        except (FetchError, ProgramError) as error:
            failed.append(name)
            print(f"{name}: {error}", file=sys.stderr)
    first = [project for project in wanted if project in projects(second=False)]
    second = [project for project in wanted if project not in first]
    printed = [(tables.EDGE_HEAD, tables.edges(first, scores)), tables.steps(wanted, scores), (tables.SECOND_HEAD, tables.second(second, scores))]
    if options.worth:
        printed.append((tables.WORTH_HEAD, tables.worth(first, answers)))
    for head, lines in (table for table in printed if table[1]):
        print(tables.plain(head, lines), end="\n\n")
    for what, count in options.show:
        for name, score in scores.items():
            show(what, int(count), name, score, source_folder(name, options))
    if options.sample:
        samples(options.sample, wanted, scores, program, options)
    if options.write:
        write(program, printed)
    # A table that lacks a project is incomplete.
    sys.exit(1 if failed else 0)


def parse_arguments():
    parser = command_line(__doc__)
    names = [name for _, name in projects()]
    parser.add_argument("projects", nargs="*", metavar="PROJECT", help="of " + ", ".join(names) + "; default: all")
    parser.add_argument("--bin", metavar="PATH", help="the program; default: what `cargo build --release` makes")
    parser.add_argument("--sources", metavar="DIR", help="projects that are there already; nothing is fetched")
    parser.add_argument("--edges", metavar="DIR", help="score DIR/<project>.edges.jsonl[.gz] instead of running the program")
    parser.add_argument("--verdict", action="append", choices=["resolved", "likely"], help="score edges of this verdict only")
    parser.add_argument("--show", nargs=2, action="append", default=[], metavar=("fp|fn", "N"), help="print N random samples (0: all)")
    parser.add_argument("--sample", type=int, metavar="N", help="for each language N wrong and N missed edges, each with its cause, to target/accuracy/samples")
    parser.add_argument("--worth", action="store_true", help="true callers for every 1,000 tokens of the answers of `trace`")
    parser.add_argument("--check-scorer", action="store_true", help="score the truth itself, and a spoiled copy of it")
    parser.add_argument("--write", action="store_true", help="keep the tables in scripts/accuracy.d/results.md, the totals in README.md")
    options = parser.parse_args()
    unknown = [name for name in options.projects if name not in names]
    if unknown:
        parser.error(f"no project is called {unknown[0]!r}; projects: {', '.join(names)}")
    if any(what not in ("fp", "fn") or not count.isdigit() for what, count in options.show):
        parser.error("--show takes fp or fn, and a number")
    if options.write and (options.projects or options.verdict or options.edges):
        parser.error("--write keeps the whole table of the program: no projects, --verdict or --edges with it")
    if options.edges and (options.sample or options.worth):
        parser.error("--sample and --worth ask the program: no --edges with them")
    options.worth = options.worth or options.write
    return options


def check_scorer():
    """The truth against itself is right and complete; with the callees moved on by half the rows, it is neither."""
    assert projects(), "there is no truth to score"
    for _, name in projects():
        true = [row for row in rows(os.path.join(FOLDER, name + ".edges.jsonl.gz")) if not row.get("module")]
        callees = [{key: row[key] for key in ("callee_file", "callee_name", "callee_line")} for row in true]
        spoiled = [{**row, **callee} for row, callee in zip(true, callees[len(true) // 2 :] + callees[: len(true) // 2])]
        tp, fp, found, required = Score(Truth(name), true).counts()
        assert tp >= required > 0 and fp == 0 and found == required, f"{name}: the truth scores {tp, fp, found, required} against itself"
        tp, fp, found, _ = Score(Truth(name), spoiled).counts()
        assert fp > tp and found < required / 2, f"{name}: spoiled edges score {tp, fp, found, required}"
    assert occurrences.first_table()[1] == occurrences.first_scores(), "docs/accuracy.md has another table of first scores than first_sight.tsv"
    print(f"scorer: {len(projects())} projects, the truth is right and complete, the spoiled truth is not")


def measure(name, root, program, options):
    """The score of one project."""
    edges = os.path.join(options.edges or os.path.join(TARGET, "accuracy", "edges"), name + ".edges.jsonl")
    if not options.edges:
        program.export(root, edges)
    elif not os.path.exists(edges):
        edges += ".gz"
    candidates = rows(edges)
    if options.verdict:
        candidates = (row for row in candidates if row.get("verdict") in options.verdict)
    return Score(Truth(name), candidates)


def source_folder(name, options):
    if options.sources:
        return os.path.join(options.sources, name)
    folder = os.path.join(TARGET, "accuracy", "sources")
    (source,) = [source for source in SOURCES if source.name == name]
    os.makedirs(folder, exist_ok=True)
    fetch(source, folder)
    return os.path.join(folder, name)


def samples(count, wanted, scores, program, options):
    """Writes what is wrong and missed, a file a language, and prints how often each cause occurs."""
    folder = os.path.join(TARGET, "accuracy", "samples")
    os.makedirs(folder, exist_ok=True)
    for language in sorted({language for language, name in wanted if name in scores}):
        found = []
        for name in (name for other, name in wanted if other == language and name in scores):
            found += sample.errors(name, scores[name], program, source_folder(name, options), count)
        report = sample.report(language, sample.drawn(found, count))
        path = os.path.join(folder, f"{language}.md")
        with open(path, "w") as file:
            file.write(report)
        print("\n".join(line for line in report.splitlines() if line and not line.startswith(("-", "  "))), f"-> {path}", sep="\n", end="\n\n")


def show(what, count, name, score, folder):
    """Prints samples with the source line that decides: of the callee for a wrong edge, of the site for a missed one."""
    found = score.false_positives() if what == "fp" else score.false_negatives()
    drawn = found if count in (0, len(found)) or count > len(found) else random.Random(sample.SEED).sample(found, count)
    print(f"-- {name}: {len(drawn)} of {len(found)} false {'positives' if what == 'fp' else 'negatives'}")
    for item in drawn:
        edge = item.row if what == "fp" else item
        caller = f"{edge['caller_file']}:{edge.get('caller_line') or '?'} {edge['caller_name']}"
        callee = f"{edge['callee_file']}:{edge.get('callee_line') or '?'} {edge['callee_name']}"
        if what == "fp":
            why = f"{edge.get('verdict', '?')} {edge.get('step', '?')}: {item.note}"
            print(f"{caller} -> {callee}  [{why}]  | {sample.source_line(folder, edge['callee_file'], edge.get('callee_line'))}")
        else:
            print(f"{caller} -> {callee}  @{edge['site_line']}  | {sample.source_line(folder, edge['caller_file'], edge['site_line'])}")


def write(program, printed):
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, text=True).stdout.strip()
    edges, steps, second, answers = (tables.markdown(head, lines) for head, lines in printed)
    with open(RESULTS, "w") as file:
        file.write(f"# Accuracy of call edges\n\nWritten by `scripts/accuracy calls --write`, not by hand: {program.version()}, commit {commit or 'unknown'}, "
                   f"{datetime.date.today()}. Resolved and likely edges; how to read it: README.md of this directory. `resolved P` is the precision of "
                   f"proven edges alone, marked where it is at least {tables.PROVEN}.\n\n"
                   f"{edges}\n\n## Second set\n\nProjects whose first figures were written down before any of their errors was read (build ba2ef75).\n\n{second}"
                   f"\n\n## Precision by step of resolution\n\nOver all projects of both sets, then by language with the number of wrong ones. A pair that "
                   f"several steps found counts for each.\n\n{steps}\n\n## What an answer is worth\n\n{worth.__doc__.strip()}\n\n{answers}\n")
    with open(README) as file:
        before, rest = file.read().split("<!-- accuracy -->")
        after = rest.split("<!-- /accuracy -->")[1]
    totals = [[line[0]] + line[2:6] + line[10:] for line in printed[0][1] if line[1] == "= total"]
    head = ["language", "precision", "recall", "F1", "resolved alone: P", "same file: P", "R", "across files: P", "R"]
    with open(README, "w") as file:
        file.write(f"{before}<!-- accuracy -->\n{tables.markdown(head, totals)}\n<!-- /accuracy -->{after}")
