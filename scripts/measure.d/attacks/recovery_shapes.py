"""Texts that make a parser recover from errors at every step: units of text that are repeated, in each language of `grammars/`."""
import functools
import glob
import json
import os
import re
import tomllib
from collections import Counter
from dataclasses import dataclass

# Below the length of a line from which on a file is not parsed.
LINE = 30_000
# Units that may be nested before the rest of a region is left out.
DEPTH = 990
# Lines that make a unit sparse.
BLANK = 24
# Texts of other languages than that of the file, and forms that no grammar lists as a token.
FOREIGN = [
    "int f(char *a) {\n  return a->b;\n}\n", "def f(a):\n    return a.b\n", "fn f<'a>(x: &'a T) -> u8 { x? }\n", "# Head\n\n- item `code`\n",
    "<p class=\"a\">text</p>\n", "#include <a.h>\n", "#define A(x) \\\n", "SELECT a FROM b WHERE c = 'd';\n", "key: [a, {b: c}]\n", "$a = @{ b = 1 }\n",
    "a <- function(x) x %>% b\n", "(defun f (x) `(a ,@x))\n", "let f = function | A -> b\n", "case $a in b) c;; esac\n", "@A(b = {c})\n", "- - - a\n",
]
OPENERS = ["(", "[", "{", "<", "((", "({", "[(", "({[", "<<", "{{", "${", "#{", "$(", "\\(", "(*", "/*", "<!--", "{-", "--[[", "#|", "=begin\n", "\"\"\"", "'''",
           "\"", "'", "`", "```", "r#\"", "<<A\n", "<<~A\n", "@\"", "$\"", "f\"{", "\"${", "\"#{", "`${", "%w(", "q{", "<a>", "<a ", "<%", "{%", "<?", "if (", "#if A\n",
           "begin\n", "do\n", "f(", "a[", "a{", "a<", "a<b,", "a(b,", "a: {", "[[", "{|", "(|", "|", "|a|", "\\", "@(", "@[", "#["]
CLOSERS = [")", "]", "}", ">", ")]}", "*/", "-->", "-}", "end", "end;", "});", "}}", "*)", "]]", "fi", "done", "esac", "</a>", "#endif", "%>", "|)", "|}"]
OPERATORS = ["+", "-", "*", "/", "%", "=", "==", "<", ">", "<=", "&", "&&", "|", "||", "!", "?", "?:", ":", "::", ".", "..", "...", "?.", "->", "=>", "<-", "~", "^",
             "@", "#", "$", ",", ";", "\\", "|>", "<|", ":=", "++", "--", "**", "//", "<<", ">>", "??", "!!", "&.", "`", "'", "\""]
# What stands before a token of a unit, and behind it.
BEFORE = ["", "a", "a ", "1", "(", "\"a\" "]
BEHIND = ["\n", "a\n", " a\n", " ", "a ", "(\n", " 1\n", "{\n", "a(\n", ""]


