"""How questions to the Parquet tables of an organisation grow with its repositories, in several engines.

    scripts/measure org TREE... --scratch DIR                              100, 1,000 and 10,000 repositories
    scripts/measure org TREE... --scratch DIR --repositories 100,1000 --bin PROGRAM --engines duckdb,datafusion
    scripts/measure org TREE... --scratch DIR --spark 1000 --sqlite 1000 --write
    scripts/measure org TREE... --scratch DIR --engines duckdb --org cograph-org --s3 PROGRAM

The trees are exported by the program. Slices of their rows, renamed, become repositories of 2,000 references and the rest of their last file,
of which every tenth is a library that others use; which library, package and version a repository uses follows a power law. Each repository is written as
the program writes it: the same layout, order, compression and metadata.

`questions.sql` has ten questions. DuckDB and DataFusion answer them at each size, SQLite and Spark (`local-cluster`, JDK 17) up to the size
that is given for them; SQLite reads tables that were loaded from the Parquet files before. Prints the time of each question, the median of
three runs, and ends with 1 where two engines differ in a row. `--write` draws `growth.svg`. `--org` compacts each dataset with that build of
`cograph-org` and measures its `callers`; `--s3`, the example `s3` of its crate, from a server of that protocol as well.

The engines are installed from PyPI into a virtual environment in the scratch directory, in the versions of `requirements.txt`.
"""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from base import command_line, RELEASE, table, verdict, with_cache

HERE = Path(__file__).resolve().parent
ENGINES = ("datafusion", "duckdb", "sqlite", "spark")


def main():
    """Makes each organisation, queries it with each engine, compares."""
    parser = command_line(__doc__)
    parser.add_argument("trees", metavar="TREE", nargs="+", help="repositories, whose rows are used")
    parser.add_argument("--scratch", metavar="DIR", required=True)
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--repositories", default="100,1000,10000", metavar="N,...", help="sizes, rising")
    parser.add_argument("--engines", default=",".join(ENGINES), metavar="NAME,...")
    parser.add_argument("--sqlite", type=int, default=1000, metavar="N", help="largest size for SQLite [1000]")
    parser.add_argument("--spark", type=int, default=1000, metavar="N", help="largest size for Spark [1000]")
    parser.add_argument("--org", metavar="PROGRAM", help="a build of cograph-org, to be measured as well")
    parser.add_argument("--s3", metavar="PROGRAM", help="the example s3 of its crate")
    parser.add_argument("--questions", type=int, default=300, help="to cograph-org")
    parser.add_argument("--runs", type=int, default=3, help="of each question")
    parser.add_argument("--references", type=int, default=2000, help="of a repository, on average")
    parser.add_argument("--write", action="store_true", help="draw growth.svg")
    options = parser.parse_args()
    scratch = Path(options.scratch).resolve()
    in_environment(scratch / "venv")
    import engines  # pylint: disable=import-outside-toplevel
    import plot  # pylint: disable=import-outside-toplevel
    import simulate  # pylint: disable=import-outside-toplevel
    import service  # pylint: disable=import-outside-toplevel
    templates = [exported(options.bin, tree, scratch) for tree in options.trees]
    most = {"sqlite": options.sqlite, "spark": options.spark}
    times, failures = {}, []
    for size in [int(number) for number in options.repositories.split(",")]:
        dataset = scratch / f"org-{size}"
        made = simulate.organisation(templates, dataset, size, options.references)
        print(f"{size} repositories: {json.dumps(made)}", flush=True)
        answers = {}
        for name in options.engines.split(","):
            if size > most.get(name, size):
                continue
            answers[name], taken = engines.ask(name, dataset, scratch, options.runs)
            for question, seconds in taken.items():
                times.setdefault(name, {}).setdefault(question, {})[size] = seconds
        if options.org:
            print("\n".join(service.measure(options.org, options.s3, dataset, options.questions)), flush=True)
        failures += differences(size, answers)
        show(size, times, answers)
    if options.write:
        (HERE / "growth.svg").write_text(plot.svg(times), encoding="utf-8")
    return verdict([("all engines give the same rows", not failures, "; ".join(failures))])


def in_environment(venv):
    """Continues in a virtual environment that has the engines."""
    python, wanted = venv / "bin" / "python", HERE / "requirements.txt"
    if Path(sys.prefix).resolve() == venv:
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--requirement", wanted], check=True)
    os.execv(python, [python, *sys.orig_argv[1:]])


def exported(program, tree, scratch):
    """The Parquet tables of a tree."""
    tree = Path(tree).resolve()
    target = scratch / "trees" / tree.name
    if not target.exists():
        try:
            subprocess.run([program, "export", "parquet", target, "--name", tree.name, "--root", tree], check=True,
                           env=with_cache(scratch / "cache"), stderr=subprocess.DEVNULL)
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
    return target


def differences(size, answers):
    """Questions for which an engine gives other rows than the first one."""
    found, names = [], list(answers)
    for name in names[1:]:
        for question, rows in answers[names[0]].items():
            other = answers[name][question]
            if rows != other:
                at = next((at for at, (one, two) in enumerate(zip(rows, other)) if one != two), min(len(rows), len(other)))
                found.append(f"{size}, {question}: {names[0]} has {len(rows)} rows, {name} {len(other)}, "
                             f"row {at}: {rows[at:at + 1]} and {other[at:at + 1]}")
    return found


def show(size, times, answers):
    """Prints the times of a size."""
    names = list(answers)
    rows = [("question", "rows", *(f"{name} s" for name in names))]
    for question, answer in answers[names[0]].items():
        rows.append((question, len(answer), *(f"{times[name][question][size]:.3f}" for name in names)))
    table(rows)
    sys.stdout.flush()
