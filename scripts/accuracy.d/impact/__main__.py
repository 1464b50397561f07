"""How well `cograph impact` ranks the tests of real bugs. The tree is the fixed commit, HEAD the buggy one, and the question is the
patch without its tests (`--patch`), so that the history does not know the answer. The truth is the tests that failed before the patch.

    scripts/accuracy impact --sources DIR tornado scrapy             BugsInPy: DIR has git repositories BugsInPy, tornado, scrapy (bare or not)
    scripts/accuracy impact --sources DIR Gson Jsoup                 Defects4J: defects4j, gson, jsoup
    scripts/accuracy impact --sources DIR BugsJS/express             BugsJS: express with the tags of its bugs
    scripts/accuracy impact --sources DIR tornado --bugs 1 5         some bugs, each with its rank
    scripts/accuracy impact --sources DIR tornado --keep FILE        evidence about every test, one line of JSON a bug
    scripts/accuracy impact --weights FILE...                        weights that order kept evidence best, by coordinate ascent

The repositories are cloned into a temporary directory; nothing of them is stored here. A hit is a failing test among the first tests
of the answer; the share of the suite is the size of the answer divided by the number of test functions. Defects4J also knows the
relevant classes, those that load a changed class when they run: their recall is the part of them with a test in the answer. BugsJS
does not list the tests that failed: they are those that the fix adds or changes.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from base import command_line, DEBUG, with_cache

BARS = {"@5": .75, "@10": .85, "@20": .92, "in answer": .98, "file @3": .97}
START = {"reached": 3.0, "step": .7, "uses": .8, "imports": 1.0, "imports_second": .2, "alike": 2.0, "stem": .9, "together": 1.5, "lines": 3.0,
         "names": 2.0, "title": 3.0, "possible": .5}


def run(*command, **options):
    """Standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def repository(sources, name):
    """A repository below the directory of sources, whatever the layout."""
    for entry in sorted(os.listdir(sources)):
        if entry.lower().split("+")[-1] == name.lower():
            inner = os.path.join(sources, entry, "repo")
            return inner if os.path.isdir(inner) else os.path.join(sources, entry)
    sys.exit(f"no repository {name} below {sources}")


class Bug:
    """One bug: the repository's name, how its two commits are made, and what is true of the tests."""

    def __init__(self, number, buggy, fixed, patch, failed, relevant=()):
        self.number, self.buggy, self.fixed, self.patch = number, buggy, fixed, patch
        # Predicates: whether a test of the answer failed, whether its file has one that did.
        self.is_failed, self.is_file = failed
        self.relevant = set(relevant)


