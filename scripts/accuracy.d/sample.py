"""Wrong and missed edges with what decides them: where, the source line, what the program says there, what the truth says, and a cause.

The cause is found from the data alone: what the program stored about the site (verdict, step or reason, target) and what the
truth knows of the caller. It sorts the errors; `remaining.md` has what reading them showed.
"""

import collections
import os
import random

from truth import bare_name

SEED = 7

# Subqueries find a symbol by its id; a join would read all symbols.
STATEMENT = """SELECT r.path, r.line, r.name, r.kind, r.verdict, r.step, (SELECT path FROM symbols WHERE id = r.to_id),
    (SELECT line FROM symbols WHERE id = r.to_id), (SELECT container FROM symbols WHERE id = r.to_id), r.external
    FROM refs r WHERE r.kind IN ('call', 'construct') AND r.path = '{path}' AND r.line IN ({lines})"""
LINES = 40  # of one query: its answer has at most 200 rows

Site = collections.namedtuple("Site", "path line name kind verdict step target_path target_line container external")
Error = collections.namedtuple("Error", "kind project place source said truth cause")


def errors(name, score, program, root, count):
    """At most `count` wrong and `count` missed edges of one project, drawn with a fixed seed, each with its cause."""
    wrong, missed = score.false_positives(), score.false_negatives()
    draw = random.Random(SEED)
    wrong, missed = (draw.sample(items, min(count, len(items))) for items in (wrong, missed))
    places = {(item.row["caller_file"], item.row["site_line"]) for item in wrong}
    sites = _sites(program, root, places | {(edge["caller_file"], edge["site_line"]) for edge in missed})
    found = [_wrong(name, score, item, sites, root) for item in wrong]
    return found + [_missed(name, score, edge, sites, root) for edge in missed]


def _sites(program, root, places):
    """What the program says about the calls on these lines: {(path, line): sites}."""
    found, lines_of = collections.defaultdict(list), collections.defaultdict(list)
    for path, line in sorted(places):
        lines_of[path].append(line)
    for path, lines in lines_of.items():
        for start in range(0, len(lines), LINES):
            some = ", ".join(map(str, lines[start : start + LINES]))
            for row in program.query(root, STATEMENT.format(path=path.replace("'", "''"), lines=some)):
                site = Site(*row)
                found[site.path, site.line].append(site)
    return found


def _wrong(name, score, scored, sites, root):
    row, truth = scored.row, score.truth
    caller = truth.body(truth.find(row["caller_file"], row["caller_name"], row.get("caller_line"))[0])["id"]
    callee = bare_name(row["callee_name"])
    true = [truth.definitions[other] for other in truth.callees_by_name[caller].get(callee, ())]
    if true:
        same = [other for other in true if other["file"] == row["callee_file"]]
        cause = "another definition of that name in the same file" if same else "a definition of that name in another file"
    elif scored.note.startswith("callee is no"):
        cause = "the truth has no function there (variable, macro, type)"
    else:
        cause = "the truth has no call of that name in the caller"
    place = row["caller_file"], row["site_line"]
    said = f"{row['verdict']} {row['step']} -> {row['callee_file']}:{row['callee_line']} {row['callee_name']}"
    truth_says = "; ".join(f"{other['file']}:{other['line']} {other['name']}" for other in true) or "-"
    return Error("wrong", name, place, source_line(root, *place), said, truth_says, f"{cause} ({row['step']})")


def _missed(name, score, edge, sites, root):
    place = edge["caller_file"], edge["site_line"]
    callee = edge["callee_name"]
    named = [site for site in sites[place] if bare_name(site.name) == bare_name(callee)]
    truth_says = f"{edge['callee_file']}:{edge['callee_line']} {callee}"
    if not named:
        around = ", ".join(sorted({f"{site.name} {site.verdict}" for site in sites[place]})) or "no call"
        return Error("missed", name, place, source_line(root, *place), f"no site of that name ({around})", truth_says, "no site")
    site = named[0]
    if site.target_path:
        said = f"{site.verdict} {site.step} -> {site.target_path}:{site.target_line} {site.container or ''}"
        right = site.target_path == edge["callee_file"] and abs(site.target_line - edge["callee_line"]) <= 3
        cause = "under another caller" if right else f"bound to another definition ({site.step})"
    else:
        said = f"{site.verdict} {site.step} {site.external or ''}".rstrip()
        cause = f"{site.verdict}: {site.step}"
    return Error("missed", name, place, source_line(root, *place), said, truth_says, cause)


def source_line(root, file, line):
    """A line of source, shortened; nothing where there is none."""
    try:
        with open(os.path.join(root, file), encoding="utf8", errors="replace") as text:
            return text.read().split("\n")[(line or 0) - 1].strip()[:140] if line else ""
    except (OSError, IndexError):
        return ""


def drawn(found, count):
    """Of the errors of several projects at most `count` wrong and `count` missed ones."""
    draw, kept = random.Random(SEED), []
    for kind in ("wrong", "missed"):
        some = [error for error in found if error.kind == kind]
        kept += draw.sample(some, min(count, len(some)))
    return kept


def report(language, found):
    """The errors of a language: causes with counts, then every one of them."""
    lines = [f"# {language}", ""]
    for kind in ("wrong", "missed"):
        some = [error for error in found if error.kind == kind]
        causes = collections.Counter(error.cause for error in some)
        lines += [f"{len(some)} {kind}: " + ("; ".join(f"{count} {cause}" for cause, count in causes.most_common()) or "none"), ""]
        for error in sorted(some, key=lambda error: (error.cause, error.project, error.place)):
            lines += [f"- {error.project} {error.place[0]}:{error.place[1]} `{error.source}`",
                      f"  we: {error.said} | truth: {error.truth} | cause: {error.cause}"]
        lines.append("")
    return "\n".join(lines)
