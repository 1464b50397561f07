"""What subcommands share: where the project and its builds are, command lines, verdicts, copies, and tables of figures."""
import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RELEASE = str(TARGET / "release" / "cograph")
DEBUG = str(TARGET / "debug" / "cograph")


def command_line(about):
    """The parser of a subcommand's arguments, with its documentation as help."""
    return argparse.ArgumentParser(prog=sys.argv[0], description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def built():
    """The program, built for a release."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet"], cwd=ROOT, check=True)
    return RELEASE


def with_cache(cache, **more):
    """The environment of a program whose indexes go to a directory."""
    return {**os.environ, "COGRAPH_CACHE_DIR": str(cache), **more}


def write_files(root, files):
    """Writes files: path below `root` -> text."""
    for path, text in files.items():
        place = os.path.join(root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)


def copy_project(source, target):
    """Copies the files of a project, without what was built and its history."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("target", ".git", "node_modules"), symlinks=True)
    return target


def verdict(checks):
    """Prints (what must hold, whether it does, evidence) of each check. Gives the exit code."""
    for what, holds, detail in checks:
        print(f"{'ok    ' if holds else 'FAILED'}  {what}" + ("" if holds else f": {detail}"))
    return 0 if all(holds for _, holds, _ in checks) else 1


def percentile(values, share):
    """The value below or at which `share` of the values lie."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def table(rows):
    """Prints rows of words in columns; numbers to the right."""
    widths = [max(len(str(row[at])) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        cells = (str(cell).ljust(width) if at == 0 else str(cell).rjust(width) for at, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join(cells).rstrip())
