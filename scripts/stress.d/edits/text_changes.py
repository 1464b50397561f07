"""Changes of what stands in one file: text of its language, and bytes that are no text."""
import re

from tree import COMMENT, FUNCTION, WORD, Tree, change, ending_of, lines_of, renamed, with_lines


def _at_random(tree: Tree, lines: list[bytes]) -> int:
    return tree.rng.randrange(len(lines) + 1)


@change(4)
def newline_at_the_end(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    with open(tree.root / path, "ab") as file:
        file.write(b"\n")
    tree.touched.add(path)
    return path


@change(3)
def comment_in_place(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    text = COMMENT.get(ending_of(path), "// {}").format(tree.new_name()).encode() + b"\n"
    with_lines(tree, path, lambda lines: lines.insert(_at_random(tree, lines), text))
    return path


@change(6)
def function_more(tree: Tree) -> str | None:
    if (path := tree.pick()) is None or ending_of(path) not in FUNCTION:
        return None
    name, called = (tree.new_name() if tree.rng.random() < 0.5 else tree.name()), tree.name()
    tree.write(path, tree.read(path) + FUNCTION[ending_of(path)].format(name, called).encode())
    return f"{name} calls {called}, {path}"


@change(5)
def function_less(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "constructor", "interface")) is None:
        return None
    path, first, last, name, _, _ = symbol
    with_lines(tree, path, lambda lines: lines.__delitem__(slice(first - 1, last)))
    return f"{name}, {path}:{first}-{last}"


@change(3)
def function_moves(tree: Tree) -> str | None:
    symbol = tree.symbol("function", "class", "struct")
    if symbol is None:
        return None
    path, first, last, name, _, _ = symbol
    others = [other for other in tree.files() if ending_of(other) == ending_of(path) and other != path]
    if not others:
        return None
    target = tree.rng.choice(others)
    body = b"".join(lines_of(tree.read(path))[first - 1:last])
    with_lines(tree, path, lambda lines: lines.__delitem__(slice(first - 1, last)))
    tree.write(target, tree.read(target) + b"\n" + body)
    return f"{name} from {path} to {target}"


@change(2)
def function_twice(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class")) is None:
        return None
    path, first, last, name, _, _ = symbol
    def again(lines: list[bytes]) -> None:
        lines[last:last] = lines[first - 1:last]
    with_lines(tree, path, again)
    return f"{name}, {path}"


@change(3)
def definition_renamed(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "interface", "field", "constant", "type", "enum", "macro")) is None:
        return None
    path, first, _, name, _, _ = symbol
    new = tree.name()
    def rename(lines: list[bytes]) -> None:
        for at in range(first - 1, min(first + 1, len(lines))):
            lines[at] = renamed(lines[at], name, new)
    with_lines(tree, path, rename)
    return f"{name} to {new}, {path}:{first}"


@change(3)
def renamed_in_its_file(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "class", "struct", "field", "variable")) is None:
        return None
    new = tree.name()
    tree.write(symbol[0], renamed(tree.read(symbol[0]), symbol[3], new))
    return f"{symbol[3]} to {new}, {symbol[0]}"


@change(4)
def parameter_changes(tree: Tree) -> str | None:
    if (symbol := tree.symbol("function", "method", "constructor")) is None:
        return None
    path, first, _, name, _, _ = symbol
    data = lines_of(tree.read(path))
    if first > len(data):
        return None
    more = {".py": b"more, ", ".go": b"more int, ", ".rs": b"more: usize, ", ".ts": b"more: number, ", ".js": b"more, "}.get(ending_of(path), b"int more, ")
    forms = [(rb"\(\s*", b"(" + more), (rb"\([^(),]*,\s*", b"("), (rb"\([^()]*\)", b"()")]
    pattern, text = tree.rng.choice(forms)
    changed = re.sub(pattern, lambda _: text, data[first - 1], count=1)
    if changed == data[first - 1]:
        return None
    data[first - 1] = changed
    tree.write(path, b"".join(data))
    return f"of {name}, {path}:{first}"


