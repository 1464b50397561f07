"""What stores say, compared whatever their format: the rows of the documented views without keys, as sums that do not depend on
their order."""
import hashlib
import sqlite3

VIEWS = {
    "files": "SELECT path, language, size, lines, skipped, generated, test, symbols, resolved, likely, ambiguous, external, "
             "unresolved FROM files",
    "symbols": "SELECT s.name, s.kind, s.path, s.line, s.end_line, s.container, c.path, c.line, s.visibility, s.exported, s.test, "
               "s.signature, s.doc, s.refs FROM symbols s LEFT JOIN symbols c ON c.id = s.container_id",
    "refs": "SELECT r.path, r.line, r.col, r.kind, r.name, r.verdict, r.step, r.external, f.name, f.line, t.name, t.path, t.line "
            "FROM refs r LEFT JOIN symbols f ON f.id = r.from_id LEFT JOIN symbols t ON t.id = r.to_id",
    "candidates": "SELECT r.path, r.line, r.col, r.name, s.path, s.line, s.name FROM candidates c JOIN refs r ON r.id = c.site_id "
                  "JOIN symbols s ON s.id = c.symbol_id",
    "calls": "SELECT caller, callee, path, line, verdict, callee_path FROM calls",
    "imports": "SELECT path, line, module, level, item, target FROM imports",
    "relations": "SELECT r.kind, a.path, a.line, a.name, b.path, b.line, b.name FROM relations r "
                 "JOIN symbols a ON a.id = r.from_id JOIN symbols b ON b.id = r.to_id",
    "problems": "SELECT path, kind, first_line, last_line FROM problems",
    "file_edges": "SELECT source, target, sites FROM file_edges",
}


# What no view shows, by table: compared where both stores have it.
TABLES = {"file_words": "SELECT f.path, hex(w.words), hex(w.postings) FROM file_words w JOIN file f ON f.id = w.file"}


def digests(path):
    """View or table -> (number of rows, sum of their hashes)."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = {}
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for view, statement in {**VIEWS, **{name: text for name, text in TABLES.items() if name in there}}.items():
        rows, total = 0, 0
        for row in connection.execute(statement):
            rows += 1
            total += int.from_bytes(hashlib.blake2b(repr(row).encode(), digest_size=8).digest(), "little")
        found[view] = (rows, total % 2**64)
    connection.close()
    return found


# What a user would see of a change of extraction or resolution, one line a row.
EDGES = """SELECT r.path || ':' || r.line || ':' || r.col || ' ' || r.kind || ' ' || r.name || ' -> ' ||
    coalesce(t.path || ':' || t.line || ' ' || t.name, r.external, '?') || ' (' || r.verdict || ')'
    FROM refs r LEFT JOIN symbols t ON t.id = r.to_id"""


def edges(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = {edge for (edge,) in connection.execute(EDGES)}
    connection.close()
    return found


def lost_and_gained(old, new):
    """References with target and verdict that only one of two stores has, in order."""
    before, after = edges(old), edges(new)
    return sorted(before - after), sorted(after - before)


def differences(old, new):
    """The views in which two stores differ, in words."""
    before, after = digests(old), digests(new)
    return [f"{view}: {before[view][0]:,} rows before, {after[view][0]:,} after" + ("" if before[view][0] != after[view][0] else ", other content")
            for view in before if view in after and before[view] != after[view]], sum(rows for rows, _ in after.values())
