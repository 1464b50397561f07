"""Whether an index after any changes equals a fresh one: edits as editors and tools make them, on the program as it is shipped.

    scripts/stress edits BINARY                         200 states of slices of real projects, in every language
    scripts/stress edits BINARY --states N              N states
    scripts/stress edits BINARY --projects DIR...       whole directories in place of the slices; a git repository is cloned
    scripts/stress edits BINARY --sources DIR           every directory below DIR
    scripts/stress edits BINARY --fresh RELEASE         fresh indexes are made, and their answers given, by another build of the same sources
    scripts/stress edits --planted [BINARY]             each planted defect (a build with the feature `faults`) must be found

Each project is copied, gets a history of commits, and is indexed. A state is one change or a few (text, files, directories, rules that
ignore, project files, git), applied by a server, a command, a question, a new server, processes that are killed meanwhile (--kill: of a
hundred states), or two servers and a command at once (--several: of a hundred states). Answers are asked for until they do not say that
they are stale. Then all rows of all views and of the tables behind them, and the answers of all tools to questions sampled from the
store, must be those of an index that is made anew in an empty cache. What differs is made smaller for at most --reduce seconds and
printed with the states that show it; then the index is built anew and the course goes on.

The choices are those of --seed; what is killed when depends on the machine as well. The last line says what was done. Exit codes: 0 no
difference, 1 differences, 2 usage.
"""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from base import command_line, ROOT
from changes import CHANGES
from course import Course, Settings, Tally
from planted import PLANTED
from projects import Project, directories, slices
from store import UnknownForm


def main() -> int:
    # A signal to end has the cleanup of an ordinary end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    parser = command_line(__doc__)
    parser.add_argument("binary", nargs="?", type=Path, help="the program; with --planted by default one that is built")
    parser.add_argument("--fresh", type=Path, metavar="PROGRAM", help="what makes and answers from the fresh index (default BINARY)")
    parser.add_argument("--projects", nargs="+", type=Path, metavar="DIR", help="whole projects")
    parser.add_argument("--sources", type=Path, metavar="DIR", help="a directory of whole projects")
    parser.add_argument("--only", action="append", metavar="NAME", help="of the projects, those with this name")
    parser.add_argument("--list", action="store_true", help="print the names of the projects")
    parser.add_argument("--states", type=int, default=200, help="states of all projects together (default 200); with --only of each")
    parser.add_argument("--seconds", type=float, help="begin no state after this number of seconds")
    parser.add_argument("--seed", type=int, default=1, help="of all choices (default 1)")
    parser.add_argument("--kill", type=int, default=10, metavar="SHARE", help="percentage of states in which something is killed (default 10)")
    parser.add_argument("--several", type=int, default=10, metavar="SHARE", help="percentage of states in which several processes work (default 10)")
    parser.add_argument("--most", type=int, default=3, help="leave a project after this number of differences (default 3)")
    parser.add_argument("--reduce", type=float, default=30, metavar="SECONDS", help="time for the reduction of a difference (default 30; 0: none)")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="how long an answer may be stale (default 60)")
    parser.add_argument("--without", action="append", default=[], metavar="CHANGE", help="do not make this change (as it is printed: 'file moves')")
    parser.add_argument("--just", action="append", default=[], metavar="CHANGE", help="make this change only, or these")
    parser.add_argument("--unordered", action="store_true", help="compare answers without their order, and cut ones by their first line")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write each reproduction as a shell script to DIR")
    parser.add_argument("--verbose", action="store_true", help="print every state")
    parser.add_argument("--planted", action="store_true", help="look for planted defects")
    options = parser.parse_args()
    projects = chosen(parser, options)
    if options.list:
        print("\n".join(project.name for project in projects))
        return 0
    binary = options.binary or (built_with_faults() if options.planted else parser.error("which program? Name BINARY"))
    fresh = options.fresh or binary
    for program in (binary, fresh):
        if not program.is_file():
            parser.error(f"there is no program {program}")
    known = {name for name, _, _ in CHANGES}
    if unknown := {*options.without, *options.just} - known:
        parser.error(f"no such change: {', '.join(sorted(unknown))}")
    if options.states < 1 or min(options.kill, options.several) < 0 or options.kill + options.several > 100:
        parser.error("--states is 1 or more; --kill and --several are shares of a hundred")
    settings = Settings(
        binary=binary.resolve(), fresh=fresh.resolve(), seed=options.seed, kill=options.kill, several=options.several, most=options.most,
        reduce_seconds=options.reduce, patience=options.patience, keep=options.keep, verbose=options.verbose,
        log=lambda line: print(line, flush=True),
        without=frozenset(options.without) | (known - set(options.just) if options.just else set()), ordered=not options.unordered,
        deadline=time.monotonic() + options.seconds if options.seconds else float("inf"),
    )
    if options.planted:
        return planted(projects, settings)
    return checked(projects, settings, options)


