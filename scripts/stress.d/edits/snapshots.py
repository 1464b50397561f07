"""States of a tree that can be kept, compared and restored, with the rules outside of it that select files."""
import base64
import os
import shlex
import shutil
from pathlib import Path

from world import World

# Where the rules of the user are, seen from the home directory; the name under which a snapshot has them.
USER_RULES = "~/.config/git/ignore"
EXCLUDES = ".git/info/exclude"

# Path to its contents: ("link", target) or ("file", bytes, mode, time of modification).
Snapshot = dict[str, tuple]


def take(world: World, last: Snapshot | None = None) -> Snapshot:
    """The files as they are. Contents that are those of the last snapshot are kept once."""
    found: Snapshot = {}
    for directory, names, files in os.walk(world.repo):
        if ".git" in names:
            names.remove(".git")
        for name in [*files, *(name for name in names if os.path.islink(os.path.join(directory, name)))]:
            path = Path(directory, name)
            found[str(path.relative_to(world.repo))] = _entry(path)
    for name, path in ((EXCLUDES, world.repo / EXCLUDES), (USER_RULES, world.home / USER_RULES[2:])):
        if path.is_file():
            found[name] = _entry(path)
    for path, entry in found.items():
        if last and (before := last.get(path)) == entry:
            found[path] = before
    return found


def _entry(path: Path) -> tuple:
    if path.is_symlink():
        return ("link", os.readlink(path))
    status = path.stat()
    return ("file", path.read_bytes(), status.st_mode & 0o777, status.st_mtime_ns)


def _place(world: World, path: str) -> Path:
    return world.home / path[2:] if path.startswith("~/") else world.repo / path


def put(world: World, before: Snapshot, after: Snapshot) -> None:
    """Makes of one state another."""
    for path in before.keys() - after.keys():
        place = _place(world, path)
        place.unlink(missing_ok=True)
        while (place := place.parent) not in (world.repo, world.home) and not os.listdir(place):
            place.rmdir()
    for path in sorted(after):
        if before.get(path) == after[path]:
            continue
        place, entry = _place(world, path), after[path]
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or entry[0] == "link":
            place.unlink(missing_ok=True)
        if entry[0] == "link":
            root = entry[1].partition("/repo/")
            # A link to the inside of the place where it was seen leads to the inside of this one.
            place.symlink_to(world.repo / root[2] if entry[1].startswith("/") and root[1] else entry[1])
        else:
            place.write_bytes(entry[1])
            os.chmod(place, entry[2])
            os.utime(place, ns=(entry[3], entry[3]))


def clear(world: World) -> None:
    """An empty repository, and no index."""
    for path in (world.repo, world.home, world.top / "kept", world.top / "fresh"):
        shutil.rmtree(path, ignore_errors=True)
    world.repo.mkdir()
    world.home.mkdir()
    world.git("init", "-q", "-b", "main")
    (world.repo / EXCLUDES).unlink(missing_ok=True)


# What a reproduction compares, besides the questions that were answered differently.
STATEMENTS = [
    "SELECT path, language, size, lines, skipped, generated, test, symbols, resolved, likely, ambiguous, external, unresolved, possible FROM files ORDER BY path",
    "SELECT path, line, end_line, name, kind, container, visibility, exported, test, signature, refs, cyclomatic, cognitive, nesting FROM symbols ORDER BY path, line, name, kind",
    "SELECT path, line, col, name, kind, verdict, step, external, (SELECT path || ':' || line || ':' || name FROM symbols WHERE id = to_id) FROM refs"
    " ORDER BY path, line, col, kind, name",
    "SELECT kind, (SELECT path || ':' || line || ':' || name FROM symbols WHERE id = from_id) AS a,"
    " (SELECT path || ':' || line || ':' || name FROM symbols WHERE id = to_id) AS b FROM relations ORDER BY kind, a, b",
    "SELECT path, line, module, level, item, target, type_only, lazy, test FROM imports ORDER BY path, line, module, item",
    "SELECT path, kind, first_line, last_line FROM problems ORDER BY path, first_line",
    "SELECT source, target, sites, runtime, type_only, lazy, test FROM file_edges ORDER BY source, target",
]
# The parameter of each tool that stands on the command line by itself.
FIRST = {"search": "query", "explore": "query", "show": "targets", "outline": "path", "trace": "symbol", "references": "symbol",
         "overview": "path", "grep": "pattern", "sql": "statement"}


