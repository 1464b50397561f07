"""What an answer is worth: true callers, with file and line, for every thousand tokens of the reply to `trace`.

Sixty callees of a project that have 1 to 60 true callers are drawn with a fixed seed. Each is queried by its bare name, as an agent
types it: where the name means several things the reply answers for all of them, and so the true callers are those of every
definition of the name. The question has the default parameters of the tool (depth 1, budget of 2000 tokens), and the whole text of the reply is counted, its first line
and all notes included, at four bytes a token; only its lines about files that the truth does not cover are left out. A true caller is
given when the reply has, under the caller's file, a line that lies in the caller; a caller that is no function of the truth (a test
without a name of its own, the top of a file) counts when the truth has a call outside of functions on a line of it.
"""

import random
import re

CALLEES = 60
SEED = 7
MOST_CALLERS = 60
BYTES_OF_A_TOKEN = 4

# `Container.name:12,34 +5 more` in the list of callers of one file, perhaps behind words of what holds of it.
ENTRY = re.compile(r"(?:^|, |; )(?P<name>[^:]+?(?::[^:\d][^:]*?)*):(?P<lines>\d+(?:,\d+)*)(?: \+\d+ more)?(?=, |; |$)")
# A caller with the source of its call.
SITE = re.compile(r"(?P<path>[^\s:|][^:|]*):(?P<line>\d+) [^|]*\| ")
# The first line about a meaning.
HEAD = re.compile(r"callers? of .*\([^()]+:\d+\)")
# What follows is not the list of callers: sites that were not followed, and notes.
OTHERS = "other meanings:"
ENDS = ("not followed", "0 callers, ", "… ", "left out: ")


class Worth:
    """The sums over the sampled callees of one project."""

    def __init__(self):
        self.callees = 0
        self.true = 0
        self.given = 0
        self.beside = 0
        self.tokens = 0.0
        self.missing = []

    def add(self, callees, callers, text, truth):
        """Counts one reply about all callees of a name. `callers` are definitions, each with whether it must be given."""
        found = entries(text)
        given = [must for caller, must in callers if is_given(caller, found)]
        outside = set().union(*(truth.calls_outside[callee["id"]] for callee in callees))
        self.beside += sum(any((file, line) in outside for line in lines) for file, lines in found)
        missing = sum(must for _, must in callers) - sum(given)
        self.callees += 1
        self.true += sum(must for _, must in callers)
        self.given += sum(given)
        self.beside += len(given) - sum(given)
        self.tokens += size(text, truth.covered)
        if missing:
            self.missing.append((callees[0], missing))

    def density(self):
        """True callers for a thousand tokens."""
        return (self.given + self.beside) * 1000 / self.tokens if self.tokens else 0.0

    def share(self):
        """The part of the true callers that was given."""
        return self.given / self.true if self.true else 0.0

    def reply(self):
        """Bytes of a reply in the mean."""
        return self.tokens * BYTES_OF_A_TOKEN / self.callees if self.callees else 0.0


def measure(truth, ask):
    """The worth of what `ask` (from a name to a reply) answers about the names of the sampled callees of one project."""
    worth = Worth()
    by_name = {}
    for callee, callers in callers_by_callee(truth):
        by_name.setdefault(callee["name"], []).append((callee, callers))
    for name in dict.fromkeys(callee["name"] for callee, _ in sample(truth)):
        meanings = by_name[name]
        callers = {}
        for _, found in meanings:
            for caller, must in found:
                callers[caller["id"]] = (caller, must or callers.get(caller["id"], (caller, False))[1])
        worth.add([callee for callee, _ in meanings], list(callers.values()), ask(name), truth)
    return worth


def sample(truth):
    """(callee, its true callers) of the drawn callees. Callers that the scorer does not require need not be given."""
    known = [(callee, found) for callee, found in callers_by_callee(truth) if 1 <= sum(must for _, must in found) <= MOST_CALLERS]
    return random.Random(SEED).sample(known, min(CALLEES, len(known)))


def callers_by_callee(truth):
    """(callee, its true callers, each with whether it must be given) of all callees that have any."""
    callers = {}
    for caller, callee in sorted(truth.pairs):
        callers.setdefault(callee, []).append((truth.definitions[caller], (caller, callee) in truth.required))
    return [(truth.definitions[callee], found) for callee, found in sorted(callers.items())]


def groups(text):
    """(file, its line of the reply) of every file whose callers a reply lists, with the whole path of the file."""
    is_list = False
    for line in text.splitlines():
        if line.startswith(OTHERS):
            return
        # The first line of the answer about each meaning.
        if HEAD.search(line):
            is_list = True
            continue
        if line.startswith(ENDS):
            is_list = False
        if not is_list:
            continue
        if site := SITE.match(line):
            yield site["path"], line
            continue
        file, separator, _ = line.partition(": ")
        if separator:
            yield file, line


def entries(text):
    """(file, lines) of every caller that a reply lists."""
    found = []
    for file, line in groups(text):
        if site := SITE.match(line):
            found.append((file, [int(site["line"])]))
            continue
        of_file = ENTRY.finditer(line.partition(": ")[2])
        found += [(file, [int(number) for number in entry["lines"].split(",")]) for entry in of_file]
    return found


def is_given(caller, found):
    """Whether the reply has a line of this caller, in its file."""
    span = range(caller["start_line"], caller["end_line"] + 1)
    return any(file == caller["file"] and any(line in span for line in lines) for file, lines in found)


def size(text, covered):
    """Tokens of a reply, without its lines about files that the truth does not cover: they can be neither right nor wrong."""
    beside = sum(len(line.encode()) + 1 for file, line in groups(text) if file not in covered)
    return (len(text.encode()) - beside) / BYTES_OF_A_TOKEN