@dataclass(frozen=True)
class Shape:
    """A unit that is repeated, with what stands before and behind all of them, and what ends the nesting after DEPTH of them."""
    unit: str
    head: str = ""
    tail: str = ""
    end: str = ""

    def text(self, size):
        """About that many bytes: whole units, in lines that are parsed."""
        room = size - len(self.head.encode()) - len(self.tail.encode())
        unit = len(self.unit.encode())
        count = max(1, room // unit)
        if self.end:
            return self.head + (self.unit * DEPTH + self.end) * max(1, count // DEPTH) + self.tail
        if "\n" in self.unit:
            return self.head + self.unit * count + self.tail
        on_a_line = max(1, LINE // unit)
        lines = [self.unit * min(on_a_line, count - start) for start in range(0, count, on_a_line)]
        return self.head + "\n".join(lines) + self.tail

    def sparse(self):
        """As sparse as ordinary code: what it takes for each byte says nothing."""
        return Shape(self.unit.rstrip("\n") + "\n" * BLANK, self.head, self.tail)

    def written(self):
        """As in the data: the unit, or a list with what is around it."""
        parts = [self.unit, self.head, self.tail, self.end]
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        return parts if len(parts) > 1 else parts[0]

    def shown(self, width=34):
        """For a table."""
        head = f"{self.head!r} " if self.head else ""
        text = f"{head}{self.unit!r}".replace("\\n" * BLANK, "\\n...\\n") + (f" {self.end!r}" if self.end else "")
        return text if len(text) <= width else text[:width - 3] + "..."


@dataclass(frozen=True)
class Language:
    """What its manifest says."""
    name: str
    suffix: str
    # How the names of its files end.
    names: tuple
    # Bytes of the largest file that is parsed.
    most: int
    crate: str
    # What has to stand around the code in a file.
    head: str
    tail: str

    def placed(self, shape):
        """A shape where code stands in a file."""
        return Shape(shape.unit, self.head + shape.head, shape.tail + self.tail, shape.end)

    def texts(self, root):
        """Real text in the language: the sources of its fixtures."""
        found = []
        for path in sorted(glob.glob(os.path.join(root, "grammars", self.name, "fixtures", "*.txt"))):
            with open(path, encoding="utf-8") as file:
                parts = re.split(r"^//- (\S+).*\n", file.read(), flags=re.M)
            found += [text for name, text in zip(parts[1::2], parts[2::2]) if name.endswith(self.names)]
        return "".join(found)


def languages(root):
    """All languages, by their manifests."""
    manifests = {}
    for path in sorted(glob.glob(os.path.join(root, "grammars", "*", "grammar.toml"))):
        with open(path, "rb") as file:
            manifests[os.path.basename(os.path.dirname(path))] = tomllib.load(file)
    for name, manifest in manifests.items():
        detect = manifest["detect"]
        chain = [manifest]
        while (base := chain[-1].get("extends")) in manifests:
            chain.append(manifests[base])
        grammar = next(each["grammar"] for each in chain if "grammar" in each)
        code = manifest.get("markup", {}).get("code", [])
        head, tail = (f"<{code[0]}>\n", f"\n</{code[0]}>\n") if code else ("<?php\n", "") if name == "php" else ("", "")
        names = (*(f".{suffix}" for suffix in detect["extensions"]), *detect.get("file-names", []))
        yield Language(name, detect["extensions"][0], names, detect.get("most-bytes", 4 << 20), grammar.split("::")[0].replace("_", "-"), head, tail)


@functools.cache
def tokens(crate):
    """Literal tokens of a grammar, out of the description of it in the sources of its crate; none where cargo has not fetched it."""
    found = set()

    def collect(node):
        if isinstance(node, dict):
            if node.get("type") == "STRING":
                found.add(node["value"])
            for value in node.values():
                collect(value)
        elif isinstance(node, list):
            for value in node:
                collect(value)

    registry = os.path.join(os.environ.get("CARGO_HOME", os.path.expanduser("~/.cargo")), "registry", "src", "*", f"{crate}-[0-9]*")
    for path in glob.glob(os.path.join(registry, "**", "grammar.json"), recursive=True):
        with open(path, encoding="utf-8") as file:
            collect(json.load(file))
    return sorted(token for token in found if token.strip() and len(token) <= 16)


@functools.cache
def words_of(language, root):
    """What the units of a language are made of: tokens of its grammar, and words of its fixtures (keywords that a grammar has as patterns)."""
    known = Counter(re.findall(r"[A-Za-z_]\w*", language.texts(root)))
    return sorted({*tokens(language.crate), *(word for word, count in known.items() if count > 1 and len(word) <= 16)})


def systematic(language, root):
    """Shapes of one token, in every form; brackets that are never closed; text of other languages; damaged text of this one."""
    words = words_of(language, root)
    marks = sorted({*OPERATORS, *OPENERS, *CLOSERS, *(word for word in words if not word.isalnum())})
    for word in marks:
        for before in BEFORE:
            for behind in BEHIND:
                yield before + word + behind
    for word in words:
        if word.isalnum():
            for unit in (f"{word}\n", f"{word} ", f"{word} a\n", f"a {word}\n", f"{word} (\n", f"{word} {{\n", f"{word} = \n", f"({word} "):
                yield unit
    yield from FOREIGN
    text = language.texts(root)
    lines = text.splitlines(keepends=True)
    for step in (2, 3, 5, 7):
        yield text[::step]
        yield "".join(char for at, char in enumerate(text) if at % step)
        yield "".join(line for at, line in enumerate(lines) if at % step)
        yield "".join(line * (1 + (at % step == 0)) for at, line in enumerate(lines))
        yield "".join(char * (1 + (at % step == 0)) for at, char in enumerate(text))
        yield text[:len(text) // step]
    for line in {line for line in lines if 2 < len(line) < 100}:
        yield line
        yield line[:len(line) // 2] + "\n"
        yield line[:len(line) // 2]
        yield line[len(line) // 2:]


def at_random(language, root, random):
    """One shape: up to four pieces."""
    words = words_of(language, root)
    pieces = [*words, *OPERATORS, *OPENERS, *CLOSERS, "a", "a", "1", " ", " ", "\n", "\n"]
    unit = "".join(random.choice(pieces) + random.choice(["", "", " ", "a", "\n"]) for _ in range(random.randint(1, 4)))
    head = random.choice(["", "", "", "x = ", "(", "{\n", random.choice(pieces) + " "])
    return Shape(unit + random.choice(["", "\n"]), head)
