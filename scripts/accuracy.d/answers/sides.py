"""Gets the repositories, and runs both sides of a question in them."""

import os
import re
import shlex
import subprocess
import tempfile
from collections import namedtuple

from base import with_cache
import places
import questions

# `given`: facts in the output; `missing`: the others; `size`: bytes of all output; `calls`: how many there were.
Side = namedtuple("Side", "given missing size calls outputs")
# What rg prints must not depend on the user's configuration, nor on which file a thread has read first.
SHELL = {**os.environ, "LC_ALL": "C", "RIPGREP_CONFIG_PATH": os.path.join(os.path.dirname(os.path.abspath(__file__)), "ripgreprc")}


class Failure(Exception):
    """A repository or a command that cannot be had."""


class Checkout:
    """The files of a repository at its commit, in a directory."""

    def __init__(self, repository, directory, clones):
        self.directory = directory
        self.texts = {}
        os.makedirs(directory, exist_ok=True)
        if not os.path.exists(os.path.join(directory, ".git")):
            self.fetch(repository, clones)
        listed = run(["rg", "--files", "--hidden", "-g", "!.git"], directory).stdout
        self.files = set(listed.splitlines())

    def fetch(self, repository, clones):
        """From a clone OWNER+NAME or OWNER+NAME/repo in a directory of clones, or from GitHub."""
        run(["git", "init", "--quiet", "."], self.directory, check=True)
        if not clones:
            run(["git", "fetch", "--quiet", "--depth", "1", f"https://github.com/{repository.name}", repository.commit], self.directory, check=True)
            run(["git", "checkout", "--quiet", "FETCH_HEAD"], self.directory, check=True)
            return
        clone = os.path.join(clones, repository.name.replace("/", "+"))
        clone = os.path.join(clone, "repo") if os.path.isdir(os.path.join(clone, "repo")) else clone
        kept = [".", *(f":!{path}" for path in repository.leave_out)]
        with tempfile.TemporaryFile() as archive:
            made = subprocess.run(["git", "-C", clone, "archive", repository.commit, "--", *kept], stdout=archive, stderr=subprocess.PIPE)
            if made.returncode:
                raise Failure(f"{repository.name}: {made.stderr.decode().strip()}")
            archive.seek(0)
            subprocess.run(["tar", "-x", "-C", self.directory], stdin=archive, check=True)

    def source(self, path):
        """The lines of a file."""
        if path not in self.texts:
            with open(os.path.join(self.directory, path), encoding="utf-8", errors="replace") as file:
                self.texts[path] = file.read().split("\n")
        return self.texts[path]


def run(command, directory, environment=None, check=False):
    """Runs a program; nothing is taken from standard input."""
    done = subprocess.run(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if check and done.returncode:
        raise Failure(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done


def cograph(program, cache, question, checkout):
    """What the program answers; its messages count as well, since a user reads them."""
    environment = with_cache(cache)
    outputs = []
    for command in question.cograph:
        done = run([program, *shlex.split(command)], checkout.directory, environment)
        outputs.append(done.stdout + (done.stderr if done.returncode else ""))
    return side(question, places.of_answers(outputs, checkout.files), outputs)


def grep(question, checkout):
    """What the commands print."""
    found, outputs = places.Places(), []
    for command in question.grep:
        outputs.append("")
        for part in questions.parts(command):
            part = expanded(part, checkout)
            done = run(["bash", "-c", part], checkout.directory, SHELL)
            if done.returncode:
                raise Failure(f"{question.id}: {part}: {done.stderr.strip() or 'nothing found'}")
            outputs[-1] += done.stdout
            read = places.of_shell(part, done.stdout, checkout.files, checkout.source)
            found.lines |= read.lines
            for path, words in read.words.items():
                found.words[path] |= words
    return side(question, found, outputs)


def expanded(command, checkout):
    """A command with the files that its `$(rg -l ..)` finds: rg leaves the path out where it searches one file."""
    inner = re.search(r"\$\((rg -l .*?)\)(?= |$)", command)
    if not inner:
        return command
    found = run(["bash", "-c", inner[1]], checkout.directory, SHELL).stdout.split()
    return command[: inner.start()] + " ".join(sorted(found)) + command[inner.end() :]


def side(question, found, outputs):
    """Counts what is given."""
    missing = [fact for fact in question.facts if not found.has(*fact)]
    return Side(len(question.facts) - len(missing), missing, sum(len(text.encode()) for text in outputs), len(outputs), outputs)
