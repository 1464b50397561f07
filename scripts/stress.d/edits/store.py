"""What a store says, read from its SQLite file and written without keys, so that two stores can be compared row for row."""
import hashlib
import re
import sqlite3
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Columns of the documented views that are keys, and of what.
KEYS = {
    ("files", "id"): "file",
    ("symbols", "id"): "symbol", ("symbols", "container_id"): "symbol", ("symbols", "file_id"): "file",
    ("refs", "id"): "site", ("refs", "from_id"): "symbol", ("refs", "to_id"): "symbol", ("refs", "file_id"): "file",
    ("calls", "caller_id"): "symbol", ("calls", "callee_id"): "symbol",
    ("candidates", "site_id"): "site", ("candidates", "symbol_id"): "symbol",
    ("relations", "from_id"): "symbol", ("relations", "to_id"): "symbol",
}

# What questions read and no view shows. The first column is a key of the kind that the name's last word says.
TABLES = {
    "table file": ("file", "SELECT id, size, hex(hash), lines, flags, symbols, sites FROM file"),
    "table file_words": ("file", "SELECT file, hex(words), hex(postings) FROM file_words"),
    "table symbol": (
        "symbol",
        "SELECT s.id, s.least, s.most, s.start_line, s.start_column, s.more_lines, s.end_column, s.start_byte, s.length, s.name_down,"
        " s.name_column, s.signature, CASE WHEN s.site_span > 0 THEN s.first_site - f.first_site END, s.site_span"
        " FROM symbol s JOIN file f ON f.id = s.file",
    ),
    "table site": ("site", "SELECT id, mark, col FROM site"),
    "table site_file": ("site", "SELECT s.site, f.path FROM site_file s JOIN file f ON f.id = s.file"),
    "table import": ("file", "SELECT file, place, level, line, col FROM import"),
    "table problem": ("file", "SELECT file, place, kind, first_line, last_line FROM problem"),
    "table meta": (None, "SELECT files, symbols, sites FROM meta"),
}


# References that lead to another file.
USES = """
    SELECT r.path, r.line, r.kind, r.name, s.path FROM refs r JOIN symbols s ON s.id = r.to_id AND s.name = r.name
    WHERE {}s.file_id <> r.file_id AND r.kind IN ('call', 'construct', 'import', 'type') ORDER BY r.path, r.line, r.col, r.kind
"""
SYMBOLS = "SELECT path, line, end_line, name, kind, container FROM symbols {}ORDER BY path, line, id"

# The text of a key that leads nowhere.
DANGLING = "no such key:"


class UnknownForm(Exception):
    """The store has views or tables that this check does not know."""


class Content:
    """The rows of a store by view and table, and what the choice of edits and questions needs of them."""

    def __init__(self, rows: dict[str, list[tuple]], symbols: list[tuple], imports: list[tuple], uses: list[tuple]):
        self.rows = rows
        self.symbols = symbols  # path, line, end_line, name, kind, container
        self.imports = imports  # path, line
        self.uses = uses  # of a symbol in another file: path, line, kind of the reference, name, path of the definition
        self.names = {symbol[3] for symbol in symbols}

    def dangling(self) -> list[tuple]:
        """Rows with a key that leads nowhere."""
        return [row for rows in self.rows.values() for row in rows
                if any(isinstance(cell, str) and cell.startswith(DANGLING) for cell in row)]

    def languages(self) -> set[str]:
        return {row[2] for row in self.rows["files"] if row[2]}


def newest(cache: Path) -> Path | None:
    """The store that was made last in a cache of one repository."""
    found = [(int(match[1]), path) for path in cache.glob("*/v*.db") if (match := re.search(r"-(\d+)\.db$", path.name))]
    return max(found)[1] if found else None


def read(path: Path) -> Content:
    """All rows of a store. Raises `sqlite3.Error` if it cannot be read."""
    with _transaction(path) as connection:
        rows = {name: list(told) for name, told in _rows(connection, _numbered)}
        return _content(connection, rows)


