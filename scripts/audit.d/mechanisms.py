"""Prints which mechanism of resolution is shown by a fixture in which language, from the fixtures themselves.

    scripts/audit mechanisms            the table: ✓ shown, – the language has no such thing, HOLE neither
    scripts/audit mechanisms --check    only whether every line that is named as an example is one, and there is no hole

`grammars/<language>/fixtures/mechanisms.toml` names, for each mechanism of `grammars/mechanisms.toml`, lines of that language's
fixtures that show it, or says why the language has none (`like`: it shares the tables of another language, `=`). A line shows a mechanism when the fixture expects something of it and
expects a target of every call on it; it shows a mechanism of the group `open` when a call on it has no single target.
A hole is an error, with or without `--check`: a mechanism that a language has and no fixture shows is one that may break unseen.
"""

import os
import re
import sys
import tomllib

from base import command_line, ROOT

GRAMMARS = os.path.join(ROOT, "grammars")
EXPECTED = re.compile(r"(?P<path>[^\s:]+):(?P<line>\d+)\b.*?(?:\((?P<verdict>\w+), [\w-]+\))?$")


def main():
    parser = command_line(__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    mechanisms = load(os.path.join(GRAMMARS, "mechanisms.toml"))
    languages = sorted(name for name in os.listdir(GRAMMARS) if os.path.isfile(os.path.join(GRAMMARS, name, "grammar.toml")) and is_full(name))
    cells, problems = {}, []
    for language in languages:
        stated = load(os.path.join(GRAMMARS, language, "fixtures", "mechanisms.toml"))
        shown, absent = stated.get("shown", {}), stated.get("absent", {})
        known = {name for group in mechanisms.values() for name in group}
        problems += [f"{language}: no mechanism is called {name!r}" for name in [*shown, *absent] if name not in known]
        problems += [f"{language}: {name}: shown and absent" for name in shown if name in absent]
        problems += [f"{language}: {name}: no reason why it is absent" for name, reason in absent.items() if not str(reason).strip()]
        problems += [f"{language}: {key!r} is no part of such a file" for key in stated if key not in ("like", "shown", "absent")]
        if stated.get("like", languages[0]) not in languages:
            problems.append(f"{language}: no language is called {stated['like']!r}")
        lines = list(fixture_lines(language))
        for group, names in mechanisms.items():
            for name in names:
                for example in shown.get(name, []):
                    problem = judge(example, lines, group == "open")
                    if problem:
                        problems.append(f"{language}: {name}: {problem}: {example}")
                rest = "=" if stated.get("like") else "HOLE"
                if rest == "HOLE" and not shown.get(name) and name not in absent:
                    problems.append(f"{language}: {name}: no fixture shows it, and nothing says that the language has none")
                cells[language, name] = "✓" if shown.get(name) else "–" if name in absent else rest
    if not cells or not any(cell == "✓" for cell in cells.values()):
        problems.append("no fixture was read")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not options.check:
        print(table(mechanisms, languages, cells))
    sys.exit(1 if problems else 0)


def is_full(name):
    """Whether all mechanisms are promised for a language. A manifest that starts from another one may leave the tier to that."""
    manifest = load(os.path.join(GRAMMARS, name, "grammar.toml"))
    return manifest["tier"] == "full" if "tier" in manifest else is_full(manifest["extends"])


def load(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


def fixture_lines(language):
    """(text, what is expected of it) of every source line of a language's fixtures that anything is expected of."""
    folder = os.path.join(GRAMMARS, language, "fixtures")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt"):
            continue
        sources, expected, target = {}, [], None
        with open(os.path.join(folder, name), encoding="utf8") as file:
            for line in file.read().split("\n"):
                if line.startswith("//- "):
                    target = sources.setdefault(line[4:].strip().lstrip("/"), [])
                elif line.startswith("//= "):
                    target = expected
                elif target is not None:
                    target.append(line)
        for path, lines in sources.items():
            for number, text in enumerate(lines, 1):
                here = [fact for fact in expected if re.search(rf"(^|\s){re.escape(path)}:{number}\b", fact)]
                if here:
                    yield text, [fact for fact in here if fact.startswith(f"{path}:{number}:")], here


def judge(example, lines, is_open):
    """Why a line is no example, if it is none."""
    found = [(sites, facts) for text, sites, facts in lines if example in text]
    if not found:
        return "no fixture expects anything of such a line"
    for sites, _ in found:
        # An operator that names no method of the sources stands on lines that show something else.
        calls = [match["verdict"] for site in sites if re.search(r" (call|construct) \S*\w", site) and (match := EXPECTED.match(site))]
        vague = [verdict for verdict in calls if verdict in ("ambiguous", "possible", "unresolved")]
        if bool(vague) == is_open:
            return None
    return "a call on it has a single target" if is_open else "something on it has no single target"


def table(mechanisms, languages, cells):
    lines = []
    for group, names in mechanisms.items():
        lines += ["", f"| {group} | " + " | ".join(languages) + " |", "| --- " * (len(languages) + 1) + "|"]
        lines += [f"| {name} | " + " | ".join(cells[language, name] for language in languages) + " |" for name in names]
    holes = sum(cell == "HOLE" for cell in cells.values())
    shown = sum(cell == "✓" for cell in cells.values())
    return "\n".join(lines[1:]) + f"\n\n{shown} shown, {holes} holes"
