"""A use before its definition: a file uses a name that nothing has yet, and in a later state another file defines it."""
from tree import FUNCTION, Tree, change, ending_of, lines_of, renamed


@change(5)
def use_before_its_definition(tree: Tree) -> str | None:
    """Copies a use of a symbol in another file, with its imports, under a new name: in the same file or into another one."""
    uses = [use for use in tree.content.uses if (tree.root / use[0]).is_file()]
    used = [use for use in uses if use[2] != "import"]
    if not used:
        return None
    path, line, _, name, home = tree.rng.choice(used)
    lines, new = lines_of(tree.read(path)), f"{name}_{tree.rng.randrange(1 << 20):05x}"
    if line > len(lines) or renamed(lines[line - 1], name, new) == lines[line - 1]:
        return None  # the file has changed since
    imports = sorted({use[1] for use in uses if use[0] == path and use[2:] == ("import", name, home) and use[1] <= len(lines)} - {line})
    others = sorted({other[0] for other in uses if ending_of(other[0]) == ending_of(path)} - {path, home})
    target = tree.rng.choice(others) if others and tree.rng.random() < 0.5 else path
    if target == path:
        lines[line - 1] = renamed(lines[line - 1], name, new)
        for at in reversed(imports):
            lines.insert(at, renamed(lines[at - 1], name, new))
    else:
        copied = [renamed(lines[at - 1], name, new) for at in [*imports, line]]
        lines = lines_of(tree.read(target))
        # Where a statement may stand: after one that uses something.
        places = [use[1] for use in used if use[0] == target and use[1] <= len(lines)] or [len(lines)]
        lines.insert(tree.rng.choice(places), copied.pop())
        lines[:0] = copied
    tree.write(target, b"".join(lines))
    tree.undefined[new] = (home, name)
    return f"{new}, {target}"


# What is used is mostly defined next.
@change(150)
def definition_of_what_is_used(tree: Tree) -> str | None:
    """Copies the definition under the new name, behind itself or to the end of its file; writes a new one if it is gone."""
    if not tree.due:
        return None
    new = tree.due.pop(tree.rng.randrange(len(tree.due)))
    home, name = tree.undefined.pop(new, ("", ""))
    if not (tree.root / home).is_file():
        return None
    lines = lines_of(tree.read(home))
    found = [symbol for symbol in tree.content.symbols if (symbol[0], symbol[3]) == (home, name)]
    body = [renamed(line, name, new) for line in lines[found[0][1] - 1:found[0][2]]] if found else []
    if any(new.encode() in line for line in body):
        is_inside = found[0][5] is not None
        end = found[0][2] if is_inside or tree.rng.random() < 0.5 else len(lines)
        lines[end:end] = [b"\n", *body]
    elif ending_of(home) in FUNCTION:
        lines.append(FUNCTION[ending_of(home)].format(new, tree.name()).encode())
    else:
        return None
    tree.write(home, b"".join(lines))
    return f"{new}, {home}"