def sample(path: Path, most: int = 3000) -> Content:
    """Some of a store's symbols, imports and uses, and its files: for a store that is too large to be held."""
    with _transaction(path) as connection:
        rows = {"files": connection.execute("SELECT * FROM files ORDER BY path").fetchall()}
        parts = [max(1, connection.execute(f"SELECT count(*) FROM {view}").fetchone()[0] // most) for view in ("symbols", "refs")]
        return _content(connection, rows, f"WHERE id % {parts[0]} = 0 ", f"r.id % {parts[1]} = 0 AND ")


def digests(path: Path) -> dict[str, tuple[int, int]]:
    """Of each view and table its number of rows and the sum of their hashes: the same for two stores that say the same, whatever their
    order, and made in the memory of one row."""
    with _transaction(path) as connection:
        found = {}
        for name, told in _rows(connection, Runs):
            count = total = 0
            for row in told:
                count += 1
                total += int.from_bytes(hashlib.blake2b(repr(row).encode("utf-8", "backslashreplace"), digest_size=16).digest(), "big")
            found[name] = (count, total % (1 << 128))
        return found


@contextmanager
def _transaction(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)
    try:
        # A name need not be UTF-8.
        connection.text_factory = lambda data: data.decode("utf-8", "backslashreplace")
        connection.execute("BEGIN")
        yield connection
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, numbered) -> Iterator[tuple[str, Iterator[tuple]]]:
    """The rows of each view and table, with labels in place of keys."""
    paths = dict(connection.execute("SELECT id, path FROM files"))
    labels = {
        "file": paths,
        "symbol": numbered(connection.execute("SELECT id, path FROM symbols ORDER BY id"), "#"),
        "site": numbered(connection.execute("SELECT id, path FROM refs ORDER BY id"), "@"),
    }
    for (view,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name").fetchall():
        cursor = connection.execute(f"SELECT * FROM {view}")
        kinds = [_kind(view, column[0]) for column in cursor.description]
        yield view, _resolved_keys(cursor, [labels[kind] if kind else None for kind in kinds])
    for name, (kind, statement) in TABLES.items():
        try:
            cursor = connection.execute(statement)
        except sqlite3.OperationalError as error:
            raise UnknownForm(f"{name}: {error}") from error
        yield name, _resolved_keys(cursor, [labels.get(kind)] + [None] * (len(cursor.description) - 1))
    yield "quick_check", iter(connection.execute("PRAGMA quick_check").fetchall())


def _content(connection: sqlite3.Connection, rows: dict, of_symbols: str = "", of_uses: str = "") -> Content:
    symbols = connection.execute(SYMBOLS.format(of_symbols)).fetchall()
    imports = connection.execute("SELECT path, line FROM imports ORDER BY path, line").fetchall()
    return Content(rows, symbols, imports, connection.execute(USES.format(of_uses)).fetchall())


class Runs:
    """Labels for what a file has, by its number in the file: `_numbered` in the memory of a file and not of a key."""

    def __init__(self, pairs, mark: str):
        self.mark, self.starts, self.ends, self.firsts = mark, [], [], []
        counts: Counter = Counter()
        for key, path in pairs:
            if not self.ends or key != self.ends[-1] or path != self.firsts[-1][0]:
                self.starts.append(key)
                self.ends.append(key)
                self.firsts.append((path, counts[path]))
            self.ends[-1] = key + 1
            counts[path] += 1

    def get(self, key: int) -> str | None:
        at = bisect_right(self.starts, key) - 1
        if at < 0 or key >= self.ends[at]:
            return None
        path, first = self.firsts[at]
        return f"{path}{self.mark}{first + key - self.starts[at]}"


def _kind(view: str, column: str) -> str | None:
    if column == "id" or column.endswith("_id"):
        if (view, column) not in KEYS:
            raise UnknownForm(f"the meaning of the key {view}.{column} is not known")
        return KEYS[view, column]
    return None


def _numbered(pairs, mark: str) -> dict[int, str]:
    """Labels for what a file has, by its number in the file."""
    counts: Counter = Counter()
    labels = {}
    for key, path in pairs:
        labels[key] = f"{path}{mark}{counts[path]}"
        counts[path] += 1
    return labels


def _resolved_keys(cursor, labels: list) -> Iterator[tuple]:
    """Rows with labels in place of keys."""
    keys = [(at, names) for at, names in enumerate(labels) if names is not None]
    for row in cursor:
        cells = list(row)
        for at, names in keys:
            if cells[at] is not None:
                cells[at] = names.get(cells[at]) or f"{DANGLING} {cells[at]}"
        yield tuple(cells)


def differences(kept: Content, fresh: Content, most: int = 4) -> list[str]:
    """What two stores do not say alike, with some of the rows of each view and table."""
    found = []
    for name in sorted(kept.rows.keys() | fresh.rows.keys()):
        left, right = Counter(kept.rows.get(name, [])), Counter(fresh.rows.get(name, []))
        if left == right:
            continue
        only_kept, only_fresh = left - right, right - left
        found.append(f"{name}: {only_kept.total()} rows only in the kept store, {only_fresh.total()} only in the fresh one")
        for side, rows in (("kept ", only_kept), ("fresh", only_fresh)):
            found += [f"  {side} {shortened(row)}" for row in sorted(rows, key=repr)[:most]]
    # A store that is broken in itself is no measure of another.
    for side, content in (("kept", kept), ("fresh", fresh)):
        if content.rows["quick_check"] != [("ok",)]:
            found.append(f"quick_check of the {side} store: {content.rows['quick_check'][:3]}")
        found += [f"a key of the {side} store leads nowhere: {shortened(row)}" for row in content.dangling()[:3]]
    return found


def shortened(row: tuple, most: int = 300) -> str:
    text = " | ".join("-" if cell is None else str(cell).replace("\n", "\\n") for cell in row)
    return text if len(text) <= most else text[:most] + "..."
