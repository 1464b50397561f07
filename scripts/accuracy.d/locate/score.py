"""What an answer lists, how good that is, and the table."""
import re
import statistics
from collections import namedtuple

Listed = namedtuple("Listed", "path kind name")

HEADER = re.compile(r"^([^\s:|][^:|]*):(\d+)(?:-(\d+))? ([a-z]+) (\S.*)$")  # path:line[-end] kind name...
# Below a line that announces them: path: name:line, name:line
FURTHER = "further functions of the best files:"
NAMED = re.compile(r"^([^\s:|][^:|]*): (\S+:\d+(?:, \S+:\d+)*)$")
ITEM = re.compile(r"^ +(\d+)(?:-(\d+))? ([a-z]+) (\S.*)$")  # below a line with the path
TYPES = {"class", "struct", "interface", "enum", "trait", "union", "record", "type"}
CALLABLE = {"function", "method", "constructor"}
FILES, FUNCTIONS = (1, 3, 5, 10), (5, 10, 20)


def listed(text):
    """The symbols that an answer lists, in its order."""
    found, path, is_further = [], None, False
    for line in text.splitlines():
        named = NAMED.match(line) if is_further else None
        is_further = line == FURTHER or named is not None
        if named:
            found += [Listed(named[1], "function", entry.rpartition(":")[0]) for entry in named[2].split(", ")]
        elif head := HEADER.match(line):
            found.append(Listed(head[1], head[4], _name(head[5])))
        elif (item := ITEM.match(line)) and path:
            found.append(Listed(path, item[3], _name(item[4])))
        elif line and not line[0].isspace() and ": " not in line and "|" not in line:
            path = line.strip()
    return found


def _name(text):
    return re.split(r"[(<:=\s,\[{]", text, maxsplit=1)[0]


def judge(task, found, has_functions=True):
    """Whether all that was changed is among the first of the list. A list of files says nothing of functions."""
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
        if task.functions and has_functions:
            row[f"function@{most}"] = float(set(task.functions) <= shown)
    return row


def print_table(rows):
    """One line for all and one for each repository, by ranker; of milliseconds the median."""
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
    if column == "ms":
        return f"{statistics.median(values):.0f}"
    return f"{statistics.fmean(values):.0f}" if column == "tokens" else f"{statistics.fmean(values):.3f}"


def check():
    """Fails if the scorer does not know right from wrong."""
    from losses import cause
    from rivals import nodes, ranked_matches
    from tasks import Task, every
    answer = "head\na/x.py:3-9 method C.f(self)\nb/y.py\n  12-20 function g(a)\n  30 class D\n     1| text: a\n"
    found = listed(answer)
    assert listed(f"{answer}a/x.py: C.g:4\n") == found, "a caller is not listed"
    assert [item.name for item in listed(f"{answer}{FURTHER}\na/x.py: C.g:4, h:9\na: b\nb.py: c:1\n")[3:]] == ["C.g", "h"]
    assert found == [Listed("a/x.py", "method", "C.f"), Listed("b/y.py", "function", "g"), Listed("b/y.py", "class", "D")], found
    right = judge(Task("t", "r", "s", "", ("b/y.py",), ("b/y.py:g",)), found)
    assert (right["file@1"], right["file@3"], right["function@5"]) == (0.0, 1.0, 1.0), right
    both = judge(Task("t", "r", "s", "", ("a/x.py", "c.py"), ("a/x.py:C.f", "c.py:h")), found)
    assert both["file@10"] == 0.0 and both["function@20"] == 0.0, "a part is not all"
    assert "function@5" not in judge(Task("t", "r", "s", "", ("a/x.py",)), found), "nothing to find is not found"
    assert "function@5" not in judge(Task("t", "r", "s", "", ("a/x.py",), ("a/x.py:C",)), found, False), "files are no functions"
    made = judge(Task("t", "r", "s", "", ("a/x.py",), ("a/x.py:C",)), [Listed("a/x.py", "method", "C.__init__")])
    assert made["function@5"] == 1.0, "a constructor counts for its type"
    wanted = Task("t", "r", "s", "", ("b/y.py",), ("b/y.py:D", "b/y.py:D.m"))
    assert cause(wanted, found, 9) == "part" and cause(wanted, [Listed("b/y.py", "method", "D.n")], 9) == "member"
    assert cause(wanted, [Listed("b/y.py", "function", "g")], 9) == "sibling"
    assert [cause(wanted, [], common) for common in (None, 2, 3)] == ["type", "words", "rank"]
    assert cause(wanted, [Listed("b/y.py", "class", "D"), Listed("b/y.py", "method", "D.m")], 9) == "later"
    matches = ranked_matches("./a\0x\n./a\0x\n./b\0x\n./b\0Y\n./c\0x\n", {"a", "b"})
    assert [item.path for item in matches] == ["b", "a"], "different words count before matches, other files not at all"
    assert nodes('{"nodes": [{"filePath": "a", "kind": "method", "qualifiedName": "C::f"}]}') == [Listed("a", "method", "C.f")]
    many = [Task(f"{at}", "r", "s", "", ()) for at in range(5)]
    assert [task.name for task in every(many, "2:1")] == ["1", "3"]
    print("the scorer knows right from wrong")
