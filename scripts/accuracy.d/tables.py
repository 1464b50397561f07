"""The tables of a measurement: edges of every project, precision of every step of resolution. Text and Markdown."""

import collections

from score import rates

PROVEN = 0.98  # what proven edges alone must reach

EDGE_HEAD = ["language", "project", "P", "R", "F1", "resolved P", "TP", "FP", "FN", "neutral", "same P", "same R", "cross P", "cross R"]


def edges(wanted, scores):
    """One line a project, and a total a language whose counts are sums over its projects."""
    lines = []
    for language in sorted({language for language, _ in wanted}):
        names = [name for other, name in wanted if other == language]
        known = [scores[name] for name in names if name in scores]
        lines += [_edge_line(language, name, [scores[name]]) if name in scores else [language, name] + ["-"] * (len(EDGE_HEAD) - 2) for name in names]
        if known:
            lines.append(_edge_line(language, "= total", known))
    return lines


def _edge_line(language, name, scores):
    whole, same, cross = (
        rates(*map(sum, zip(*(score.counts(where) for score in scores)))) for where in ("all", "same", "cross")
    )
    right, wrong = (sum(counts) for counts in zip(*(score.proven() for score in scores)))
    line = [language, name] + [f"{whole[rate]:.3f}" for rate in ("precision", "recall", "f1")] + [_proven(right, wrong)]
    neutral = sum(sum(score.neutral().values()) for score in scores)
    line += [str(number) for number in (whole["tp"], whole["fp"], whole["required"] - whole["found"], neutral)]
    return line + [f"{part[rate]:.3f}" for part in (same, cross) for rate in ("precision", "recall")]


def _proven(right, wrong):
    """The precision of proven edges alone, marked where it does not reach what it must."""
    if not right + wrong:
        return "-"
    precision = right / (right + wrong)
    return f"{precision:.3f} {'✓' if precision >= PROVEN else '✗'}"


def steps(wanted, scores):
    """Precision of each step of resolution over all projects, and by language: where the wrong edges come from."""
    languages = sorted({language for language, name in wanted if name in scores})
    total = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    for language, name in wanted:
        if name in scores:
            for step, outcomes in scores[name].by_step().items():
                total[step][language].update(outcomes)
    lines = []
    for (verdict, step), parts in sorted(total.items(), key=lambda item: (item[0][0] != "resolved", -sum(sum(part.values()) for part in item[1].values()))):
        whole = sum(parts.values(), collections.Counter())
        line = [verdict, step, _precision(whole), str(whole["TP"]), str(whole["FP"]), str(whole["neutral"])]
        lines.append(line + [_precision(parts[language], True) for language in languages])
    return ["verdict", "step", "P", "TP", "FP", "neutral"] + languages, lines


def _precision(outcomes, with_wrong=False):
    right, wrong = outcomes["TP"], outcomes["FP"]
    if not right + wrong:
        return "-"
    return f"{right / (right + wrong):.3f}" + (f" ({wrong})" if with_wrong and wrong else "")


SECOND_HEAD = ["language", "project", "first sight: P", "R", "resolved P", "likely P", "now: P", "R", "resolved P", "likely P", "TP", "FP", "FN"]


def second(wanted, scores):
    """One line a project of the second set: what was measured before any error was read, and now."""
    lines = []
    for language, name in wanted:
        if name not in scores:
            continue
        score = scores[name]
        first = score.truth.meta["first_sight"]
        counts = rates(*score.counts())
        now = [f"{counts[rate]:.3f}" for rate in ("precision", "recall")] + [_share(*score.claimed(verdict)) for verdict in ("resolved", "likely")]
        then = [f"{first[rate]:.3f}" for rate in ("precision", "recall")] + [_share(*first[verdict]) for verdict in ("resolved", "likely")]
        lines.append([language, name] + then + now + [str(counts["tp"]), str(counts["fp"]), str(counts["required"] - counts["found"])])
    return lines


def _share(right, wrong):
    """A precision with the number of pairs that it is over."""
    return f"{right / (right + wrong):.3f} of {right + wrong}" if right + wrong else "-"


WORTH_HEAD = ["language", "project", "callees", "true callers", "given", "for 1,000 tokens", "bytes a reply"]


def worth(wanted, results):
    """What the answers of `trace` are worth, one line a project."""
    return [
        [language, name, str(result.callees), str(result.true), f"{result.share():.3f}", f"{result.density():.1f}", f"{result.reply():.0f}"]
        for language, name in wanted
        if (result := results.get(name))
    ]


def plain(head, lines):
    """A table in columns."""
    widths = [max(len(line[column]) for line in [head] + lines) for column in range(len(head))]
    cells = [[cell.ljust(width) if column < 2 else cell.rjust(width) for column, (cell, width) in enumerate(zip(line, widths))]
             for line in [head] + lines]
    return "\n".join("  ".join(line).rstrip() for line in cells)


def markdown(head, lines):
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head)] + lines)