def script(states: list[Snapshot], by_server: bool, questions: list[tuple[str, dict]]) -> str:
    """A shell script that makes the states one after the other and compares the indexes."""
    lines = [
        "# Reproduction: sh THIS_FILE BINARY [FRESH]", "set -e",
        'kept=$(readlink -f "${1:-cograph}"); fresh=$(readlink -f "${2:-$kept}"); top=$(mktemp -d); mkdir "$top/home" "$top/repo"',
        'cd "$top/repo"; git init -q .; export HOME=$top/home XDG_CONFIG_HOME=$top/home/.config',
        'with() { COGRAPH_CACHE_DIR="$top/$1"; export COGRAPH_CACHE_DIR; [ $1 = fresh ] && binary=$fresh || binary=$kept; shift; "$binary" "$@"; }',
        "same() { with kept \"$@\" | sed 's/generation [0-9]*//' > \"$top/kept.txt\" || true",
        "  with fresh \"$@\" | sed 's/generation [0-9]*//' > \"$top/fresh.txt\" || true",
        '  diff "$top/kept.txt" "$top/fresh.txt" || echo "^ $*"; }',
    ]
    before: Snapshot = {}
    for number, state in enumerate(states):
        lines.append(f"# State {number + 1} of {len(states)}" + (", which a running server is to apply." if by_server and number else "."))
        lines += [f"rm -f {_shell(path)}" for path in sorted(before.keys() - state.keys())]
        for path in sorted(state):
            if before.get(path) != state[path]:
                lines += _making(path, state[path], before.get(path))
        lines.append("with kept index > /dev/null")
        before = state
    lines.append("with fresh index > /dev/null")
    lines += [f"same sql --budget 10000 {shlex.quote(statement)}" for statement in STATEMENTS]
    lines += [f"same {_command(tool, arguments)}" for tool, arguments in questions]
    return "\n".join(lines) + "\n"


def _command(tool: str, arguments: dict) -> str:
    """A question as it is put on the command line."""
    words = [tool]
    for name, value in arguments.items():
        if name != FIRST.get(tool):
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    first = arguments.get(FIRST.get(tool, ""), [])
    words += ["--", *first] if isinstance(first, list) and first else ["--", first] if first else []
    return shlex.join(words)


def _shell(path: str) -> str:
    return f'"$HOME"/{shlex.quote(path[2:])}' if path.startswith("~/") else shlex.quote(path)


def _making(path: str, entry: tuple, before: tuple | None) -> list[str]:
    name = _shell(path)
    parent = str(Path(path).parent)
    lines = [f"mkdir -p {_shell(parent)}"] if "/" in path else []
    if entry[0] == "link":
        inside = entry[1].partition("/repo/")
        target = f'"$top"/repo/{shlex.quote(inside[2])}' if entry[1].startswith("/") and inside[1] else shlex.quote(entry[1])
        return [*lines, f"ln -sfn {target} {name}"]
    data = entry[1]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if text == "" or (text.endswith("\n") and all(letter.isprintable() or letter in "\r\n\t" for letter in text) and "\nEND\n" not in f"\n{text}"):
        lines += [f"cat > {name} <<'END'\n{text}END"]
    else:
        lines += [f"echo {base64.b64encode(data).decode()} | base64 -d > {name}"]
    if entry[2] != 0o644:
        lines.append(f"chmod {entry[2]:o} {name}")
    if before is not None and before[0] == "file" and before[3] == entry[3]:
        lines.append(f"touch -d 2024-01-01 {name}  # the same time of modification as before")
    return lines
