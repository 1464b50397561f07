"""Compares what is read of the files in a directory with what is in them, by language.

    scripts/audit coverage BIN DIR [--least SHARE] [--lost N]
    scripts/audit coverage BIN DIR... --lines [--most SHARE] [--lost N]

Calls: the nodes of the program's own trees that are calls, and how many of them have a reference (or lie in a region that is
listed as incomplete). Definitions: the tags that `ctags` finds (Universal Ctags, if it is installed and knows the language), and how
many of them have a symbol of that name within two lines. `--lost` lists N lost calls and missing definitions a language.
Fails if a language of which references are read has a share of calls below SHARE (0.98 unless said).

`--lines` counts the lines that were lost instead: those in regions that the grammar did not understand, which the file's problems
list. `--lost` shows the N files with most of them a language. Fails if a language of the tier `full` or `shared` lost a
larger share than `--most` (1 unless said).
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tomllib

from base import ROOT, command_line

# What ctags lists and this program has no symbols for: names inside of functions, and files themselves.
PASSED_OVER = {"local", "parameter", "file", "externvar", "unknown", "label", "anchor", "heredoc", "id", "title", "alias", "import"}


def main():
    parser = command_line(__doc__)
    parser.add_argument("bin")
    parser.add_argument("dirs", type=pathlib.Path, nargs="+")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--most", type=float, default=1.0)
    parser.add_argument("--least", type=float, default=0.98)
    parser.add_argument("--lost", type=int, default=0)
    options = parser.parse_args()
    if options.lines:
        sys.exit(lost_lines(options))
    if len(options.dirs) > 1:
        parser.error("without --lines there is one directory")
    options.dir = options.dirs[0]
    files = covered(options.bin, options.dir)
    tags = definitions(options.dir, files)
    by_language = collections.defaultdict(list)
    for file in files:
        by_language[file["language"]].append(file)
    print(f"{'language':<12} {'files':>6} {'calls':>8} {'stored':>8} {'listed':>7} {'share':>7} {'tags':>8} {'found':>8} {'share':>7}")
    failed = []
    for language, files in sorted(by_language.items()):
        calls, stored, listed = (sum(file[key] for file in files) for key in ("calls", "stored", "in_problems"))
        known, missing = compare(files, tags)
        share = (stored + listed) / calls if calls else 1.0
        of_tags = (known - len(missing)) / known if known else None
        print(f"{language:<12} {len(files):>6} {calls:>8} {stored:>8} {listed:>7} {percent(share if calls else None)} {known:>8} {known - len(missing):>8} {percent(of_tags)}")
        if is_resolved(language) and share < options.least:
            failed.append(language)
        lost = [f"  lost {file['path']}:{place['line']} {place['what']}" for file in files for place in file["lost"]]
        for line in lost[: options.lost] + [f"  missing {line}" for line in missing[: options.lost]]:
            print(line)
    if failed:
        sys.exit(f"below {options.least:.0%} of the calls: {', '.join(failed)}")


def covered(binary, directory):
    """What the program says of each file."""
    lines = subprocess.run([binary, "lost-lines", directory], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    if not lines:
        sys.exit(f"no file of {directory} is in a language that is read")
    return [json.loads(line) for line in lines]


def lost_lines(options):
    """Prints the lost lines by directory and language; returns what to exit with."""
    failed = []
    print(f"{'directory':<20} {'language':<12} {'files':>6} {'in part':>7} {'lines':>9} {'lost':>7} {'share':>8}")
    for directory in options.dirs:
        by_language = collections.defaultdict(list)
        for file in covered(options.bin, directory):
            by_language[file["language"]].append(file)
        for language, files in sorted(by_language.items()):
            lines, lost = sum(file["lines"] for file in files), sum(len(file["incomplete"]) for file in files)
            partly = sorted((file for file in files if file["incomplete"]), key=lambda file: -len(file["incomplete"]))
            share = lost / lines if lines else 0
            print(f"{directory.name:<20} {language:<12} {len(files):>6} {len(partly):>7} {lines:>9} {lost:>7} {share * 100:>7.3f}%")
            if is_resolved(language) and share > options.most:
                failed.append(f"{language} in {directory.name}")
            for file in partly[: options.lost]:
                places = ", ".join(str(place["line"]) for place in file["incomplete"][:6])
                print(f"  {len(file['incomplete']):>6} {file['path']}: {places}")
    return f"more than {options.most:.2%} of the lines: {', '.join(failed)}" if failed else 0


def percent(share):
    return f"{'-':>7}" if share is None else f"{share * 100:>6.2f}%"


def is_resolved(language):
    with open(ROOT / "grammars" / language / "grammar.toml", "rb") as file:
        manifest = tomllib.load(file)
    return manifest.get("tier", "full") != "structure"


def definitions(root, files):
    """Path -> list of (line, name, kind), as ctags has them; none without ctags."""
    found = collections.defaultdict(list)
    if shutil.which("ctags") is None or "Universal" not in subprocess.run(["ctags", "--version"], stdout=subprocess.PIPE, text=True).stdout:
        return found
    paths = "\n".join(file["path"] for file in files)
    command = ["ctags", "--output-format=json", "--fields=+nK", "-f", "-", "-L", "-"]
    output = subprocess.run(command, input=paths, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=root, errors="replace").stdout
    for line in output.splitlines():
        tag = json.loads(line)
        if tag.get("_type") == "tag" and tag.get("kind") not in PASSED_OVER and "line" in tag:
            found[tag["path"]].append((tag["line"], tag["name"], tag.get("kind", "")))
    return found


def compare(files, tags):
    """How many definitions ctags has in these files, and those of them that are missing."""
    known, missing = 0, []
    for file in files:
        lines = collections.defaultdict(list)
        for symbol in file["symbols"]:
            # Parts of a name that is put together count by themselves.
            for name in {symbol["what"], *symbol["what"].replace("::", ".").split(".")}:
                lines[name.strip("\"'")].append(symbol["line"])
        for line, name, kind in tags.get(file["path"], []):
            known += 1
            # The same names with selectors, type parameters, brackets or sigils.
            names = {name, name.rsplit(".", 1)[-1], name.rsplit(":", 1)[-1], name.split(":")[0], name.split("{")[0], name.lstrip("$.#"), name.strip("[]\"'")}
            if not any(abs(line - other) <= 2 for one in names for other in lines.get(one, [])):
                missing.append(f"{file['path']}:{line} {kind} {name}")
    return known, missing
