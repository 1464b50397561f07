"""Drives the page in a browser: how fast it is, what it requests, what hostile names do to it, and pictures of its views.

    scripts/clients page BIN DIR                    the repository in DIR, with the program BIN
    scripts/clients page BIN DIR --shots DIR        a picture of each view, light, dark and 320 wide, is put there
    scripts/clients page BIN DIR --words A,B,...    names that are searched; by default the names of the most used symbols
    scripts/clients page BIN DIR --chromium PATH    the browser; by default `chromium`
    scripts/clients page BIN DIR --modules DIR      where playwright-core is; by default npm puts it into target/page

Four parts: the served page of DIR (first paint, 200 interactions, at most 2,000 elements, keys, names for screen readers, 320 columns);
the written page of DIR without a network; a repository with thirty names of markup, directions and control characters; one with a history and
coverage, whose map has every colour and whose written page has a change. The browser finds no host but this machine. Any request elsewhere, error on the console or violation of the content security policy is a failure, and so
are a first paint after 1 s and a 95th percentile of the interactions above 100 ms. The exit code is 1 for a failure.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from base import ROOT

HERE = Path(__file__).resolve().parent
FIRST_PAINT, PERCENTILE = 1000, 100
INTERACTIONS, NAMES = 200, 30
ADDRESS = "http://127.0.0.1:"

MARKUP = [
    "<img src=x onerror=pwned=1>", "<script>pwned=1</script>", "</script><script>pwned=1</script>", "\"><svg onload=pwned=1>", "'-alert(1)-'",
    "<iframe srcdoc=x>", "javascript:pwned=1", "{{constructor.constructor('pwned=1')()}}", "${pwned=1}", "<!--", "-->", "]]>",
    "<a href=javascript:pwned=1>a</a>", "&lt;b&gt;", "&#60;b&#62;", "<base href=//evil.example>", "<style>*{display:none}</style>",
    "\\u003cscript\\u003e", "%3Cscript%3E", "a&q=b#c?d=e", "__proto__", "constructor",
]
UNSEEN = ["safe\u202egnp.exe", "a\u2066b\u2069c", "zero\u200bwidth", "soft\u00adhyphen", "\ufeffmark", "line\u2028end", "bell\u0007", "esc\u001b[31m"]


def shown(text):
    """Text as the page shows it."""
    unseen = lambda letter: ord(letter) < 32 or letter in "\u00ad\u200b\u2028\u202e\u2066\u2069\ufeff" or 0x7f <= ord(letter) < 0xa0
    return "".join(f"\\u{{{ord(letter):x}}}" if unseen(letter) else letter for letter in text)


def modules(given):
    """The directory with playwright-core."""
    if given:
        return Path(given).resolve()
    place = ROOT / "target/page"
    place.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, place / name)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=place, check=True)
    return place


class Served:
    """A page that is served for as long as this is open."""

    def __init__(self, program, root, environment):
        command = [program, "page", "--no-open", "--root", root]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        url = self.process.stdout.readline().strip()
        if not url.startswith(ADDRESS):
            raise SystemExit(f"no address: {url!r}")
        return url

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def drive(job):
    done = subprocess.run(["node", HERE / "drive.mjs"], input=json.dumps(job), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr.strip()[-3000:])
    return json.loads(done.stdout)


def addresses(program, root, environment):
    """An address for each view, and names that are searched."""
    run = lambda *arguments: json.loads(subprocess.run([program, *arguments, "--root", root, "--json"], env=environment, capture_output=True, text=True, check=True).stdout)
    overview = run("overview")
    spots = overview["hot_spots"]
    code = [spot for spot in spots if spot["kind"] in ("function", "method")]
    callee = next((spot for spot in code if not any(word in spot["path"] for word in ("test", "mock"))), code[0])
    callers = run("trace", callee["symbol"], "--depth", "4", "--tests", "exclude")
    tree = callers.get("tree") or callers["meanings"][0]["tree"]
    nodes = [node for node in tree["nodes"] if "symbol" in node["end"]]
    far = max(nodes, key=lambda node: node["depth"])["end"]["symbol"]
    hash_of = lambda view, **values: f"#/{view}?{urllib.parse.urlencode(values)}"
    return {
        "search": "#/search", "symbol": hash_of("symbol", symbol=callee["symbol"], line=callee["line"]), "map": "#/map", "matrix": "#/matrix",
        "file": hash_of("file", path=callee["path"]), "change": hash_of("change", change=callee["symbol"]),
        "path": hash_of("path", **{"from": far, "to": callee["symbol"]}),
    }, [spot["name"] for spot in spots if len(spot["name"]) >= 4]


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))]


def report(title, found):
    """Prints what was found; gives the failures."""
    failures = list(found["problems"])
    print(f"{title}: {found['requests']} requests, all to the page itself" if not failures else f"{title}:")
    if (paint := found.get("first_paint_ms")) is not None:
        print(f"  first paint {paint:.0f} ms")
        if paint > FIRST_PAINT:
            failures.append(f"the first paint is after {paint:.0f} ms")
    if "entrance_ms" in found:
        print(f"  entrance drawn {found['entrance_ms']} ms after that")
    if times := found.get("times"):
        every = [time for _, time in times]
        worst = percentile(every, 0.95)
        print(f"  {len(times)} interactions: median {percentile(every, 0.5):.0f} ms, 95 % within {worst:.0f} ms, slowest {max(every):.0f} ms")
        for kind in dict.fromkeys(kind for kind, _ in times):
            own = [time for other, time in times if other == kind]
            print(f"    {kind:<12} {len(own):>3}  median {percentile(own, 0.5):>5.0f}  95 % {percentile(own, 0.95):>5.0f}  slowest {max(own):>5.0f}")
        if worst > PERCENTILE:
            failures.append(f"95 % of the interactions take {worst:.0f} ms")
    if found["elements"]:
        print(f"  at most {found['elements']} elements")
    if "names" in found:
        print(f"  {found['names']} names shown as text")
    for failure in failures[:20]:
        print(f"  FAILED {failure}")
    return failures


def hostile(place):
    """A repository whose names are hostile; what is searched, and what is shown then."""
    names = [*MARKUP, *UNSEEN]
    assert len(names) >= NAMES
    (place / "keys.json").write_text(json.dumps({name: {"word": 1} for name in names}), encoding="utf-8")
    for at, name in enumerate(names):
        file = f"{name.replace('/', '_')}.py"
        (place / file).write_text(f"def word_{at}():\n    # {name}\n    return word_{at}() + word_{at}()\n", encoding="utf-8")
    words = [{"query": f"word_{at}", "shown": shown(name.replace("/", "_"))} for at, name in enumerate(names)]
    return words


def coloured(place, program, environment):
    """A repository with two commits, something unused, and coverage of one of its tests."""
    files = {
        "shop/cart.py": "def total(prices):\n    return sum(prices)\n\n\ndef _forgotten():\n    return 0\n",
        "shop/main.py": "from shop.cart import total\n\n\ndef main():\n    print(total([1, 2]))\n\n\nmain()\n",
        "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
    }
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    run = lambda *command: subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
    run("git", "init", "--quiet")
    run("git", "add", ".")
    run(*git, "commit", "--quiet", "--message", "first")
    (place / "shop/cart.py").write_text(files["shop/cart.py"].replace("(prices)", "(prices, tax=0)", 1), encoding="utf-8")
    run(*git, "commit", "--quiet", "--all", "--message", "second")
    (place / "test_total.lcov").write_text("SF:shop/cart.py\nDA:1,1\nDA:2,1\nend_of_record\n", encoding="utf-8")
    run(program, "coverage", "add", "test_total.lcov", "--test", "test_total")


def main():
    arguments = sys.argv[1:]
    options = {}
    while len(arguments) > 2:
        value, name = arguments.pop(), arguments.pop()
        if name not in ("--shots", "--words", "--chromium", "--modules"):
            print(__doc__)
            return 2
        options[name] = value
    if len(arguments) != 2:
        print(__doc__)
        return 2 if arguments not in (["-h"], ["--help"]) else 0
    program, root = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    chromium = options.get("--chromium") or shutil.which("chromium")
    if not chromium:
        raise SystemExit("no browser: install chromium, or give --chromium")
    shots = options.get("--shots") and str(Path(options["--shots"]).resolve())
    if shots:
        Path(shots).mkdir(parents=True, exist_ok=True)
    job = {"modules": str(modules(options.get("--modules"))), "chromium": chromium, "shots": shots}
    failures = []
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "COGRAPH_CACHE_DIR": os.environ.get("COGRAPH_CACHE_DIR", f"{place}/cache")}
        at, words = addresses(program, root, environment)
        job |= {"addresses": at, "words": options["--words"].split(",") if "--words" in options else words}
        with Served(program, root, environment) as url:
            failures += report(f"{root.name}, served", drive({**job, "what": "views", "url": url}))
        file = Path(place) / "page.html"
        subprocess.run([program, "page", "--out", file, "--root", root], env=environment, check=True)
        # A written page has no paths, and only the change that it was written with.
        in_file = {view: address for view, address in at.items() if view not in ("path", "change")}
        found = drive({**job, "what": "file", "url": file.as_uri(), "addresses": in_file})
        failures += report(f"{root.name}, one file of {file.stat().st_size:,} bytes", found)
        strange = Path(place) / "strange"
        strange.mkdir()
        names = hostile(strange)
        with Served(program, strange, environment) as url:
            failures += report("hostile names, served", drive({**job, "what": "names", "url": url, "names": names}))
        subprocess.run([program, "page", "--out", file, "--root", strange], env=environment, check=True)
        failures += report("hostile names, one file", drive({**job, "what": "names", "url": file.as_uri(), "names": names}))
        plain = Path(place) / "plain"
        plain.mkdir()
        coloured(plain, program, environment)
        with Served(program, plain, environment) as url:
            failures += report("colours, served", drive({**job, "what": "colours", "url": url}))
        subprocess.run([program, "page", "--out", file, "--change", "HEAD~1..HEAD", "--root", plain], env=environment, check=True)
        failures += report("a change, one file", drive({**job, "what": "change", "url": file.as_uri()}))
    return 1 if failures else 0
