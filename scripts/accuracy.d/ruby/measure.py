#!/usr/bin/env python3
"""Scores the call edges of the Ruby projects whose truth is in `truth/`.

    measure.py PROGRAM SOURCES [--show fp|fn N]

SOURCES has one folder a project. The second line of a project is an estimate of precision over all of its edges: those that the
truth decides, and those that no run reached, at the share of right ones among the judged ones of all projects.
"""

import argparse
import collections
import json
import os
import random
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(HERE))

import truth  # noqa: E402
from program import Program  # noqa: E402
from score import Score, rates  # noqa: E402

truth.FOLDER = os.path.join(HERE, "truth")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("sources")
    parser.add_argument("--show", nargs=2, action="append", default=[], metavar=("fp|fn", "N"), help="print N random samples (0: all)")
    options = parser.parse_args()
    judgements = judged()
    right = collections.Counter(row["verdict"] for rows in judgements.values() for row in rows if row["right"])
    read = collections.Counter(row["verdict"] for rows in judgements.values() for row in rows)
    print("judged:", ", ".join(f"{verdict} {right[verdict]} of {read[verdict]} right" for verdict in sorted(read)))
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(options.program, os.path.join(scratch, "cache"))
        for _, name in truth.projects():
            edges = os.path.join(scratch, name + ".jsonl")
            program.export(os.path.join(options.sources, name), edges)
            score = Score(truth.Truth(name), map(plain, truth.rows(edges)))
            report(name, score, {verdict: right[verdict] / read[verdict] for verdict in read}, judgements.get(name, []))
            for what, count in options.show:
                show(what, int(count), score)


def plain(row):
    """A setter has the name of its attribute in the truth: `value=` is `value`."""
    for key in ("caller_name", "callee_name"):
        name = row.get(key) or ""
        if name.endswith("=") and (name[0].isalpha() or name[0] == "_"):
            row[key] = name[:-1]
    return row


def judged():
    folder = os.path.join(HERE, "judged")
    return {name[: -len(".jsonl")]: list(truth.rows(os.path.join(folder, name))) for name in sorted(os.listdir(folder))}


def report(name, score, shares, judgements):
    found = rates(*score.counts())
    claims = {verdict: score.claimed(verdict) for verdict in ("resolved", "likely")}
    by_verdict = ", ".join(
        f"{verdict} {right / max(1, right + wrong):.3f} of {right + wrong}" for verdict, (right, wrong) in claims.items()
    )
    print(f"{name}: P {found['precision']:.3f}, R {found['recall']:.3f} of {found['required']}; {by_verdict}; neutral {score.neutral()}")
    # Judged edges are decided by the truth: taken out here, and weighed with the others that no run reached.
    decided = {verdict: list(counts) for verdict, counts in claims.items()}
    open_ones = collections.Counter()
    for scored in score.pairs.values():
        if scored.outcome == "unknown":
            open_ones[scored.row["verdict"]] += 1
    for row in judgements:
        decided[row["verdict"]][0 if row["right"] else 1] -= 1
        open_ones[row["verdict"]] += 1
    total = collections.Counter()
    parts = []
    for verdict, (right, wrong) in decided.items():
        likely_right = right + open_ones[verdict] * shares.get(verdict, 0)
        all_of_it = right + wrong + open_ones[verdict]
        total.update(right=likely_right, all=all_of_it)
        parts.append(f"{verdict} {likely_right / max(1, all_of_it):.3f} of {all_of_it}")
    print(f"  estimate: P {total['right'] / max(1, total['all']):.3f}; {', '.join(parts)}")


def show(what, count, score):
    rows = [scored.row for scored in score.false_positives()] if what == "fp" else score.false_negatives()
    for row in rows if count == 0 else random.sample(rows, min(count, len(rows))):
        print(f"  {what}", json.dumps(row))


if __name__ == "__main__":
    main()