class Python:
    """A project of BugsInPy."""

    COUNT = "SELECT count(*) FROM symbols WHERE test AND kind IN ('function', 'method') AND name LIKE 'test%' AND language = 'python'"

    def __init__(self, options, project):
        self.source, self.project = repository(options.sources, project), project
        self.truth = repository(options.sources, "BugsInPy")

    @staticmethod
    def failing(script):
        """(file or module, names) of each test in the script that runs them."""
        found = []
        for word in script.split():
            if "::" in word:
                path, *names = word.split("::")
                found.append((path[:-3].replace("/", "."), names))
            elif re.fullmatch(r"\w+(\.\w+)+\.(test_|[A-Z])\w+", word):
                parts = word.split(".")
                at = next((at for at, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
                found.append((".".join(parts[:at]), parts[at:]))
            elif re.fullmatch(r"\S+\.py", word) and word != "setup.py":
                found.append((word[:-3].replace("/", "."), []))
        return found

    def bugs(self, _tree):
        """Every bug."""
        listed = run("git", "-C", self.truth, "ls-tree", "--name-only", "HEAD", f"projects/{self.project}/bugs/").split()
        for number in sorted(int(name.rsplit("/", 1)[1]) for name in listed if name.rsplit("/", 1)[1].isdigit()):
            def text(name, number=number):
                return run("git", "-C", self.truth, "show", f"HEAD:projects/{self.project}/bugs/{number}/{name}", errors="replace")
            info = dict(re.findall(r'(\w+)="(.*?)"', text("bug.info")))
            failed = self.failing(text("run_test.sh"))

            def is_file(test, failed=failed):
                return any(test["path"][:-3].replace("/", ".") == module for module, _ in failed)

            def is_failed(test, failed=failed):
                # An inherited test is in another class.
                return any(test["path"][:-3].replace("/", ".") == module
                           and (not names or names[-1].split("[")[0] in test["name"].split(".")) for module, names in failed)
            yield Bug(number, info["buggy_commit_id"], info["fixed_commit_id"], text("bug_patch.txt"), (is_failed, is_file))


class Java:
    """A project of Defects4J. Its patches lead from the fixed sources to the buggy ones."""

    COUNT = ("SELECT count(*) FROM symbols WHERE test AND kind = 'method' AND (name LIKE 'test%' OR signature LIKE '%@Test%')"
             " AND language = 'java'")

    def __init__(self, options, project):
        self.source, self.project = repository(options.sources, project), project
        self.truth = repository(options.sources, "defects4j")

    def text(self, name):
        """A file about the project."""
        return run("git", "-C", self.truth, "show", f"HEAD:framework/projects/{self.project}/{name}", errors="replace")

    def bugs(self, tree):
        """Every active bug."""
        layout = dict(line.split(",")[::2] for line in self.text("dir-layout.csv").splitlines())
        for line in self.text("active-bugs.csv").splitlines()[1:]:
            number, _, fixed = line.split(",")[:3]
            below = layout.get(fixed, "src/test/java")
            subprocess.run(["git", "-C", tree, "checkout", "-q", "-f", fixed], check=True)
            tried = subprocess.run(["git", "-C", tree, "apply", "--whitespace=nowarn", "--index", "-"], input=self.text(f"patches/{number}.src.patch"),
                                   text=True, capture_output=True, check=False)
            if tried.returncode:
                print(f"{self.project} {number}: {tried.stderr.strip()}", file=sys.stderr)
                continue
            buggy = run("git", "-C", tree, "-c", "user.name=-", "-c", "user.email=-", "commit-tree", "-p", fixed + "^", "-m", "buggy",
                        run("git", "-C", tree, "write-tree").strip()).strip()
            patch = run("git", "-C", tree, "diff", buggy, fixed, errors="replace")
            failed = {tuple(line[4:].split("::")) for line in self.text(f"trigger_tests/{number}").splitlines() if line.startswith("--- ")}

            def name_of(test, below=below):
                return test["path"].removeprefix(below + "/")[:-5].replace("/", ".")

            def is_file(test, failed=failed, name_of=name_of):
                return any(name_of(test) == pair[0].split("$")[0] for pair in failed)

            def is_failed(test, failed=failed, name_of=name_of):
                return any(name_of(test) == pair[0].split("$")[0] and pair[-1] == test["name"].split(".")[-1] for pair in failed)
            bug = Bug(int(number), buggy, fixed, patch, (is_failed, is_file), self.text(f"relevant_tests/{number}").split())
            bug.name_of = name_of
            yield bug


class JavaScript:
    """A project of BugsJS."""

    COUNT = "SELECT count(*) FROM refs WHERE name = 'it' AND path LIKE 'test%'"

    def __init__(self, options, project):
        self.source = repository(options.sources, project.split("/")[1])

    def bugs(self, tree):
        """Every bug that has a fix of its own."""
        for number in sorted(int(tag[4:-4]) for tag in run("git", "-C", tree, "tag", "--list", "Bug-*-fix").split()):
            buggy, fixed = f"Bug-{number}", f"Bug-{number}-full"
            patch = run("git", "-C", tree, "diff", buggy, f"Bug-{number}-fix", errors="replace")
            lines = {}
            for line in run("git", "-C", tree, "diff", "-U0", buggy, fixed, "--", "test", errors="replace").splitlines():
                if line.startswith("+++ b/"):
                    path = line[6:]
                elif found := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
                    first, count = int(found[1]), int(found[2] or 1)
                    lines.setdefault(path, []).append((first, first + max(count, 1) - 1))

            def is_file(test, lines=lines):
                return test["path"] in lines

            def is_failed(test, lines=lines):
                return any(test["line"] <= last and first <= test.get("end", test["line"]) for first, last in lines.get(test["path"], ()))
            yield Bug(number, buggy, fixed, patch, (is_failed, is_file))


def project_of(options, name):
    """The maker of bugs of a project."""
    if name.startswith("BugsJS/"):
        return JavaScript(options, name)
    return (Java if name[:1].isupper() else Python)(options, name)


def answers(options, name, scratch):
    """(bug, answer, size of the suite) of each bug."""
    project = project_of(options, name)
    tree = os.path.join(scratch, name.replace("/", "-"))
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", project.source, tree], check=True)
    environment = with_cache(os.path.join(scratch, "cache"))
    for bug in project.bugs(tree):
        if options.bugs and bug.number not in options.bugs:
            continue
        subprocess.run(["git", "-C", tree, "checkout", "-q", "-f", bug.fixed], check=True)
        subprocess.run(["git", "-C", tree, "reset", "-q", "--soft", bug.buggy], check=True)
        asked = subprocess.run([options.bin, "impact", "--root", tree, "--json", "--patch", "-"], input=bug.patch, text=True,
                               capture_output=True, env=environment, check=False)
        if not asked.stdout.startswith("{"):
            print(f"{name} {bug.number}: {asked.stderr.strip()[-300:]}", file=sys.stderr)
            continue
        counted = json.loads(run(options.bin, "sql", "--root", tree, "--json", project.COUNT, env=environment))
        yield bug, json.loads(asked.stdout), int(counted["rows"][0][0])


def judged(tests, bug):
    """Ranks of the first failing test and of its file, from 1; none if it is not in the answer."""
    place = next((at for at, test in enumerate(tests, 1) if bug.is_failed(test)), None)
    by_file = {test["path"]: test for test in reversed(tests)}
    files = list(dict.fromkeys(test["path"] for test in tests))
    file = next((at for at, path in enumerate(files, 1) if bug.is_file(by_file[path])), None)
    return place, file


def report(results):
    """Prints the figures of (rank, rank of the file, share of the suite); true if they meet the bars."""
    count = len(results)
    share = {f"@{most}": sum(1 for place, _, _ in results if place and place <= most) / count for most in (5, 10, 20, 50)}
    share["in answer"] = sum(1 for place, _, _ in results if place) / count
    share["file @1"] = sum(1 for _, file, _ in results if file == 1) / count
    share["file @3"] = sum(1 for _, file, _ in results if file and file <= 3) / count
    suite = statistics.mean(part for _, _, part in results)
    print(f"{count} bugs: " + ", ".join(f"{name} {value:.3f}" for name, value in share.items()) + f", of the suite {suite:.3f}")
    return all(share[name] >= least for name, least in BARS.items()) and suite <= .15


def score(evidence, weights):
    """The score of a test as the program computes it."""
    far = evidence["distance"]
    reached = weights["reached"] * weights["step"] ** (far - 1) if far else 0
    return (20 * evidence["changed"] + 16 * evidence.get("executed", 0) + reached * (1 if evidence["calls"] else weights["uses"])
            + {1: weights["imports"], 2: weights["imports_second"]}.get(evidence["imports"], 0) + weights["possible"] * evidence["possible"]
            + sum(weights[name] * evidence[name] for name in ("together", "lines", "names", "title"))
            + weights["alike"] * max(evidence["alike"], weights["stem"] * evidence.get("stem", 0)))


def chosen(files):
    """Weights by coordinate ascent on the mean reciprocal rank and the hits of kept evidence."""
    kept = [json.loads(line) for name in files for line in open(name, encoding="utf-8")]

    def value(weights):
        total = 0.0
        for bug in kept:
            scores = [score(test, weights) for test in bug["tests"]]
            good = [own for own, is_good in zip(scores, bug["good"]) if is_good]
            if good:
                place = 1 + sum(1 for own in scores if own > max(good))
                total += sum(place <= most for most in (5, 10, 20)) + 1 / place
        return total / len(kept)

    weights, best = dict(START), value(START)
    for _ in range(4):
        for name in weights:
            for factor in (0, .5, .7, .85, 1.2, 1.5, 2, 3):
                tried = {**weights, name: weights[name] * factor if weights[name] else factor}
                if name in ("step", "uses", "stem") and tried[name] > 1:
                    continue
                if (now := value(tried)) > best + 1e-9:
                    weights, best = tried, now
        print(f"{best:.4f} " + ", ".join(f"{name} {own:.2f}" for name, own in weights.items()))


def main():
    """Asks and reports."""
    parser = command_line(__doc__)
    parser.add_argument("projects", nargs="*")
    parser.add_argument("--sources", metavar="DIR", help="directory with the repositories")
    parser.add_argument("--bin", metavar="PATH", default=DEBUG)
    parser.add_argument("--bugs", type=int, nargs="+", metavar="N", help="only these bugs")
    parser.add_argument("--keep", metavar="FILE", help="write the evidence")
    parser.add_argument("--weights", metavar="FILE", nargs="+", help="choose weights")
    options = parser.parse_args()
    if options.weights:
        return chosen(options.weights)
    if not options.sources or not options.projects:
        parser.error("name projects and --sources")
    results, relevant = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for project in options.projects:
            for bug, answer, suite in answers(options, project, scratch):
                tests = answer["tests"]
                results.append((*judged(tests, bug), len(tests) / max(suite, 1)))
                place, file, part = results[-1]
                known = ""
                if bug.relevant:
                    shown = bug.relevant & {bug.name_of(test) for test in tests}
                    relevant.append(len(shown) / len(bug.relevant))
                    known = f", {len(shown)} of {len(bug.relevant)} relevant classes"
                print(f"{project} {bug.number}: test {place}, file {file}, {len(tests)} of {suite} ({part:.2f}){known}", flush=True)
                if options.keep:
                    with open(options.keep, "a", encoding="utf-8") as out:
                        good = [bug.is_failed(test) for test in tests]
                        print(json.dumps({"bug": f"{project} {bug.number}", "suite": suite, "good": good,
                                          "tests": [{**test["evidence"], "path": test["path"]} for test in tests]}), file=out)
    if relevant:
        in_answer = sum(1 for _, file, _ in results if file) / len(results)
        print(f"a failing class in the answer {in_answer:.3f}, recall of relevant classes {statistics.mean(relevant):.3f}")
    return 0 if results and report(results) else 1
