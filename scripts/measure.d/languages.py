"""What each language costs: the part of its grammar in the program, and how fast an index of its files is made and how fast they are only
parsed, in MB for a second of CPU time.

    scripts/measure languages DIR...              of the languages whose files are in the directories
    scripts/measure languages DIR... --write      keeps the table in docs/languages.md

The files of a language are copied from the directories, at most --megabytes (8) of them, and measured alone by `benches/index.rs` (built with
--profile, `measure`), --runs (3) times; the median counts. A language with less than 50 kB in the directories is measured on its fixtures,
repeated until they have 1 MB. Languages without references have an index of definitions and words. The part of a grammar is what
`scripts/measure size` counts.
"""
import collections
import json
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import tomllib

from base import command_line, ROOT
import usage
from size import grammars

sys.path.append(str(ROOT / "scripts" / "stress.d" / "edits"))
from projects import fixture_sources  # noqa: E402
# Files that are measured alone; fixtures are repeated up to a size at which the cost of a start does not count.
LEAST_BYTES, FIXTURE_BYTES = 50_000, 1_000_000


def main():
    parser = command_line(__doc__)
    parser.add_argument("directories", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", default="measure")
    options = parser.parse_args()
    build = ["cargo", "build", "--profile", options.profile, "--bin", "cograph", "--bench", "index", "--message-format", "json"]
    messages = subprocess.run(build, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    built = {unit["target"]["name"]: unit["executable"] for unit in map(json.loads, messages) if unit.get("executable")}
    files = by_language(built["cograph"], options.directories)
    sizes = grammars(str(pathlib.Path(built["cograph"]).parent))
    rows = []
    for folder in sorted((ROOT / "grammars").glob("*/grammar.toml")):
        name, manifest = folder.parent.name, merged(folder.parent.name)
        with tempfile.TemporaryDirectory() as scratch:
            source, amount = fill(pathlib.Path(scratch), files[name], name, options.megabytes * 1e6)
            figures = [run(built["index"], scratch) for _ in range(options.runs)]
        index, parse = (statistics.median(each[at] for each in figures) for at in (0, 1))
        crate = manifest["grammar"].split("::")[0].replace("_", "-")
        size = next((size for known, size in sizes.items() if known == crate), 0) / 1e6
        rows.append((manifest["title"], manifest["tier"], size, source, amount / 1e6, amount / 1e6 / index, amount / 1e6 / parse))
        print("{:<20} {:<10} grammar {:>5.2f} MB   {} {:.1f} MB   index {:>6.2f} MB/s   parse {:>6.2f} MB/s".format(*rows[-1]), flush=True)
    if options.write:
        write(rows)


def merged(name):
    """The first lines of a manifest: grammar, title and tier, with those that it extends."""
    own = tomllib.loads((ROOT / "grammars" / name / "grammar.toml").read_text())
    base = merged(own["extends"]) if "extends" in own else {}
    return {key: own.get(key, base.get(key)) for key in ("grammar", "title", "tier")}


def by_language(cograph, directories):
    """Language -> paths of its indexed files."""
    files = collections.defaultdict(list)
    for directory in directories:
        with tempfile.TemporaryDirectory() as cache:
            usage.index(cograph, directory, cache)
            connection = sqlite3.connect(f"file:{usage.store(cache)}?mode=ro", uri=True)
            for path, language in connection.execute("SELECT path, language FROM files WHERE skipped IS NULL ORDER BY path"):
                files[language].append(directory / path)
    return files


def fill(target, paths, language, most):
    """Copies files of a language: where they are from, and how many bytes."""
    amount = 0
    for number, path in enumerate(paths):
        if amount >= most:
            break
        copy(target / str(number // 100) / f"{number}" / path.name, path.read_bytes())
        amount += path.stat().st_size
    if amount >= LEAST_BYTES:
        return "files", amount
    shutil.rmtree(target)
    fixtures = fixture_sources(language)
    amount = 0
    for turn in range(10_000):
        if amount >= FIXTURE_BYTES or not fixtures:
            break
        for path, data in fixtures.items():
            copy(target / str(turn) / path, data)
            amount += len(data)
    return "fixtures", amount


def copy(place, data):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


def run(bench, directory):
    """CPU seconds of an index, and of parsing alone."""
    with tempfile.TemporaryDirectory() as scratch:
        place, seconds = pathlib.Path(scratch), []
        for what in ("index", "parse"):
            command = [bench, "--measure", what, directory, place / "files", place / "cache"]
            lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
            seconds.append(int(dict(line.split() for line in lines)["cpu"]) / 1e9)
    return seconds


def write(rows):
    text = """# Languages

How deep each language is read ([the tiers](../grammars/README.md)), how much of the program is its grammar, and what its files cost: MB of
source for a second of CPU time, in an index and parsed alone, by `scripts/measure languages DIR... --write`. Languages without files in the
directories are measured on their fixtures, repeated. Where two languages share a grammar, each row has all of it.

| language | tier | grammar, MB | measured on | index, MB/s | parsing alone, MB/s |
|---|---|---|---|---|---|
"""
    for title, tier, size, source, amount, index, parse in rows:
        text += f"| {title} | {tier} | {size:.2f} | {source}, {amount:.1f} MB | {index:.2f} | {parse:.2f} |\n"
    text += """
Not linked, though a crate with a grammar exists: F# (12 MB of tables), CUDA (8 MB), Fortran and SystemVerilog, which would make the program a
fifth larger, and Perl, whose crate needs another version of the parser library. Their files are of no language; `grep` finds text in them. A
dependency and a manifest add one: [the steps](../grammars/README.md#adding-a-language).
"""
    place = ROOT / "docs" / "languages.md"
    # The part on lost lines is of another measurement.
    _, head, rest = place.read_text().partition("\n## Lost lines\n")
    place.write_text(text + head + rest)
