"""What a complete answer costs with cograph, and with rg, sed and cat: bytes and calls for the same facts.

    scripts/accuracy answers BIN                       fetches the repositories (git, from GitHub), asks everything, prints the table
    scripts/accuracy answers BIN --clones DIR          takes them from DIR, which has a clone OWNER+NAME of each
    scripts/accuracy answers BIN --only go-flow rust   these questions, or those of a language
    scripts/accuracy answers BIN --show                also prints the facts that were not given
    scripts/accuracy answers BIN --outputs DIR         also keeps what both sides printed, a file for each question and side
    scripts/accuracy answers BIN --write               ... and keeps the table in docs/answers.md
    scripts/accuracy answers --check                   the form of the questions, and that the reader of outputs rejects what is not there

A question has the facts that its complete answer needs, found by reading the source, and the commands of both sides; scripts/accuracy.d/answers/README.md
says how they were made. A fact is given if its path and line (and its name, where it has one) are in the output. The exit code is 1
if fewer than 11 of 12 questions are answered completely, or if the median of these is above 35 % of the bytes of grep, or the median of calls
above 50 % where grep needs several.
ripgrep 13 or later is needed, except for --check.
"""
import os
import statistics
import subprocess
import sys
import tempfile

from base import command_line, ROOT, with_cache
import places
import questions
import sides

RESULTS = os.path.join(ROOT, "docs", "answers.md")
# Least share of complete answers; most bytes and calls, as shares of those of grep. One call cannot be halved: calls are judged
# by the questions for which grep needs several.
COMPLETE, BYTES, CALLS = 11 / 12, 0.35, 0.50
HEAD = ("question", "kind", "facts", "cograph", "grep", "bytes", "cograph", "grep", "%", "calls", "cograph", "grep")


def main():
    """Asks, prints, and judges the medians."""
    try:
        return judged(arguments())
    except sides.Failure as failure:
        sys.exit(str(failure))


def judged(options):
    """The exit code."""
    if options.check:
        places.check()
        total = questions.check()
        check_facts()
        print(f"{total} questions are well formed; the reader of outputs finds the places that an output has and rejects all others")
        return 0
    rows = []
    with tempfile.TemporaryDirectory(prefix="answers-") as scratch:
        for repository in questions.repositories():
            wanted = [question for question in repository.questions if chosen(question, options.only)]
            if wanted:
                rows += asked(repository, wanted, options, scratch)
    if not rows:
        sys.exit("no such question")
    print(table(rows))
    print("\n" + "\n".join(medians(rows)))
    if options.write:
        write(rows, options.bin)
    return 0 if reached(rows) else 1


def arguments():
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("bin", nargs="?")
    parser.add_argument("--clones", metavar="DIR")
    parser.add_argument("--only", nargs="*", default=[], metavar="ID|LANGUAGE")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--outputs", metavar="DIR")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if not options.check and not options.bin:
        parser.error("BIN is needed, or --check")
    if options.write and options.only:
        parser.error("--write keeps the whole table: no --only with it")
    options.bin = options.bin and os.path.abspath(options.bin)
    options.clones = options.clones and os.path.abspath(options.clones)
    return options


def check_facts():
    """Written out, the facts of a question are all given; with every line and name moved on by one, or not at all, none is."""
    for question in (question for repository in questions.repositories() for question in repository.questions):
        files = {fact.path for fact in question.facts}
        for shift, expected in ((0, len(question.facts)), (1, 0)):
            written = [f"{fact.path}: {fact.name}{'_' * shift}:{(fact.lines[-1] if fact.lines else 1) + 100_000 * shift}" for fact in question.facts]
            text = "" if shift and not any(fact.lines or fact.name for fact in question.facts) else "\n".join(written)
            given = sum(places.of_answers([text], files).has(*fact) for fact in question.facts)
            assert given == expected, f"{question.id}: {given} of {len(question.facts)} facts, {expected} expected"


def chosen(question, only):
    """Whether a question is selected, by its id or by the first word of that."""
    return not only or question.id in only or question.id.split("-")[0] in only


def asked(repository, wanted, options, scratch):
    """(repository, question, cograph, grep) of every question."""
    place = os.path.join(scratch, repository.name.replace("/", "+"))
    cache = os.path.join(place, "cache")
    checkout = sides.Checkout(repository, os.path.join(place, "files"), options.clones)
    sides.run([options.bin, "index", "."], checkout.directory, with_cache(cache), check=True)
    rows = []
    for question in wanted:
        row = (repository, question, sides.cograph(options.bin, cache, question, checkout), sides.grep(question, checkout))
        rows.append(row)
        print(f"\r{question.id:<30}", end="", file=sys.stderr, flush=True)
        for name, side in zip(("cograph", "grep"), row[2:]):
            if options.show and side.missing:
                print(f"{question.id}: {name} lacks {', '.join(fact_text(fact) for fact in side.missing)}")
            if options.outputs:
                keep(options.outputs, question, name, side)
    return rows