def chosen(parser, options) -> list[Project]:
    if options.sources and not options.sources.is_dir():
        parser.error(f"there is no directory {options.sources}")
    whole = list(options.projects or [])
    if options.sources:
        whole += sorted(path for path in options.sources.iterdir() if path.is_dir() and not path.name.startswith("."))
    for path in whole:
        if not path.is_dir():
            parser.error(f"there is no directory {path}")
    projects = directories([path.resolve() for path in whole]) if whole else slices()
    if options.only:
        projects = [project for project in projects if project.name in options.only]
    if not projects:
        parser.error("no such project: see --list")
    return projects


def checked(projects: list[Project], settings: Settings, options) -> int:
    """Works on one project after the other. The states are shared out evenly."""
    total, begun = Tally(), time.monotonic()
    for at, project in enumerate(projects):
        if time.monotonic() > settings.deadline:
            break
        states = options.states if options.only else share(options.states, len(projects), at)
        since = time.monotonic()
        tally = course(project, replace(settings, states=states))
        total.add(tally)
        settings.log(f"{project.name}: {tally.states} states, {', '.join(sorted(tally.languages))}: "
                     f"{tally.differences} differences, {time.monotonic() - since:.0f} s")
    settings.log(
        f"edits: {total.states} states, {total.projects} projects, {len(total.languages)} languages, {total.kills} kills, "
        f"{total.several} states of several processes, {total.differences} differences, {time.monotonic() - begun:.0f} s, seed {settings.seed}"
    )
    return 1 if total.differences else 0


def share(states: int, projects: int, at: int) -> int:
    return states // projects + (at < states % projects)


def course(project: Project, settings: Settings) -> Tally:
    with tempfile.TemporaryDirectory(prefix="edits-") as top:
        try:
            return Course(project, settings, Path(top).resolve()).run()
        except (UnknownForm, sqlite3.Error) as error:
            sys.exit(f"{project.name}: {error}")


def planted(projects: list[Project], settings: Settings) -> int:
    """Every planted defect must make a difference within its number of states."""
    unnoticed, begun = 0, time.monotonic()
    if PLANTED:
        # What is red without a defect cannot show one.
        most = max(defect.states for defect in PLANTED)
        for at, project in enumerate(projects):
            if course(project, replace(settings, states=share(most, len(projects), at))).differences:
                settings.log("edits: the program differs with no defect planted")
                return 1
    for defect in PLANTED:
        used = replace(settings, kept_environment=defect.environment(), kill=defect.kill, several=defect.several,
                       stop_at_first=True, reduce_seconds=0, log=lambda line: None,
                       without=frozenset(name for name, _, _ in CHANGES if defect.just and name not in defect.just))
        states = 0
        for at, project in enumerate(projects):
            tally = course(project, replace(used, states=share(defect.states, len(projects), at)))
            states += tally.states
            if tally.differences:
                settings.log(f"{defect.name}: noticed in state {states}, {project.name}")
                break
        else:
            unnoticed += 1
            settings.log(f"{defect.name}: NOT NOTICED in {states} states")
    settings.log(f"edits: {len(PLANTED)} planted defects, {unnoticed} not noticed, {time.monotonic() - begun:.0f} s")
    return 1 if unnoticed else 0


def built_with_faults() -> Path:
    """In the ordinary target directory, whose dependencies are built. A copy: another build puts the ordinary program in its place."""
    subprocess.run(["cargo", "build", "--locked", "--quiet", "--features", "faults"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    (target / "edits").mkdir(exist_ok=True)
    return Path(shutil.copy2(target / "debug" / "cograph", target / "edits" / "cograph"))
