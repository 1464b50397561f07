"""Worktrees of one repository: how soon each has an index, what all take on disk, and that an edit in one is not seen in another.

    scripts/measure worktrees DIR                     20 worktrees of a copy of the sources in DIR, 50 changed files each
    scripts/measure worktrees DIR --worktrees 8 --changed 10 --bin PROGRAM --scratch DIR

The copy becomes a repository with one commit, which is indexed; each worktree has a branch with another set of changed files. For each:
the first index of the worktree as it was added, then, after a checkout of its branch, the next one; wall time from the start of
`cograph index` to its end. A function is then added in one worktree and looked for in all of them.
Ends with 1 where an edit is seen elsewhere or not seen in its own worktree. The times and the disk (blocks that are in use, files of several
names once) are figures, for a machine that does nothing else.
"""
import os
import random
import statistics
import subprocess
import tempfile
import time

from base import command_line, copy_project, percentile, RELEASE, table, verdict, with_cache

EDIT = "def added_in_worktree_{}():\n    return {}\n"


def main():
    """Makes the worktrees, indexes each, prints a table."""
    parser = command_line(__doc__)
    parser.add_argument("directory", metavar="DIR", help="sources in Python")
    parser.add_argument("--worktrees", type=int, default=20)
    parser.add_argument("--changed", type=int, default=50, help="files that a branch changes")
    parser.add_argument("--bin", default=RELEASE)
    parser.add_argument("--scratch", metavar="DIR", help="where the worktrees and indexes are made")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        root, cache = os.path.join(scratch, "main"), os.path.join(scratch, "cache")
        copy_project(options.directory, root)
        git(root, "init", "--quiet", "--initial-branch", "main")
        commit(root)
        names = [f"tree{number}" for number in range(options.worktrees)]
        for number, name in enumerate(names):
            branch(root, name, options.changed, number)
        whole = index(options.bin, root, cache)
        one = blocks(cache)
        first, after = [], []
        places = [os.path.join(scratch, name) for name in names]
        for place in places:
            git(root, "worktree", "add", "--quiet", "--detach", place, "main")
            first.append(index(options.bin, place, cache))
        equal = blocks(cache)
        for name, place in zip(names, places):
            git(place, "checkout", "--quiet", name)
            after.append(index(options.bin, place, cache))
        different = blocks(cache)
        checks = apart(options.bin, places, cache)
    print(f"index from nothing {whole:.2f} s, {one / 1e6:.1f} MB")
    table([("", "p50 s", "p90 s", "most s", "disk MB", "disk / one"),
           ("first index", *times(first), f"{equal / 1e6:.0f}", f"{equal / one:.2f}"),
           (f"after {options.changed} changed files", *times(after), f"{different / 1e6:.0f}", f"{different / one:.2f}")])
    return verdict(checks)


def git(place, *arguments):
    """Runs git in a repository."""
    command = ["git", "-C", place, "-c", "user.name=measure", "-c", "user.email=measure@invalid", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def commit(root):
    """Commits all files."""
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "State")


def branch(root, name, changed, seed):
    """A branch on which some files have one function more."""
    git(root, "checkout", "--quiet", "-b", name, "main")
    sources = [os.path.join(place, file) for place, _, files in os.walk(root) for file in files if file.endswith(".py")]
    for source in random.Random(seed).sample(sorted(sources), changed):
        with open(source, "a", encoding="utf-8") as file:
            file.write(f"\n\ndef changed_on_{name}():\n    return {seed}\n")
    commit(root)
    git(root, "checkout", "--quiet", "main")


def index(program, root, cache):
    """Seconds that an index of a directory takes."""
    begun = time.monotonic()
    subprocess.run([program, "index", root], env=with_cache(cache), check=True, capture_output=True)
    return time.monotonic() - begun


def blocks(directory):
    """Bytes of the blocks that files take, those of several names once."""
    found = {}
    for place, _, names in os.walk(directory):
        for name in names:
            stat = os.stat(os.path.join(place, name))
            found[stat.st_dev, stat.st_ino] = stat.st_blocks * 512
    return sum(found.values())


def apart(program, places, cache):
    """What must hold of a function that is added in one of the worktrees."""
    checks = []
    for number, place in enumerate(places[:3]):
        with open(os.path.join(place, f"added_{number}.py"), "w", encoding="utf-8") as file:
            file.write(EDIT.format(number, number))
    for number, place in enumerate(places[:3]):
        for other in range(3):
            command = [program, "search", f"added_in_worktree_{other}", "--root", place]
            said = subprocess.run(command, env=with_cache(cache), capture_output=True, text=True).stdout
            seen = f"added_{other}.py" in said
            checks.append((f"the function of worktree {other} in worktree {number}", seen == (number == other), said[:200]))
    return checks


def times(values):
    """Median, 90th percentile and maximum."""
    return [f"{value:.2f}" for value in (statistics.median(values), percentile(values, 0.9), max(values))]
