"""Programs that are valid and hard to resolve, in every language: their index must end soon, in little memory, in proportion to them.

    scripts/measure attacks BINARY                    every shape of 1 MB, and a quarter of it for the growth
    scripts/measure attacks BINARY --only SHAPE...    these shapes only (or LANGUAGE, or LANGUAGE/SHAPE)
    scripts/measure attacks BINARY --recovery         texts that are no programs, and expensive for the parser's recovery from errors: the worst that
                                              are known in every language (--only LANGUAGE..., --sizes BYTES...), and all of them in one repository
    scripts/measure attacks BINARY --recovery --search N --seed S
                                              N others in each language, at random, out of the tokens of its grammar

For each the table has CPU time, peak memory and the exponent of growth from a quarter to the whole. Time is CPU time of all processes, so
that a busy machine disturbs little. Exit codes: 0 all within the bounds, 1 not, 2 usage.
"""
import math
import os
import subprocess
import tempfile

from base import command_line, write_files
import recovery
from languages import LANGUAGES
from shapes import SHAPES, of_size

# Bounds for 1 MB: seconds of CPU, megabytes, and the exponent; times below the last are too short to tell an exponent.
SECONDS, MEGABYTES, EXPONENT, SHORT = 5.0, 500, 1.1, 0.4
# Where the index itself is at its end this is what is waited for.
PATIENCE = 60


def index(binary, files):
    """CPU seconds and peak megabytes of an index of these files; infinite if it does not end."""
    with tempfile.TemporaryDirectory() as place:
        root = os.path.join(place, "root")
        write_files(root, files)
        environment = dict(os.environ, COGRAPH_CACHE_DIR=os.path.join(place, "cache"), HOME=place)
        child = subprocess.Popen([binary, "index"], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, env=environment, preexec_fn=lambda: __import__("signal").alarm(PATIENCE))
        said = child.stderr.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        if status != 0:
            return math.inf, math.inf, said.strip().splitlines()[-1:] or [f"ended with {status}"]
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, []


def main():
    """Measures every shape in every language that can say it."""
    parser = command_line(__doc__)
    parser.add_argument("binary")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--size", type=int, default=1 << 20, help="bytes, default 1 MB")
    parser.add_argument("--recovery", action="store_true", help="texts that are expensive for error recovery")
    parser.add_argument("--sizes", type=int, nargs="+", help="bytes of such a text, default 8000 32000 100000")
    parser.add_argument("--search", type=int, metavar="N", help="try N such texts at random instead of those that are known")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.recovery:
        return recovery.main(parser, options)
    if options.sizes or options.search:
        parser.error("--sizes and --search are for --recovery")
    binary = os.path.abspath(options.binary)
    failed, tried = [], 0
    print(f"{'':34}{'CPU s':>8}{'MB':>7}{'exponent':>10}")
    for shape in SHAPES:
        for language in LANGUAGES:
            name = f"{language.name}/{shape.__name__}"
            if options.only and not {name, language.name, shape.__name__} & set(options.only):
                continue
            whole = of_size(shape, language, options.size)
            if whole is None:
                continue
            tried += 1
            quarter = of_size(shape, language, options.size // 4)
            # The least of two: what others do on the machine only adds.
            small = min(index(binary, quarter)[0] for _ in range(2))
            seconds, memory, said = min((index(binary, whole) for _ in range(2)), key=lambda run: run[0])
            growth = math.log(sum(map(len, whole.values())) / sum(map(len, quarter.values())))
            exponent = math.log(seconds / small) / growth if seconds < math.inf and seconds > SHORT else None
            is_within = seconds < SECONDS and memory < MEGABYTES and (exponent is None or exponent <= EXPONENT)
            shown = "" if exponent is None else f"{exponent:.2f}"
            print(f"{name:34}{seconds:8.2f}{memory:7.0f}{shown:>10}{'' if is_within else '   beyond the bounds'} {' '.join(said)}", flush=True)
            if not is_within:
                failed.append(name)
    if not tried:
        parser.error("nothing is called that")
    print(f"{tried} programs, {len(failed)} beyond the bounds of {SECONDS:.0f} s, {MEGABYTES} MB and an exponent of {EXPONENT}"
          + (": " + " ".join(failed) if failed else ""))
    return 1 if failed else 0
