"""Audits the answers about symbols without references: is every line with the name of such a symbol explained?

    scripts/audit zeros BIN DIR... [--all] [--below PATH] [--symbols N] [--seed N] [--show N] [--cache DIR]

Each directory is indexed in an empty cache, or in --cache DIR, which has the index of that one directory alone. Of the
callable symbols and types, N (default 200) are chosen at random of which `references` reports no uses; with --all, of
all, so that the lists of uses are audited as well. All text of the indexed files is searched for the name as a word, by this script. A line is explained if

- a symbol of the name stands there;
- a reference of that name stands there whose target or candidates are known (it leads to another symbol of the name);
- the answer lists it (as a use, or as text that no reference accounts for);
- the answer says how many files it could not search, or that references of the language are not read.

Prints a row for each directory and the first unexplained lines (--show, default 5). The exit code is 1 if there are any.
"""
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from base import command_line, with_cache
import usage

KINDS = ("function", "method", "constructor", "class", "struct", "interface", "trait", "enum", "macro")


def main():
    parser = command_line(__doc__)
    parser.add_argument("binary")
    parser.add_argument("directories", nargs="+")
    parser.add_argument("--symbols", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="symbols with references too: is every line with the name listed or counted?")
    parser.add_argument("--below", default="", metavar="PATH", help="only symbols of files below PATH")
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--cache", metavar="DIR")
    options = parser.parse_args()
    if options.cache and len(options.directories) > 1:
        parser.error("--cache has the index of one directory")
    print(f"{'directory':<18} {'asked':>6} {'nowhere':>8} {'explained':>10} {'cut short':>10} {'unexplained':>12}")
    failed = False
    for directory in options.directories:
        failed |= audit(options, os.path.abspath(directory))
    sys.exit(failed)


def audit(options, root):
    """A row for one directory; whether something is unexplained."""
    with tempfile.TemporaryDirectory() as empty:
        cache = options.cache or empty
        environment = with_cache(cache)
        subprocess.run([options.binary, "index", root], env=environment, check=True, capture_output=True)
        store = sqlite3.connect(f"file:{usage.store(cache)}?mode=ro", uri=True)
        marks = ", ".join("?" * len(KINDS))
        found = store.execute(
            f"SELECT id, name, path, line FROM symbols WHERE (refs = 0 OR ?) AND kind IN ({marks}) ORDER BY path, line, id",
            (options.all, *KINDS),
        ).fetchall()
        found = [symbol for symbol in found if re.fullmatch(r"[A-Za-z_]\w*", symbol[1]) and symbol[2].startswith(options.below)]
        random.Random(options.seed).shuffle(found)
        chosen = []
        for _, name, path, line in found:
            answer = ask(options.binary, environment, root, f"{path}:{line}", name)
            if answer is None:
                continue
            # A declaration without a reference may be one of a symbol that has some.
            if options.all or answer["counts"]["certain"] + answer["counts"]["likely"] == 0:
                chosen.append((name, path, line, answer))
            if len(chosen) == options.symbols:
                break
        texts = texts_of(root, [path for (path,) in store.execute("SELECT path FROM files")])
        places = occurrences(texts, {name for name, *_ in chosen})
        counts = dict.fromkeys(("nowhere", "explained", "cut"), 0)
        unexplained, known = [], accounted(store, places.keys())
        for name, path, line, answer in chosen:
            open_places = places[name] - known[name] - listed(answer)
            if not open_places:
                counts["nowhere" if len(places[name]) <= 1 else "explained"] += 1
            elif admits(answer):
                counts["cut"] += 1
            else:
                unexplained.append((name, path, line, sorted(open_places)))
    print(f"{os.path.basename(root):<18} {len(chosen):>6} {counts['nowhere']:>8} {counts['explained']:>10} {counts['cut']:>10} {len(unexplained):>12}",
          flush=True)
    for name, path, line, places in unexplained[: options.show]:
        print(f"    {name} ({path}:{line}): {', '.join(f'{path}:{line}' for path, line in places[:6])}")
    return bool(unexplained)


def texts_of(root, paths):
    """Each file that has text, with its text."""
    for path in paths:
        # As with rg, a link has no text of its own.
        if os.path.islink(os.path.join(root, path)):
            continue
        try:
            with open(os.path.join(root, path), "rb") as file:
                data = file.read()
        except OSError:
            continue
        if b"\0" not in data:
            yield path, data.decode("utf-8", "replace")


def occurrences(texts, names):
    """Name -> the places (path, line) where it stands as a word."""
    places = {name: set() for name in names}
    word = re.compile(r"\w+")
    for path, text in texts:
        if places.keys().isdisjoint(word.findall(text)):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            for found in word.findall(line):
                if found in places:
                    places[found].add((path, number))
    return places


def accounted(store, names):
    """Name -> the places of symbols of the name, and of references whose targets are known."""
    # The views have no index by name: each is read once.
    places = {name: set() for name in names}
    store.execute("CREATE TEMP TABLE asked(name TEXT PRIMARY KEY)")
    store.executemany("INSERT INTO asked VALUES (?)", [(name,) for name in names])
    # They have the first line of a definition; its name may stand on a later one.
    named = "SELECT v.name, v.path, s.start_line + s.name_down FROM symbols v JOIN symbol s ON s.id = v.id WHERE v.name IN asked"
    used = "SELECT name, path, line FROM refs WHERE name IN asked AND (verdict <> 'unresolved' OR to_id IS NOT NULL)"
    for statement in (named, used):
        for name, path, line in store.execute(statement):
            places[name].add((path, line))
    return places


def ask(binary, environment, root, place, name):
    """The answer about the symbol at a place; none if the place is taken by another symbol."""
    command = [binary, "references", place, "--root", root, "--certainty", "textual", "--budget", "10000", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    # As grep does, the program ends with 1 where it found nothing.
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    answer = json.loads(done.stdout)
    # Several symbols may begin on one line; only one of them can be asked for by it.
    return answer if answer["symbol"]["name"] == name else None


def listed(answer):
    """The places that an answer names."""
    elsewhere = answer.get("elsewhere") or {}
    places = {(line["path"], line["line"]) for line in elsewhere.get("lines", [])}
    places |= {(line["path"], line["line"]) for line in elsewhere.get("outside", [])}
    for group in (answer.get("sites", []), elsewhere.get("values", [])):
        for item in group:
            site = item.get("site", item)
            places.add((site.get("path"), site.get("line")))
    return places


def admits(answer):
    """Whether an answer says itself that it is not the whole truth."""
    elsewhere = answer.get("elsewhere") or {}
    return bool(elsewhere.get("unsearched") or elsewhere.get("not_read"))