@change(5)
def import_changes(tree: Tree) -> str | None:
    places = [(path, line) for path, line in tree.content.imports if (tree.root / path).is_file()]
    if not places:
        return None
    path, line = tree.rng.choice(places)
    lines = lines_of(tree.read(path))
    if line > len(lines):
        return None
    how = tree.rng.choice(["less", "other", "into another file"])
    if how == "less":
        del lines[line - 1]
    elif how == "other":
        words = list(WORD.finditer(lines[line - 1]))
        if not words:
            return None
        word = tree.rng.choice(words)
        lines[line - 1] = lines[line - 1][:word.start()] + tree.name().encode() + lines[line - 1][word.end():]
    else:
        others = [other for other in tree.files() if ending_of(other) == ending_of(path) and other != path]
        if not others:
            return None
        text, path = lines[line - 1], tree.rng.choice(others)
        lines = [text, *lines_of(tree.read(path))]
    tree.write(path, b"".join(lines))
    return f"{how}, {path}:{line}"


@change(6)
def name_replaced(tree: Tree) -> str | None:
    """One word becomes another that the tree has: a call of something else, another base, another type."""
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    words = list(WORD.finditer(data))
    if not words:
        return None
    word, new = tree.rng.choice(words), tree.name()
    tree.write(path, data[:word.start()] + new.encode() + data[word.end():])
    return f"{word[0].decode()} by {new}, {path} at byte {word.start()}"


@change(2)
def lines_change_places(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    lines = lines_of(tree.read(path))
    if len(lines) < 3:
        return None
    at = tree.rng.randrange(len(lines) - 1)
    if tree.rng.random() < 0.5:
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    else:
        del lines[at]
    tree.write(path, b"".join(lines))
    return f"{path}:{at + 1}"


@change(2)
def header_of_generated_code(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    mark = COMMENT.get(ending_of(path), "// {}").format("Code generated by a tool. DO NOT EDIT.").encode() + b"\n"
    data = tree.read(path)
    tree.write(path, data[len(mark):] if data.startswith(mark) else mark + data)
    return path


# --- Contents that are no text of a language.

@change(3)
def half_of_a_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.halves.setdefault(path, data)
    tree.write(path, data[: tree.rng.randrange(len(data) + 1)])
    return path


@change(3)
def other_half_of_a_file(tree: Tree) -> str | None:
    if not tree.halves:
        return None
    path = tree.rng.choice(sorted(tree.halves))
    tree.write(path, tree.halves.pop(path))
    return path


@change(1)
def empty_file(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    tree.halves.setdefault(path, tree.read(path))
    tree.write(path, b"")
    return path


@change(2)
def bytes_that_are_no_text(tree: Tree) -> str | None:
    if (path := tree.pick()) is None:
        return None
    data = tree.read(path)
    tree.halves.setdefault(path, data)
    kind, changed = tree.rng.choice([
        ("byte order mark", b"\xef\xbb\xbf" + data), ("invalid UTF-8", data[: len(data) // 2] + b"\xff\xc3\x28\x80" + data[len(data) // 2:]),
        ("zero byte", data + b"\0"), ("Latin-1", data + "\n/* é # à */\n".encode("latin-1")),
        ("UTF-16", data.decode("utf-8", "replace").encode("utf-16")), ("one long line", data.replace(b"\n", b" ") * 3),
    ])
    tree.write(path, changed)
    return f"{kind}, {path}"


@change(2)
def ends_of_lines(tree: Tree) -> str | None:
    if (first := tree.pick()) is None:
        return None
    paths = [first] if tree.rng.random() < 0.7 else tree.files()
    for path in paths:
        data = tree.read(path)
        tree.write(path, data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n"))
    return f"of {len(paths)} files, {first}"
