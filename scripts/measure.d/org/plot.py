"""The times of the questions over the number of repositories, as SVG: one panel a question, a line an engine, both axes logarithmic."""
import math

COLOURS = {"datafusion": "#1f77b4", "duckdb": "#ff7f0e", "sqlite": "#2ca02c", "spark": "#9467bd"}
COLUMNS, WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 5, 204, 170, 46, 44, 26


def svg(times):
    """`times`: engine -> question -> size -> seconds."""
    names = list(next(iter(times.values())))
    sizes = sorted({size for engine in times.values() for question in engine.values() for size in question})
    values = [value for engine in times.values() for question in engine.values() for value in question.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    rows = math.ceil(len(names) / COLUMNS)
    width, height = COLUMNS * WIDTH + 20, TOP + rows * HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="10">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             '<text x="10" y="16" font-size="13">Seconds of ten questions over the number of repositories</text>']
    for number, engine in enumerate(times):
        parts.append(f'<text x="{10 + number * 90}" y="32" fill="{COLOURS[engine]}">{engine}</text>')
    for number, name in enumerate(names):
        left, top = number % COLUMNS * WIDTH + LEFT, TOP + number // COLUMNS * HEIGHT
        right, bottom = left + WIDTH - LEFT - 24, top + HEIGHT - BOTTOM - 14

        def x(size, left=left, right=right):
            span = math.log(sizes[-1] / sizes[0]) or 1
            return left + (right - left) * math.log(size / sizes[0]) / span

        def y(value, top=top, bottom=bottom):
            return bottom - (bottom - top - 14) * (math.log10(value) - low) / (high - low)

        parts.append(f'<text x="{left}" y="{top + 8}" font-size="11">{name}</text>')
        for decade in range(low, high + 1):
            parts.append(f'<path d="M{left} {y(10 ** decade):.1f}H{right}" stroke="#ddd"/>'
                         f'<text x="{left - 4}" y="{y(10 ** decade) + 3:.1f}" text-anchor="end">{10 ** decade:g}</text>')
        for size in sizes:
            parts.append(f'<path d="M{x(size):.1f} {top + 14}V{bottom}" stroke="#ddd"/>'
                         f'<text x="{x(size):.1f}" y="{bottom + 12}" text-anchor="middle">{size:,}</text>')
        for engine, of_engine in times.items():
            points = [(x(size), y(value)) for size, value in sorted(of_engine[name].items())]
            line = " ".join(f"{one:.1f},{two:.1f}" for one, two in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[engine]}" stroke-width="1.5"/>')
            parts += [f'<circle cx="{one:.1f}" cy="{two:.1f}" r="2" fill="{COLOURS[engine]}"/>' for one, two in points]
    return "\n".join(parts + ["</svg>", ""])
