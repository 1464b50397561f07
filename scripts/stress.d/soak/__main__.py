"""Whether the program holds what it promises while real repositories are edited in storms and everything goes wrong meanwhile.

    scripts/stress soak BINARY                                          slices of this repository, a minute each
    scripts/stress soak BINARY --corpora DIR --seconds 3600             every directory below DIR; a git repository is cloned
    scripts/stress soak BINARY --corpora DIR --only webpack --seed 7    one of them, with other choices

Agents, people and tools edit: small edits in a row, whole files anew, a new file and its import, a file of 1.9 MB that grows, checkouts
of other commits, a stash, formatters, renames, copies, deletions, a directory that goes away and comes back, rules that ignore,
replacements in many files. Servers, a runtime with a client, and the command line are asked all the time. In turns a server, its worker
or a command is killed, everything is paused for longer than one file may take, the disk of the cache is full (where this can mount one
of its own), and files may not grow.

What must hold: every answer is up to date, or its first line says that it is stale and why; one that is up to date has what was written
before it. At checkpoints and in the end everything is up to date within --patience seconds with nothing done by hand, no file is left out
that a fresh index has, and all rows and the answers to sampled questions are those of a fresh index in an empty cache. With the disk
full, answers say so, and no whole build is made for each question. Memory of a server with its worker stays below --memory.

What is wrong is printed with the last edits, and the place is kept. The choices are those of --seed; when they meet what depends on the
machine as well. The last line says what was done. Exit codes: 0 everything held, 1 something did not, 2 usage.
"""
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from base import command_line

# What edits a repository, and what compares its index with a fresh one.
sys.path.append(str(Path(__file__).resolve().parent.parent / "edits"))
from acts import ACTS  # noqa: E402
from disk import enter_namespace  # noqa: E402
from disturbances import DISTURBANCES  # noqa: E402
from projects import Project, own_history, directories, slices  # noqa: E402
from storm import Settings, Storm  # noqa: E402
from tally import Tally  # noqa: E402


def main() -> int:
    # A signal to end has the cleanup of an ordinary end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    parser = command_line(__doc__)
    parser.add_argument("binary", type=Path, help="the program")
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="a directory of whole projects, in place of the slices")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of the corpora, those with these names")
    parser.add_argument("--seconds", type=float, default=60, help="for each corpus (default 60)")
    parser.add_argument("--edits", type=int, default=1_000_000, help="at most this number of edits of each corpus")
    parser.add_argument("--pace", type=float, default=1, metavar="FACTOR", help="of the pauses between edits (default 1; 0.1: ten times as short)")
    parser.add_argument("--seed", type=int, default=1, help="of all choices (default 1)")
    parser.add_argument("--every", type=float, metavar="SECONDS", help="between two checkpoints (default: a third of --seconds, at most 120)")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="the time until everything is up to date (default 60)")
    parser.add_argument("--memory", type=float, default=1500, metavar="MB", help="a server with its worker may have (default 1500; 0: not judged)")
    parser.add_argument("--disk", type=float, default=2048, metavar="MB", help="size of the disk of the cache, which is in memory (default 2048; 0: none)")
    parser.add_argument("--file-seconds", type=float, default=5, metavar="SECONDS", help="the most time for one file; a pause is longer (default 5)")
    parser.add_argument("--servers", type=int, default=2, help="servers on standard input and output (default 2)")
    acts = ", ".join(repr(name) for name, _, _ in ACTS)
    parser.add_argument("--acts", nargs="+", default=[], metavar="ACT", help=f"make these edits only: {acts}")
    parser.add_argument("--disturb", nargs="*", metavar="WHAT", help=f"disturb by these only, or by nothing: {', '.join(DISTURBANCES)}")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the program's environment: a planted defect")
    parser.add_argument("--verbose", action="store_true", help="print every act")
    options = parser.parse_args()
    if not options.binary.is_file():
        parser.error(f"there is no program {options.binary}")
    names = {name for name, _, _ in ACTS}
    if unknown := ({*options.acts} - names) | ({*(options.disturb or [])} - DISTURBANCES.keys()):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    corpora = chosen(parser, options)
    disturbances = list(DISTURBANCES) if options.disturb is None else options.disturb
    why_no_disk = "none is wanted" if not options.disk or "full-disk" not in disturbances else enter_namespace()
    if why_no_disk:
        if "full-disk" in disturbances:
            print(f"no disk is filled: {why_no_disk}", flush=True)
            disturbances.remove("full-disk")
    settings = Settings(
        binary=options.binary.resolve(), seconds=options.seconds, edits=options.edits, pace=options.pace, seed=options.seed,
        every=options.every or min(120.0, options.seconds / 3), patience=options.patience, file_seconds=options.file_seconds,
        memory=int(options.memory * 1e6), disk=0 if why_no_disk else int(options.disk * (1 << 20)), servers=options.servers,
        acts=frozenset(options.acts), disturbances=tuple(disturbances), environment=dict(pair.split("=", 1) for pair in options.set),
        log=lambda line: print(line, flush=True), verbose=options.verbose,
    )
    return soak(corpora, settings)


def chosen(parser, options) -> list[Project]:
    if options.corpora and not options.corpora.is_dir():
        parser.error(f"there is no directory {options.corpora}")
    if options.corpora:
        found = directories(sorted(path.resolve() for path in options.corpora.iterdir() if path.is_dir() and not path.name.startswith(".")))
    else:
        own = Project("cograph", lambda world, _: own_history(world, "src", "scripts", "Cargo.toml"))
        found = [own, *(project for project in slices() if project.name == "all fixtures")]
    if options.only:
        found = [project for project in found if project.name in options.only]
    if not found:
        parser.error("there is no such corpus")
    return found


def soak(corpora: list[Project], settings: Settings) -> int:
    total, failed, begun = Tally(), [], time.monotonic()
    for corpus in corpora:
        settings.log(f"{corpus.name}:")
        top = Path(tempfile.mkdtemp(prefix="soak-")).resolve()
        is_kept = False
        try:
            tally = Storm(corpus, settings, top).run()
            is_kept = bool(tally.failures)
        finally:
            if not is_kept:
                shutil.rmtree(top, ignore_errors=True)
        failed += [corpus.name] if is_kept else []
        total.join(tally)
    for reason, number in total.reasons.most_common(12):
        settings.log(f"  {number:6} stale: {reason}")
    verdict = f"FAILED: {', '.join(failed)}" if failed else "everything held"
    settings.log(f"soak: {total.summary()}, {time.monotonic() - begun:.0f} s, seed {settings.seed}: {verdict}")
    return 1 if failed else 0
