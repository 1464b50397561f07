"""Compares the complexity of functions with radon (cyclomatic) and complexipy (cognitive).

    scripts/accuracy complexity --python PYTHON            PYTHON has both installed; Django and three more projects
    scripts/accuracy complexity --python PYTHON --show 20  ... and this many differences of each project

radon counts a function without those inside of it, complexipy with them, and reports functions and methods of classes at the top of a
file. Both are asked about every file in Python. complexipy does not see decisions in keyword arguments, subscripts, operands of
arithmetic, awaited and yielded values, and other places: functions with such decisions are counted (`not seen`) and not compared; `of all`
is the share with them. Ends with 1 below 99.5 %.
"""
import json
import os
import subprocess
import sys
from collections import defaultdict

from base import DEBUG, TARGET, command_line, table
from program import Program
from sources import DJANGO, SOURCES, fetch

MORE = ("httpx", "click", "traitlets")
BAR = 0.995

# Runs in the interpreter that has both: path, line, name, cyclomatic and cognitive complexity of each function, a JSON list a line.
ASK = """
import ast, json, os, sys, warnings
warnings.simplefilter("ignore")
import complexipy
from radon.visitors import ComplexityVisitor, Function

def inner(function):
    yield function
    for closure in function.closures:
        yield from inner(closure)

def of_class(one):
    for method in one.methods:
        yield from inner(method)
    for other in one.inner_classes:
        yield from of_class(other)

DECISIONS = (ast.BoolOp, ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)

def read_in(expression, seen):
    # Adds the decisions that complexipy sees in an expression.
    if isinstance(expression, DECISIONS):
        seen.add(expression)
    if isinstance(expression, ast.BoolOp):
        inner = [value.operand if isinstance(value, ast.UnaryOp) else value for value in expression.values]
        inner = [value for value in inner if isinstance(value, ast.BoolOp)]
    elif isinstance(expression, ast.UnaryOp):
        inner = [expression.operand] if isinstance(expression.operand, ast.BoolOp) else []
    elif isinstance(expression, ast.Compare):
        inner = [expression.left, *expression.comparators]
    elif isinstance(expression, ast.IfExp):
        inner = [expression.test, expression.body, expression.orelse]
    elif isinstance(expression, ast.Lambda):
        inner = [expression.body]
    elif isinstance(expression, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        inner = [expression.key, expression.value] if isinstance(expression, ast.DictComp) else [expression.elt]
        inner += [part for one in expression.generators for part in (one.iter, *one.ifs)]
    elif isinstance(expression, ast.Call):
        inner = expression.args
    elif isinstance(expression, (ast.Tuple, ast.List, ast.Set)):
        inner = expression.elts
    elif isinstance(expression, ast.Dict):
        inner = expression.values
    else:
        inner = []
    for one in inner:
        read_in(one, seen)

def is_seen(function):
    # Whether complexipy sees every decision in the body of a function.
    seen = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)):
            parts = [node.value]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            parts = [node.iter]
        elif isinstance(node, (ast.While, ast.If)):
            parts = [node.test]
        elif isinstance(node, ast.Raise):
            parts = [node.exc, node.cause]
        elif isinstance(node, ast.Assert):
            parts = [node.test, node.msg]
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            parts = [item.context_expr for item in node.items]
        else:
            parts = []
        for part in parts:
            if part is not None:
                read_in(part, seen)
    inside = {node for statement in function.body for node in ast.walk(statement) if isinstance(node, DECISIONS)}
    return inside <= seen

root = sys.argv[1]
for folder, _, names in os.walk(root):
    for name in sorted(names):
        path = os.path.join(folder, name)
        if not name.endswith(".py"):
            continue
        try:
            text = open(path, encoding="utf-8").read()
            visitor = ComplexityVisitor.from_code(text)
            cognitive = complexipy.file_complexity(path).functions
        except Exception:
            continue
        found = [one for function in visitor.functions for one in inner(function)]
        found += [one for cls in visitor.classes for one in of_class(cls)]
        relative = os.path.relpath(path, root)
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        first = {min([node.lineno] + [one.lineno for one in node.decorator_list]): node for node in functions}
        for one in found:
            print(json.dumps(["radon", relative, one.lineno, one.name, one.complexity, True]))
        for one in cognitive:
            print(json.dumps(["complexipy", relative, one.line_start, one.name.split("::")[-1], one.complexity,
                              one.line_start not in first or is_seen(first[one.line_start])]))
"""


def main():
    parser = command_line(__doc__)
    parser.add_argument("--python", required=True, help="interpreter with radon and complexipy")
    parser.add_argument("--bin", default=DEBUG)
    parser.add_argument("--sources", default=os.path.join(TARGET, "accuracy"))
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    program = Program(options.bin, os.path.join(TARGET, "accuracy", "cache"))
    rows, is_good = [["project", "radon", "equal", "complexipy", "equal", "not seen", "of all"]], True
    for source in [DJANGO, *(source for source in SOURCES if source.name in MORE)]:
        fetch(source, options.sources)
        root = os.path.join(options.sources, source.name)
        row = [source.name]
        reported = asked(options.python, root)
        ours = own(program, root)
        for tool, column in (("radon", 0), ("complexipy", 1)):
            seen = [rest for *rest, is_seen in reported[tool] if is_seen]
            share, number, differences = compare(seen, ours, column)
            row += [number, f"{share:.2%}"]
            is_good = is_good and share >= BAR
            if tool == "complexipy":
                row += [len(reported[tool]) - number, f"{compare([rest for *rest, _ in reported[tool]], ours, column)[0]:.2%}"]
            for difference in differences[:options.show]:
                print(tool, *difference)
        rows.append(row)
    table(rows)
    return 0 if is_good else 1


def asked(python, root):
    """Tool -> (path, line, name, value) of each function."""
    done = subprocess.run([python, "-c", ASK, root], capture_output=True, text=True, check=True)
    told = defaultdict(list)
    for line in done.stdout.splitlines():
        tool, *row = json.loads(line)
        told[tool].append(row)
    return told


def own(program, root):
    """(path, name) -> (first line, last line, cyclomatic, cognitive) of each measured function."""
    found = defaultdict(list)
    statement = ("SELECT path, name, line, end_line, cyclomatic, cognitive FROM symbols "
                 "WHERE cyclomatic IS NOT NULL AND path LIKE '%.py' ORDER BY id")
    for path, name, *rest in program.every_row(root, statement):
        found[path, name].append(rest)
    return found


def compare(told, ours, column):
    """Share of equal values, their number, and the others: path:line, name, theirs, ours."""
    equal, differences = 0, []
    for path, line, name, value in told:
        around = [one for one in ours.get((path, name), []) if one[0] <= line <= one[1]]
        own_value = max(around)[2 + column] if around else None
        equal += own_value == value
        if own_value != value:
            differences.append((f"{path}:{line}", name, value, own_value))
    return equal / max(1, len(told)), len(told), differences


if __name__ == "__main__":
    sys.exit(main())
