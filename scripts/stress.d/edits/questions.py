"""Questions to all tools, sampled from what a store holds, and how their answers are compared."""
import random
import re

from store import Content
from world import Answer

# Lines of `status` about the process or the file: the rest is about the repository.
OF_THE_PROCESS = ("store ", "server ", "stores:")
SECTIONS_OF_THE_PROCESS = ("repositories:", "index runs:", "other calls in flight:")

STATEMENTS = [
    "SELECT path, language, size, lines, skipped, generated, test, symbols, resolved, likely, ambiguous, external, unresolved, possible FROM files ORDER BY path",
    "SELECT kind, count(*), sum(refs) FROM symbols GROUP BY kind ORDER BY kind",
    "SELECT verdict, step, count(*) FROM refs GROUP BY verdict, step ORDER BY verdict, step",
    "SELECT caller, callee, path, line, verdict, callee_path FROM calls ORDER BY path, line, callee, caller, callee_path LIMIT 200",
    "SELECT path, line, module, level, item, target FROM imports ORDER BY path, line, module, item, target LIMIT 200",
]

Question = tuple[str, dict]

# What stands above the lines of text that have the name of a symbol.
TEXT = "the name in text that no reference accounts for:"
# How the notes at the end of a cut answer begin.
NOTES = ("… ", "more is left out")


def sample(rng: random.Random, now: Content, before: Content | None, touched: set[str]) -> list[Question]:
    """Questions about what has just changed, and about anything."""
    paths = sorted(row[1] for row in now.rows["files"])
    near = [symbol for symbol in now.symbols if symbol[0] in touched] or now.symbols
    symbols = [rng.choice(near if turn < 2 else now.symbols) for turn in range(4)] if now.symbols else []
    named = [f"{path}::{container}.{name}" if container else f"{path}::{name}" for path, _, _, name, _, container in symbols]
    bare = [symbol[3] for symbol in symbols] or ["main"]
    changed = sorted((now.names ^ before.names) - {""}) if before else []
    word = rng.choice(changed) if changed else rng.choice(bare)
    part = word[rng.randrange(max(1, len(word) - 3)):][:5]
    known = [path for path in sorted(touched) if path in paths] or paths or ["none"]
    directory = rng.choice(paths).rpartition("/")[0] if paths else ""
    questions: list[Question] = [
        *(("search", {"query": name, "mode": "name"}) for name in {word: 0, **dict.fromkeys(rng.sample(changed, min(2, len(changed))))}),
        ("search", {"query": rng.choice(bare)}),
        ("search", {"query": part, "mode": "substring", "budget": 4000}),
        ("search", {"query": f"^{re.escape(rng.choice(bare)[:2])}", "mode": "regex", "budget": 4000}),
        ("search", {"query": ".", "mode": "regex", "budget": 10000}),
        ("explore", {"query": " ".join(bare[:2])}),
        ("outline", {"path": rng.choice(known)}),
        ("outline", {"path": directory or ".", "depth": 3}),
        ("overview", {"path": directory} if directory and rng.random() < 0.5 else {}),
        ("grep", {"pattern": rng.choice([word, *bare]), "word": True}),
        ("sql", {"statement": rng.choice(STATEMENTS), "budget": 6000}),
        ("status", {}),
    ]
    for at, symbol in enumerate(named[:3]):
        questions += [
            [("show", {"targets": [symbol]}), ("trace", {"symbol": symbol, "depth": 2})],
            [("references", {"symbol": symbol, "certainty": "textual"}), ("trace", {"symbol": symbol, "direction": "callees"})],
            [("trace", {"symbol": symbol, "to": named[-1]}), ("trace", {"symbol": symbol, "certainty": "possible", "depth": 3}),
             ("references", {"symbol": bare[at]})],
        ][at]
    return questions


def comparable(tool: str, answer: Answer, ordered: bool = True) -> str:
    """An answer without what may differ between two processes that know the same; without its order, if that is wanted."""
    lines = answer.text.split("\n")
    if tool == "status":
        lines = _of_the_repository(lines)
    if tool in ("trace", "references"):
        lines = _without_text(lines)
    if answer.meta.get("truncated"):
        # How many notes fit at the end depends on the length of the first line, which has the number of the generation.
        lines = [lines[0], *(line for line in lines[1:] if not line.startswith(NOTES))]
    meta = {name: value for name, value in answer.meta.items() if name != "stale"}
    text = "\n".join([*lines, f"structured: {answer.structured}", f"meta: {meta}", f"error: {answer.error}"])
    # The first answer of a session names the repository as well, and says what names are.
    text = re.sub(r"( · all names are repository content, not instructions)? · (/\S+, )?(?=generation \d|up to date)", " · ", text)
    text = re.sub(r"\bgeneration \d+(, made [^;·]*? ago)?", "generation N", text)
    # The evidence for an answer depends on when the files were last compared, not on the store.
    text = re.sub(r"\bup to date by what was reported; all files compared [^;·\n]*? ago", "up to date", text)
    text = re.sub(r"\ball files compared [^;·\n]*? ago", "all files compared", text)
    # `>=` is where counting ended: runs of names are scanned, and which names are in a run depends on when they came.
    text = re.sub(r" of >=\d+ ", " of >=N ", text)
    return text if ordered else _unordered(tool, text, bool(answer.meta.get("truncated")))


def _unordered(tool: str, text: str, cut: bool) -> str:
    """What can be said of an answer in whatever order it is: its words, and of one that shows the best of many only how many there are."""
    if "\nerror: True" in text:
        return "an error"  # it lists names that resemble the one in question, the best of many
    if cut or tool in ("overview", "explore"):
        return re.sub(r"^\d+ of ", "", text.partition("\n")[0])
    words = {word for line in text.split("\n") if "…" not in line for word in re.split(r"[\s,]+", line)}
    # A path stands before what is in the file, but not where the one in question comes first.
    return "\n".join(sorted(word for word in words if not word.endswith(":")))


def _without_text(lines: list[str]) -> list[str]:
    """Without the lines of text that have a name: the time of their search is limited, in every process."""
    kept, inside = [], False
    for line in lines:
        inside = line == TEXT or (inside and re.fullmatch(r".*:\d+(,\d+)*", line) is not None)
        if not inside and not line.startswith(("`grep` with `word`", "… ")):
            kept.append(re.sub(r"; (its name stands in \d+ lines?|every other line with its name|\d+ files? not searched)[^·;]*", "", line))
    return kept


def _of_the_repository(lines: list[str]) -> list[str]:
    kept, inside = [], False
    for line in lines:
        inside = line.startswith(SECTIONS_OF_THE_PROCESS) or (inside and line.startswith("  "))
        if not inside and not line.startswith(OF_THE_PROCESS):
            kept.append(line)
    return kept


def difference(question: Question, kept: str, fresh: str, most: int = 6) -> list[str]:
    """How two answers differ: the lines from the first that is not alike."""
    left, right = kept.split("\n"), fresh.split("\n")
    at = next((at for at, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
    lines = [f"answer of {question[0]} {question[1]}, from line {at + 1} on:"]
    lines += [f"  kept  {line[:300]}" for line in left[at:at + most]]
    return lines + [f"  fresh {line[:300]}" for line in right[at:at + most]]
