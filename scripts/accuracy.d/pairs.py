"""Call edges from a project to a library in another repository, against compilers and type checkers that read both together.

    scripts/accuracy pairs                                        every pair: fetch, index as a workspace, print the table
    scripts/accuracy pairs go pflag cobra --show fp 20 --show fn 20
    scripts/accuracy pairs --bin PATH --sources DIR               another program; DIR has a folder a project, nothing is fetched

For every symbol of the library whose name the project has, `cograph trace --json` says the callers in a workspace of both.
An edge is a caller in the project and a symbol of the library, certain or likely. Overloads of one container are one symbol, as
they are for a question; calls outside of functions are not scored. What is right, wrong and neutral: scripts/accuracy.d/score.py.
"""

import json
import os
import random
import re
import shutil
import sys

from base import built, command_line, TARGET
from program import Program, ProgramError
from score import Score, rates
from sources import PAIRED, FetchError, fetch
from truth import CALLABLE, FOLDER, Truth

PAIRS = os.path.join(FOLDER, "pairs")
CACHE = os.path.join(TARGET, "accuracy", "cache-pairs", str(os.getpid()))
HEAD = ["language", "library", "user", "first P", "first R", "P", "R", "certain P", "TP", "FP", "FN", "neutral", "R with possible"]
# Symbols that one question is about.
BATCH = 100
KINDS = "'function','method','constructor','class','struct','interface','trait','enum','type','macro','variable','constant','property','field'"


def main():
    options = parse_arguments()
    shutil.rmtree(CACHE, ignore_errors=True)
    program = Program(os.path.abspath(options.bin or built()), CACHE)
    lines, has_failed = [HEAD], False
    for meta in pairs():
        if any(wanted and wanted != meta[key] for key, wanted in (("lang", options.language), ("library", options.library), ("user", options.user))):
            continue
        try:
            lines.append(measure(meta, workspace(meta, options), program, options))
        except (FetchError, ProgramError) as error:
            print(f"{meta['library']}, {meta['user']}: {error}", file=sys.stderr)
            has_failed = True
    for line in lines:
        print("| " + " | ".join(line) + " |")
        if line is HEAD:
            print("|" + "---|" * len(line))
    sys.exit(1 if has_failed else 0)


def parse_arguments():
    parser = command_line(__doc__)
    for name in ("language", "library", "user"):
        parser.add_argument(name, nargs="?", metavar=name.upper())
    parser.add_argument("--bin", metavar="PATH", help="the program; default: what `cargo build --release` makes")
    parser.add_argument("--sources", metavar="DIR", help="projects that are there already; nothing is fetched")
    parser.add_argument("--show", nargs=2, action="append", default=[], metavar=("fp|fn", "N"), help="print N random wrong or missed pairs")
    return parser.parse_args()


def pairs():
    """What is known of each pair, by language."""
    metas = [json.load(open(os.path.join(PAIRS, name))) for name in os.listdir(PAIRS) if name.endswith(".meta.json")]
    return sorted(metas, key=lambda meta: (meta["lang"], meta["library"]))


def workspace(meta, options):
    """The directory of a workspace with both projects."""
    root = os.path.join(TARGET, "accuracy", "pairs", f"{meta['library']}-{meta['user']}")
    os.makedirs(os.path.join(root, ".cograph"), exist_ok=True)
    for name in (meta["library"], meta["user"]):
        if options.sources:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
            shutil.copytree(os.path.join(options.sources, name), os.path.join(root, name))
        else:
            fetch(next(source for source in PAIRED if source.name == name), root)
    with open(os.path.join(root, ".cograph", "workspace.toml"), "w") as file:
        file.write(f"members = [{meta['library']!r}, {meta['user']!r}]\n")
    return root


class PairTruth(Truth):
    """The true edges between two projects; those within the user only explain what is neutral."""

    def __init__(self, meta):
        self._first = {}
        super().__init__(f"{meta['library']}-{meta['user']}", PAIRS)
        between = {key for key in self.pairs if self.definitions[key[1]]["file"].startswith(meta["library"] + "/")}
        self.required &= between

    def canonical(self, definition):
        """The first of the overloads of a container."""
        definition = super().canonical(definition)
        if definition["kind"] not in CALLABLE:
            return definition
        container = definition.get("parent"), definition.get("parent_line")
        return self._first.setdefault((definition["file"], container, definition["name"]), definition)


