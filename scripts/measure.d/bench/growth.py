"""How time and memory grow with a tree: slices of it with an eighth, a quarter, a half and all of its files, the medians of several
turns over them, an exponent fitted to each figure, and a plot. The plot is text that is written here: nothing needs to be installed."""
import hashlib
import math
import os
import shutil
import statistics

from usage import index

PARTS = (1, 2, 4, 8)


def slices(tree, scratch):
    """Part of 8 -> directory for each slice: files chosen by the hash of their path, as hard links where the disk allows."""
    directories = {PARTS[-1]: tree}
    files = [os.path.relpath(os.path.join(place, name), tree) for place, _, names in os.walk(tree) for name in names]
    for part in PARTS[:-1]:
        slice_ = os.path.join(scratch, f"slice{part}")
        for path in files:
            if hashlib.blake2b(path.encode(errors="surrogateescape"), digest_size=1).digest()[0] % 8 < part:
                source, target = os.path.join(tree, path), os.path.join(slice_, path)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                if os.path.islink(source):
                    os.symlink(os.readlink(source), target)
                    continue
                try:
                    os.link(source, target)
                except OSError:
                    shutil.copy2(source, target)
        directories[part] = slice_
    return directories


def measure(program, tree, scratch, cache, turns):
    """One row for each slice: part, and over all turns the medians of CPU seconds, seconds, peak MB, store MB, with
    the figures of each turn. The whole tree's store stays in `cache`."""
    directories, runs = slices(tree, scratch), {part: [] for part in PARTS}
    for turn in range(turns):
        for part in PARTS:
            is_last = turn == turns - 1 and part == PARTS[-1]
            runs[part].append(index(program, directories[part], cache if is_last else None))
            cpu, wall, peak, store = runs[part][-1]
            print(f"  turn {turn + 1}, {part}/8 of the files: {cpu:8.1f} s CPU {wall:8.1f} s {peak:8.0f} MB, store {store:8.1f} MB", flush=True)
    for part in PARTS[:-1]:
        shutil.rmtree(directories[part])
    return [dict(zip(("cpu", "wall", "peak", "store"), map(statistics.median, zip(*runs[part]))), part=part, runs=runs[part]) for part in PARTS]


def exponent(rows, figure):
    """The slope of the line through the figures where both axes are logarithmic: 1 is linear."""
    points = [(math.log(row["part"]), math.log(row[figure])) for row in rows]
    middle_x, middle_y = (sum(values) / len(points) for values in zip(*points))
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)


FIGURES = (("cpu", "CPU time, s", "#1f77b4"), ("wall", "time, s", "#ff7f0e"), ("peak", "peak memory, MB", "#2ca02c"), ("store", "index, MB", "#9467bd"))
WIDTH, HEIGHT, LEFT, BOTTOM, RIGHT, TOP = 640, 420, 70, 50, 200, 30


def plot(rows, title):
    """The figures over the size of the slice, both axes logarithmic, as SVG."""
    values = [row[figure] for figure, _, _ in FIGURES for row in rows]
    low, high = 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))

    def x(part):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(part) / math.log(PARTS[-1])

    def y(value):
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * math.log(value / low) / math.log(high / low)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="18" font-size="14">{title}</text>']
    decade = low
    while decade <= high:
        parts.append(f'<path d="M{LEFT} {y(decade):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y(decade) + 4:.1f}" text-anchor="end">{decade:g}</text>')
        decade *= 10
    for part in PARTS:
        parts.append(f'<path d="M{x(part):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                     f'<text x="{x(part):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{part}/8</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">share of the files</text>')
    for number, (figure, label, colour) in enumerate(FIGURES):
        line = " ".join(f"{x(row['part']):.1f},{y(row[figure]):.1f}" for row in rows)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x(row["part"]):.1f}" cy="{y(row[figure]):.1f}" r="3" fill="{colour}"/>' for row in rows]
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 20 + number * 34}" fill="{colour}">{label}'
                     f'<tspan x="{WIDTH - RIGHT + 12}" dy="14">exponent {exponent(rows, figure):.2f}</tspan></text>')
    return "\n".join(parts + ["</svg>", ""])