def fact_text(fact):
    """`path:12 name`"""
    lines = "|".join(map(str, fact.lines))
    return f"{fact.path}{':' if lines else ''}{lines}{' ' if fact.name else ''}{fact.name}"


def keep(directory, question, name, side):
    """What one side printed, below its commands."""
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{question.id}.{name}.txt"), "w", encoding="utf-8") as file:
        for command, output in zip(getattr(question, name), side.outputs):
            file.write(f"$ {'cograph ' if name == 'cograph' else ''}{command}\n{output}\n")


def share(row):
    """Bytes of cograph for each byte of grep."""
    return row[2].size / row[3].size


def cells(row):
    """A row of the table."""
    _, question, mine, theirs = row
    total = len(question.facts)
    sizes = (f"{mine.size:,}", f"{theirs.size:,}", f"{share(row):.0%}")
    return (question.id, question.kind, str(total), str(mine.given), str(theirs.given), "", *sizes, "", str(mine.calls), str(theirs.calls))


def table(rows):
    """The table as text."""
    lines = [HEAD, *(cells(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEAD))]
    padded = [[cell.ljust(width) if at < 2 else cell.rjust(width) for at, (cell, width) in enumerate(zip(line, widths))] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in padded)


def figures(rows):
    """Complete answers of both sides; medians of facts, bytes and calls."""
    return {
        "complete": sum(not row[2].missing for row in rows),
        "grep": sum(not row[3].missing for row in rows),
        "facts": statistics.median(row[2].given / len(row[1].facts) for row in rows),
        "bytes": statistics.median(share(row) for row in rows),
        "bytes of complete": statistics.median([share(row) for row in rows if not row[2].missing] or [0]),
        "calls": statistics.median(row[2].calls / row[3].calls for row in rows),
        "several": statistics.median([row[2].calls / row[3].calls for row in rows if row[3].calls > 1] or [0]),
        "of several": sum(row[3].calls > 1 for row in rows),
        "sum": sum(row[2].size for row in rows) / sum(row[3].size for row in rows),
        "all calls": sum(row[2].calls for row in rows) / sum(row[3].calls for row in rows),
    }


def medians(rows):
    """The figures in words."""
    found = figures(rows)
    return [
        f"complete: cograph {found['complete']} of {len(rows)}, grep {found['grep']}; median of the facts given: {found['facts']:.0%}",
        f"bytes: median {found['bytes']:.0%} of grep's, {found['bytes of complete']:.0%} of complete answers; all questions together {found['sum']:.0%}",
        f"calls: median {found['calls']:.0%} of grep's, all questions together {found['all calls']:.0%}; "
        f"{found['several']:.0%} where grep needs several ({found['of several']} questions)",
    ]


def reached(rows):
    """Whether the aims are met."""
    found = figures(rows)
    return found["complete"] >= COMPLETE * len(rows) and found["bytes of complete"] <= BYTES and found["several"] <= CALLS


def write(rows, program):
    """Keeps the tables in the documentation."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    text = [
        "# Answers",
        "",
        f"What a complete answer costs with cograph, and with `rg`, `sed` and `cat` ({version}). `scripts/accuracy answers BIN --write` made this file;",
        "[scripts/accuracy.d/answers/README.md](../scripts/accuracy.d/answers/README.md) says how questions, facts and commands were chosen.",
        "",
        *(f"- {line}" for line in medians(rows)),
        "",
        "| kind | questions | complete | facts: cograph | grep | bytes, of grep's | calls, of grep's |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, what in questions.KINDS.items():
        own = [row for row in rows if row[1].kind == kind]
        found, total = figures(own), sum(len(row[1].facts) for row in own)
        given = [sum(row[side].given for row in own) for side in (2, 3)]
        text.append(f"| {what} | {len(own)} | {found['complete']} | {given[0]} of {total} | {given[1]} of {total} | {found['bytes']:.0%} | {found['calls']:.0%} |")
    for repository in dict.fromkeys(row[0].name for row in rows):
        own = [row for row in rows if row[0].name == repository]
        text += ["", f"## {own[0][0].language}: {repository} at {own[0][0].commit[:10]}", ""]
        text += ["| question | facts | cograph | grep | bytes: cograph | grep | % | calls: cograph | grep |", "|---|---|---|---|---|---|---|---|---|"]
        for row in own:
            shown = [cell for cell in cells(row) if cell]
            text.append("| " + " | ".join([row[1].text, *shown[2:]]) + " |")
    with open(RESULTS, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