def measure(meta, root, program, options):
    """A line of the table."""
    edges = list(edges_of(meta, root, program))
    truth = PairTruth(meta)

    def scored(*certainties):
        score = Score(truth, [edge for edge in edges if edge["verdict"] in certainties])
        outcomes = [one.outcome for one in score.pairs.values()]
        found = rates(outcomes.count("TP"), outcomes.count("FP"), len(score.found & truth.required), len(truth.required))
        return score, found, len(outcomes) - found["tp"] - found["fp"]

    score, found, neutral = scored("certain", "likely")
    certain, possible = scored("certain")[1], scored("certain", "likely", "possible")[1]
    for what, count in options.show:
        show(what, int(count), score, root)
    line = [meta["lang"], meta["library"], meta["user"], *(f"{one:.3f}" for one in meta.get("first_sight", [])[:2] or [0, 0])]
    line += [f"{found['precision']:.3f}", f"{found['recall']:.3f}", f"{certain['precision']:.3f}"]
    return line + [str(n) for n in (found["tp"], found["fp"], found["required"] - found["found"], neutral)] + [f"{possible['recall']:.3f}"]


def edges_of(meta, root, program):
    """What the program says of every symbol of the library."""
    library, user = meta["library"], meta["user"]
    statement = f"SELECT path, container, name FROM symbols WHERE kind IN ({KINDS}) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
    rows = program.every_row(os.path.join(root, library), statement)
    texts = [part.decode() if isinstance(part, bytes) else part or "" for row in rows for part in row]
    symbols = [f"{path}::{container + '.' if container else ''}{name}" for path, container, name in zip(*[iter(texts)] * 3)]
    # A name that is nowhere in the user's sources has no call there.
    words = words_of(os.path.join(root, user))
    symbols = [symbol for symbol in symbols if re.split(r"[.:#]", symbol)[-1] in words]
    seen = set()
    for at in range(0, len(symbols), BATCH):
        print(f"{at} of {len(symbols)} symbols", end="\r", file=sys.stderr)
        answer = program.trace_as_json(root, symbols[at : at + BATCH])
        for symbol in answer["crossing"]["symbols"] if "crossing" in answer else ():
            if symbol["repository"] != library:
                continue
            callee = symbol["symbol"]
            for use in symbol["uses"]:
                if use["repository"] != user:
                    continue
                if use["total"] > len(use["sites"]):
                    raise ProgramError(f"{callee['symbol']}: {use['total']} sites, {len(use['sites'])} of them in the answer")
                for site in use["sites"]:
                    around = site["enclosing"]
                    if around is None:
                        continue
                    edge = {"caller_file": f"{user}/{around['path']}", "caller_name": around["symbol"].rsplit("::", 1)[-1],
                            "caller_line": around["line"], "callee_file": f"{library}/{callee['path']}",
                            "callee_name": callee["symbol"].rsplit("::", 1)[-1], "callee_line": callee["line"],
                            "site_line": site["line"], "verdict": use["certainty"], "step": use["name"]}
                    key = json.dumps(edge, sort_keys=True)
                    if key not in seen:
                        seen.add(key)
                        yield edge


def words_of(directory):
    """Every word in the files of a directory."""
    words = set()
    for place, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(place, name), encoding="utf8", errors="replace") as file:
                words.update(re.findall(r"[\w$]+", file.read()))
    return words


def show(what, count, score, root):
    """Prints random wrong or missed pairs with the line of the call."""
    if what == "fp":
        found = [one.row for one in score.false_positives()]
    else:
        found = score.false_negatives()
    print(f"-- {count} of {len(found)} {what}")
    for edge in random.Random(7).sample(found, min(count, len(found))):
        with open(os.path.join(root, edge["caller_file"]), encoding="utf8", errors="replace") as file:
            line = file.read().split("\n")[edge["site_line"] - 1].strip()
        print(f"{edge['caller_file']}:{edge['site_line']} {edge['caller_name']} -> {edge['callee_file']}:{edge['callee_line']} "
              f"{edge['callee_name']}  {edge.get('step', '')}\n      {line[:140]}")


if __name__ == "__main__":
    main()
