"""Which places an output names: pairs of a path and a line, and the words next to a path.

Two readers, one for what cograph prints and one for what rg, sed, cat and awk print. Both know the files of the repository, so a text
is a path only if there is such a file. A reader gives no place that the output does not state: `+3`, counts and ranges of lines whose
text is left out give none.
"""

import os
import re
from collections import defaultdict

NUMBERED = re.compile(r"\s*(\d+)\| ?(.*)")
SOURCE = re.compile(r"(\S+?):(\d+)\| ?(.*)")
PLACE = re.compile(r"(?P<head>.*?):(?P<lines>\d+(?:,\d+)*)(?P<range>-\d+)?(?:@(?P<calls>\d+(?:,\d+)*))?")
CALLS = re.compile(r"(?P<head>[^@]+)@(?P<calls>\d+(?:,\d+)*)")
# A site with its source: `path: caller:12| source`, or below its path.
SITE = re.compile(r"(?:(?P<path>\S+): |\s+)(?P<who>\S.*?):(?P<line>\d+)\| ?(?P<source>.*)")
CALLEE = re.compile(r"(?P<who>[^\s,:]+):\d+ at (?P<lines>\d+(?:,\d+)*)")
CALLER = re.compile(r"(?P<who>[^\s,:]+):\d+ calls (by [a-z ]+ )?at (?P<lines>\d+(?:,\d+)*)")
OUTLINED = re.compile(r"\s*(\d+)(-\d+)? \S")
# A first line names the symbol of the query: its first path is what `…` means below.
FIRST = re.compile(r"(\d+ (certain )?(callers?|callees?) (in tests )?of |references to |\S+ .*\breaches )")
WORD = re.compile(r"[A-Za-z_]\w*")


class Places:
    """What an output names."""

    def __init__(self):
        self.lines = set()
        self.words = defaultdict(set)

    def add(self, path, line, text=""):
        """A line of a file, with the text next to it."""
        self.lines.add((path, int(line)))
        self.mention(path, text)

    def mention(self, path, text=""):
        """Words next to a path."""
        self.words[path].update(WORD.findall(text))

    def has(self, path, lines, name):
        """Whether one of the lines (none: the path) and the name are given."""
        if path not in self.words or name and name not in self.words[path]:
            return False
        return not lines or any((path, line) in self.lines for line in lines)


class Answer:
    """Reads what cograph prints."""

    def __init__(self, files):
        self.files = files
        self.places = Places()
        self.asked = self.current = None
        self.listing = False

    def read(self, text):
        """The places of a whole answer."""
        for line in text.splitlines():
            self.read_line(line)
        return self.places

    def read_line(self, line):
        """One line: source with its number, or a line of lists and headers."""
        source, numbered = SOURCE.match(line), NUMBERED.fullmatch(line)
        if source and self.path_of(source[1]):
            self.places.add(self.path_of(source[1]), source[2], source[3])
            return
        site = SITE.fullmatch(line)
        if site and (not site["path"] or self.path_of(site["path"])):
            self.current = self.path_of(site["path"] or "") or self.current
            if self.current:
                self.places.add(self.current, site["line"], f"{site['who']} {site['source']}")
            return
        if numbered:
            if self.current:
                self.places.add(self.current, numbered[1], numbered[2])
            return
        first = FIRST.match(line)
        if first:
            self.asked = None
        outlined = OUTLINED.match(line)
        if outlined and self.current:
            self.places.add(self.current, outlined[1], line)
            return
        # `db.go: open:33 at 12`: line 33 is in this file, line 12 in the function of the query.
        for callee in CALLEE.finditer(line):
            self.put(self.asked, callee["lines"], callee["who"])
        # Columns of a table are parted by `|`; what is omitted has no place.
        before, self.listing = "", False
        for chunk in (chunk.strip("(),;:`|^=→·") for chunk in line.split() if not line.startswith("… ")):
            if chunk:
                self.read_chunk(chunk, before)
                before = chunk
        # `db.go: open:33 calls at 12`: both lines are in this file.
        for caller in CALLER.finditer(line):
            self.put(self.current, caller["lines"], caller["who"])

    def read_chunk(self, chunk, before):
        """A path, a name with lines, or a number after a path or the word `line`. A name may stand before its path."""
        if self.path_of(chunk):
            self.enter(self.path_of(chunk), before)
        elif "::" in chunk and self.path_of(chunk.split("::")[0]):
            self.enter(self.path_of(chunk.split("::")[0]))
            self.read_chunk(chunk.split("::", 1)[1], before)
        elif place := PLACE.fullmatch(chunk):
            path = self.path_of(place["head"])
            if path:
                self.enter(path, before)
            self.put(self.current, place["lines"], "" if path else place["head"])
            self.put(self.asked, place["calls"], place["head"])
        elif calls := CALLS.fullmatch(chunk):
            self.put(self.asked, calls["calls"], calls["head"])
        elif re.fullmatch(r"\d+(-\d+)?", chunk) and self.current:
            # `path: 3, 7` and `path | 3`, not a count that follows a place.
            self.listing = before != "…" and bool(self.path_of(before)) or self.listing and before.isdigit()
            if self.listing or before in ("line", "lines"):
                self.places.add(self.current, chunk.split("-")[0])
        elif self.current:
            self.places.mention(self.current, chunk)

    def put(self, path, lines, name):
        """Lines of a path, as `12,15`."""
        for line in (lines or "").split(","):
            if path and line:
                self.places.add(path, line, name)

    def enter(self, path, before=""):
        """What follows is about this path."""
        self.current = path
        self.asked = self.asked or path
        self.places.mention(path, before)

    def path_of(self, text):
        """The file that a text names, if there is one."""
        if text == "…":
            return self.asked
        if text.startswith("…/") and self.asked:
            text = os.path.normpath(os.path.dirname(self.asked) + text[1:]).lstrip("/")
        return text if text in self.files else None


