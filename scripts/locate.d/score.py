"""What an answer lists, how good that is, and the table."""
import re
import statistics
from collections import namedtuple

Listed = namedtuple("Listed", "path kind name")

HEADER = re.compile(r"^([^\s:|][^:|]*):(\d+)(?:-(\d+))? ([a-z]+) (\S.*)$")  # path:line[-end] kind name...
ITEM = re.compile(r"^ +(\d+)(?:-(\d+))? ([a-z]+) (\S.*)$")  # below a line with the path
TYPES = {"class", "struct", "interface", "enum", "trait", "union", "record", "type"}
CALLABLE = {"function", "method", "constructor"}
FILES, FUNCTIONS = (1, 3, 5, 10), (5, 10, 20)


def listed(text):
    """The symbols that an answer lists, in its order."""
    found, path = [], None
    for line in text.splitlines():
        if head := HEADER.match(line):
            found.append(Listed(head[1], head[4], _name(head[5])))
        elif (item := ITEM.match(line)) and path:
            found.append(Listed(path, item[3], _name(item[4])))
        elif line and not line[0].isspace() and ": " not in line and "|" not in line:
            path = line.strip()
    return found


def _name(text):
    return re.split(r"[(<:=\s,\[{]", text, maxsplit=1)[0]


def judge(task, found):
    """Whether all that was changed is among the first of the list."""
    files = list(dict.fromkeys(item.path for item in found))
    row = {f"file@{most}": float(set(task.files) <= set(files[:most])) for most in FILES}
    functions = list(dict.fromkeys(item for item in found if item.kind in CALLABLE | TYPES))
    for most in FUNCTIONS:
        shown = set()
        for item in functions[:most]:
            shown.add(f"{item.path}:{item.name}")
            # A change of a constructor is shown as one of the type.
            container, _, own = item.name.rpartition(".")
            if container and (item.kind == "constructor" or own == "__init__"):
                shown.add(f"{item.path}:{container}")
        if task.functions:
            row[f"function@{most}"] = float(set(task.functions) <= shown)
    return row


def print_table(rows):
    """One line for all and one for each repository, by ranker."""
    columns = [f"file@{most}" for most in FILES] + [f"function@{most}" for most in FUNCTIONS] + ["tokens", "ms"]
    print("| ranker | repository | tasks | " + " | ".join(columns) + " |")
    print("|" + "---|" * (len(columns) + 3))
    for ranker in dict.fromkeys(row["ranker"] for row in rows):
        mine = [row for row in rows if row["ranker"] == ranker]
        for repo in ["all", *dict.fromkeys(row["repo"] for row in mine)]:
            group = [row for row in mine if repo in ("all", row["repo"])]
            cells = [_cell(column, [row[column] for row in group if column in row]) for column in columns]
            print(f"| {ranker} | {repo} | {len(group)} | " + " | ".join(cells) + " |")


def _cell(column, values):
    if not values:
        return ""
    mean = statistics.fmean(values)
    return f"{mean:.0f}" if column in ("tokens", "ms") else f"{mean:.3f}"


def check():
    """Fails if the scorer does not know right from wrong."""
    from tasks import Task
    answer = "head\na/x.py:3-9 method C.f(self)\nb/y.py\n  12-20 function g(a)\n  30 class D\n     1| text: a\n"
    found = listed(answer)
    assert found == [Listed("a/x.py", "method", "C.f"), Listed("b/y.py", "function", "g"), Listed("b/y.py", "class", "D")], found
    right = judge(Task("t", "r", "s", "", ("b/y.py",), ("b/y.py:g",)), found)
    assert (right["file@1"], right["file@3"], right["function@5"]) == (0.0, 1.0, 1.0), right
    both = judge(Task("t", "r", "s", "", ("a/x.py", "c.py"), ("a/x.py:C.f", "c.py:h")), found)
    assert both["file@10"] == 0.0 and both["function@20"] == 0.0, "a part is not all"
    assert "function@5" not in judge(Task("t", "r", "s", "", ("a/x.py",)), found), "nothing to find is not found"
    made = judge(Task("t", "r", "s", "", ("a/x.py",), ("a/x.py:C",)), [Listed("a/x.py", "method", "C.__init__")])
    assert made["function@5"] == 1.0, "a constructor counts for its type"
    print("the scorer knows right from wrong")
