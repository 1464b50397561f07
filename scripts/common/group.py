"""A command with subcommands. Each is a module of `GROUP.d`, or a directory there with `__main__.py`, whose documentation has its usage;
it imports modules of its directory, of its group and of `common`."""
import ast
import importlib.util
import re
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def subcommands(group):
    """Name -> (file, documentation)."""
    found = {}
    for path in sorted([*(SCRIPTS / f"{group}.d").glob("*.py"), *(SCRIPTS / f"{group}.d").glob("*/__main__.py")]):
        name = path.parent.name if path.name == "__main__.py" else path.stem
        about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")), clean=False) or ""
        if f"    scripts/{group} {name}" in about:
            found[name] = (path, about)
    return dict(sorted(found.items()))


def summary(about):
    """The first clause of a documentation."""
    return re.split(r"[.:;](?:\s|$)", " ".join(about.partition("\n\n")[0].split()))[0]


def run(group, name, path, arguments):
    """Runs a subcommand. Gives what it exits with."""
    sys.argv = [f"scripts/{group} {name}", *arguments]
    beside = [path.parent] if path.name == "__main__.py" else []
    sys.path[:0] = map(str, [*beside, SCRIPTS / f"{group}.d"])
    # Registered under its name: classes of data look their module up.
    spec = importlib.util.spec_from_file_location("subcommand", path)
    module = sys.modules["subcommand"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main()


def main(group, about):
    """Runs the subcommand that the command line names, or lists all."""
    sys.dont_write_bytecode = True
    known = subcommands(group)
    name, *arguments = sys.argv[1:] or ["--help"]
    if name in known:
        sys.exit(run(group, name, known[name][0], arguments))
    is_help = name in ("-h", "--help")
    lines = [f"    {one:<14} {summary(text)}" for one, (_, text) in known.items()]
    print(about.strip(), "", f"    scripts/{group} SUBCOMMAND --help", "", *lines, sep="\n", file=sys.stdout if is_help else sys.stderr)
    if not is_help:
        print(f"scripts/{group}: no subcommand is called {name!r}", file=sys.stderr)
        sys.exit(2)