def of_answers(texts, files):
    """The places of several answers of cograph."""
    places = Places()
    for text in texts:
        found = Answer(files).read(text)
        places.lines |= found.lines
        for path, words in found.words.items():
            places.words[path] |= words
    return places


def of_shell(command, text, files, source):
    """Adds nothing that was not printed: the places of one command's output. `source` gives the lines of a file."""
    places = Places()
    named = [word for word in re.split(r"[\s'\"]+", command) if word in files]
    if command.startswith(("sed ", "cat ")):
        for path in named:
            for first, last in ranges(command, len(source(path))):
                for number, line in enumerate(source(path)[first - 1 : last], first):
                    places.add(path, number, line)
        return places
    for line in text.splitlines():
        hit = next((hit for hit in re.finditer(r"[:-](\d+)[:-]", line) if line[: hit.start()] in files), None)
        alone = re.match(r"(\d+)[:-]", line)
        if hit:
            places.add(line[: hit.start()], hit[1], line[hit.end() :])
        elif alone and len(named) == 1:
            places.add(named[0], alone[1], line[alone.end() :])
        elif line in files:
            places.mention(line)
    return places


def ranges(command, length):
    """The ranges of lines that a `sed -n` prints; all of them for `cat`."""
    if command.startswith("cat "):
        return [(1, length)]
    script = re.search(r"sed -n '([^']*)'", command)[1]
    return [(int(first), min(int(last or first), length)) for first, last in re.findall(r"(\d+)(?:,(\d+))?p", script)]


def check():
    """The readers find the places that an output has, and no others."""
    files = {"src/a.go", "src/b.go", "db.go", "test/a_test.go"}
    answer = of_answers(
        [
            "3 callers of Run (src/a.go:10) · generation 1, up to date\n"
            "…: DB.start:20,21 +2, stop:5\n…/b.go: Other.go:7\n…/../test/a_test.go: .TestOld:9 [2]\ndb.go: open:33@12\noutside: range@14\n"
            "src/b.go: Other.Stop:45| y(a:97)\nsrc/a.go\n  DB.end:50| z(b:96)\ndb.go: open:34 at 13,15\n"
            "src/b.go:40| x(a:99, b:98)\nleft out: 1 in src (src/b.go:40, …), 2 in text; 77 lines",
            "db.go::DB.Update (method, line 349) reaches src/a.go::write (line 65) in 2 calls\ndb.go: DB.Update:349 calls at 397,398, next:400 calls by dispatch at 401",
            "made by array src/a.go:77\nsrc/b.go | 15 | Data\nreferences to db.go::open (function, line 96): 6 certain in 2 files\nby directory: src 3\nREADME: 1, 2\nsrc/b.go: 61, 62",
            "1 of 1 targets\ntest/a_test.go::TestRun (function) lines 3-5 of 9\n3| func TestRun() {\n… 1 lines\n5| }",
        ],
        files,
    )
    given = {("src/a.go", 10), ("src/a.go", 20), ("src/a.go", 21), ("src/a.go", 5), ("src/b.go", 7), ("db.go", 33), ("src/a.go", 12), ("src/a.go", 14), ("src/b.go", 40)}
    given |= {("src/b.go", 45), ("src/a.go", 50), ("db.go", 34), ("src/a.go", 13), ("src/a.go", 15)}
    given |= {("test/a_test.go", 9), ("src/a.go", 77), ("src/b.go", 15), ("db.go", 96), ("src/b.go", 61), ("src/b.go", 62)}
    given |= {("db.go", 349), ("src/a.go", 65), ("db.go", 397), ("db.go", 398), ("db.go", 400), ("db.go", 401), ("test/a_test.go", 3), ("test/a_test.go", 5)}
    assert answer.lines == given, sorted(answer.lines ^ given)
    assert answer.has("src/a.go", [20], "start") and answer.has("db.go", [1, 397], "Update") and answer.has("test/a_test.go", [], "TestRun")
    assert answer.has("src/a.go", [77], "array") and answer.has("src/b.go", [15], "Data")
    # Another line, a line of another file, a name that belongs to another file, a file that is not named, an omitted line.
    assert not answer.has("src/a.go", [22], "") and not answer.has("src/b.go", [20], "") and not answer.has("src/b.go", [7], "start")
    assert not answer.has("README.md", [], "") and not answer.has("test/a_test.go", [4], "") and not answer.has("src/b.go", [99], "")
    source = {"db.go": ["one", "func two", "three"]}.get
    shell = of_shell("sed -n '2,9p' db.go", "", files, source)
    assert shell.lines == {("db.go", 2), ("db.go", 3)} and shell.has("db.go", [2], "two") and not shell.has("db.go", [1], "")
    shell = of_shell("rg -n x", "src/a.go:12:x(3)\nsrc/b.go-13-y\n14:z", files, source)
    assert shell.lines == {("src/a.go", 12), ("src/b.go", 13)} and not shell.has("src/a.go", [13], "")
    assert of_shell("rg -n x db.go", "14:z", files, source).lines == {("db.go", 14)}
