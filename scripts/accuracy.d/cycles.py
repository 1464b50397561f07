"""Compares imports at run time, and the cycles they make, with grimp (Python) and dependency-cruiser (TypeScript).

    scripts/accuracy cycles --python PYTHON --node DIR            PYTHON has grimp; DIR/node_modules has dependency-cruiser and typescript
    scripts/accuracy cycles --python PYTHON --node DIR --show 20  ... and this many differences of each project

Three projects of each language. Imports for types alone, those inside of functions and those of test code are left out on both sides:
grimp leaves out what `if TYPE_CHECKING:` imports, and its imports are looked up in the syntax tree of the file; dependency-cruiser sees
what the compiler leaves, and says what is imported by a call. Of files with an import that it does not resolve (a package's own name), only
the edges that it has are compared. Ends with 1 if an edge or a cycle differs.
"""
import ast
import json
import os
import subprocess
import sys

from base import DEBUG, TARGET, command_line, table
from program import Program
from sources import DJANGO, SOURCES, fetch

# Name of the project, package, and folder that it is in.
PYTHON = (("django", "django", "."), ("httpx", "httpx", "."), ("traitlets", "traitlets", "."))
# Name of the project, and folder of its sources.
TYPESCRIPT = (("rxjs", "src"), ("query-core", "src"), ("zod", "src"))

# Runs in the interpreter that has grimp: importer, imported, lines.
GRIMP = """
import json, sys
import grimp
sys.path.insert(0, sys.argv[2])
graph = grimp.build_graph(sys.argv[1], include_external_packages=False, exclude_type_checking_imports=True, cache_dir=None)
for one in sorted(graph.modules):
    for other in sorted(graph.find_modules_directly_imported_by(one)):
        details = graph.get_import_details(importer=one, imported=other)
        print(json.dumps([one, other, [detail["line_number"] for detail in details]]))
"""

CRUISER = """
module.exports = {options: {tsPreCompilationDeps: false, doNotFollow: "node_modules", enhancedResolveOptions: {extensions:
  [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"]}}};
"""


def main():
    parser = command_line(__doc__)
    parser.add_argument("--python", required=True, help="interpreter with grimp")
    parser.add_argument("--node", required=True, help="folder whose node_modules has dependency-cruiser and typescript")
    parser.add_argument("--bin", default=DEBUG)
    parser.add_argument("--sources", default=os.path.join(TARGET, "accuracy"))
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    program = Program(options.bin, os.path.join(TARGET, "accuracy", "cache"))
    known = {source.name: source for source in [DJANGO, *SOURCES]}
    rows = [["project", "edges", "only ours", "only theirs", "cycles", "equal"]]
    for name, package, folder in PYTHON:
        root = fetched(known[name], options)
        theirs = of_grimp(options.python, package, os.path.join(root, folder))
        rows.append(compared(name, own(program, root, package), theirs, options.show))
    for name, folder in TYPESCRIPT:
        root = fetched(known[name], options)
        theirs, blind = of_cruiser(options.node, root, folder)
        ours, tests = own(program, root, folder)
        ours = {edge for edge in ours if edge in theirs or edge[0] not in blind}
        rows.append(compared(name, (ours, tests), theirs, options.show))
    table(rows)
    differs = any(row[2] or row[3] or row[5] != "yes" for row in rows[1:])
    return 1 if differs else 0


def fetched(source, options):
    fetch(source, options.sources)
    return os.path.join(options.sources, source.name)


def own(program, root, folder):
    """Edges between files, and the files that are test code as a whole."""
    rows = program.every_row(root, "SELECT source, target FROM file_edges WHERE runtime")
    tests = {path for (path,) in program.every_row(root, "SELECT path FROM files WHERE test")}
    return {row for row in rows if all(path.startswith(folder + "/") for path in row)}, tests


def of_grimp(python, package, root):
    """Edges outside of functions, between files."""
    done = subprocess.run([python, "-c", GRIMP, package, root], capture_output=True, text=True, check=True)
    edges, inside = set(), {}
    for line in done.stdout.splitlines():
        one, other, lines = json.loads(line)
        source, target = file_of(root, one), file_of(root, other)
        if source not in inside:
            inside[source] = lines_in_functions(os.path.join(root, source))
        if not all(line in inside[source] for line in lines):
            edges.add((source, target))
    return edges


def file_of(root, module):
    path = module.replace(".", "/")
    return path + ".py" if os.path.exists(os.path.join(root, path + ".py")) else path + "/__init__.py"


def lines_in_functions(path):
    """Lines at which an import inside of a function begins."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))]
    imports = [node for function in functions for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {node.lineno for node in imports}


def of_cruiser(node, root, folder):
    """Edges that a compiler leaves, without those of calls, between files; and files with an import that it does not resolve."""
    config = os.path.join(node, "cruiser.cjs")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CRUISER)
    command = [os.path.join(node, "node_modules", ".bin", "depcruise"), "--config", config, "--output-type", "json", folder]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "NODE_PATH": os.path.join(node, "node_modules")})
    modules = json.loads(done.stdout)["modules"]
    both = [(module["source"], one) for module in modules for one in module["dependencies"]]
    blind = {source for source, one in both if one["couldNotResolve"]}
    return {(source, one["resolved"]) for source, one in both
            if not one["dynamic"] and not one["couldNotResolve"] and one["resolved"].startswith(folder + "/")}, blind


def compared(name, own_edges, theirs, show):
    """The row of a project: edges and cycles of both."""
    ours, tests = own_edges
    theirs = {edge for edge in theirs if edge[0] not in tests}
    only_ours, only_theirs = sorted(ours - theirs), sorted(theirs - ours)
    for what, edges in (("only ours", only_ours), ("only theirs", only_theirs)):
        for source, target in edges[:show]:
            print(f"{name}: {what}: {source} -> {target}")
    cycles = components(ours)
    return [name, len(theirs), len(only_ours), len(only_theirs), len(cycles), "yes" if cycles == components(theirs) else "no"]


def components(edges):
    """Strongly connected components of more than one node: by what each reaches."""
    following = {}
    for source, target in edges:
        following.setdefault(source, set()).add(target)
    reach = {}
    for start in following:
        seen, pending = set(), [start]
        while pending:
            for target in following.get(pending.pop(), ()):
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        reach[start] = seen
    groups = {frozenset([one, *(other for other in reach[one] if one in reach.get(other, ()))]) for one in reach}
    return {group for group in groups if len(group) > 1}


if __name__ == "__main__":
    sys.exit(main())
